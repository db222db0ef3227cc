#include "tests/fuzz/mutate_message.h"

#include <algorithm>
#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/unknown_field_set.h"
#include "hlo/opcode.h"

namespace toroid {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kMaxDepth = 40;

std::string RandomString(RandomSource* random) {
  switch (random->Below(5)) {
    case 0:
      return "";
    case 1:
      return "\xff\xfe";
    case 2:
      return "x{\"\\\n}=,";
    default:
      return std::string(OpcodeName(static_cast<Opcode>(random->Below(kNumOpcodes))));
  }
}

// A message inside `message`, or `message` itself, with the one at the same place in `other` if there is one.
struct Place {
  Message* message;
  const Message* other;
};

Place RandomPlace(Message* message, const Message* other, RandomSource* random) {
  Place place = {message, other};
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const Reflection* reflection = place.message->GetReflection();
    std::vector<const FieldDescriptor*> set, inner;
    reflection->ListFields(*place.message, &set);
    for (const FieldDescriptor* field : set) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) inner.push_back(field);
    }
    if (inner.empty() || random->OneIn(depth < 2 ? 12 : 4)) return place;
    const FieldDescriptor* field = random->Of<const FieldDescriptor*>(inner);
    const Message* beside = nullptr;
    if (field->is_repeated()) {
      const int i = static_cast<int>(random->Below(reflection->FieldSize(*place.message, field)));
      if (place.other != nullptr && reflection->FieldSize(*place.other, field) > 0) {
        const int size = reflection->FieldSize(*place.other, field);
        beside = &reflection->GetRepeatedMessage(*place.other, field, static_cast<int>(random->Below(size)));
      }
      place.message = reflection->MutableRepeatedMessage(place.message, field, i);
    } else {
      if (place.other != nullptr && reflection->HasField(*place.other, field)) {
        beside = &reflection->GetMessage(*place.other, field);
      }
      place.message = reflection->MutableMessage(place.message, field);
    }
    place.other = beside;
  }
  return place;
}

// Sets the field, or adds an element to a list, or (i >= 0) changes its element i.
void SetScalar(const FieldDescriptor* field, int i, RandomSource* random, Message* message) {
  const Reflection* r = message->GetReflection();
  const int64_t integer = random->Integer();
#define TOROID_SET(Kind, value)                     \
  if (!field->is_repeated()) {                      \
    r->Set##Kind(message, field, value);            \
  } else if (i >= 0) {                              \
    r->SetRepeated##Kind(message, field, i, value); \
  } else {                                          \
    r->Add##Kind(message, field, value);            \
  }                                                 \
  return
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      TOROID_SET(Int32, static_cast<int32_t>(integer));
    case FieldDescriptor::CPPTYPE_INT64:
      TOROID_SET(Int64, integer);
    case FieldDescriptor::CPPTYPE_UINT32:
      TOROID_SET(UInt32, static_cast<uint32_t>(integer));
    case FieldDescriptor::CPPTYPE_UINT64:
      TOROID_SET(UInt64, static_cast<uint64_t>(integer));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      TOROID_SET(Double, static_cast<double>(integer) / 3);
    case FieldDescriptor::CPPTYPE_FLOAT:
      TOROID_SET(Float, static_cast<float>(integer) / 3);
    case FieldDescriptor::CPPTYPE_BOOL:
      TOROID_SET(Bool, integer % 2 != 0);
    case FieldDescriptor::CPPTYPE_ENUM:
      TOROID_SET(EnumValue, static_cast<int>(random->OneIn(4) ? integer : random->Below(40)));
    case FieldDescriptor::CPPTYPE_STRING:
      TOROID_SET(String, RandomString(random));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (!field->is_repeated()) {
        r->MutableMessage(message, field);
      } else if (i < 0) {
        r->AddMessage(message, field);
      }
      return;
  }
#undef TOROID_SET
}

void ChangeList(const FieldDescriptor* field, const Message* other, RandomSource* random, Message* message) {
  const Reflection* r = message->GetReflection();
  const int size = r->FieldSize(*message, field);
  if (size == 0 || random->OneIn(5)) return SetScalar(field, -1, random, message);
  const int i = static_cast<int>(random->Below(size)), j = static_cast<int>(random->Below(size));
  const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  switch (random->Below(is_message ? 4 : 3)) {
    case 0:
      r->SwapElements(message, field, i, size - 1);
      return r->RemoveLast(message, field);
    case 1:
      return r->SwapElements(message, field, i, j);
    case 2:
      if (!is_message) return SetScalar(field, i, random, message);
      r->AddMessage(message, field)->CopyFrom(r->GetRepeatedMessage(*message, field, i));
      return;
    default:
      if (other != nullptr && r->FieldSize(*other, field) > 0) {
        const int from = static_cast<int>(random->Below(r->FieldSize(*other, field)));
        r->AddMessage(message, field)->CopyFrom(r->GetRepeatedMessage(*other, field, from));
      }
  }
}

void MutateOnce(const Message& other, RandomSource* random, Message* message) {
  const Place place = RandomPlace(message, &other, random);
  const Reflection* r = place.message->GetReflection();
  const Descriptor* type = place.message->GetDescriptor();
  if (random->OneIn(30)) {
    r->MutableUnknownFields(place.message)
        ->AddVarint(1000 + static_cast<int>(random->Below(9)), random->Bits());
    return;
  }
  if (type->field_count() == 0) return;
  std::vector<const FieldDescriptor*> set;
  r->ListFields(*place.message, &set);
  const FieldDescriptor* field = set.empty() || random->OneIn(4)
                                     ? type->field(static_cast<int>(random->Below(type->field_count())))
                                     : random->Of<const FieldDescriptor*>(set);
  if (random->OneIn(6)) return r->ClearField(place.message, field);
  if (field->is_map()) return;
  if (field->is_repeated()) return ChangeList(field, place.other, random, place.message);
  if (place.other != nullptr && random->OneIn(3) && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
      r->HasField(*place.other, field)) {
    r->MutableMessage(place.message, field)->CopyFrom(r->GetMessage(*place.other, field));
    return;
  }
  SetScalar(field, -1, random, place.message);
}

}  // namespace

void MutateMessage(const Message& other, RandomSource* random, Message* message) {
  for (int64_t i = random->OneIn(3) ? random->Below(5) : 0; i >= 0; --i) MutateOnce(other, random, message);
}

}  // namespace toroid
