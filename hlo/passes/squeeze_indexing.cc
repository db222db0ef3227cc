#include "hlo/passes/squeeze_indexing.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

// Dimension numbers that gather and scatter call by different names.
struct Numbers {
  absl::Span<const int64_t> window;            // In the windows: dimensions of a window.
  absl::Span<const int64_t> absent;            // In x: the windows lack them.
  absl::Span<const int64_t> batching;          // In x.
  absl::Span<const int64_t> batching_partner;  // In the indices.
  absl::Span<const int64_t> indexed;           // In x: indices count along them.
  int64_t vector = 0;                          // In the indices.

  explicit Numbers(const GatherView& view)
      : window(view.offset_dims()),
        absent(view.collapsed_slice_dims()),
        batching(view.operand_batching_dims()),
        batching_partner(view.start_indices_batching_dims()),
        indexed(view.start_index_map()),
        vector(view.index_vector_dim()) {}
  explicit Numbers(const ScatterView& view)
      : window(view.update_window_dims()),
        absent(view.inserted_window_dims()),
        batching(view.operand_batching_dims()),
        batching_partner(view.indices_batching_dims()),
        indexed(view.scatter_dims_to_operand_dims()),
        vector(view.index_vector_dim()) {}
};

bool IsAmong(absl::Span<const int64_t> dims, int64_t d) { return absl::c_linear_search(dims, d); }

struct Kept {
  KeptDims x, indices, windows;
};

Kept KeptOf(const Numbers& numbers, const Shape& x, const Shape& indices, const Shape& windows) {
  Kept kept{.x = KeepSized(x), .indices = KeepSized(indices), .windows = KeptDims(windows.rank(), true)};
  // The windows' dimensions come from x and from the indices, each in order.
  size_t next_of_window = 0;
  for (int d = 0; d < x.rank(); ++d) {
    const bool in_window = !IsAmong(numbers.absent, d) && !IsAmong(numbers.batching, d);
    const int64_t inside = in_window ? numbers.window[next_of_window++] : -1;
    if (IsAmong(numbers.indexed, d) || (in_window && windows.dim(inside) != 1)) kept.x[d] = true;
    if (in_window) kept.windows[inside] = kept.x[d];
  }
  int64_t batch = 0;
  for (int d = 0; d < indices.rank(); ++d) {
    if (!IsAmong(numbers.batching_partner, d)) kept.indices[d] = true;
    if (d == numbers.vector) continue;
    while (IsAmong(numbers.window, batch)) ++batch;
    kept.windows[batch++] = kept.indices[d];
  }
  return kept;
}

}  // namespace

std::optional<SqueezedOp> SqueezeIndexing(const Instruction& op) {
  const bool is_gather = op.opcode() == Opcode::kGather;
  if (op.num_operands() != (is_gather ? 2 : 3)) return std::nullopt;
  Instruction *x = op.operand(0), *indices = op.operand(1);
  const Numbers numbers = is_gather ? Numbers(GatherView(op)) : Numbers(ScatterView(op));
  const Kept kept =
      KeptOf(numbers, x->shape(), indices->shape(), is_gather ? op.shape() : op.operand(2)->shape());
  SqueezedOp squeezed{.operands = {{x, kept.x}, {indices, kept.indices}},
                      .kept = is_gather ? kept.windows : kept.x};
  if (!is_gather) squeezed.operands.push_back({op.operand(2), kept.windows});
  return squeezed;
}

void SqueezeIndexingAttributes(const SqueezedOp& squeezed, Instruction* op) {
  const KeptDims &x = squeezed.operands[0].kept, &indices = squeezed.operands[1].kept;
  xla::HloInstructionProto* attrs = op->MutableAttrs();
  if (op->opcode() == Opcode::kScatter) {
    xla::ScatterDimensionNumbers* numbers = attrs->mutable_scatter_dimension_numbers();
    numbers->set_index_vector_dim(NumberAmong(indices, numbers->index_vector_dim()));
    Renumber(squeezed.operands[2].kept, numbers->mutable_update_window_dims());
    Renumber(x, numbers->mutable_inserted_window_dims());
    Renumber(x, numbers->mutable_input_batching_dims());
    Renumber(indices, numbers->mutable_scatter_indices_batching_dims());
    Renumber(x, numbers->mutable_scatter_dims_to_operand_dims());
    return;
  }
  xla::GatherDimensionNumbers* numbers = attrs->mutable_gather_dimension_numbers();
  numbers->set_index_vector_dim(NumberAmong(indices, numbers->index_vector_dim()));
  Renumber(squeezed.kept, numbers->mutable_offset_dims());
  Renumber(x, numbers->mutable_collapsed_slice_dims());
  Renumber(x, numbers->mutable_operand_batching_dims());
  Renumber(indices, numbers->mutable_start_indices_batching_dims());
  Renumber(x, numbers->mutable_start_index_map());
  DropEntries(x, attrs->mutable_gather_slice_sizes());
}

}  // namespace toroid
