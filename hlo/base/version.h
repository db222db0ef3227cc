// The version that --version prints.
#ifndef TOROID_HLO_BASE_VERSION_H_
#define TOROID_HLO_BASE_VERSION_H_

namespace toroid {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace toroid

#endif  // TOROID_HLO_BASE_VERSION_H_
