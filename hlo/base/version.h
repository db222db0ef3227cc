// The version that --version prints.
#pragma once

namespace toroid {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace toroid
