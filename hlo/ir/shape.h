// Shapes: element type and dimension sizes of an array, or a tuple of shapes.
//
// A shape keeps the layout it was read with, and it is written with the same layout. Layouts have no meaning
// before layout assignment, and Compatible() ignores them.
//
// A buffer, b(f32[2]) in text, is an array together with its memory. All functions treat it as the array;
// IsBuffer() tells them apart.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/types.h"

namespace toroid {

using Dims = absl::InlinedVector<int64_t, 4>;

class Shape {
 public:
  // Most dimensions an array may have, and deepest tuple nesting; larger inputs are refused on reading.
  static constexpr int kMaxRank = 64;
  static constexpr int kMaxDepth = 64;
  // The size, in protos and here, of a dynamic dimension without an upper bound.
  static constexpr int64_t kUnboundedSize = INT64_MIN;

  Shape() = default;
  // An array of row-major layout; {} for a scalar.
  Shape(PrimitiveType type, absl::Span<const int64_t> dims)
      : type_(type), layout_(Layout::kStandard), dims_(dims.begin(), dims.end()) {}
  Shape(PrimitiveType type, std::initializer_list<int64_t> dims)
      : Shape(type, absl::MakeConstSpan(dims.begin(), dims.size())) {}
  static Shape Tuple(std::vector<Shape> elements);
  static Shape Token() { return OfKind(xla::TOKEN); }
  static Shape Opaque() { return OfKind(xla::OPAQUE_TYPE); }

  // Errors: kInvalidArgument for negative or overflowing sizes, too many dimensions or levels, layouts that
  // are no permutation, buffers of anything but one array. An unknown element type is kept.
  static absl::StatusOr<Shape> FromProto(const xla::ShapeProto& proto);
  void ToProto(xla::ShapeProto* proto) const;
  xla::ShapeProto ToProto() const;

  PrimitiveType element_type() const { return type_; }
  void set_element_type(PrimitiveType type) { type_ = type; }
  bool IsArray() const { return IsArrayType(type_); }
  // True for an array written b(..). set_dims and set_dim keep it.
  bool IsBuffer() const { return buffer_; }
  // This shape with plain arrays for buffers, in tuples too.
  Shape WithoutBuffers() const;
  bool IsTuple() const { return type_ == xla::TUPLE; }
  bool IsToken() const { return type_ == xla::TOKEN; }
  bool IsScalar() const { return IsArray() && dims_.empty(); }

  int rank() const { return static_cast<int>(dims_.size()); }
  // Sizes; the upper bound for a dynamic dimension.
  absl::Span<const int64_t> dims() const { return dims_; }
  int64_t dim(int64_t i) const { return dims_[i]; }
  // Also gives the array a row-major layout.
  void set_dims(absl::Span<const int64_t> dims);
  void set_dim(int64_t i, int64_t size);
  bool IsDynamic(int64_t i) const { return (dynamic_ >> i) & 1; }
  bool IsDynamic() const { return dynamic_ != 0; }
  // True if every dimension has a size or an upper bound; false for f32[?].
  bool IsBounded() const;
  void set_dynamic(int64_t i, bool dynamic);

  // Elements of an array; 0 for tuples and tokens.
  int64_t NumElements() const;
  // Bytes the elements take in storage, the sum over leaves for a tuple.
  int64_t ByteSize() const;

  absl::Span<const Shape> tuple_shapes() const { return tuple_shapes_; }
  const Shape& tuple_shape(int64_t i) const { return tuple_shapes_[i]; }
  // Number of array, token and opaque leaves, in pre-order.
  int64_t NumLeaves() const;

  // Minor to major dimension numbers; descending when there is no layout.
  Dims MinorToMajor() const;
  bool HasLayout() const { return layout_ != Layout::kNone; }
  bool HasRowMajorLayout() const;
  // The layout as read if it is not simply row-major, else null.
  const xla::LayoutProto* custom_layout() const {
    return layout_ == Layout::kDetail ? &detail_->layout() : nullptr;
  }
  void set_layout(const xla::LayoutProto& layout);
  void clear_layout() { layout_ = Layout::kNone; }
  // This shape with row-major layouts throughout.
  Shape WithRowMajorLayout() const;

  // Equality without layouts; a buffer equals the array it holds. Dynamic dimensions must agree.
  bool Compatible(const Shape& other) const;
  // True if both have the same sizes; element types and dynamic flags may differ.
  bool SameDims(const Shape& other) const { return dims_ == other.dims_; }
  bool operator==(const Shape& other) const;
  bool operator!=(const Shape& other) const { return !(*this == other); }

  // "f32[2,3]", "(f32[], s32[4])"; with layouts "f32[2,3]{1,0}".
  std::string ToString(bool with_layout = false) const;

 private:
  enum class Layout : uint8_t {
    kNone,
    kStandard,  // row-major, tail padding alignment 1: what compilers write by default
    kDetail,    // in detail_
  };

  static Shape OfKind(PrimitiveType type);
  static absl::Status Read(const xla::ShapeProto& proto, int depth, Shape* shape);
  // The sizes, flags and layout.
  absl::Status ReadArray(const xla::ShapeProto& proto);
  void WriteArray(xla::ShapeProto* proto) const;

  PrimitiveType type_ = xla::PRIMITIVE_TYPE_INVALID;
  Layout layout_ = Layout::kNone;
  bool buffer_ = false;
  bool has_dynamic_flags_ = false;  // The proto listed them, even if all are false.
  uint64_t dynamic_ = 0;            // Bit i: dimension i is dynamic.
  Dims dims_;
  std::vector<Shape> tuple_shapes_;
  // Non-standard layout and unknown fields of the proto it was read from (for a buffer: of the array's
  // proto). Rarely set.
  std::shared_ptr<const xla::ShapeProto> detail_;
};

}  // namespace toroid
