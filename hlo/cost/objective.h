#pragma once

#include <cstdint>

namespace toroid {

// What programs are compared by. kBytes: by bytes and flops, of which neither has a fixed price in the other, since programs
// are often tried with small arrays, where bytes and start-up times count most, and used with large ones, where flops do.
// kSeconds: by predicted seconds.
enum class Objective : uint8_t { kBytes, kSeconds };

}  // namespace toroid
