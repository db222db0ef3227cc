#include "runtime/numpy_arguments.h"

#include <cstddef>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "runtime/npy.h"
#include "runtime/npz.h"

namespace toroid {
namespace {

// A place for one array: a parameter or a leaf of one.
struct Slot {
  std::string name;  // Of the parameter; empty for leaves.
  const Shape* shape;
};

void AppendSlots(const Shape& shape, const std::string& name, std::vector<Slot>* slots) {
  if (shape.IsArray()) slots->push_back({name, &shape});
  for (const Shape& element : shape.tuple_shapes()) AppendSlots(element, "", slots);
}

// Puts the arrays of a parameter together again.
Literal Assemble(const Shape& shape, std::vector<Literal>::iterator* next) {
  if (shape.IsArray()) return std::move(*(*next)++);
  if (!shape.IsTuple()) return Literal(shape);  // A token.
  std::vector<Literal> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(Assemble(element, next));
  return Literal::Tuple(std::move(elements));
}

// member_of[slot], by name; the order of the file if any name fits no slot or two fit the same.
std::vector<size_t> MatchMembers(const std::vector<NpzMember>& members, const std::vector<Slot>& slots) {
  std::vector<size_t> in_order(slots.size()), member_of(slots.size(), members.size());
  for (size_t s = 0; s < slots.size(); ++s) in_order[s] = s;
  for (size_t m = 0; m < members.size(); ++m) {
    size_t s = 0;
    while (s < slots.size() && members[m].name != absl::StrCat("arr_", s) &&
           members[m].name != absl::StrCat(s) &&
           (slots[s].name.empty() || members[m].name != slots[s].name)) {
      ++s;
    }
    if (s == slots.size() || member_of[s] != members.size()) return in_order;
    member_of[s] = m;
  }
  return member_of;
}

void AppendArrays(const Literal& literal, std::vector<Literal>* arrays) {
  if (literal.shape().IsArray()) arrays->push_back(literal);
  for (const Literal& element : literal.elements()) AppendArrays(element, arrays);
}

int CountArrays(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray() ? 1 : 0;
  int count = 0;
  for (const Shape& element : shape.tuple_shapes()) count += CountArrays(element);
  return count;
}

bool AsksForOneArray(absl::string_view path) { return absl::EndsWith(WithoutGz(path), ".npy"); }

}  // namespace

bool LooksLikeNumpy(absl::string_view bytes) { return LooksLikeNpz(bytes) || LooksLikeNpy(bytes); }

absl::StatusOr<std::vector<Literal>> NumpyArguments(absl::string_view bytes, const Computation& entry) {
  std::vector<NpzMember> members;
  if (LooksLikeNpy(bytes)) {
    ASSIGN_OR_RETURN(NpyArray array, ReadNpy(bytes));
    members.push_back({"", std::move(array)});
  } else {
    ASSIGN_OR_RETURN(members, ReadNpz(bytes));
  }
  std::vector<Slot> slots;
  for (const Instruction* parameter : entry.parameters()) {
    AppendSlots(parameter->shape(), std::string(parameter->name()), &slots);
  }
  if (members.size() != slots.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(entry.name(), " takes ", slots.size(), " arrays as arguments, got ", members.size()));
  }
  const std::vector<size_t> member_of = MatchMembers(members, slots);
  std::vector<Literal> arrays;
  for (size_t s = 0; s < slots.size(); ++s) {
    const NpzMember& member = members[member_of[s]];
    absl::StatusOr<Literal> array = AsType(member.array, slots[s].shape->element_type());
    if (!array.ok()) {
      const std::string place = slots[s].name.empty() ? absl::StrCat("array ", s, " of the arguments")
                                                      : absl::StrCat("parameter ", slots[s].name);
      return Annotate(array.status(), member.name.empty()
                                          ? place
                                          : absl::StrCat(absl::CHexEscape(member.name), " for ", place));
    }
    arrays.push_back(*std::move(array));
  }
  std::vector<Literal> arguments;
  auto next = arrays.begin();
  for (const Instruction* parameter : entry.parameters())
    arguments.push_back(Assemble(parameter->shape(), &next));
  return arguments;
}

bool IsNumpyName(absl::string_view path) {
  return AsksForOneArray(path) || absl::EndsWith(WithoutGz(path), ".npz");
}

absl::Status CheckNumpyResult(const Shape& result, absl::string_view path) {
  const int count = CountArrays(result);
  if (!AsksForOneArray(path) || count == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the result has ", count, " arrays, a .npy file holds one; write a .npz file"));
}

absl::StatusOr<std::string> NumpyResult(const Literal& result, absl::string_view path) {
  RETURN_IF_ERROR(CheckNumpyResult(result.shape(), path));
  std::vector<Literal> arrays;
  AppendArrays(result, &arrays);
  if (AsksForOneArray(path)) return WriteNpy(arrays[0]);
  return WriteNpz(arrays);
}

}  // namespace toroid
