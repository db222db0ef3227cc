#include "runtime/literal_buffer.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"

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

Literal LiteralFromBuffer(const MeshBuffer& buffer, const Shape& shape, int64_t row, int64_t copies) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (int i = 0; i < static_cast<int>(shape.tuple_shapes().size()); ++i) {
      elements.push_back(LiteralFromBuffer(buffer.element(i), shape.tuple_shape(i), row, copies));
    }
    return Literal::Tuple(std::move(elements));
  }
  Literal literal(shape);
  if (!shape.IsArray()) return literal;
  const int64_t bytes = shape.ByteSize();
  if (bytes > 0)
    std::memcpy(literal.mutable_bytes(), buffer.data() + (buffer.uniform() ? 0 : row * bytes), bytes);
  return literal;
}

}  // namespace toroid
