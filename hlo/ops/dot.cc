#include "hlo/ops/dot.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "hlo/ops/constraint.h"

namespace toroid {
namespace {

absl::Status CheckPairs(absl::string_view role, const Shape& lhs, const Shape& rhs,
                        absl::Span<const int64_t> left, absl::Span<const int64_t> right) {
  if (left.size() != right.size()) {
    return Violates(
        "C2", absl::StrCat(left.size(), " ", role, " dimensions of the lhs, ", right.size(), " of the rhs"));
  }
  for (size_t i = 0; i < left.size(); ++i) {
    if (lhs.dim(static_cast<int>(left[i])) != rhs.dim(static_cast<int>(right[i]))) {
      return Violates("C2", absl::StrCat(role, " dimensions ", left[i], " of ", lhs.ToString(), " and ",
                                         right[i], " of ", rhs.ToString(), " differ in size"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSide(absl::string_view side, const Shape& shape, absl::Span<const int64_t> batch,
                       absl::Span<const int64_t> contracting) {
  Dims all(batch.begin(), batch.end());
  all.insert(all.end(), contracting.begin(), contracting.end());
  return CheckDistinctDimensions("C1", absl::StrCat(side, " batch or contracting dimension"), all,
                                 shape.rank());
}

PrimitiveType ResultType(const Instruction& dot) {
  const PrimitiveType given = dot.shape().element_type();
  return IsArrayType(given) ? given : dot.operand(0)->shape().element_type();
}

absl::Status CheckDot(const Instruction& dot, const xla::DotDimensionNumbers& numbers) {
  RETURN_IF_ERROR(CheckArrays(dot));
  const Shape& lhs = dot.operand(0)->shape();
  const Shape& rhs = dot.operand(1)->shape();
  const auto lhs_batch = AsSpan(numbers.lhs_batch_dimensions()),
             rhs_batch = AsSpan(numbers.rhs_batch_dimensions());
  const auto lhs_contracting = AsSpan(numbers.lhs_contracting_dimensions());
  const auto rhs_contracting = AsSpan(numbers.rhs_contracting_dimensions());
  RETURN_IF_ERROR(CheckSide("lhs", lhs, lhs_batch, lhs_contracting));
  RETURN_IF_ERROR(CheckSide("rhs", rhs, rhs_batch, rhs_contracting));
  RETURN_IF_ERROR(CheckPairs("batch", lhs, rhs, lhs_batch, rhs_batch));
  RETURN_IF_ERROR(CheckPairs("contracting", lhs, rhs, lhs_contracting, rhs_contracting));
  const bool complex = IsComplex(lhs.element_type());
  if (complex != IsComplex(rhs.element_type()) || complex != IsComplex(ResultType(dot))) {
    return Violates("C3", absl::StrCat(TypeName(lhs.element_type()), " times ", TypeName(rhs.element_type()),
                                       " as ", TypeName(ResultType(dot))));
  }
  return absl::OkStatus();
}

// Batch, lhs free, rhs free without `group`.
Dims DotDims(const Instruction& dot, const xla::DotDimensionNumbers& numbers, int64_t group) {
  const Shape& lhs = dot.operand(0)->shape();
  const Shape& rhs = dot.operand(1)->shape();
  Dims dims;
  for (const int64_t d : numbers.lhs_batch_dimensions()) dims.push_back(lhs.dim(static_cast<int>(d)));
  for (int d = 0; d < lhs.rank(); ++d) {
    if (!Contains(numbers.lhs_batch_dimensions(), d) && !Contains(numbers.lhs_contracting_dimensions(), d)) {
      dims.push_back(lhs.dim(d));
    }
  }
  for (int d = 0; d < rhs.rank(); ++d) {
    if (d != group && !Contains(numbers.rhs_batch_dimensions(), d) &&
        !Contains(numbers.rhs_contracting_dimensions(), d)) {
      dims.push_back(rhs.dim(d));
    }
  }
  return dims;
}

}  // namespace

absl::StatusOr<Shape> InferDotShape(const Instruction& instruction) {
  const xla::DotDimensionNumbers& numbers = instruction.attrs().dot_dimension_numbers();
  RETURN_IF_ERROR(CheckDot(instruction, numbers));
  return MakeArray(ResultType(instruction), DotDims(instruction, numbers, /*group=*/-1));
}

absl::StatusOr<Shape> InferRaggedDotShape(const Instruction& instruction) {
  const xla::RaggedDotDimensionNumbers& ragged = instruction.attrs().ragged_dot_dimension_numbers();
  const xla::DotDimensionNumbers& numbers = ragged.dot_dimension_numbers();
  RETURN_IF_ERROR(CheckDot(instruction, numbers));
  const Shape& lhs = instruction.operand(0)->shape();
  const Shape& rhs = instruction.operand(1)->shape();
  const Shape& sizes = instruction.operand(2)->shape();
  if (ragged.lhs_ragged_dimensions_size() != 1) return Violates("C4", "not exactly one ragged dimension");
  const int64_t d = ragged.lhs_ragged_dimensions(0);
  RETURN_IF_ERROR(CheckDimension("C4", "ragged dimension", d, lhs.rank()));
  const bool is_batch = Contains(numbers.lhs_batch_dimensions(), d);
  const bool is_contracting = Contains(numbers.lhs_contracting_dimensions(), d);
  const bool is_free = !is_batch && !is_contracting;
  if (ragged.rhs_group_dimensions_size() != (is_free ? 1 : 0)) {
    return Violates("C5", absl::StrCat(ragged.rhs_group_dimensions_size(), " group dimensions"),
                    "give one if the ragged dimension is free, else none");
  }
  const int64_t group = is_free ? ragged.rhs_group_dimensions(0) : -1;
  if (is_free) {
    RETURN_IF_ERROR(CheckDimension("C5", "group dimension", group, rhs.rank()));
    if (Contains(numbers.rhs_batch_dimensions(), group) ||
        Contains(numbers.rhs_contracting_dimensions(), group)) {
      return Violates(
          "C5", absl::StrCat("group dimension ", group, " is a batch or contracting dimension as well"));
    }
  }
  // Sizes before the last one of group_sizes, if it has more than that.
  Dims prefix;
  const auto add = [&](int64_t dimension) { prefix.push_back(lhs.dim(static_cast<int>(dimension))); };
  for (const int64_t b : numbers.lhs_batch_dimensions()) {
    if (b == d) break;
    add(b);
  }
  if (is_contracting) {
    for (const int64_t k : numbers.lhs_contracting_dimensions()) {
      if (k == d) break;
      add(k);
    }
  } else if (is_free) {
    for (int64_t m = 0; m < d; ++m) {
      if (!Contains(numbers.lhs_batch_dimensions(), m) && !Contains(numbers.lhs_contracting_dimensions(), m))
        add(m);
    }
  }
  bool fits = IsInt(sizes.element_type()) && sizes.rank() >= 1;
  if (fits && sizes.rank() > 1) fits = absl::c_equal(sizes.dims().subspan(0, sizes.rank() - 1), prefix);
  if (!fits || (is_free && sizes.dims().back() != rhs.dim(static_cast<int>(group)))) {
    return Violates("C6", absl::StrCat("group sizes ", sizes.ToString()),
                    absl::StrCat("give integers [g] or [", absl::StrJoin(prefix, ","), ",g]"));
  }
  Dims dims = DotDims(instruction, numbers, group);
  if (is_contracting) dims.insert(dims.begin(), sizes.dims().back());
  return MakeArray(ResultType(instruction), dims);
}

absl::StatusOr<Shape> InferScaledDotShape(const Instruction& instruction) {
  const xla::DotDimensionNumbers& numbers = instruction.attrs().dot_dimension_numbers();
  RETURN_IF_ERROR(CheckDot(instruction, numbers));
  for (const int side : {0, 1}) {
    const Shape& operand = instruction.operand(side)->shape();
    const Shape& scale = instruction.operand(2 + side)->shape();
    bool fits = scale.IsScalar() || scale.rank() == operand.rank();
    for (int i = 0; fits && !scale.IsScalar() && i < operand.rank(); ++i) {
      fits = scale.dim(i) > 0 ? operand.dim(i) % scale.dim(i) == 0 : operand.dim(i) == 0;
    }
    if (!fits) {
      return Violates("C4", absl::StrCat("scale ", scale.ToString(), " of ", operand.ToString()),
                      "its sizes must divide the operand's");
    }
  }
  return MakeArray(ResultType(instruction), DotDims(instruction, numbers, /*group=*/-1));
}

}  // namespace toroid
