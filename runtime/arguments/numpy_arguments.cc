#include "runtime/arguments/numpy_arguments.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/files.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/base/text_table.h"
#include "hlo/ir/parameter_name.h"
#include "runtime/arguments/npy.h"
#include "runtime/arguments/npz.h"
#include "runtime/mesh/limit_error.h"

namespace toroid {
namespace {

// A place for one array: a parameter or a leaf of one.
struct Slot {
  std::string name;   // The parameter's name; empty for a leaf of a tuple.
  std::string label;  // The name the program's author knows.
  const Shape* shape;
};

void AppendSlots(const Shape& shape, const std::string& name, const std::string& label,
                 std::vector<Slot>* slots) {
  if (shape.IsArray()) slots->push_back({name, label, &shape});
  int i = 0;
  for (const Shape& element : shape.tuple_shapes()) {
    AppendSlots(element, "", absl::StrCat(label, "{", i++, "}"), slots);
  }
}

// Builds the value of a parameter from its arrays.
Literal Assemble(const Shape& shape, std::vector<Literal>::iterator* next) {
  if (shape.IsArray()) return std::move(*(*next)++);
  if (!shape.IsTuple()) return Literal(shape);  // A token.
  std::vector<Literal> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(Assemble(element, next));
  return Literal::Tuple(std::move(elements));
}

// member_of[slot], by name; in the file's order if some name fits no slot or two fit the same slot.
std::vector<size_t> MatchMembers(const std::vector<std::string>& names, const std::vector<Slot>& slots) {
  std::vector<size_t> in_order(slots.size()), member_of(slots.size(), names.size());
  for (size_t s = 0; s < slots.size(); ++s) in_order[s] = s;
  for (size_t m = 0; m < names.size(); ++m) {
    size_t s = 0;
    while (s < slots.size() && names[m] != absl::StrCat("arr_", s) && names[m] != absl::StrCat(s) &&
           (slots[s].name.empty() || names[m] != slots[s].name)) {
      ++s;
    }
    if (s == slots.size() || member_of[s] != names.size()) return in_order;
    member_of[s] = m;
  }
  return member_of;
}

// Says which parameters have no array, or why there may be too many arrays.
absl::Status WrongNumberOfArrays(const Computation& entry, const std::vector<Slot>& slots,
                                 const std::vector<std::string>& names) {
  std::string text =
      absl::StrCat(entry.name(), " takes ", slots.size(), " arrays as arguments, got ", names.size());
  if (names.size() > slots.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        text,
        "; jax.jit drops arguments that are not used unless it is given keep_unused=True: leave those out, "
        "or lower the function with it"));
  }
  // By name if every name in the file is a parameter's; else the last parameters lack arrays.
  std::vector<bool> has_array(slots.size(), false);
  size_t matched = 0;
  for (size_t s = 0; s < slots.size(); ++s) {
    for (const std::string& name : names) {
      has_array[s] = has_array[s] || name == absl::StrCat("arr_", s) || name == absl::StrCat(s) ||
                     (!slots[s].name.empty() && name == slots[s].name);
    }
    matched += has_array[s];
  }
  if (matched < names.size()) {
    for (size_t s = 0; s < slots.size(); ++s) has_array[s] = s < names.size();
  }
  constexpr size_t kMostNamed = 8;
  std::vector<std::string> missing;
  size_t lacking = 0;
  for (size_t s = 0; s < slots.size(); ++s) {
    if (has_array[s] || ++lacking > kMostNamed) continue;
    missing.push_back(absl::StrCat(slots[s].label, " ", slots[s].shape->ToString()));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(text, "; missing: ", absl::StrJoin(missing, ", "), lacking > kMostNamed ? ", ..." : ""));
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

// An archive, or a .npy file, treated as an archive of one member without a name.
class NumpyFile {
 public:
  static absl::StatusOr<NumpyFile> Open(absl::string_view bytes) {
    NumpyFile file;
    if (LooksLikeNpy(bytes)) {
      file.array_ = bytes;
      file.names_ = {""};
      return file;
    }
    ASSIGN_OR_RETURN(file.archive_, NpzReader::Open(bytes));
    file.names_ = file.archive_->names();
    return file;
  }

  const std::vector<std::string>& names() const { return names_; }
  absl::StatusOr<NpyHeader> Header(size_t i) const {
    return archive_.has_value() ? archive_->Header(i) : ReadNpyHeader(array_);
  }
  absl::StatusOr<NpyArray> Read(size_t i) {
    return archive_.has_value() ? archive_->Read(i) : ReadNpy(array_);
  }

 private:
  absl::string_view array_;
  std::optional<NpzReader> archive_;
  std::vector<std::string> names_;
};

// Whether an array can be the argument. It may be smaller: a dynamic dimension below its bound, or a
// dimension that is cut unevenly.
absl::Status CheckFits(const NpyHeader& header, const Shape& place) {
  RETURN_IF_ERROR(CheckType(header.shape.element_type(), header.untyped, place.element_type()));
  if (header.shape.NumElements() <= place.NumElements()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("holds ",
                                                 Shape(place.element_type(), header.shape.dims()).ToString(),
                                                 ", which does not fit ", place.ToString()));
}

// "MEMBER for parameter NAME"; `whole`: what the arrays are together.
std::string PlaceOf(absl::string_view member, const Slot& slot, size_t number, absl::string_view whole) {
  const std::string place = slot.name.empty() ? absl::StrCat("array ", number, " of the ", whole)
                                              : absl::StrCat("parameter ", slot.name);
  return member.empty() ? place : absl::StrCat(absl::CHexEscape(member), " for ", place);
}

// The array of each slot. Checks all headers before it unpacks values.
absl::StatusOr<std::vector<Literal>> ReadSlots(const std::vector<Slot>& slots, absl::string_view whole,
                                               int64_t max_bytes, NumpyFile* file) {
  const std::vector<size_t> member_of = MatchMembers(file->names(), slots);
  std::vector<Shape> given;
  for (size_t s = 0; s < slots.size(); ++s) {
    ASSIGN_OR_RETURN(const NpyHeader header, file->Header(member_of[s]));
    const absl::Status fits = CheckFits(header, *slots[s].shape);
    if (!fits.ok()) return Annotate(fits, PlaceOf(file->names()[member_of[s]], slots[s], s, whole));
    given.push_back(header.shape);
  }
  RETURN_IF_ERROR(CheckArgumentBytes(given, max_bytes));
  std::vector<Literal> arrays;
  for (size_t s = 0; s < slots.size(); ++s) {
    ASSIGN_OR_RETURN(const NpyArray array, file->Read(member_of[s]));
    ASSIGN_OR_RETURN(Literal typed, AsType(array, slots[s].shape->element_type()));
    arrays.push_back(std::move(typed));
  }
  return arrays;
}

bool AsksForOneArray(absl::string_view path) { return absl::EndsWith(WithoutGz(path), ".npy"); }

}  // namespace

bool LooksLikeNumpy(absl::string_view bytes) { return LooksLikeNpz(bytes) || LooksLikeNpy(bytes); }

absl::Status CheckArgumentBytes(const std::vector<Shape>& shapes, int64_t max_bytes) {
  std::optional<int64_t> sum = 0;
  for (const Shape& shape : shapes) {
    if (sum.has_value()) sum = CheckedAdd(*sum, shape.ByteSize());
  }
  if (sum.has_value() && *sum <= max_bytes) return absl::OkStatus();
  return OverMemoryLimit(absl::StrCat("the arguments take ", sum ? BytesText(*sum) : "more than 9.2 EB",
                                      ", the limit is ", BytesText(max_bytes)));
}

absl::StatusOr<std::vector<Literal>> NumpyArguments(absl::string_view bytes, const Computation& entry,
                                                    absl::Span<const Shape> shapes, int64_t max_bytes) {
  ASSIGN_OR_RETURN(NumpyFile file, NumpyFile::Open(bytes));
  const auto shape_of = [&](int i) -> const Shape& {
    return shapes.empty() ? entry.parameter(i)->shape() : shapes[i];
  };
  std::vector<Slot> slots;
  for (int i = 0; i < entry.num_parameters(); ++i) {
    const Instruction& parameter = *entry.parameter(i);
    AppendSlots(shape_of(i), parameter.name(), ParameterName(parameter), &slots);
  }
  if (file.names().size() != slots.size()) return WrongNumberOfArrays(entry, slots, file.names());
  ASSIGN_OR_RETURN(std::vector<Literal> arrays, ReadSlots(slots, "arguments", max_bytes, &file));
  std::vector<Literal> arguments;
  auto next = arrays.begin();
  for (int i = 0; i < entry.num_parameters(); ++i) arguments.push_back(Assemble(shape_of(i), &next));
  return arguments;
}

absl::StatusOr<Literal> NumpyExpected(absl::string_view bytes, const Shape& result, int64_t max_bytes) {
  ASSIGN_OR_RETURN(NumpyFile file, NumpyFile::Open(bytes));
  std::vector<Slot> slots;
  AppendSlots(result, "", "", &slots);
  if (file.names().size() != slots.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the result has ", slots.size(), " arrays, got ", file.names().size()));
  }
  ASSIGN_OR_RETURN(std::vector<Literal> arrays, ReadSlots(slots, "result", max_bytes, &file));
  auto next = arrays.begin();
  return Assemble(result, &next);
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
