#include "runtime/kernels/dot.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "runtime/loops/convert_loops.h"
#include "runtime/loops/gemm.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

// One operand: its batch, free and contracting dimensions, and the products of their sizes.
struct Side {
  Dims batch, free, contracting;
  int64_t batch_size = 1, free_size = 1, contracting_size = 1;

  Side(const Shape& shape, absl::Span<const int64_t> batch_dims, absl::Span<const int64_t> contracting_dims)
      : batch(batch_dims.begin(), batch_dims.end()),
        contracting(contracting_dims.begin(), contracting_dims.end()) {
    for (int d = 0; d < shape.rank(); ++d) {
      const bool used =
          std::count(batch.begin(), batch.end(), d) + std::count(contracting.begin(), contracting.end(), d);
      if (!used) free.push_back(d);
    }
    for (const int64_t d : batch) batch_size *= shape.dim(d);
    for (const int64_t d : free) free_size *= shape.dim(d);
    for (const int64_t d : contracting) contracting_size *= shape.dim(d);
  }
};

// Whether the dimensions in this order go forward in memory; dimensions of size 1 do not count.
bool InOrder(const Shape& shape, std::initializer_list<const Dims*> order) {
  int64_t last = -1;
  for (const Dims* dims : order) {
    for (const int64_t d : *dims) {
      if (shape.dim(d) == 1) continue;
      if (d < last) return false;
      last = d;
    }
  }
  return true;
}

absl::Status Permute(const OpCall& call, const Shape& shape, std::initializer_list<const Dims*> order,
                     MeshBuffer* buffer) {
  const int64_t width = ByteWidth(shape.element_type()), row_bytes = shape.NumElements() * width;
  MeshBuffer permuted;
  RETURN_IF_ERROR(call.New(row_bytes, buffer->uniform(), &permuted));
  const Dims strides = RowMajorStrides(shape.dims(), width);
  Dims sizes;
  for (const Dims* dims : order) {
    for (const int64_t d : *dims) sizes.push_back(shape.dim(d));
  }
  const Dims target = RowMajorStrides(sizes, width);
  StridedLoop loop;
  loop.width = width;
  loop.Add(buffer->uniform() ? 1 : call.copies(), row_bytes, row_bytes);
  int position = 0;
  for (const Dims* dims : order) {
    for (const int64_t d : *dims) {
      loop.Add(shape.dim(d), strides[d], target[position]);
      ++position;
    }
  }
  ParallelStridedCopy(std::move(loop), buffer->data(), permuted.mutable_data());
  *buffer = std::move(permuted);
  return absl::OkStatus();
}

absl::Status Convert(const OpCall& call, PrimitiveType from, PrimitiveType to, int64_t elements,
                     MeshBuffer* buffer) {
  if (from == to) return absl::OkStatus();
  MeshBuffer converted;
  RETURN_IF_ERROR(call.New(elements * ByteWidth(to), buffer->uniform(), &converted));
  const ConvertLoop loop = FindConvertLoop(from, to);
  const int64_t n = elements * (buffer->uniform() ? 1 : call.copies());
  ParallelFor(n, 16 << 10, [&](int64_t begin, int64_t end) {
    loop(buffer->data() + begin * ByteWidth(from), converted.mutable_data() + begin * ByteWidth(to),
         end - begin);
  });
  *buffer = std::move(converted);
  return absl::OkStatus();
}

// Whether an operand needs no copy to be in the order [batch, free, contracting].
bool IsContractingLast(const Shape& shape, const Side& side) {
  return InOrder(shape, {&side.batch, &side.free, &side.contracting});
}

// Whether it is in neither of the two orders that products take.
bool NeedsPermutation(const Shape& shape, const Side& side) {
  return !IsContractingLast(shape, side) && !InOrder(shape, {&side.batch, &side.contracting, &side.free});
}

// Brings an operand into the order [batch, free, contracting], or [batch, contracting, free] if that needs no
// copy; `contracting_last` says which.
absl::Status Prepare(const OpCall& call, const Shape& shape, const Side& side, PrimitiveType type,
                     MeshBuffer* buffer, bool* contracting_last) {
  *contracting_last = IsContractingLast(shape, side);
  if (NeedsPermutation(shape, side)) {
    *contracting_last = true;
    RETURN_IF_ERROR(Permute(call, shape, {&side.batch, &side.free, &side.contracting}, buffer));
  }
  return Convert(call, shape.element_type(), type, shape.NumElements(), buffer);
}

GemmBatch SizesOf(const Side& lhs, const Side& rhs) {
  GemmBatch gemm;
  gemm.m = lhs.free_size;
  gemm.n = rhs.free_size;
  gemm.k = lhs.contracting_size;
  return gemm;
}

// The type in which the product of two arrays is summed.
PrimitiveType SumType(const Shape& lhs, const Shape& rhs, const Shape& shape) {
  return GemmType(rhs.element_type(), GemmType(lhs.element_type(), shape.element_type()));
}

// What Prepare allocates: at its peak, and what stays.
struct PreparedBytes {
  int64_t peak = 0, left = 0;
};

PreparedBytes BytesPrepared(const Shape& shape, const Side& side, PrimitiveType type, int64_t rows) {
  const int64_t elements = SaturatingMultiply(shape.NumElements(), rows);
  PreparedBytes bytes;
  if (NeedsPermutation(shape, side)) {
    bytes.peak = bytes.left = SaturatingMultiply(elements, ByteWidth(shape.element_type()));
  }
  if (shape.element_type() != type) {
    bytes.left = SaturatingMultiply(elements, ByteWidth(type));
    bytes.peak = SaturatingAdd(bytes.peak, bytes.left);
  }
  return bytes;
}

}  // namespace

absl::Status Dot(const OpCall& call, const DotView& numbers, const DotOperand& lhs, const DotOperand& rhs,
                 const Shape& shape, MeshBuffer* result) {
  const Side l(lhs.shape, numbers.lhs_batch(), numbers.lhs_contracting());
  const Side r(rhs.shape, numbers.rhs_batch(), numbers.rhs_contracting());
  const PrimitiveType type = SumType(lhs.shape, rhs.shape, shape);
  MeshBuffer a = lhs.buffer, b = rhs.buffer;
  bool lhs_k_last, rhs_k_last;
  // Contracting dimensions are paired by position, so both operands keep them in the same order.
  RETURN_IF_ERROR(Prepare(call, lhs.shape, l, type, &a, &lhs_k_last));
  RETURN_IF_ERROR(Prepare(call, rhs.shape, r, type, &b, &rhs_k_last));

  const bool uniform = a.uniform() && b.uniform();
  const int64_t elements = shape.NumElements();
  MeshBuffer out;
  RETURN_IF_ERROR(call.New(elements * ByteWidth(type), uniform, &out));
  GemmBatch gemm = SizesOf(l, r);
  gemm.lhs_order = lhs_k_last ? MatrixOrder::kRowMajor : MatrixOrder::kColumnMajor;
  gemm.rhs_order = rhs_k_last ? MatrixOrder::kColumnMajor : MatrixOrder::kRowMajor;
  gemm.lhs_stride = gemm.m * gemm.k;
  gemm.rhs_stride = gemm.k * gemm.n;
  const int64_t rows = uniform ? 1 : call.copies();
  const int64_t width = ByteWidth(type);
  if (a.uniform() == b.uniform()) {
    gemm.batch = rows * l.batch_size;
    RETURN_IF_ERROR(call.CheckMemory(GemmScratchBytes(type, gemm)));
    Gemm(type, gemm, a.data(), b.data(), out.mutable_data());
  } else if (l.batch_size == 1) {
    gemm.batch = rows;
    if (a.uniform()) gemm.lhs_stride = 0;
    if (b.uniform()) gemm.rhs_stride = 0;
    if (b.uniform() && lhs_k_last) {  // Shared weights: the rows of all devices in one product.
      gemm.batch = 1;
      gemm.m *= rows;
    }
    RETURN_IF_ERROR(call.CheckMemory(GemmScratchBytes(type, gemm)));
    Gemm(type, gemm, a.data(), b.data(), out.mutable_data());
  } else {
    gemm.batch = l.batch_size;
    RETURN_IF_ERROR(call.CheckMemory(GemmScratchBytes(type, gemm)));
    for (int64_t row = 0; row < rows; ++row) {
      Gemm(type, gemm, a.data() + (a.uniform() ? 0 : row * l.batch_size * gemm.lhs_stride * width),
           b.data() + (b.uniform() ? 0 : row * l.batch_size * gemm.rhs_stride * width),
           out.mutable_data() + row * elements * width);
    }
  }
  // Unsigned sums have the bits of signed sums.
  RETURN_IF_ERROR(Convert(call, type, shape.element_type(), elements, &out));
  *result = std::move(out);
  return absl::OkStatus();
}

int64_t DotScratchBytes(const Instruction& dot, absl::Span<const int64_t> rows) {
  const DotView numbers(dot);
  const Shape &lhs = dot.operand(0)->shape(), &rhs = dot.operand(1)->shape(), &shape = dot.shape();
  const PrimitiveType type = SumType(lhs, rhs, shape);
  const Side lhs_side(lhs, numbers.lhs_batch(), numbers.lhs_contracting());
  const Side rhs_side(rhs, numbers.rhs_batch(), numbers.rhs_contracting());
  const PreparedBytes l = BytesPrepared(lhs, lhs_side, type, rows[0]);
  const PreparedBytes r = BytesPrepared(rhs, rhs_side, type, rows[1]);
  const int64_t most_rows = std::max(rows[0], rows[1]);
  GemmBatch gemm = SizesOf(lhs_side, rhs_side);
  gemm.batch = SaturatingMultiply(lhs_side.batch_size, most_rows);
  const int64_t result = SaturatingMultiply(shape.ByteSize(), most_rows);
  int64_t sums = 0;  // In another type than the result.
  if (shape.element_type() != type) {
    sums = SaturatingMultiply(SaturatingMultiply(shape.NumElements(), ByteWidth(type)), most_rows);
  }
  const int64_t preparing = std::max(l.peak, SaturatingAdd(l.left, r.peak)) - result;
  const int64_t prepared = SaturatingAdd(l.left, r.left);
  // While the product is made, and while its sums are converted.
  const int64_t summing =
      SaturatingAdd(prepared, (sums > 0 ? sums - result : 0) + GemmScratchBytes(type, gemm));
  return std::max(preparing, std::max(summing, SaturatingAdd(prepared, sums)));
}

absl::Status ExecuteDot(OpCall& call) {
  return Dot(call, DotView(call.instruction()), {call.operand_shape(0), call.operand(0)},
             {call.operand_shape(1), call.operand(1)}, call.shape(), &call.result());
}

}  // namespace toroid
