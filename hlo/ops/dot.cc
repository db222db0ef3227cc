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
    return Violates("C2", absl::StrCat(role, " dimensions"),
                    absl::StrCat(ListOf(left), " of the lhs and ", ListOf(right), " of the rhs"),
                    "equally many");
  }
  for (size_t i = 0; i < left.size(); ++i) {
    if (lhs.dim(left[i]) == rhs.dim(right[i])) continue;
    return Violates("C2", absl::StrCat(role, " dimensions"),
                    absl::StrCat(left[i], " of ", lhs.ToString(), " and ", right[i], " of ", rhs.ToString()),
                    "equal sizes");
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
    return Violates("C3", "types",
                    absl::StrCat(TypeName(lhs.element_type()), " times ", TypeName(rhs.element_type()),
                                 " as ", TypeName(ResultType(dot))),
                    "complex numbers in all three, or in none");
  }
  return absl::OkStatus();
}

// Batch, lhs free, rhs free without `group`.
Dims DotDims(const Instruction& dot, const xla::DotDimensionNumbers& numbers, int64_t group) {
  const Shape& lhs = dot.operand(0)->shape();
  const Shape& rhs = dot.operand(1)->shape();
  Dims dims;
  for (const int64_t d : numbers.lhs_batch_dimensions()) dims.push_back(lhs.dim(d));
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

// The lhs dimensions whose sizes may be the leading sizes of group_sizes.
Dims PrefixDimensions(const xla::DotDimensionNumbers& numbers, int lhs_rank, int64_t ragged) {
  Dims prefix;
  for (const int64_t b : numbers.lhs_batch_dimensions()) {
    if (b == ragged) return prefix;
    prefix.push_back(b);
  }
  if (Contains(numbers.lhs_contracting_dimensions(), ragged)) {
    for (const int64_t k : numbers.lhs_contracting_dimensions()) {
      if (k == ragged) return prefix;
      prefix.push_back(k);
    }
  }
  for (int64_t m = 0; m < std::min<int64_t>(ragged, lhs_rank); ++m) {
    const bool free =
        !Contains(numbers.lhs_batch_dimensions(), m) && !Contains(numbers.lhs_contracting_dimensions(), m);
    if (free) prefix.push_back(m);
  }
  return prefix;
}

// Checks C5; returns the rhs's group dimension, -1 for none.
absl::StatusOr<int64_t> GroupDimension(const xla::RaggedDotDimensionNumbers& ragged, const Shape& rhs,
                                       bool is_free) {
  const auto groups = AsSpan(ragged.rhs_group_dimensions());
  if (groups.size() != (is_free ? 1 : 0)) {
    return Violates("C5", "group dimensions", ListOf(groups),
                    is_free ? "exactly one, as the ragged dimension is free"
                            : "none, as the ragged dimension is not free");
  }
  if (!is_free) return -1;
  RETURN_IF_ERROR(CheckDimension("C5", "group dimension", groups[0], rhs.rank()));
  const xla::DotDimensionNumbers& numbers = ragged.dot_dimension_numbers();
  if (Contains(numbers.rhs_batch_dimensions(), groups[0]) ||
      Contains(numbers.rhs_contracting_dimensions(), groups[0])) {
    return Violates("C5", "group dimension", absl::StrCat(groups[0], ", a batch or contracting one"),
                    "a free dimension of the rhs");
  }
  return groups[0];
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
  if (ragged.lhs_ragged_dimensions_size() != 1) {
    return Violates("C4", "ragged dimensions", ListOf(AsSpan(ragged.lhs_ragged_dimensions())), "exactly one");
  }
  const int64_t d = ragged.lhs_ragged_dimensions(0);
  RETURN_IF_ERROR(CheckDimension("C4", "ragged dimension", d, lhs.rank()));
  const bool is_contracting = Contains(numbers.lhs_contracting_dimensions(), d);
  const bool is_free = !is_contracting && !Contains(numbers.lhs_batch_dimensions(), d);
  ASSIGN_OR_RETURN(const int64_t group, GroupDimension(ragged, rhs, is_free));
  Dims prefix;
  for (const int64_t p : PrefixDimensions(numbers, lhs.rank(), d)) {
    prefix.push_back(lhs.dim(p));
  }
  bool fits = IsInt(sizes.element_type()) && sizes.rank() >= 1;
  if (fits && sizes.rank() > 1) fits = absl::c_equal(sizes.dims().subspan(0, sizes.rank() - 1), prefix);
  if (!fits || (is_free && sizes.dims().back() != rhs.dim(group))) {
    return Violates("C6", "group sizes", sizes.ToString(),
                    absl::StrCat("integers [g] or [", absl::StrJoin(prefix, ","), ",g]",
                                 is_free ? absl::StrCat(", g = ", rhs.dim(group)) : ""));
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
      return Violates("C4", absl::StrCat("operand ", 2 + side), scale.ToString(),
                      absl::StrCat("a scalar, or sizes that divide those of ", operand.ToString()));
    }
  }
  return MakeArray(ResultType(instruction), DotDims(instruction, numbers, /*group=*/-1));
}

}  // namespace toroid
