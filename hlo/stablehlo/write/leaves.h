// Values of StableHLO. An instruction of HLO has one, or one for each array of a tuple.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/ir/shape.h"
#include "hlo/stablehlo/write/dense_text.h"

namespace toroid {

// A value of StableHLO: an array or a token.
struct Leaf {
  std::string name;
  Shape shape;
};
using Leaves = std::vector<Leaf>;

inline void AppendShapes(const Shape& shape, std::vector<Shape>* out) {
  if (!shape.IsTuple()) {
    out->push_back(shape);
    return;
  }
  for (const Shape& element : shape.tuple_shapes()) AppendShapes(element, out);
}

inline std::vector<Shape> LeafShapes(const Shape& shape) {
  std::vector<Shape> shapes;
  AppendShapes(shape, &shapes);
  return shapes;
}

inline size_t LeafCount(const Shape& shape) {
  if (!shape.IsTuple()) return 1;
  size_t count = 0;
  for (const Shape& element : shape.tuple_shapes()) count += LeafCount(element);
  return count;
}

inline std::string Names(const Leaves& leaves) {
  return absl::StrJoin(leaves, ", ",
                       [](std::string* out, const Leaf& leaf) { absl::StrAppend(out, leaf.name); });
}

inline std::string Types(const Leaves& leaves) {
  return absl::StrCat(
      "(",
      absl::StrJoin(leaves, ", ",
                    [](std::string* out, const Leaf& leaf) { absl::StrAppend(out, MlirType(leaf.shape)); }),
      ")");
}

// %a: tensor<4xf32>, %b: tensor<i32>
inline std::string Typed(const Leaves& leaves) {
  return absl::StrJoin(leaves, ", ", [](std::string* out, const Leaf& leaf) {
    absl::StrAppend(out, leaf.name, ": ", MlirType(leaf.shape));
  });
}

inline Leaves operator+(Leaves a, const Leaves& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace toroid
