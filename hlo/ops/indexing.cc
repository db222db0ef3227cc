#include "hlo/ops/indexing.h"

#include <vector>

#include "hlo/ops/constraint.h"

namespace toroid {
namespace {

// Starts are the operands from `first` on, for an array of this rank.
absl::Status CheckStarts(const Instruction& instruction, int first, int rank) {
  const int count = instruction.num_operands() - first;
  if (count == 1 && rank != 0 && instruction.operand(first)->shape().rank() == 1) {
    const Shape& starts = instruction.operand(first)->shape();
    if (IsInt(starts.element_type()) && starts.dim(0) == rank) return absl::OkStatus();
    return Violates("C1", absl::StrCat("start vector ", starts.ToString(), " for rank ", rank));
  }
  if (count != rank) {
    return Violates("C1", absl::StrCat(count, " starts for rank ", rank), "give one start per dimension");
  }
  for (int i = first; i < instruction.num_operands(); ++i) {
    const Shape& start = instruction.operand(i)->shape();
    if (!start.IsScalar() || !IsInt(start.element_type()) ||
        start.element_type() != instruction.operand(first)->shape().element_type()) {
      return Violates("C1", absl::StrCat("start ", i - first, " is ", start.ToString()),
                      "starts are integer scalars of one type");
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

absl::Status CheckIndexed(const IndexedWindow& w) {
  if (!IsInt(w.indices.element_type())) {
    return Violates("C1", absl::StrCat("indices are ", w.indices.ToString(), ", no integers"));
  }
  const int64_t indices_rank = w.indices.rank();
  if (w.index_vector_dim < 0 || w.index_vector_dim > indices_rank) {
    return Violates(
        "C1", absl::StrCat("index_vector_dim ", w.index_vector_dim, " of indices of rank ", indices_rank));
  }
  const int64_t components =
      w.index_vector_dim == indices_rank ? 1 : w.indices.dim(static_cast<int>(w.index_vector_dim));
  if (static_cast<int64_t>(w.start_index_map.size()) != components) {
    return Violates("C2", absl::StrCat(w.start_index_map.size(), " operand dimensions for index vectors of ",
                                       components, " components"));
  }
  const int64_t rank = w.operand.rank();
  RETURN_IF_ERROR(CheckDistinctDimensions("C2", "indexed operand dimension", w.start_index_map, rank));
  RETURN_IF_ERROR(CheckSortedDimensions("C4", "collapsed dimension", w.collapsed, rank));
  RETURN_IF_ERROR(CheckDistinctDimensions("C4", "operand batching dimension", w.operand_batching, rank));
  RETURN_IF_ERROR(
      CheckDistinctDimensions("C4", "indices batching dimension", w.indices_batching, indices_rank));
  if (w.operand_batching.size() != w.indices_batching.size()) {
    return Violates("C4", absl::StrCat(w.operand_batching.size(), " operand batching dimensions, ",
                                       w.indices_batching.size(), " of the indices"));
  }
  for (size_t i = 0; i < w.operand_batching.size(); ++i) {
    const int64_t d = w.operand_batching[i], partner = w.indices_batching[i];
    if (Contains(w.collapsed, d) || Contains(w.start_index_map, d) || partner == w.index_vector_dim) {
      return Violates("C4", absl::StrCat("batching dimension ", d, " has another role as well"));
    }
    if (w.operand.dim(static_cast<int>(d)) != w.indices.dim(static_cast<int>(partner))) {
      return Violates("C4", absl::StrCat("batching dimensions ", d, " of ", w.operand.ToString(), " and ",
                                         partner, " of ", w.indices.ToString(), " differ in size"));
    }
  }
  return absl::OkStatus();
}

// Sizes of the indices without the index vectors.
Dims BatchShape(const Shape& indices, int64_t index_vector_dim) {
  Dims dims;
  for (int i = 0; i < indices.rank(); ++i) {
    if (i != index_vector_dim) dims.push_back(indices.dim(i));
  }
  return dims;
}

// Operand dimensions that a window walks.
Dims WindowDimensions(const IndexedWindow& w) {
  Dims dims;
  for (int d = 0; d < w.operand.rank(); ++d) {
    if (!Contains(w.collapsed, d) && !Contains(w.operand_batching, d)) dims.push_back(d);
  }
  return dims;
}

}  // namespace

absl::StatusOr<Shape> InferDynamicSliceShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 1));
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  RETURN_IF_ERROR(CheckStarts(instruction, 1, operand.rank()));
  const auto sizes = AsSpan(instruction.attrs().dynamic_slice_sizes());
  if (static_cast<int>(sizes.size()) != operand.rank()) {
    return Violates("C2", absl::StrCat(sizes.size(), " slice sizes for ", operand.ToString()));
  }
  for (int i = 0; i < operand.rank(); ++i) {
    if (sizes[i] < 0 || sizes[i] > operand.dim(i)) {
      return Violates(
          "C2", absl::StrCat("slice size ", sizes[i], " of dimension ", i, " of size ", operand.dim(i)));
    }
  }
  return Shape(operand.element_type(), sizes);
}

absl::StatusOr<Shape> InferDynamicUpdateSliceShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 2));
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const Shape& update = instruction.operand(1)->shape();
  RETURN_IF_ERROR(CheckStarts(instruction, 2, operand.rank()));
  bool fits = update.rank() == operand.rank() && update.element_type() == operand.element_type();
  for (int i = 0; fits && i < operand.rank(); ++i) fits = update.dim(i) <= operand.dim(i);
  if (!fits) return Violates("C2", absl::StrCat("update ", update.ToString(), " of ", operand.ToString()));
  return operand.WithRowMajorLayout();
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
  if (static_cast<int>(sizes.size()) != w.operand.rank()) {
    return Violates("C3", absl::StrCat(sizes.size(), " slice sizes for ", w.operand.ToString()));
  }
  for (int d = 0; d < w.operand.rank(); ++d) {
    const bool dropped = Contains(w.collapsed, d) || Contains(w.operand_batching, d);
    if (sizes[d] < 0 || sizes[d] > w.operand.dim(d) || (dropped && sizes[d] > 1)) {
      return Violates(
          "C3", absl::StrCat("slice size ", sizes[d], " of dimension ", d, " of ", w.operand.ToString()));
    }
  }
  const Dims window = WindowDimensions(w);
  const Dims batch = BatchShape(w.indices, w.index_vector_dim);
  const auto offsets = AsSpan(numbers.offset_dims());
  const int64_t rank = static_cast<int64_t>(batch.size() + offsets.size());
  if (rank > Shape::kMaxRank) return Violates("C5", absl::StrCat("a result of rank ", rank));
  RETURN_IF_ERROR(CheckSortedDimensions("C5", "offset dimension", offsets, rank));
  if (offsets.size() != window.size()) {
    return Violates("C5", absl::StrCat(offsets.size(), " offset dimensions for ", window.size(),
                                       " slice dimensions that are kept"));
  }
  Dims dims;
  size_t next_offset = 0, next_batch = 0;
  for (int64_t d = 0; d < rank; ++d) {
    dims.push_back(Contains(offsets, d) ? sizes[window[next_offset++]] : batch[next_batch++]);
  }
  return MakeArray(w.operand.element_type(), dims);
}

absl::StatusOr<Shape> InferScatterShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckOperandCount(instruction, 3));
  RETURN_IF_ERROR(CheckArrays(instruction));
  const int n = instruction.num_operands() / 2;
  if (instruction.num_operands() % 2 == 0) {
    return Violates("C0", absl::StrCat(instruction.num_operands(), " operands"),
                    "give n arrays, the indices and n updates");
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
  const auto update_window = AsSpan(numbers.update_window_dims());
  RETURN_IF_ERROR(CheckSortedDimensions("C5", "update window dimension", update_window, updates.rank()));
  const Dims window = WindowDimensions(w);
  const Dims batch = BatchShape(w.indices, w.index_vector_dim);
  if (update_window.size() != window.size() ||
      updates.rank() != static_cast<int>(window.size() + batch.size())) {
    return Violates("C5", absl::StrCat("updates ", updates.ToString(), " have ", update_window.size(),
                                       " window dimensions for ", window.size(), " of the operand and ",
                                       batch.size(), " of the indices"));
  }
  size_t next_window = 0, next_batch = 0;
  for (int d = 0; d < updates.rank(); ++d) {
    if (Contains(update_window, d)) {
      const int64_t operand_dim = window[next_window++];
      if (updates.dim(d) > w.operand.dim(static_cast<int>(operand_dim))) {
        return Violates("C6", absl::StrCat("window size ", updates.dim(d), " of dimension ", operand_dim,
                                           " of ", w.operand.ToString()));
      }
    } else if (updates.dim(d) != batch[next_batch++]) {
      return Violates("C5", absl::StrCat("dimension ", d, " of updates ", updates.ToString(),
                                         " differs from the indices ", w.indices.ToString()));
    }
  }
  std::vector<PrimitiveType> types;
  std::vector<Shape> results;
  for (int i = 0; i < n; ++i) {
    const Shape& operand = instruction.operand(i)->shape();
    const Shape& update = instruction.operand(n + 1 + i)->shape();
    if (!operand.SameDims(w.operand) || !update.SameDims(updates) ||
        operand.element_type() != update.element_type()) {
      return Violates(
          "C7", absl::StrCat("array ", i, " is ", operand.ToString(), ", its update ", update.ToString()));
    }
    types.push_back(operand.element_type());
    results.push_back(operand.WithRowMajorLayout());
  }
  RETURN_IF_ERROR(CheckReducer("C8", *instruction.called(0), types));
  return n == 1 ? results[0] : Shape::Tuple(results);
}

}  // namespace toroid
