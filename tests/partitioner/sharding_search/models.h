// Models as HLO text that tests of the search share.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace toroid {

// `layers` equal layers of attention's products without the softmax: of x f32[rows, width], the query and the key are products
// with weights wq, wk, the value that of their sum, and the output adds its product with wo to x.
inline std::string Layers(int layers, int64_t rows, int64_t width) {
  const std::string x = absl::StrCat("f32[", rows, ",", width, "]"),
                    w = absl::StrCat("f32[", width, ",", width, "]");
  const std::string dims = ", lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  std::string text = absl::StrCat("ENTRY main {\n  x = ", x, " parameter(0)\n");
  std::string last = "x";
  for (int i = 0; i < layers; ++i) {
    const auto parameter = [&](const char* name, int k) {
      absl::StrAppend(&text, "  ", name, i, " = ", w, " parameter(", 1 + 3 * i + k, ")\n");
    };
    parameter("wq", 0);
    parameter("wk", 1);
    parameter("wo", 2);
    absl::StrAppend(&text, "  q", i, " = ", x, " dot(", last, ", wq", i, ")", dims, "\n");
    absl::StrAppend(&text, "  k", i, " = ", x, " dot(", last, ", wk", i, ")", dims, "\n");
    absl::StrAppend(&text, "  v", i, " = ", x, " multiply(q", i, ", k", i, ")\n");
    absl::StrAppend(&text, "  o", i, " = ", x, " dot(v", i, ", wo", i, ")", dims, "\n");
    absl::StrAppend(&text, i + 1 == layers ? "  ROOT y" : "  y", i, " = ", x, " add(", last, ", o", i, ")\n");
    last = absl::StrCat("y", i);
  }
  return text + "}";
}

// One step of training h = relu(x w1), y = h w2 with the loss y^2 / 2: x f32[batch, in], w1 f32[in, hidden], w2 f32[hidden,
// in]. Returns the new weights and, with `momentum`, their momenta m1 and m2, in the order of the arguments w1, w2, m1, m2, x.
inline std::string MlpStep(int64_t batch, int64_t in, int64_t hidden, bool momentum = false) {
  const std::string x = absl::StrCat("f32[", batch, ",", in, "]"),
                    h = absl::StrCat("f32[", batch, ",", hidden, "]"),
                    w1 = absl::StrCat("f32[", in, ",", hidden, "]"),
                    w2 = absl::StrCat("f32[", hidden, ",", in, "]");
  std::string text =
      absl::StrCat("ENTRY main {\n  w1 = ", w1, " parameter(0)\n  w2 = ", w2, " parameter(1)\n");
  if (momentum) absl::StrAppend(&text, "  m1 = ", w1, " parameter(2)\n  m2 = ", w2, " parameter(3)\n");
  absl::StrAppend(&text, "  x = ", x, " parameter(", momentum ? 4 : 2, ")\n");
  absl::StrAppend(&text, "  z = f32[] constant(0)\n  zs = ", h, " broadcast(z), dimensions={}\n");
  absl::StrAppend(&text, "  a = ", h, " dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n");
  absl::StrAppend(&text, "  h = ", h, " maximum(a, zs)\n");
  absl::StrAppend(&text, "  y = ", x, " dot(h, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n");
  absl::StrAppend(&text, "  g2 = ", w2, " dot(h, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n");
  absl::StrAppend(&text, "  gh = ", h, " dot(y, w2), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n");
  absl::StrAppend(&text, "  up = pred[", batch, ",", hidden, "] compare(a, zs), direction=GT\n");
  absl::StrAppend(&text, "  ga = ", h, " select(up, gh, zs)\n");
  absl::StrAppend(&text, "  g1 = ", w1, " dot(x, ga), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n");
  if (momentum) {
    absl::StrAppend(&text, "  n1 = ", w1, " add(m1, g1)\n  n2 = ", w2, " add(m2, g2)\n");
    absl::StrAppend(&text, "  v1 = ", w1, " subtract(w1, n1)\n  v2 = ", w2, " subtract(w2, n2)\n");
    absl::StrAppend(&text, "  ROOT r = (", absl::StrJoin({w1, w2, w1, w2}, ", "),
                    ") tuple(v1, v2, n1, n2)\n}");
  } else {
    absl::StrAppend(&text, "  v1 = ", w1, " subtract(w1, g1)\n  v2 = ", w2, " subtract(w2, g2)\n");
    absl::StrAppend(&text, "  ROOT r = (", w1, ", ", w2, ") tuple(v1, v2)\n}");
  }
  return text;
}

}  // namespace toroid
