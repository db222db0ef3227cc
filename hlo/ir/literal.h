// Literals: values of a shape, stored row-major, independent of the layout.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/base/status.h"
#include "hlo/ir/shape.h"

namespace toroid {

class Literal {
 public:
  Literal() = default;
  // All elements zero.
  explicit Literal(const Shape& shape);
  static Literal Tuple(std::vector<Literal> elements);
  template <typename T>
  static Literal Scalar(T value) {
    Literal literal(Shape(PrimitiveTypeOf<T>::value, {}));
    literal.mutable_data<T>()[0] = value;
    return literal;
  }
  template <typename T>
  static Literal Array(absl::Span<const int64_t> dims, absl::Span<const T> values) {
    Literal literal(Shape(PrimitiveTypeOf<T>::value, dims));
    TOROID_CHECK(static_cast<int64_t>(values.size()) == literal.shape().NumElements());
    std::copy(values.begin(), values.end(), literal.mutable_data<T>().begin());
    return literal;
  }

  // Errors: kInvalidArgument if the number of values is not the shape's, or the value is missing (elided).
  static absl::StatusOr<Literal> FromProto(const xla::LiteralProto& proto);
  void ToProto(xla::LiteralProto* proto) const;

  const Shape& shape() const { return shape_; }
  absl::Span<const Literal> elements() const { return elements_; }
  const Literal& element(int i) const { return elements_[i]; }

  template <typename T>
  absl::Span<const T> data() const {
    TOROID_CHECK(PrimitiveTypeOf<T>::value == shape_.element_type(), "literal of ", shape_.ToString());
    // No braces: for bool they would make a list of two elements.
    return absl::Span<const T>(reinterpret_cast<const T*>(bytes()),
                               static_cast<size_t>(shape_.NumElements()));
  }
  template <typename T>
  absl::Span<T> mutable_data() {
    TOROID_CHECK(PrimitiveTypeOf<T>::value == shape_.element_type(), "literal of ", shape_.ToString());
    return absl::Span<T>(reinterpret_cast<T*>(mutable_bytes()), static_cast<size_t>(shape_.NumElements()));
  }
  // Storage of an array: ByteSize() bytes, row-major.
  const char* bytes() const { return buffer_ == nullptr ? nullptr : buffer_.get(); }
  // Copies the storage first if another literal shares it.
  char* mutable_bytes();

  // The same elements under another shape of equal element type and count.
  Literal Reshaped(const Shape& shape) const;

  // Bitwise equality of compatible shapes.
  bool operator==(const Literal& other) const;

 private:
  Shape shape_;
  std::shared_ptr<char[]> buffer_;
  std::vector<Literal> elements_;
};

// True if every element has the same bits; false for arrays without elements and for tuples.
bool IsSplat(const Literal& literal);

}  // namespace toroid
