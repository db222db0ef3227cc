#include "hlo/ir/shape.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

bool IsStandardLayout(const xla::LayoutProto& layout, int rank) {
  if (layout.minor_to_major_size() != rank) return false;
  for (int i = 0; i < rank; ++i) {
    if (layout.minor_to_major(i) != rank - 1 - i) return false;
  }
  return layout.tail_padding_alignment_in_elements() == 1 && layout.tiles_size() == 0 &&
         layout.element_size_in_bits() == 0 && layout.memory_space() == 0 &&
         layout.dim_level_types_size() == 0 && !layout.has_physical_shape() &&
         layout.index_primitive_type() == 0 && layout.pointer_primitive_type() == 0 &&
         layout.dim_unique_size() == 0 && layout.dim_ordered_size() == 0 &&
         layout.dynamic_shape_metadata_prefix_bytes() == 0 && layout.split_configs_size() == 0 &&
         layout.GetReflection()->GetUnknownFields(layout).empty();
}

absl::Status CheckLayout(const xla::LayoutProto& layout, int rank) {
  uint64_t seen = 0;
  if (layout.minor_to_major_size() != rank) {
    return absl::InvalidArgumentError(absl::StrCat("layout lists ", layout.minor_to_major_size(),
                                                   " dimensions of an array of rank ", rank));
  }
  for (const int64_t d : layout.minor_to_major()) {
    if (d < 0 || d >= rank || (seen >> d) & 1) {
      return absl::InvalidArgumentError("layout is not a permutation of the dimensions");
    }
    seen |= uint64_t{1} << d;
  }
  return absl::OkStatus();
}

}  // namespace

Shape Shape::OfKind(PrimitiveType type) {
  Shape shape;
  shape.type_ = type;
  return shape;
}

Shape Shape::Tuple(std::vector<Shape> elements) {
  Shape shape = OfKind(xla::TUPLE);
  shape.tuple_shapes_ = std::move(elements);
  return shape;
}

absl::StatusOr<Shape> Shape::FromProto(const xla::ShapeProto& proto) {
  Shape shape;
  RETURN_IF_ERROR(Read(proto, 0, &shape));
  return shape;
}

// Depth is bounded by the parser's own recursion limit, checked here for protos built in memory.
absl::Status Shape::Read(const xla::ShapeProto& proto, int depth, Shape* shape) {
  if (depth > kMaxDepth) return absl::InvalidArgumentError("tuple shapes are nested too deeply");
  if (proto.element_type() == xla::BUFFER) {
    const bool one_array = proto.dimensions_size() == 0 && proto.tuple_shapes_size() == 1 &&
                           IsArrayType(proto.tuple_shapes(0).element_type()) &&
                           proto.tuple_shapes(0).tuple_shapes_size() == 0;
    if (!one_array)
      return absl::InvalidArgumentError("a buffer holds one array, b(f32[2]), and nothing else");
    RETURN_IF_ERROR(shape->ReadArray(proto.tuple_shapes(0)));
    shape->buffer_ = true;
    const auto& unknown = proto.GetReflection()->GetUnknownFields(proto);
    if (unknown.empty()) return absl::OkStatus();
    // The buffer's own unknown fields go into a tuple element of the detail; an array's detail has none.
    auto detail = std::make_shared<xla::ShapeProto>();
    if (shape->detail_ != nullptr) *detail = *shape->detail_;
    xla::ShapeProto* around = detail->add_tuple_shapes();
    around->GetReflection()->MutableUnknownFields(around)->MergeFrom(unknown);
    shape->detail_ = std::move(detail);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(shape->ReadArray(proto));
  if (proto.element_type() != xla::TUPLE && proto.tuple_shapes_size() > 0) {
    return absl::InvalidArgumentError("tuple elements in a shape that is no tuple");
  }
  shape->tuple_shapes_.resize(proto.tuple_shapes_size());
  int64_t total = 0;
  for (int i = 0; i < proto.tuple_shapes_size(); ++i) {
    RETURN_IF_ERROR(Read(proto.tuple_shapes(i), depth + 1, &shape->tuple_shapes_[i]));
    const std::optional<int64_t> sum = CheckedAdd(total, shape->tuple_shapes_[i].ByteSize());
    if (!sum) return absl::InvalidArgumentError("the bytes of a tuple overflow");
    total = *sum;
  }
  return absl::OkStatus();
}

absl::Status Shape::ReadArray(const xla::ShapeProto& proto) {
  type_ = proto.element_type();
  if (proto.dimensions_size() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("an array of rank ", proto.dimensions_size(), "; at most ", kMaxRank));
  }
  int64_t bytes = 16;  // An upper bound of the width, so that byte counts cannot overflow either.
  dims_.assign(proto.dimensions().begin(), proto.dimensions().end());
  for (const int64_t size : dims_) {
    if (size == kUnboundedSize) continue;
    if (size < 0) return absl::InvalidArgumentError(absl::StrCat("negative dimension size ", size));
    const std::optional<int64_t> product = CheckedMultiply(bytes, std::max<int64_t>(size, 1));
    if (!product) return absl::InvalidArgumentError("the number of elements overflows");
    bytes = *product;
  }
  const int flags = proto.is_dynamic_dimension_size();
  if (flags != 0 && flags != rank()) {
    return absl::InvalidArgumentError("is_dynamic_dimension does not list every dimension");
  }
  has_dynamic_flags_ = flags != 0;
  for (int i = 0; i < flags; ++i) {
    if (proto.is_dynamic_dimension(i)) dynamic_ |= uint64_t{1} << i;
  }
  bool needs_detail = !proto.GetReflection()->GetUnknownFields(proto).empty();
  if (proto.has_layout()) {
    if (IsStandardLayout(proto.layout(), rank())) {
      layout_ = Layout::kStandard;
    } else {
      RETURN_IF_ERROR(CheckLayout(proto.layout(), rank()));
      layout_ = Layout::kDetail;
      needs_detail = true;
    }
  }
  if (!needs_detail) return absl::OkStatus();
  auto detail = std::make_shared<xla::ShapeProto>();
  if (proto.has_layout()) *detail->mutable_layout() = proto.layout();
  detail->GetReflection()
      ->MutableUnknownFields(detail.get())
      ->MergeFrom(proto.GetReflection()->GetUnknownFields(proto));
  detail_ = std::move(detail);
  return absl::OkStatus();
}

void Shape::ToProto(xla::ShapeProto* proto) const {
  if (buffer_) {
    proto->set_element_type(xla::BUFFER);
    if (detail_ != nullptr && detail_->tuple_shapes_size() > 0) {
      const xla::ShapeProto& around = detail_->tuple_shapes(0);
      proto->GetReflection()->MutableUnknownFields(proto)->MergeFrom(
          around.GetReflection()->GetUnknownFields(around));
    }
    proto = proto->add_tuple_shapes();
  }
  WriteArray(proto);
  for (const Shape& element : tuple_shapes_) element.ToProto(proto->add_tuple_shapes());
}

void Shape::WriteArray(xla::ShapeProto* proto) const {
  if (detail_ != nullptr) {
    proto->GetReflection()->MutableUnknownFields(proto)->MergeFrom(
        detail_->GetReflection()->GetUnknownFields(*detail_));
  }
  proto->set_element_type(type_);
  for (const int64_t size : dims_) proto->add_dimensions(size);
  if (has_dynamic_flags_ || dynamic_ != 0) {
    for (int i = 0; i < rank(); ++i) proto->add_is_dynamic_dimension(IsDynamic(i));
  }
  if (layout_ == Layout::kStandard) {
    xla::LayoutProto* layout = proto->mutable_layout();
    for (int i = rank() - 1; i >= 0; --i) layout->add_minor_to_major(i);
    layout->set_tail_padding_alignment_in_elements(1);
  } else if (layout_ == Layout::kDetail) {
    *proto->mutable_layout() = detail_->layout();
  }
}

xla::ShapeProto Shape::ToProto() const {
  xla::ShapeProto proto;
  ToProto(&proto);
  return proto;
}

void Shape::set_dims(absl::Span<const int64_t> dims) {
  dims_.assign(dims.begin(), dims.end());
  dynamic_ = 0;
  has_dynamic_flags_ = false;
  layout_ = Layout::kStandard;
}

void Shape::set_dim(int64_t i, int64_t size) {
  dims_[i] = size;
  layout_ = Layout::kStandard;
}

void Shape::set_dynamic(int64_t i, bool dynamic) {
  const uint64_t bit = uint64_t{1} << i;
  dynamic_ = dynamic ? dynamic_ | bit : dynamic_ & ~bit;
}

bool Shape::IsBounded() const { return !absl::c_linear_search(dims_, kUnboundedSize); }

int64_t Shape::NumElements() const {
  if (!IsArray()) return 0;
  int64_t n = 1;
  for (const int64_t size : dims_) n *= size == kUnboundedSize ? 1 : size;
  return n;
}

int64_t Shape::ByteSize() const {
  if (IsArray()) return NumElements() * ByteWidth(type_);
  int64_t bytes = 0;
  for (const Shape& element : tuple_shapes_) bytes += element.ByteSize();
  return bytes;
}

int64_t Shape::NumLeaves() const {
  if (!IsTuple()) return 1;
  int64_t leaves = 0;
  for (const Shape& element : tuple_shapes_) leaves += element.NumLeaves();
  return leaves;
}

Dims Shape::MinorToMajor() const {
  if (layout_ == Layout::kDetail) {
    return Dims(detail_->layout().minor_to_major().begin(), detail_->layout().minor_to_major().end());
  }
  Dims order(dims_.size());
  for (int i = 0; i < rank(); ++i) order[i] = rank() - 1 - i;
  return order;
}

bool Shape::HasRowMajorLayout() const {
  if (layout_ != Layout::kDetail) return true;
  const Dims order = MinorToMajor();
  for (int i = 0; i < rank(); ++i) {
    if (order[i] != rank() - 1 - i) return false;
  }
  return true;
}

void Shape::set_layout(const xla::LayoutProto& layout) {
  if (IsStandardLayout(layout, rank())) {
    layout_ = Layout::kStandard;
    return;
  }
  auto detail = std::make_shared<xla::ShapeProto>();
  if (detail_ != nullptr) *detail = *detail_;
  *detail->mutable_layout() = layout;
  detail_ = std::move(detail);
  layout_ = Layout::kDetail;
}

Shape Shape::WithRowMajorLayout() const {
  Shape shape = *this;
  if (IsArray()) shape.layout_ = Layout::kStandard;
  for (Shape& element : shape.tuple_shapes_) element = element.WithRowMajorLayout();
  return shape;
}

Shape Shape::WithoutBuffers() const {
  Shape shape = *this;
  shape.buffer_ = false;
  for (Shape& element : shape.tuple_shapes_) element = element.WithoutBuffers();
  return shape;
}

bool Shape::Compatible(const Shape& other) const {
  if (type_ != other.type_ || dims_ != other.dims_ || dynamic_ != other.dynamic_ ||
      tuple_shapes_.size() != other.tuple_shapes_.size()) {
    return false;
  }
  for (size_t i = 0; i < tuple_shapes_.size(); ++i) {
    if (!tuple_shapes_[i].Compatible(other.tuple_shapes_[i])) return false;
  }
  return true;
}

bool Shape::operator==(const Shape& other) const {
  if (type_ != other.type_ || buffer_ != other.buffer_ || dims_ != other.dims_ ||
      dynamic_ != other.dynamic_ || layout_ != other.layout_ || tuple_shapes_ != other.tuple_shapes_) {
    return false;
  }
  return layout_ != Layout::kDetail ||
         detail_->layout().SerializeAsString() == other.detail_->layout().SerializeAsString();
}

namespace {

// Layout attributes after the minor-to-major list, in the order of the text format.
std::string LayoutAttributes(const xla::LayoutProto& layout) {
  std::string out;
  if (layout.tiles_size() > 0) {
    out += "T";
    for (const xla::TileProto& tile : layout.tiles()) {
      absl::StrAppend(&out, "(",
                      absl::StrJoin(tile.dimensions(), ",",
                                    [](std::string* s, int64_t d) {
                                      if (d == Shape::kUnboundedSize) {
                                        s->push_back('*');
                                      } else {
                                        absl::StrAppend(s, d);
                                      }
                                    }),
                      ")");
    }
  }
  if (layout.tail_padding_alignment_in_elements() > 1) {
    absl::StrAppend(&out, "L(", layout.tail_padding_alignment_in_elements(), ")");
  }
  if (layout.element_size_in_bits() != 0) absl::StrAppend(&out, "E(", layout.element_size_in_bits(), ")");
  if (layout.memory_space() != 0) absl::StrAppend(&out, "S(", layout.memory_space(), ")");
  if (layout.split_configs_size() > 0) {
    out += "SC";
    for (const xla::SplitConfigProto& split : layout.split_configs()) {
      absl::StrAppend(&out, "(", split.dimension(), ":", absl::StrJoin(split.split_indices(), ","), ")");
    }
  }
  if (layout.dynamic_shape_metadata_prefix_bytes() != 0) {
    absl::StrAppend(&out, "M(", layout.dynamic_shape_metadata_prefix_bytes(), ")");
  }
  return out;
}

}  // namespace

std::string Shape::ToString(bool with_layout) const {
  if (IsTuple()) {
    std::string out = "(";
    for (size_t i = 0; i < tuple_shapes_.size(); ++i) {
      if (i > 0) out += ", ";
      if (i > 0 && i % 5 == 0) absl::StrAppend(&out, "/*index=", i, "*/");
      out += tuple_shapes_[i].ToString(with_layout);
    }
    return out + ")";
  }
  if (buffer_) return absl::StrCat("b(", WithoutBuffers().ToString(with_layout), ")");
  std::string out = absl::StrCat(TypeName(type_), "[");
  for (int i = 0; i < rank(); ++i) {
    if (i > 0) out += ",";
    if (dims_[i] == Shape::kUnboundedSize) {
      out += "?";
    } else {
      absl::StrAppend(&out, IsDynamic(i) ? "<=" : "", dims_[i]);
    }
  }
  out += "]";
  if (!with_layout || !HasLayout()) return out;
  const std::string attributes = layout_ == Layout::kDetail ? LayoutAttributes(detail_->layout()) : "";
  if (rank() == 0 && attributes.empty()) return out;
  absl::StrAppend(&out, "{", absl::StrJoin(MinorToMajor(), ","));
  if (!attributes.empty()) absl::StrAppend(&out, ":", attributes);
  return out + "}";
}

}  // namespace toroid
