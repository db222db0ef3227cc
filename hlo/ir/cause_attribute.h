// The frontend attribute for the cause of a collective.
#pragma once

namespace toroid {

// Its value is text: the step of partitioning that needs the collective, and the op it is needed for.
inline constexpr char kCauseAttribute[] = "toroid.cause";

}  // namespace toroid
