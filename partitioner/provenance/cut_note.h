// A cut into unequal parts, or one that a sharding asks for and no op needs.
#pragma once

#include <string>

namespace toroid {

struct CutNote {
  bool is_cut = true;  // False: a sharding asks for the cut, but every device makes the whole array.
  std::string name, shape;
  std::string text;  // "dimension 0 over 8 devices in shards of 3: 5 full, 1 of 2, 2 of padding alone"
  std::string source;
};

}  // namespace toroid
