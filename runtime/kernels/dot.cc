#include "runtime/kernels/dot.h"

#include <algorithm>
#include <utility>
#include <vector>

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

// Brings an operand into the order [batch, free, contracting], or [batch, contracting, free] if that needs no
// copy; `contracting_last` says which.
absl::Status Prepare(const OpCall& call, const Shape& shape, const Side& side, PrimitiveType type,
                     MeshBuffer* buffer, bool* contracting_last) {
  *contracting_last = InOrder(shape, {&side.batch, &side.free, &side.contracting});
  if (!*contracting_last && !InOrder(shape, {&side.batch, &side.contracting, &side.free})) {
    *contracting_last = true;
    RETURN_IF_ERROR(Permute(call, shape, {&side.batch, &side.free, &side.contracting}, buffer));
  }
  return Convert(call, shape.element_type(), type, shape.NumElements(), buffer);
}

}  // namespace

absl::Status Dot(const OpCall& call, const DotView& numbers, const DotOperand& lhs, const DotOperand& rhs,
                 const Shape& shape, MeshBuffer* result) {
  const Side l(lhs.shape, numbers.lhs_batch(), numbers.lhs_contracting());
  const Side r(rhs.shape, numbers.rhs_batch(), numbers.rhs_contracting());
  PrimitiveType type = GemmType(lhs.shape.element_type(), shape.element_type());
  type = GemmType(rhs.shape.element_type(), type);
  MeshBuffer a = lhs.buffer, b = rhs.buffer;
  bool lhs_k_last, rhs_k_last;
  // Contracting dimensions are paired by position, so both operands keep them in the same order.
  RETURN_IF_ERROR(Prepare(call, lhs.shape, l, type, &a, &lhs_k_last));
  RETURN_IF_ERROR(Prepare(call, rhs.shape, r, type, &b, &rhs_k_last));

  const bool uniform = a.uniform() && b.uniform();
  const int64_t elements = shape.NumElements();
  MeshBuffer out;
  RETURN_IF_ERROR(call.New(elements * ByteWidth(type), uniform, &out));
  GemmBatch gemm;
  gemm.m = l.free_size;
  gemm.n = r.free_size;
  gemm.k = l.contracting_size;
  gemm.lhs_order = lhs_k_last ? MatrixOrder::kRowMajor : MatrixOrder::kColumnMajor;
  gemm.rhs_order = rhs_k_last ? MatrixOrder::kColumnMajor : MatrixOrder::kRowMajor;
  gemm.lhs_stride = gemm.m * gemm.k;
  gemm.rhs_stride = gemm.k * gemm.n;
  const int64_t rows = uniform ? 1 : call.copies();
  const int64_t width = ByteWidth(type);
  if (a.uniform() == b.uniform()) {
    gemm.batch = rows * l.batch_size;
    Gemm(type, gemm, a.data(), b.data(), out.mutable_data());
  } else if (l.batch_size == 1) {
    gemm.batch = rows;
    if (a.uniform()) gemm.lhs_stride = 0;
    if (b.uniform()) gemm.rhs_stride = 0;
    if (b.uniform() && lhs_k_last) {  // Shared weights: the rows of all devices in one product.
      gemm.batch = 1;
      gemm.m *= rows;
    }
    Gemm(type, gemm, a.data(), b.data(), out.mutable_data());
  } else {
    gemm.batch = l.batch_size;
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

absl::Status ExecuteDot(OpCall& call) {
  return Dot(call, DotView(call.instruction()), {call.operand_shape(0), call.operand(0)},
             {call.operand_shape(1), call.operand(1)}, call.shape(), &call.result());
}

}  // namespace toroid
