// The bytes of a result, by which tests compare runs bit by bit.
#pragma once

#include <string>

#include "runtime/mesh/mesh_value.h"

namespace toroid {

// Of all elements of a tuple, on one device after the other.
inline std::string BytesOf(const MeshValue& value) {
  std::string bytes;
  for (int64_t d = 0; d < value.num_devices(); ++d) {
    for (int i = 0; i < static_cast<int>(value.shape().tuple_shapes().size()); ++i) {
      const Literal literal = value.element(i).ToLiteral(d);
      bytes.append(literal.bytes(), literal.shape().ByteSize());
    }
  }
  return bytes;
}

}  // namespace toroid
