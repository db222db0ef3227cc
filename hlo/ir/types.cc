#include "hlo/ir/types.h"

#include <array>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"

namespace toroid {
namespace {

// Names by enumerator value: the enumerators in lower case, except OPAQUE_TYPE.
const std::array<std::string, xla::PrimitiveType_ARRAYSIZE>& Names() {
  static const auto* const names = [] {
    auto* array = new std::array<std::string, xla::PrimitiveType_ARRAYSIZE>;
    for (int i = 0; i < xla::PrimitiveType_ARRAYSIZE; ++i) {
      (*array)[i] = absl::AsciiStrToLower(xla::PrimitiveType_Name(static_cast<PrimitiveType>(i)));
    }
    (*array)[xla::PRIMITIVE_TYPE_INVALID] = "invalid";
    (*array)[xla::OPAQUE_TYPE] = "opaque";
    return array;
  }();
  return *names;
}

enum class Kind { kNone, kPred, kSigned, kUnsigned, kFloat, kComplex };

Kind KindOf(PrimitiveType type) {
  switch (type) {
    case xla::PRED:
      return Kind::kPred;
#define TOROID_CASE(enumerator, cpp) case xla::enumerator:
      TOROID_FOR_EACH_FLOAT_TYPE(TOROID_CASE)
      return Kind::kFloat;
      TOROID_FOR_EACH_COMPLEX_TYPE(TOROID_CASE)
      return Kind::kComplex;
#undef TOROID_CASE
    case xla::S1:
    case xla::S2:
    case xla::S4:
    case xla::S8:
    case xla::S16:
    case xla::S32:
    case xla::S64:
      return Kind::kSigned;
    case xla::U1:
    case xla::U2:
    case xla::U4:
    case xla::U8:
    case xla::U16:
    case xla::U32:
    case xla::U64:
      return Kind::kUnsigned;
    default:
      return Kind::kNone;
  }
}

}  // namespace

bool IsArrayType(PrimitiveType type) { return KindOf(type) != Kind::kNone; }
bool IsSignedInt(PrimitiveType type) { return KindOf(type) == Kind::kSigned; }
bool IsUnsignedInt(PrimitiveType type) { return KindOf(type) == Kind::kUnsigned; }
bool IsInt(PrimitiveType type) { return IsSignedInt(type) || IsUnsignedInt(type); }
bool IsFloat(PrimitiveType type) { return KindOf(type) == Kind::kFloat; }
bool IsComplex(PrimitiveType type) { return KindOf(type) == Kind::kComplex; }

int64_t ByteWidth(PrimitiveType type) {
  switch (type) {
    case xla::S16:
    case xla::U16:
    case xla::F16:
    case xla::BF16:
      return 2;
    case xla::S32:
    case xla::U32:
    case xla::F32:
      return 4;
    case xla::S64:
    case xla::U64:
    case xla::F64:
    case xla::C64:
      return 8;
    case xla::C128:
      return 16;
    default:
      return IsArrayType(type) ? 1 : 0;
  }
}

int64_t BitWidth(PrimitiveType type) {
  switch (type) {
    case xla::PRED:
    case xla::S1:
    case xla::U1:
      return 1;
    case xla::S2:
    case xla::U2:
      return 2;
    case xla::S4:
    case xla::U4:
    case xla::F4E2M1FN:
      return 4;
    case xla::F6E2M3FN:
    case xla::F6E3M2FN:
      return 6;
    default:
      return 8 * ByteWidth(type);
  }
}

PrimitiveType RealTypeOf(PrimitiveType type) {
  return type == xla::C64 ? xla::F32 : type == xla::C128 ? xla::F64 : type;
}

absl::string_view TypeName(PrimitiveType type) {
  const int index = static_cast<int>(type);
  return index >= 0 && index < xla::PrimitiveType_ARRAYSIZE ? Names()[index] : Names()[0];
}

std::optional<PrimitiveType> TypeFromName(absl::string_view name) {
  static const auto* const by_name = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, PrimitiveType>;
    for (int i = 1; i < xla::PrimitiveType_ARRAYSIZE; ++i) {
      if (i != xla::TUPLE && i != xla::BUFFER) map->emplace(Names()[i], static_cast<PrimitiveType>(i));
    }
    return map;
  }();
  const auto it = by_name->find(name);
  if (it == by_name->end()) return std::nullopt;
  return it->second;
}

}  // namespace toroid
