#include "runtime/kernels/bitcast_convert.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

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

// Elements are rearranged within groups of equal bit counts, so one long bit string serves all rows.
void Regroup(PrimitiveType from, const char* in, int64_t in_count, PrimitiveType to, char* out,
             int64_t out_count) {
  const int64_t from_bits = BitWidth(from), to_bits = BitWidth(to);
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

}  // namespace

absl::Status ExecuteBitcastConvert(OpCall& call) {
  const PrimitiveType from = call.operand_shape(0).element_type(), to = call.shape().element_type();
  const int64_t in_elements = call.operand_shape(0).NumElements(), out_elements = call.result_elements();
  if (in_elements * BitWidth(from) != out_elements * BitWidth(to)) {
    return absl::InvalidArgumentError(absl::StrCat("operand ", call.operand_shape(0).ToString(),
                                                   " and result ", call.shape().ToString(),
                                                   " differ in bits"));
  }
  const char* in = call.data(0);
  const bool uniform = call.uniform(0);
  const int64_t rows = call.rows(0);
  if (BitWidth(from) >= 8 && BitWidth(to) >= 8) {
    call.result() = call.TakeOperand(0);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(call.NewResult(uniform));
  Regroup(from, in, rows * in_elements, to, call.result().mutable_data(), rows * out_elements);
  return absl::OkStatus();
}

absl::Status ExecuteBitcast(OpCall& call) {
  if (!call.shape().HasRowMajorLayout() || !call.operand_shape(0).HasRowMajorLayout()) {
    return absl::UnimplementedError("bitcast between layouts other than row-major");
  }
  return ExecuteBitcastConvert(call);
}

}  // namespace toroid
