// Reduce-windows whose windows all begin at the first element, or all end at the last one: cumulative sums, products, maxima.
//
// jax.lax.cumsum of n elements is a reduce-window of windows of n elements with n - 1 elements of padding on one side.
#pragma once

#include <optional>

#include "absl/types/span.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/shape.h"

namespace toroid {

// Along `dim`, with R the running fold of the operand from the first element on:
//   out[j] = R[j - empty], init for j < empty
// or, reversed, with R the running fold from the last element back:
//   out[j] = R[j + skipped], init for the last `empty` ones.
struct CumulativeWindow {
  int dim;
  bool reverse;
  int64_t skipped;  // Elements of the operand before those that are read.
  int64_t rows;     // Elements that are read.
  int64_t empty;
};

// nullopt for windows of another kind. `result_dims`: sizes of the result.
std::optional<CumulativeWindow> FindCumulativeWindow(const Shape& operand, absl::Span<const WindowDim> window,
                                                     absl::Span<const int64_t> result_dims);

}  // namespace toroid
