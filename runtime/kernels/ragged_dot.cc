#include "runtime/kernels/ragged_dot.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/kernels/dot.h"
#include "runtime/loops/convert_loops.h"
#include "runtime/loops/index_values.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/mesh/mesh_rows.h"

namespace toroid {
namespace {

bool Contains(const Dims& dims, int64_t d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); }
int PositionOf(const Dims& dims, int64_t d) {
  return static_cast<int>(std::find(dims.begin(), dims.end(), d) - dims.begin());
}

struct RaggedDims {
  explicit RaggedDims(const OpCall& call)
      : numbers(call.attrs().ragged_dot_dimension_numbers().dot_dimension_numbers()),
        ragged(call.attrs().ragged_dot_dimension_numbers().lhs_ragged_dimensions(0)),
        batch(ToDims(numbers.lhs_batch_dimensions())),
        contracting(ToDims(numbers.lhs_contracting_dimensions())) {
    const Shape& lhs = call.operand_shape(0);
    for (int d = 0; d < lhs.rank(); ++d) {
      if (!Contains(batch, d) && !Contains(contracting, d)) free.push_back(d);
    }
    if (call.operand_shape(2).rank() <= 1) return;
    prefix = batch;
    for (const int64_t d : Contains(contracting, ragged) ? contracting : free) {
      if (d == ragged) break;
      prefix.push_back(d);
    }
  }

  const xla::DotDimensionNumbers& numbers;
  int64_t ragged;
  Dims batch, contracting, free;  // Dimensions of the lhs.
  Dims prefix;                    // Dimensions of the lhs that group sizes depend on.
};

// The positions along the ragged dimension that are in group g, for each coordinate of the prefix dimensions.
class Membership {
 public:
  Membership(const OpCall& call, const RaggedDims& dims, int64_t row) {
    const Shape& sizes = call.operand_shape(2);
    groups_ = sizes.dim(sizes.rank() - 1);
    std::vector<int64_t> values(sizes.NumElements());
    ReadIndexValues(sizes.element_type(), call.data(2) + (call.uniform(2) ? 0 : row * sizes.ByteSize()),
                    values.size(), values.data());
    const int64_t size = call.operand_shape(0).dim(dims.ragged);
    int64_t end = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (i % groups_ == 0) end = 0;
      begin_.push_back(end);
      end += std::clamp<int64_t>(values[i], 0, size - end);
      end_.push_back(end);
    }
  }

  bool In(int64_t prefix, int64_t group, int64_t position) const {
    const int64_t i = prefix * groups_ + group;
    return position >= begin_[i] && position < end_[i];
  }

 private:
  int64_t groups_;
  std::vector<int64_t> begin_, end_;
};

// Calls f(element, in group) for every element of an array whose dimension j is dimension lhs_dim[j] of the
// lhs (-1: none).
template <typename F>
void ForEachMember(const Shape& shape, const Dims& lhs_dim, const RaggedDims& dims, const Shape& lhs,
                   const Membership& members, int64_t group, F&& f) {
  Dims index(shape.rank(), 0);
  for (int64_t i = 0; i < shape.NumElements(); ++i) {
    int64_t position = 0, prefix = 0;
    for (const int64_t d : dims.prefix) {
      prefix = prefix * lhs.dim(d) + index[PositionOf(lhs_dim, d)];
    }
    position = index[PositionOf(lhs_dim, dims.ragged)];
    f(i, members.In(prefix, group, position));
    for (int d = shape.rank() - 1; d >= 0; --d) {
      if (++index[d] < shape.dim(d)) break;
      index[d] = 0;
    }
  }
}

// A copy of operand i, with one row per device, that is zero outside the group.
absl::Status MaskOperand(const OpCall& call, int i, const Dims& lhs_dim, const RaggedDims& dims,
                         const std::vector<Membership>& members, int64_t group, MeshBuffer* masked) {
  const Shape& shape = call.operand_shape(i);
  const int64_t width = ByteWidth(shape.element_type()), rows = static_cast<int64_t>(members.size());
  RETURN_IF_ERROR(call.New(rows * shape.ByteSize(), /*uniform=*/true, masked));
  std::memset(masked->mutable_data(), 0, masked->bytes());
  masked->set_uniform(call.AllUniform());
  for (int64_t row = 0; row < rows; ++row) {
    const char* in = call.data(i) + (call.uniform(i) ? 0 : row * shape.ByteSize());
    char* out = masked->mutable_data() + row * shape.ByteSize();
    ForEachMember(shape, lhs_dim, dims, call.operand_shape(0), members[row], group,
                  [&](int64_t e, bool in_group) {
                    if (in_group) std::memcpy(out + e * width, in + e * width, width);
                  });
  }
  return absl::OkStatus();
}

absl::Status RaggedContracting(OpCall& call, const RaggedDims& dims, const std::vector<Membership>& members,
                               int64_t groups) {
  for (const int64_t d : dims.prefix) {
    if (Contains(dims.free, d))
      return absl::UnimplementedError("group sizes along free dimensions of the lhs");
  }
  // Maps dimensions of the operands to dimensions of the lhs.
  Dims lhs_dim, rhs_dim(call.operand_shape(1).rank(), -1);
  for (int d = 0; d < call.operand_shape(0).rank(); ++d) lhs_dim.push_back(d);
  for (int i = 0; i < dims.numbers.rhs_batch_dimensions_size(); ++i) {
    rhs_dim[dims.numbers.rhs_batch_dimensions(i)] = dims.batch[i];
  }
  for (int i = 0; i < dims.numbers.rhs_contracting_dimensions_size(); ++i) {
    rhs_dim[dims.numbers.rhs_contracting_dimensions(i)] = dims.contracting[i];
  }
  Shape one = call.shape();
  one.set_dims(call.shape().dims().subspan(1));
  const int64_t rows = static_cast<int64_t>(members.size());
  MeshBuffer result;
  RETURN_IF_ERROR(call.New(call.result_bytes(), call.AllUniform(), &result));
  for (int64_t g = 0; g < groups; ++g) {
    MeshBuffer lhs, rhs, part;
    RETURN_IF_ERROR(MaskOperand(call, 0, lhs_dim, dims, members, g, &lhs));
    RETURN_IF_ERROR(MaskOperand(call, 1, rhs_dim, dims, members, g, &rhs));
    RETURN_IF_ERROR(Dot(call, DotView(dims.numbers), {call.operand_shape(0), lhs},
                        {call.operand_shape(1), rhs}, one, &part));
    for (int64_t row = 0; row < rows; ++row) {
      std::memcpy(result.mutable_data() + row * call.result_bytes() + g * one.ByteSize(),
                  part.data() + row * one.ByteSize(), one.ByteSize());
    }
  }
  call.result() = std::move(result);
  return absl::OkStatus();
}

absl::Status RaggedFree(OpCall& call, const RaggedDims& dims, const std::vector<Membership>& members,
                        int64_t groups) {
  const Shape& rhs = call.operand_shape(1);
  const auto& ragged = call.attrs().ragged_dot_dimension_numbers();
  if (ragged.rhs_group_dimensions_size() != 1)
    return absl::InvalidArgumentError("needs one group dimension of the rhs");
  const int64_t group_dim = ragged.rhs_group_dimensions(0);
  // The rhs of one group has no group dimension.
  Dims rhs_dims;
  for (int d = 0; d < rhs.rank(); ++d) {
    if (d != group_dim) rhs_dims.push_back(rhs.dim(d));
  }
  const Shape one(rhs.element_type(), rhs_dims);
  xla::DotDimensionNumbers numbers = dims.numbers;
  for (auto& d : *numbers.mutable_rhs_batch_dimensions()) d -= d > group_dim;
  for (auto& d : *numbers.mutable_rhs_contracting_dimensions()) d -= d > group_dim;
  // Maps dimensions of the result to dimensions of the lhs.
  Dims lhs_dim = dims.batch;
  lhs_dim.insert(lhs_dim.end(), dims.free.begin(), dims.free.end());
  lhs_dim.resize(call.shape().rank(), -1);

  const int64_t width = ByteWidth(rhs.element_type()), rows = static_cast<int64_t>(members.size());
  const int64_t result_width = ByteWidth(call.shape().element_type());
  int64_t outer = 1, inner = width;
  for (int d = 0; d < group_dim; ++d) outer *= rhs.dim(d);
  for (int d = group_dim + 1; d < rhs.rank(); ++d) inner *= rhs.dim(d);
  MeshBuffer result;
  RETURN_IF_ERROR(call.New(call.result_bytes(), call.AllUniform(), &result));
  std::memset(result.mutable_data(), 0, result.bytes());
  for (int64_t g = 0; g < groups; ++g) {
    MeshBuffer weights, part;
    RETURN_IF_ERROR(call.New(one.ByteSize(), call.uniform(1), &weights));
    StridedLoop loop;
    loop.width = width;
    loop.Add(call.rows(1) * outer, groups * inner, inner);
    loop.Add(inner / width, width, width);
    ParallelStridedCopy(std::move(loop), call.data(1) + g * inner, weights.mutable_data());
    RETURN_IF_ERROR(Dot(call, DotView(numbers), {call.operand_shape(0), call.operand(0)}, {one, weights},
                        call.shape(), &part));
    for (int64_t row = 0; row < rows; ++row) {
      const char* in = part.data() + (part.uniform() ? 0 : row * call.result_bytes());
      char* out = result.mutable_data() + row * call.result_bytes();
      ForEachMember(call.shape(), lhs_dim, dims, call.operand_shape(0), members[row], g,
                    [&](int64_t e, bool in_group) {
                      if (in_group) std::memcpy(out + e * result_width, in + e * result_width, result_width);
                    });
    }
  }
  call.result() = std::move(result);
  return absl::OkStatus();
}

// operand * scale in f32, one scale per block.
absl::Status ApplyScale(const OpCall& call, int operand, int scale, MeshBuffer* scaled) {
  const Shape& shape = call.operand_shape(operand);
  const Shape& scales = call.operand_shape(scale);
  const bool unit = scales.rank() == 0;
  const bool uniform = call.uniform(operand) && (unit || call.uniform(scale));
  RETURN_IF_ERROR(call.New(shape.NumElements() * sizeof(float), uniform, scaled));
  std::vector<float> factors(scales.NumElements());
  for (int64_t row = 0; row < (uniform ? 1 : call.copies()); ++row) {
    float* out = reinterpret_cast<float*>(scaled->mutable_data()) + row * shape.NumElements();
    FindConvertLoop(shape.element_type(), xla::F32)(
        call.data(operand) + (call.uniform(operand) ? 0 : row * shape.ByteSize()), out, shape.NumElements());
    if (unit) continue;
    FindConvertLoop(scales.element_type(), xla::F32)(
        call.data(scale) + (call.uniform(scale) ? 0 : row * scales.ByteSize()), factors.data(),
        factors.size());
    Dims index(shape.rank(), 0);
    for (int64_t i = 0; i < shape.NumElements(); ++i) {
      int64_t at = 0;
      for (int d = 0; d < shape.rank(); ++d) {
        at = at * scales.dim(d) +
             index[d] / std::max<int64_t>(1, shape.dim(d) / std::max<int64_t>(1, scales.dim(d)));
      }
      out[i] *= factors[at];
      for (int d = shape.rank() - 1; d >= 0; --d) {
        if (++index[d] < shape.dim(d)) break;
        index[d] = 0;
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ExecuteRaggedDot(OpCall& call) {
  const auto& ragged = call.attrs().ragged_dot_dimension_numbers();
  if (ragged.lhs_ragged_dimensions_size() != 1)
    return absl::InvalidArgumentError("needs one ragged dimension");
  const RaggedDims dims(call);
  if (Contains(dims.batch, dims.ragged)) {
    RETURN_IF_ERROR(Dot(call, DotView(dims.numbers), {call.operand_shape(0), call.operand(0)},
                        {call.operand_shape(1), call.operand(1)}, call.shape(), &call.result()));
    // The result is uniform if all operands are.
    return call.AllUniform() ? absl::OkStatus() : SpreadRows(call.copies(), &call.result());
  }
  const Shape& sizes = call.operand_shape(2);
  if (sizes.rank() < 1) return absl::InvalidArgumentError("group sizes are a list");
  const int64_t groups = sizes.dim(sizes.rank() - 1);
  std::vector<Membership> members;
  for (int64_t row = 0; row < (call.AllUniform() ? 1 : call.copies()); ++row)
    members.emplace_back(call, dims, row);
  return Contains(dims.contracting, dims.ragged) ? RaggedContracting(call, dims, members, groups)
                                                 : RaggedFree(call, dims, members, groups);
}

absl::Status ExecuteScaledDot(OpCall& call) {
  for (int i = 0; i < 2; ++i) {
    const Shape& shape = call.operand_shape(i);
    const Shape& scale = call.operand_shape(i + 2);
    if (scale.rank() != 0 && scale.rank() != shape.rank()) {
      return absl::InvalidArgumentError(absl::StrCat("scale ", scale.ToString(), " of ", shape.ToString()));
    }
  }
  MeshBuffer lhs, rhs;
  RETURN_IF_ERROR(ApplyScale(call, 0, 2, &lhs));
  RETURN_IF_ERROR(ApplyScale(call, 1, 3, &rhs));
  const Shape lhs_shape(xla::F32, call.operand_shape(0).dims()),
      rhs_shape(xla::F32, call.operand_shape(1).dims());
  return Dot(call, DotView(call.instruction()), {lhs_shape, lhs}, {rhs_shape, rhs}, call.shape(),
             &call.result());
}

}  // namespace toroid
