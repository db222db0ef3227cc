// Loops over the parts of a product (hlo/passes/windowed_einsum_pass.h).
#pragma once

namespace toroid {

// Frontend attribute of these loops. Statistics count the bytes they send once per trip; in a loop of the
// program's author they count once.
inline constexpr char kLoopOverParts[] = "toroid.loop_over_parts";

}  // namespace toroid
