#include "hlo/ops/indexing.h"

#include <algorithm>
#include <vector>

#include "hlo/ops/constraint.h"

namespace toroid {
namespace {

// Checks the starts, which are the operands from `first` on, of an array of this rank.
absl::Status CheckStarts(const Instruction& instruction, int first, int rank) {
  const int count = instruction.num_operands() - first;
  if (count == 1 && instruction.operand(first)->shape().rank() == 1) {
    const Shape& starts = instruction.operand(first)->shape();
    if (IsInt(starts.element_type()) && starts.dim(0) == rank) return absl::OkStatus();
    return Violates("C1", "the vector of starts", starts.ToString(), absl::StrCat(rank, " integers"));
  }
  if (count != rank) {
    return Violates("C1", "starts", absl::StrCat(count), absl::StrCat(rank, ", one per dimension"));
  }
  for (int i = first; i < instruction.num_operands(); ++i) {
    const Shape& start = instruction.operand(i)->shape();
    if (!start.IsScalar() || !IsInt(start.element_type()) ||
        start.element_type() != instruction.operand(first)->shape().element_type()) {
      return Violates("C1", absl::StrCat("start ", i - first), start.ToString(),
                      "integer scalars of one type");
    }
  }
  return absl::OkStatus();
}

// How gather and scatter index an operand, under the names of gather.
struct IndexedWindow {
  const Shape& operand;
  const Shape& indices;
  absl::Span<const int64_t> collapsed;
  absl::Span<const int64_t> start_index_map;
  absl::Span<const int64_t> operand_batching;
  absl::Span<const int64_t> indices_batching;
  int64_t index_vector_dim;
};

// Checks C5 .. C9.
absl::Status CheckDroppedDimensions(const IndexedWindow& w) {
  const int64_t rank = w.operand.rank();
  RETURN_IF_ERROR(CheckSortedDimensions("C5", "collapsed dimensions", w.collapsed, rank));
  RETURN_IF_ERROR(CheckSortedDimensions("C6", "operand batching dimensions", w.operand_batching, rank));
  RETURN_IF_ERROR(
      CheckDistinctDimensions("C7", "indices batching dimensions", w.indices_batching, w.indices.rank()));
  if (Contains(w.indices_batching, w.index_vector_dim)) {
    return Violates("C7", "indices batching dimensions", ListOf(w.indices_batching),
                    absl::StrCat("none that is index_vector_dim ", w.index_vector_dim));
  }
  if (w.operand_batching.size() != w.indices_batching.size()) {
    return Violates("C8", "batching dimensions",
                    absl::StrCat(ListOf(w.operand_batching), " of the operand, ", ListOf(w.indices_batching),
                                 " of the indices"),
                    "equally many");
  }
  for (size_t i = 0; i < w.operand_batching.size(); ++i) {
    const int64_t d = w.operand_batching[i], partner = w.indices_batching[i];
    if (w.operand.dim(d) != w.indices.dim(partner)) {
      return Violates(
          "C8", "batching dimensions",
          absl::StrCat(d, " of ", w.operand.ToString(), " and ", partner, " of ", w.indices.ToString()),
          "equal sizes");
    }
    if (Contains(w.collapsed, d) || Contains(w.start_index_map, d)) {
      return Violates("C9", "operand batching dimension", absl::StrCat(d),
                      "one that is neither collapsed nor indexed");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckIndexed(const IndexedWindow& w) {
  if (!IsInt(w.indices.element_type())) return Violates("C1", "indices", w.indices.ToString(), "integers");
  const int64_t indices_rank = w.indices.rank();
  if (w.index_vector_dim < 0 || w.index_vector_dim > indices_rank) {
    return Violates("C2", "index_vector_dim", absl::StrCat(w.index_vector_dim),
                    absl::StrCat("0 .. ", indices_rank, ", the rank of the indices"));
  }
  const int64_t components = w.index_vector_dim == indices_rank ? 1 : w.indices.dim(w.index_vector_dim);
  if (static_cast<int64_t>(w.start_index_map.size()) != components) {
    return Violates("C3", "indexed operand dimensions", ListOf(w.start_index_map),
                    absl::StrCat(components, ", as index vectors have components"));
  }
  RETURN_IF_ERROR(
      CheckDistinctDimensions("C4", "indexed operand dimension", w.start_index_map, w.operand.rank()));
  return CheckDroppedDimensions(w);
}

// Sizes of the indices without the index vectors.
Dims BatchShape(const Shape& indices, int64_t index_vector_dim) {
  Dims dims;
  for (int i = 0; i < indices.rank(); ++i) {
    if (i != index_vector_dim) dims.push_back(indices.dim(i));
  }
  return dims;
}

// Operand dimensions along which a window extends.
Dims WindowDimensions(const IndexedWindow& w) {
  Dims dims;
  for (int d = 0; d < w.operand.rank(); ++d) {
    if (!Contains(w.collapsed, d) && !Contains(w.operand_batching, d)) dims.push_back(d);
  }
  return dims;
}

// Checks that there is one size per dimension of `operand`, and none is larger than the dimension.
absl::Status CheckSliceSizes(absl::string_view constraint, absl::Span<const int64_t> sizes,
                             const Shape& operand) {
  if (static_cast<int>(sizes.size()) != operand.rank()) {
    return Violates(constraint, "slice sizes", ListOf(sizes),
                    absl::StrCat("one per dimension of ", operand.ToString()));
  }
  for (int i = 0; i < operand.rank(); ++i) {
    if (sizes[i] >= 0 && sizes[i] <= operand.dim(i)) continue;
    return Violates(constraint, absl::StrCat("slice size of dimension ", i), absl::StrCat(sizes[i]),
                    absl::StrCat("0 .. ", operand.dim(i)));
  }
  return absl::OkStatus();
}

// Checks C11 .. C14 of scatter.
absl::Status CheckUpdates(const IndexedWindow& w, const Shape& updates,
                          absl::Span<const int64_t> update_window) {
  RETURN_IF_ERROR(CheckSortedDimensions("C11", "update window dimensions", update_window, updates.rank()));
  const Dims window = WindowDimensions(w);
  const Dims batch = BatchShape(w.indices, w.index_vector_dim);
  if (update_window.size() != window.size() ||
      updates.rank() != static_cast<int>(window.size() + batch.size())) {
    return Violates("C12", "updates",
                    absl::StrCat(updates.ToString(), " with window dimensions ", ListOf(update_window)),
                    absl::StrCat(window.size(), " window dimensions and ", batch.size(), " others"));
  }
  size_t next_window = 0, next_batch = 0;
  for (int d = 0; d < updates.rank(); ++d) {
    if (!Contains(update_window, d)) {
      const int64_t size = batch[next_batch++];
      if (updates.dim(d) == size) continue;
      return Violates("C13", absl::StrCat("dimension ", d, " of updates ", updates.ToString()),
                      absl::StrCat(updates.dim(d)),
                      absl::StrCat(size, ", as in the indices ", w.indices.ToString()));
    }
    const int64_t size = w.operand.dim(window[next_window++]);
    if (updates.dim(d) <= size) continue;
    return Violates("C14", absl::StrCat("dimension ", d, " of updates ", updates.ToString()),
                    absl::StrCat(updates.dim(d)), absl::StrCat("at most ", size, ", as in the operand"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> InferDynamicSliceShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  RETURN_IF_ERROR(CheckStarts(instruction, 1, operand.rank()));
  const auto sizes = AsSpan(instruction.attrs().dynamic_slice_sizes());
  RETURN_IF_ERROR(CheckSliceSizes("C2", sizes, operand));
  return Shape(operand.element_type(), sizes);
}

absl::StatusOr<Shape> InferDynamicUpdateSliceShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 2));
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const Shape& update = instruction.operand(1)->shape();
  RETURN_IF_ERROR(CheckStarts(instruction, 2, operand.rank()));
  if (update.rank() != operand.rank() || !SameUpToFloats(update.element_type(), operand.element_type())) {
    return Violates("C2", "the update", update.ToString(),
                    absl::StrCat("type and rank of ", operand.ToString()));
  }
  for (int i = 0; i < operand.rank(); ++i) {
    if (update.dim(i) <= operand.dim(i)) continue;
    return Violates("C3", "the update", update.ToString(),
                    absl::StrCat("at most ", operand.dim(i), " in dimension ", i));
  }
  Shape result = operand.WithRowMajorLayout();
  result.set_element_type(CommonFloat(operand.element_type(), update.element_type()));
  return result;
}

absl::StatusOr<Shape> InferGatherShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const xla::GatherDimensionNumbers& numbers = instruction.attrs().gather_dimension_numbers();
  const IndexedWindow w = {instruction.operand(0)->shape(),
                           instruction.operand(1)->shape(),
                           AsSpan(numbers.collapsed_slice_dims()),
                           AsSpan(numbers.start_index_map()),
                           AsSpan(numbers.operand_batching_dims()),
                           AsSpan(numbers.start_indices_batching_dims()),
                           numbers.index_vector_dim()};
  RETURN_IF_ERROR(CheckIndexed(w));
  const auto sizes = AsSpan(instruction.attrs().gather_slice_sizes());
  RETURN_IF_ERROR(CheckSliceSizes("C10", sizes, w.operand));
  for (int d = 0; d < w.operand.rank(); ++d) {
    const bool dropped = Contains(w.collapsed, d) || Contains(w.operand_batching, d);
    const int64_t size = std::min<int64_t>(w.operand.dim(d), 1);
    if (!dropped || sizes[d] == size) continue;
    return Violates("C11", absl::StrCat("slice size of the collapsed or batching dimension ", d),
                    absl::StrCat(sizes[d]), absl::StrCat(size));
  }
  const Dims window = WindowDimensions(w);
  const Dims batch = BatchShape(w.indices, w.index_vector_dim);
  const auto offsets = AsSpan(numbers.offset_dims());
  const int64_t rank = static_cast<int64_t>(batch.size() + offsets.size());
  if (offsets.size() != window.size() || rank > Shape::kMaxRank) {
    return Violates("C12", "offset dimensions", ListOf(offsets),
                    absl::StrCat(window.size(), ", as slice dimensions are kept"));
  }
  RETURN_IF_ERROR(CheckSortedDimensions("C12", "offset dimensions", offsets, rank));
  Dims dims;
  size_t next_offset = 0, next_batch = 0;
  for (int64_t d = 0; d < rank; ++d) {
    dims.push_back(Contains(offsets, d) ? sizes[window[next_offset++]] : batch[next_batch++]);
  }
  return MakeArray(w.operand.element_type(), dims);
}

absl::StatusOr<Shape> InferScatterShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const int n = instruction.num_operands() / 2;
  if (instruction.num_operands() % 2 == 0 || n == 0) {
    return Violates("C10", "operands", absl::StrCat(instruction.num_operands()),
                    "n arrays, the indices and n updates, n > 0");
  }
  const xla::ScatterDimensionNumbers& numbers = instruction.attrs().scatter_dimension_numbers();
  const IndexedWindow w = {instruction.operand(0)->shape(),
                           instruction.operand(n)->shape(),
                           AsSpan(numbers.inserted_window_dims()),
                           AsSpan(numbers.scatter_dims_to_operand_dims()),
                           AsSpan(numbers.input_batching_dims()),
                           AsSpan(numbers.scatter_indices_batching_dims()),
                           numbers.index_vector_dim()};
  RETURN_IF_ERROR(CheckIndexed(w));
  const Shape& updates = instruction.operand(n + 1)->shape();
  RETURN_IF_ERROR(CheckUpdates(w, updates, AsSpan(numbers.update_window_dims())));
  std::vector<PrimitiveType> types;
  std::vector<Shape> results;
  for (int i = 0; i < n; ++i) {
    const Shape& operand = instruction.operand(i)->shape();
    const Shape& update = instruction.operand(n + 1 + i)->shape();
    if (!operand.SameDims(w.operand) || !update.SameDims(updates)) {
      return Violates("C15", absl::StrCat("array ", i, " and its update"),
                      absl::StrCat(operand.ToString(), " and ", update.ToString()),
                      absl::StrCat("the sizes of ", w.operand.ToString(), " and ", updates.ToString()));
    }
    if (!SameUpToFloats(operand.element_type(), update.element_type())) {
      return Violates("C16", absl::StrCat("update ", i), update.ToString(),
                      absl::StrCat("type ", TypeName(operand.element_type())));
    }
    types.push_back(operand.element_type());
    results.push_back(operand.WithRowMajorLayout());
  }
  RETURN_IF_ERROR(CheckReducer("C17", *instruction.called(0), types));
  return n == 1 ? results[0] : Shape::Tuple(results);
}

}  // namespace toroid
