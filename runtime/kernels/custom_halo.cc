#include "runtime/kernels/custom_halo.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/kernels/custom_config.h"
#include "runtime/loops/strided_copy.h"

namespace toroid {
namespace {

struct Options {
  absl::string_view config;
  int dimension = 0;

  absl::StatusOr<int64_t> Amount(absl::string_view key) const {
    ASSIGN_OR_RETURN(const int64_t amount, IntOption(config, key));
    if (amount >= 0 && amount <= INT32_MAX) return amount;
    return absl::InvalidArgumentError(absl::StrCat(key, "=", amount, "; use 0 or more, below 2^31"));
  }
};

absl::StatusOr<Options> ReadOptions(const OpCall& call) {
  Options options{call.instruction().backend_config(), 0};
  if (call.num_operands() < 1 || !call.operand_shape(0).IsArray())
    return absl::InvalidArgumentError("takes an array");
  ASSIGN_OR_RETURN(const int64_t dimension, IntOption(options.config, "dimension"));
  if (dimension < 0 || dimension >= call.operand_shape(0).rank()) {
    return absl::InvalidArgumentError(
        absl::StrCat("dimension ", dimension, " of ", call.operand_shape(0).ToString()));
  }
  options.dimension = static_cast<int>(dimension);
  return options;
}

// A result of shape `shape`. Dimension d holds x[source[i]] at i, or `filling` if source[i] is -1, then
// `filling` at `beyond` more positions. All other dimensions are x's.
absl::Status TakeAlong(OpCall& call, const Shape& shape, int d, absl::Span<const int64_t> source,
                       const char* filling, MeshBuffer* result, int64_t beyond = 0) {
  const Shape& x = call.operand_shape(0);
  Shape expected(x.element_type(), x.dims());
  expected.set_dim(d, static_cast<int64_t>(source.size()) + beyond);
  if (!shape.IsArray() || !shape.SameDims(expected) || shape.element_type() != x.element_type()) {
    return absl::InvalidArgumentError(
        absl::StrCat("gives ", expected.ToString(), ", not ", shape.ToString()));
  }
  const int64_t width = ByteWidth(x.element_type());
  int64_t outer = call.rows(0), inner = width;
  for (int i = 0; i < d; ++i) outer *= x.dim(i);
  for (int i = d + 1; i < x.rank(); ++i) inner *= x.dim(i);
  RETURN_IF_ERROR(call.New(shape.ByteSize(), call.uniform(0), result));
  char* out = result->mutable_data();
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t i : source) {
      if (i >= 0) {
        std::memcpy(out, call.data(0) + (o * x.dim(d) + i) * inner, inner);
      } else {
        Fill(out, filling, width, inner / width);
      }
      out += inner;
    }
    if (beyond > 0) Fill(out, filling, width, beyond * (inner / width));
    out += beyond * inner;
  }
  return absl::OkStatus();
}

// The source positions for x rotated by `right` elements toward higher indices.
std::vector<int64_t> Rotated(int64_t n, int64_t right) {
  std::vector<int64_t> source;
  for (int64_t i = 0; i < n; ++i) source.push_back(((i - right % n) % n + n) % n);
  return source;
}

absl::Status CheckCount(const OpCall& call, int64_t count) {
  if (call.shape().IsTuple() && static_cast<int64_t>(call.shape().tuple_shapes().size()) == count)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("gives a tuple of ", count, ", not ", call.shape().ToString()));
}

}  // namespace

absl::Status RotateRight(OpCall& call) {
  ASSIGN_OR_RETURN(const Options options, ReadOptions(call));
  ASSIGN_OR_RETURN(const int64_t amount, IntOption(options.config, "amount"));
  MeshBuffer result;
  RETURN_IF_ERROR(TakeAlong(call, call.shape(), options.dimension,
                            Rotated(call.operand_shape(0).dim(options.dimension), amount), nullptr, &result));
  call.result() = std::move(result);
  return absl::OkStatus();
}

absl::Status MultiRotate(OpCall& call) {
  ASSIGN_OR_RETURN(const Options options, ReadOptions(call));
  ASSIGN_OR_RETURN(const int64_t left, options.Amount("left_amount"));
  ASSIGN_OR_RETURN(const int64_t right, options.Amount("right_amount"));
  RETURN_IF_ERROR(CheckCount(call, left + 1 + right));
  MeshBuffer tuple = MeshBuffer::Tuple(static_cast<int>(left + 1 + right));
  for (int64_t by = -left; by <= right; ++by) {
    const int64_t i = by + left;
    RETURN_IF_ERROR(TakeAlong(call, call.shape().tuple_shape(i), options.dimension,
                              Rotated(call.operand_shape(0).dim(options.dimension), by), nullptr,
                              &tuple.mutable_element(i)));
  }
  call.result() = std::move(tuple);
  return absl::OkStatus();
}

absl::Status MultiSlice(OpCall& call) {
  ASSIGN_OR_RETURN(const Options options, ReadOptions(call));
  ASSIGN_OR_RETURN(const int64_t amount, options.Amount("amount"));
  RETURN_IF_ERROR(CheckCount(call, amount + 1));
  const Shape& x = call.operand_shape(0);
  const auto starts = FindOption(options.config, "start_indices"),
             limits = FindOption(options.config, "limit_indices");
  const auto strides = FindOption(options.config, "strides");
  const size_t rank = x.rank();
  if (!starts || !limits || starts->size() != rank || limits->size() != rank ||
      (strides && strides->size() != rank)) {
    return absl::InvalidArgumentError(
        absl::StrCat("start_indices and limit_indices need ", rank, " numbers each"));
  }
  MeshBuffer tuple = MeshBuffer::Tuple(static_cast<int>(amount + 1));
  for (int k = 0; k <= amount; ++k) {
    const Shape& shape = call.shape().tuple_shape(k);
    Shape expected(x.element_type(), x.dims());
    const int64_t width = ByteWidth(x.element_type());
    const Dims from = RowMajorStrides(x.dims(), width);
    StridedLoop loop;
    loop.width = width;
    loop.Add(call.rows(0), x.ByteSize(), shape.ByteSize());
    int64_t offset = 0;
    Dims steps;
    for (int d = 0; d < x.rank(); ++d) {
      const int64_t shift = d == options.dimension ? k : 0, step = strides ? (*strides)[d] : 1;
      int64_t start = (*starts)[d], limit = (*limits)[d];
      if (start < 0 || limit < start || limit > x.dim(d) - shift || step < 1) {
        return absl::InvalidArgumentError(absl::StrCat("slice [", start, ":", limit, ":", step, "] + ", shift,
                                                       " of dimension ", d, " of ", x.ToString()));
      }
      start += shift, limit += shift;
      const int64_t size = limit == start ? 0 : 1 + (limit - start - 1) / step;
      expected.set_dim(d, size);
      offset += start * from[d];
      steps.push_back(size > 1 ? step : 1);
    }
    if (!shape.IsArray() || !shape.SameDims(expected) || shape.element_type() != x.element_type()) {
      return absl::InvalidArgumentError(
          absl::StrCat("gives ", expected.ToString(), ", not ", shape.ToString()));
    }
    const Dims to = RowMajorStrides(shape.dims(), width);
    for (int d = 0; d < x.rank(); ++d) loop.Add(shape.dim(d), from[d] * steps[d], to[d]);
    MeshBuffer& part = tuple.mutable_element(k);
    RETURN_IF_ERROR(call.New(shape.ByteSize(), call.uniform(0), &part));
    if (shape.NumElements() > 0)
      ParallelStridedCopy(std::move(loop), call.data(0) + offset, part.mutable_data());
  }
  call.result() = std::move(tuple);
  return absl::OkStatus();
}

absl::Status MultiPad(OpCall& call) {
  ASSIGN_OR_RETURN(const Options options, ReadOptions(call));
  ASSIGN_OR_RETURN(const int64_t amount, options.Amount("amt"));
  RETURN_IF_ERROR(CheckCount(call, amount + 1));
  const Shape& x = call.operand_shape(0);
  const bool has_value = call.num_operands() == 2 && call.operand_shape(1).IsScalar() &&
                         call.operand_shape(1).element_type() == x.element_type() && call.uniform(1);
  if (call.num_operands() != 1 && !has_value)
    return absl::InvalidArgumentError("operand 1 is the scalar to pad with");
  const char zeros[16] = {};
  const int64_t n = x.dim(options.dimension);
  MeshBuffer tuple = MeshBuffer::Tuple(static_cast<int>(amount + 1));
  for (int k = 0; k <= amount; ++k) {
    const Shape& shape = call.shape().tuple_shape(k);
    if (shape.rank() != x.rank() || shape.dim(options.dimension) < n + k) {
      return absl::InvalidArgumentError(
          absl::StrCat(shape.ToString(), " has no room for ", n, " + ", k, " elements"));
    }
    std::vector<int64_t> source(n + k, -1);
    for (int64_t i = 0; i < n; ++i) source[k + i] = i;
    RETURN_IF_ERROR(TakeAlong(call, shape, options.dimension, source, has_value ? call.data(1) : zeros,
                              &tuple.mutable_element(k), shape.dim(options.dimension) - n - k));
  }
  call.result() = std::move(tuple);
  return absl::OkStatus();
}

absl::Status Wrap(OpCall& call) {
  ASSIGN_OR_RETURN(const Options options, ReadOptions(call));
  ASSIGN_OR_RETURN(const int64_t left, options.Amount("left_amount"));
  ASSIGN_OR_RETURN(const int64_t right, options.Amount("right_amount"));
  const int64_t n = call.operand_shape(0).dim(options.dimension);
  if (left > n || right > n)
    return absl::InvalidArgumentError(absl::StrCat("halos of ", left, " and ", right, " of ", n));
  std::vector<int64_t> source;
  for (int64_t i = -left; i < n + right; ++i) source.push_back((i + n) % n);
  MeshBuffer result;
  RETURN_IF_ERROR(TakeAlong(call, call.shape(), options.dimension, source, nullptr, &result));
  call.result() = std::move(result);
  return absl::OkStatus();
}

}  // namespace toroid
