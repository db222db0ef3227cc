#include "runtime/dynamic/dynamic_size.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/loops/strided_copy.h"

namespace toroid {
namespace {

absl::Status Allocate(int64_t bytes, bool uniform, MeshBuffer* buffer) {
  *buffer = MeshBuffer::Array(bytes, uniform);
  if (!buffer->empty()) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("out of memory (", bytes, " bytes)"));
}

// Copies the elements of `shape` between arrays that have room for `from` and `to`, row by row.
void CopyPart(const Shape& shape, const Shape& from, const Shape& to, const char* source, char* target,
              int64_t rows) {
  if (shape.NumElements() == 0) return;
  const int64_t width = ByteWidth(shape.element_type());
  const Dims source_strides = RowMajorStrides(from.dims(), width),
             target_strides = RowMajorStrides(to.dims(), width);
  StridedLoop loop;
  loop.width = width;
  loop.Add(rows, from.ByteSize(), to.ByteSize());
  for (int d = 0; d < shape.rank(); ++d) loop.Add(shape.dim(d), source_strides[d], target_strides[d]);
  ParallelStridedCopy(std::move(loop), source, target);
}

int32_t Size32(const OpCall& call, int operand, int64_t row) {
  int32_t size;
  std::memcpy(&size, call.data(operand) + (call.uniform(operand) ? 0 : row * sizeof(size)), sizeof(size));
  return size;
}

}  // namespace

Shape RunTimeShape(const MeshBuffer& buffer, const Shape& bound, int64_t row) {
  if (!bound.IsArray()) return bound;
  Shape shape(bound.element_type(), bound.dims());
  const MeshBuffer* sizes = buffer.is_tuple() ? nullptr : buffer.sizes();
  if (sizes == nullptr) return shape;
  const int32_t* size =
      reinterpret_cast<const int32_t*>(sizes->data()) + (sizes->uniform() ? 0 : row * shape.rank());
  for (int d = 0; d < shape.rank(); ++d) {
    if (bound.IsDynamic(d)) shape.set_dim(d, size[d]);
  }
  return shape;
}

absl::Status PadToBound(const MeshBuffer& buffer, const Shape& shape, const Shape& bound, int64_t rows,
                        MeshBuffer* result) {
  RETURN_IF_ERROR(Allocate(rows * bound.ByteSize(), buffer.uniform(), result));
  if (!shape.SameDims(bound)) std::memset(result->mutable_data(), 0, result->bytes());
  CopyPart(shape, shape, bound, buffer.data(), result->mutable_data(), rows);
  if (!bound.IsDynamic()) return absl::OkStatus();
  MeshBuffer sizes = MeshBuffer::Array(shape.rank() * sizeof(int32_t), /*uniform=*/true);
  for (int d = 0; d < shape.rank(); ++d)
    reinterpret_cast<int32_t*>(sizes.mutable_data())[d] = static_cast<int32_t>(shape.dim(d));
  result->set_sizes(std::move(sizes));
  return absl::OkStatus();
}

absl::Status CutValidPart(const MeshBuffer& buffer, const Shape& bound, const Shape& shape, int64_t rows,
                          MeshBuffer* result) {
  RETURN_IF_ERROR(Allocate(rows * shape.ByteSize(), buffer.uniform(), result));
  CopyPart(shape, bound, shape, buffer.data(), result->mutable_data(), rows);
  return absl::OkStatus();
}

absl::Status CopyArray(const MeshBuffer& buffer, MeshBuffer* copy) {
  RETURN_IF_ERROR(Allocate(buffer.bytes(), buffer.uniform(), copy));
  std::memcpy(copy->mutable_data(), buffer.data(), buffer.bytes());
  return absl::OkStatus();
}

absl::Status ExecuteGetDimensionSize(OpCall& call) {
  const int64_t d = call.instruction().dimension();
  const Shape& bound = call.operand_shape(0);
  const MeshBuffer* sizes = bound.IsDynamic(d) ? call.operand(0).sizes() : nullptr;
  const bool uniform = sizes == nullptr || sizes->uniform();
  MeshBuffer known = sizes == nullptr ? MeshBuffer() : *sizes;
  RETURN_IF_ERROR(call.NewResult(uniform));
  int32_t* out = reinterpret_cast<int32_t*>(call.result().mutable_data());
  for (int64_t row = 0; row < (uniform ? 1 : call.copies()); ++row) {
    out[row] = known.empty() ? static_cast<int32_t>(bound.dim(d))
                             : reinterpret_cast<const int32_t*>(known.data())[row * bound.rank() + d];
  }
  return absl::OkStatus();
}

absl::Status ExecuteSetDimensionSize(OpCall& call) {
  const Shape& bound = call.operand_shape(0);
  const int64_t d = call.instruction().dimension();
  const bool dynamic = call.shape().IsDynamic(d);
  for (int64_t row = 0; row < call.rows(1); ++row) {
    const int32_t size = Size32(call, 1, row);
    if (size < 0 || size > bound.dim(d) || (!dynamic && size != bound.dim(d))) {
      return absl::InvalidArgumentError(
          absl::StrCat("run-time size ", size, " of dimension ", d, " of ", bound.ToString(),
                       dynamic ? "; use 0 to its bound" : "; declare the result dynamic"));
    }
  }
  const MeshBuffer* old = call.operand(0).sizes();
  const bool uniform = call.uniform(1) && (old == nullptr || old->uniform());
  MeshBuffer sizes;
  RETURN_IF_ERROR(call.New(bound.rank() * sizeof(int32_t), uniform, &sizes));
  for (int64_t row = 0; row < (uniform ? 1 : call.copies()); ++row) {
    const Shape shape = RunTimeShape(call.operand(0), bound, row);
    int32_t* out = reinterpret_cast<int32_t*>(sizes.mutable_data()) + row * bound.rank();
    for (int i = 0; i < bound.rank(); ++i)
      out[i] = i == d ? Size32(call, 1, row) : static_cast<int32_t>(shape.dim(i));
  }
  MeshBuffer result = call.TakeOperand(0);
  if (!result.unique()) {
    MeshBuffer copy;
    RETURN_IF_ERROR(CopyArray(result, &copy));
    result = std::move(copy);
  }
  result.set_sizes(call.shape().IsDynamic() ? std::move(sizes) : MeshBuffer());
  call.result() = std::move(result);
  return absl::OkStatus();
}

absl::Status ExecuteDynamicReshape(OpCall& call) {
  const Shape& bound = call.shape();
  bool uniform =
      call.AllUniform() && (call.operand(0).sizes() == nullptr || call.operand(0).sizes()->uniform());
  const int64_t rows = uniform ? 1 : call.copies();
  MeshBuffer result;
  RETURN_IF_ERROR(call.New(bound.ByteSize(), uniform, &result));
  std::memset(result.mutable_data(), 0, result.bytes());
  MeshBuffer sizes;
  RETURN_IF_ERROR(call.New(bound.rank() * sizeof(int32_t), uniform, &sizes));
  for (int64_t row = 0; row < rows; ++row) {
    const Shape from = RunTimeShape(call.operand(0), call.operand_shape(0), row);
    Shape to(bound.element_type(), bound.dims());
    for (int d = 0; d < bound.rank(); ++d) {
      const int32_t size = Size32(call, d + 1, row);
      if (size < 0 || size > bound.dim(d) || (!bound.IsDynamic(d) && size != bound.dim(d))) {
        return absl::InvalidArgumentError(
            absl::StrCat("run-time size ", size, " of dimension ", d, " of ", bound.ToString()));
      }
      to.set_dim(d, size);
      reinterpret_cast<int32_t*>(sizes.mutable_data())[row * bound.rank() + d] = size;
    }
    if (from.NumElements() != to.NumElements()) {
      return absl::InvalidArgumentError(absl::StrCat(from.ToString(), " reshaped to ", to.ToString(),
                                                     " at run time: the element counts differ"));
    }
    RETURN_IF_ERROR(call.CheckMemory(from.ByteSize()));
    std::vector<char> compact(from.ByteSize());
    CopyPart(from, call.operand_shape(0), from,
             call.data(0) + (call.uniform(0) ? 0 : row * call.operand_shape(0).ByteSize()), compact.data(),
             1);
    CopyPart(to, to, bound, compact.data(), result.mutable_data() + row * bound.ByteSize(), 1);
  }
  if (bound.IsDynamic()) result.set_sizes(std::move(sizes));
  call.result() = std::move(result);
  return absl::OkStatus();
}

absl::Status PadToStatic(OpCall& call) {
  const Shape bound = call.num_operands() == 1 ? call.operand_shape(0) : Shape();
  const auto shapes = call.shape().tuple_shapes();
  bool fits = bound.IsArray() && static_cast<int>(shapes.size()) == bound.rank() + 1 &&
              shapes[0].SameDims(bound) && shapes[0].element_type() == bound.element_type();
  for (int d = 0; fits && d < bound.rank(); ++d) fits = shapes[d + 1].Compatible(Shape(xla::S32, {}));
  if (!fits) {
    return absl::InvalidArgumentError("PadToStatic gives (array, one s32[] size per dimension)");
  }
  const MeshBuffer* known = call.operand(0).sizes();
  const bool uniform = known == nullptr || known->uniform();
  MeshBuffer tuple = MeshBuffer::Tuple(bound.rank() + 1);
  for (int d = 0; d < bound.rank(); ++d) {
    MeshBuffer size;
    RETURN_IF_ERROR(call.New(sizeof(int32_t), uniform, &size));
    for (int64_t row = 0; row < (uniform ? 1 : call.copies()); ++row) {
      reinterpret_cast<int32_t*>(size.mutable_data())[row] =
          static_cast<int32_t>(RunTimeShape(call.operand(0), bound, row).dim(d));
    }
    tuple.mutable_element(d + 1) = std::move(size);
  }
  tuple.mutable_element(0) = call.operand(0);
  call.result() = std::move(tuple);
  return absl::OkStatus();
}

absl::Status SliceToDynamic(OpCall& call) {
  const Shape& bound = call.shape();
  bool fits = bound.IsArray() && call.num_operands() == bound.rank() + 1 &&
              call.operand_shape(0).SameDims(bound) &&
              call.operand_shape(0).element_type() == bound.element_type();
  for (int d = 0; fits && d < bound.rank(); ++d) {
    fits = call.operand_shape(d + 1).Compatible(Shape(xla::S32, {}));
  }
  if (!fits) {
    return absl::InvalidArgumentError("SliceToDynamic takes an array and one s32[] size per dimension");
  }
  const bool uniform = call.AllUniform(/*first=*/1);
  MeshBuffer sizes;
  RETURN_IF_ERROR(call.New(bound.rank() * sizeof(int32_t), uniform, &sizes));
  for (int64_t row = 0; row < (uniform ? 1 : call.copies()); ++row) {
    for (int d = 0; d < bound.rank(); ++d) {
      const int32_t size = Size32(call, d + 1, row);
      if (size < 0 || size > bound.dim(d) || (!bound.IsDynamic(d) && size != bound.dim(d))) {
        return absl::InvalidArgumentError(
            absl::StrCat("run-time size ", size, " of dimension ", d, " of ", bound.ToString()));
      }
      reinterpret_cast<int32_t*>(sizes.mutable_data())[row * bound.rank() + d] = size;
    }
  }
  MeshBuffer result;
  RETURN_IF_ERROR(CopyArray(call.operand(0), &result));
  if (bound.IsDynamic()) result.set_sizes(std::move(sizes));
  call.result() = std::move(result);
  return absl::OkStatus();
}

}  // namespace toroid
