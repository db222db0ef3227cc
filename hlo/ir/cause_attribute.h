// The frontend attribute for the cause of a collective.
#ifndef TOROID_HLO_IR_CAUSE_ATTRIBUTE_H_
#define TOROID_HLO_IR_CAUSE_ATTRIBUTE_H_

namespace toroid {

// Its value is text: the step of partitioning that needs the collective, and the op it is needed for.
inline constexpr char kCauseAttribute[] = "toroid.cause";

}  // namespace toroid

#endif  // TOROID_HLO_IR_CAUSE_ATTRIBUTE_H_
