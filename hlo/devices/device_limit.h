// The largest mesh. Every reader of a number of devices checks it against this limit; larger numbers come
// from damaged files.
#pragma once

#include <cstdint>

namespace toroid {

// The most prime factors of a number of devices; each is an axis of a mesh.
inline constexpr int kMaxDeviceAxes = 20;
inline constexpr int64_t kMaxDevices = int64_t{1} << kMaxDeviceAxes;

}  // namespace toroid
