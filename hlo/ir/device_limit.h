// The largest mesh: every place that reads a number of devices checks it against this, as larger ones come
// from damaged files.
#ifndef TOROID_HLO_IR_DEVICE_LIMIT_H_
#define TOROID_HLO_IR_DEVICE_LIMIT_H_

#include <cstdint>

namespace toroid {

// Prime factors of a number of devices, at most; each is an axis of a mesh.
inline constexpr int kMaxDeviceAxes = 20;
inline constexpr int64_t kMaxDevices = int64_t{1} << kMaxDeviceAxes;

}  // namespace toroid

#endif  // TOROID_HLO_IR_DEVICE_LIMIT_H_
