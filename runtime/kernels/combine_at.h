// Combines updates into places of arrays, for scatter and select-and-scatter.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// The arrays: `updates[i]` is combined into `targets[i]`; elements have widths[i] bytes.
struct PlacedArrays {
  std::vector<char*> targets;
  std::vector<const char*> updates;
  std::vector<int64_t> widths;
};

// Bytes that CombineAt takes for n updates of arrays with `width` bytes an element in all.
int64_t CombineAtBytes(int64_t n, int64_t width);

// For k in order: target[place[k]] = body(target[place[k]], update[from[k]]), for n arrays at once (body
// takes n current values, then n updates; with `updates_first` the updates come first). Runs the body on
// rounds of distinct places. `held_bytes`: what the caller holds beside arrays. Errors: those of the body, kResourceExhausted.
absl::Status CombineAt(const OpCall& call, Plan& body, const PlacedArrays& arrays,
                       absl::Span<const int64_t> place, absl::Span<const int64_t> from, bool updates_first,
                       int64_t held_bytes);

}  // namespace toroid
