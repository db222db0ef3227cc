// A cut into unequal parts, or a sharding that was asked for and that the program does not follow.
#pragma once

#include <string>

namespace toroid {

struct CutNote {
  bool is_obeyed = true;  // False: a sharding was asked for that no array of the program has.
  std::string name, shape;
  // "dimension 0 over 8 devices in shards of 3: 5 full, 1 of 2, 2 of padding alone", or
  // "asked for [{"x"}, {}]: every device makes all of it".
  std::string text;
  std::string source;
};

}  // namespace toroid
