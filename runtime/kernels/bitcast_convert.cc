#include "runtime/kernels/bitcast_convert.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/ir/untiled_shapes.h"
#include "runtime/loops/strided_copy.h"

namespace toroid {
namespace {

// A pred counts as one byte, its storage.
int64_t StoredBits(PrimitiveType type) { return type == xla::PRED ? 8 : BitWidth(type); }

// Element i of a packed bit string, for widths below 8.
uint8_t PackedBits(const char* packed, int64_t i, int64_t width) {
  uint8_t value = 0;
  for (int64_t b = 0; b < width; ++b) {
    const int64_t bit = i * width + b;
    value |= ((static_cast<uint8_t>(packed[bit / 8]) >> (bit % 8)) & 1) << b;
  }
  return value;
}

// Storage of a sub-byte value with these bits: sign-extended for signed integers.
uint8_t ToStorage(PrimitiveType type, uint8_t bits) {
  const int width = static_cast<int>(BitWidth(type));
  if (IsSignedInt(type) && (bits >> (width - 1)) & 1) return bits | static_cast<uint8_t>(0xFF << width);
  return bits;
}

// Regroups bits. Each group of elements has the same number of bits on both sides, so one long bit string
// serves all rows.
void Regroup(PrimitiveType from, const char* in, int64_t in_count, PrimitiveType to, char* out,
             int64_t out_count) {
  const int64_t from_bits = StoredBits(from), to_bits = StoredBits(to);
  if (from_bits >= 8 && to_bits >= 8) {
    std::memcpy(out, in, in_count * ByteWidth(from));
    return;
  }
  std::string packed(in_count * from_bits / 8 + 8, '\0');
  if (from_bits >= 8) {
    std::memcpy(packed.data(), in, in_count * ByteWidth(from));
  } else {
    for (int64_t i = 0; i < in_count; ++i) {
      for (int64_t b = 0; b < from_bits; ++b) {
        const int64_t bit = i * from_bits + b;
        packed[bit / 8] |= ((static_cast<uint8_t>(in[i]) >> b) & 1) << (bit % 8);
      }
    }
  }
  if (to_bits >= 8) {
    std::memcpy(out, packed.data(), out_count * ByteWidth(to));
  } else {
    for (int64_t i = 0; i < out_count; ++i) {
      out[i] = static_cast<char>(ToStorage(to, PackedBits(packed.data(), i, to_bits)));
    }
  }
}

// The bits of `operand`'s rows regrouped as `to`.
absl::Status Reinterpret(const OpCall& call, const Shape& from, const Shape& to, MeshBuffer operand,
                         MeshBuffer* result) {
  const int64_t from_bits = StoredBits(from.element_type()), to_bits = StoredBits(to.element_type());
  if (from.NumElements() * from_bits != to.NumElements() * to_bits) {
    return absl::InvalidArgumentError(
        absl::StrCat("operand ", from.ToString(), " and result ", to.ToString(), " differ in bits"));
  }
  const bool to_pred = to.element_type() == xla::PRED && from.element_type() != xla::PRED;
  if (from_bits >= 8 && to_bits >= 8 && !to_pred) {
    *result = std::move(operand);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(call.New(to.ByteSize(), operand.uniform(), result));
  const int64_t rows = operand.uniform() ? 1 : call.copies();
  Regroup(from.element_type(), operand.data(), rows * from.NumElements(), to.element_type(),
          result->mutable_data(), rows * to.NumElements());
  for (int64_t i = 0; to_pred && i < rows * to.NumElements(); ++i) {
    result->mutable_data()[i] = result->data()[i] != 0;  // Any byte other than 0 is true.
  }
  return absl::OkStatus();
}

// Leaves the first `kept` elements of each dimension of the operand.
absl::Status KeepFirst(const OpCall& call, absl::Span<const int64_t> kept, MeshBuffer* array) {
  const Shape& whole = call.operand_shape(0);
  if (whole.dims() == kept) return absl::OkStatus();
  const Shape part(whole.element_type(), kept);
  StridedLoop loop;
  loop.width = ByteWidth(whole.element_type());
  const Dims from = RowMajorStrides(whole.dims(), loop.width), to = RowMajorStrides(kept, loop.width);
  loop.Add(array->uniform() ? 1 : call.copies(), whole.ByteSize(), part.ByteSize());
  for (int d = 0; d < whole.rank(); ++d) loop.Add(kept[d], from[d], to[d]);
  MeshBuffer first;
  RETURN_IF_ERROR(call.New(part.ByteSize(), array->uniform(), &first));
  ParallelStridedCopy(loop, array->data(), first.mutable_data());
  *array = std::move(first);
  return absl::OkStatus();
}

// Reorders between row-major order, which all arrays of the runtime have, and the order of the layout of
// `shape`.
absl::Status Rearrange(const OpCall& call, const Shape& shape, bool to_physical, MeshBuffer* array) {
  if (shape.HasRowMajorLayout()) return absl::OkStatus();
  const int64_t width = ByteWidth(shape.element_type());
  const Dims logical = RowMajorStrides(shape.dims(), width), minor_to_major = shape.MinorToMajor();
  Dims physical(shape.rank());
  int64_t stride = width;
  for (const int64_t d : minor_to_major) {
    physical[d] = stride;
    stride *= shape.dim(d);
  }
  StridedLoop loop;
  loop.width = width;
  loop.Add(array->uniform() ? 1 : call.copies(), shape.ByteSize(), shape.ByteSize());
  for (int d = 0; d < shape.rank(); ++d) {
    loop.Add(shape.dim(d), to_physical ? logical[d] : physical[d], to_physical ? physical[d] : logical[d]);
  }
  MeshBuffer rearranged;
  RETURN_IF_ERROR(call.New(shape.ByteSize(), array->uniform(), &rearranged));
  ParallelStridedCopy(loop, array->data(), rearranged.mutable_data());
  *array = std::move(rearranged);
  return absl::OkStatus();
}

}  // namespace

absl::Status ExecuteBitcastConvert(OpCall& call) {
  return Reinterpret(call, call.operand_shape(0), call.shape(), call.TakeOperand(0), &call.result());
}

absl::Status ExecuteBitcast(OpCall& call) {
  ASSIGN_OR_RETURN(const UntiledShapes sides, WithoutTiles(call.operand_shape(0), call.shape()));
  const Shape &from = sides.from, &to = sides.to;
  MeshBuffer operand = call.TakeOperand(0), result;
  RETURN_IF_ERROR(KeepFirst(call, sides.kept, &operand));
  RETURN_IF_ERROR(Rearrange(call, from, /*to_physical=*/true, &operand));
  RETURN_IF_ERROR(Reinterpret(call, from, to, std::move(operand), &result));
  RETURN_IF_ERROR(Rearrange(call, to, /*to_physical=*/false, &result));
  call.result() = std::move(result);
  return absl::OkStatus();
}

}  // namespace toroid
