// The values that a run gave to its outfeeds.
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/ir/literal.h"

namespace toroid {

// One array: one value for all devices that fed it, or, with a leading dimension, one value per device.
struct OutfeedArray {
  Literal value;
  // The devices that fed it, ascending; empty if all devices did.
  std::vector<int64_t> devices;
};
using Outfeed = std::vector<OutfeedArray>;

}  // namespace toroid
