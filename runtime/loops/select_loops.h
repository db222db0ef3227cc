// Loops of select: out[i] = pred[i] ? on_true[i] : on_false[i].
#pragma once

#include <cstdint>

#include "runtime/loops/element_widths.h"
#include "runtime/loops/per_level.h"

namespace toroid {

// `out` may be on_true.data or on_false.data if their stride is 1.
using SelectLoop = void (*)(Elements<bool> pred, Elements<void> on_true, Elements<void> on_false, void* out,
                            int64_t n);

// For elements of `width` bytes.
TOROID_PER_LEVEL(FindSelectLoop, SelectLoop(int64_t width));

}  // namespace toroid
