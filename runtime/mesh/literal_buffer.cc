#include "runtime/mesh/literal_buffer.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/loops/strided_copy.h"

namespace toroid {

absl::Status BufferFromLiteral(const Literal& literal, MeshBuffer* buffer) {
  if (literal.shape().IsTuple()) {
    const int size = static_cast<int>(literal.elements().size());
    *buffer = MeshBuffer::Tuple(size);
    for (int i = 0; i < size; ++i) {
      RETURN_IF_ERROR(BufferFromLiteral(literal.element(i), &buffer->mutable_element(i)));
    }
    return absl::OkStatus();
  }
  const int64_t bytes = literal.shape().ByteSize();
  *buffer = MeshBuffer::Array(bytes, /*uniform=*/true);
  if (buffer->empty()) return absl::ResourceExhaustedError(absl::StrCat("out of memory (", bytes, " bytes)"));
  if (bytes > 0) std::memcpy(buffer->mutable_data(), literal.bytes(), bytes);
  return absl::OkStatus();
}

namespace {

Literal ValidPart(const MeshBuffer& buffer, const Shape& bound, int64_t row) {
  Shape shape(bound.element_type(), bound.dims());
  if (const MeshBuffer* sizes = buffer.sizes(); sizes != nullptr) {
    const int32_t* size =
        reinterpret_cast<const int32_t*>(sizes->data()) + (sizes->uniform() ? 0 : row * shape.rank());
    for (int d = 0; d < shape.rank(); ++d) shape.set_dim(d, size[d]);
  }
  Literal literal(shape);
  if (shape.NumElements() == 0) return literal;
  const int64_t width = ByteWidth(shape.element_type());
  StridedLoop loop;
  loop.width = width;
  const Dims from = RowMajorStrides(bound.dims(), width), to = RowMajorStrides(shape.dims(), width);
  for (int d = 0; d < shape.rank(); ++d) loop.Add(shape.dim(d), from[d], to[d]);
  loop.Optimize();
  StridedCopy(loop, buffer.data() + (buffer.uniform() ? 0 : row * bound.ByteSize()), literal.mutable_bytes());
  return literal;
}

}  // namespace

Literal LiteralFromBuffer(const MeshBuffer& buffer, const Shape& shape, int64_t row, int64_t copies) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (int i = 0; i < static_cast<int>(shape.tuple_shapes().size()); ++i) {
      elements.push_back(LiteralFromBuffer(buffer.element(i), shape.tuple_shape(i), row, copies));
    }
    return Literal::Tuple(std::move(elements));
  }
  if (shape.IsArray() && shape.IsDynamic()) return ValidPart(buffer, shape, row);
  Literal literal(shape);
  if (!shape.IsArray()) return literal;
  const int64_t bytes = shape.ByteSize();
  if (bytes > 0)
    std::memcpy(literal.mutable_bytes(), buffer.data() + (buffer.uniform() ? 0 : row * bytes), bytes);
  return literal;
}

}  // namespace toroid
