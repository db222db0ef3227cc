// Where a written module says why a collective is there.
#ifndef TOROID_HLO_IR_CAUSE_ATTRIBUTE_H_
#define TOROID_HLO_IR_CAUSE_ATTRIBUTE_H_

namespace toroid {

// Frontend attribute of a collective: the step of partitioning that needs it, for whom, as text.
inline constexpr char kCauseAttribute[] = "toroid.cause";

}  // namespace toroid

#endif  // TOROID_HLO_IR_CAUSE_ATTRIBUTE_H_
