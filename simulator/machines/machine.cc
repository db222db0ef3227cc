// BUILD: embed "tpu_v2.textproto", "tpu_v3.textproto", "tpu_v4.textproto", "tpu_v5e.textproto", "tpu_v5p.textproto", "tpu_v6e.textproto", "tpu7x.textproto", "islands.textproto"
#include "simulator/machines/machine.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"
#include "hlo/base/files.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/base/suggestion.h"
#include "hlo/io/first_error.h"

namespace toroid {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int64_t kMostCores = int64_t{1} << 20;

struct BuiltInFile {
  const char* name;
  const char* text;
};
constexpr BuiltInFile kBuiltIn[] = {
#include "simulator/machines/machine_embedded.inc"
};

// One number of a message, or of a message in it.
struct Number {
  std::string path;
  Message* message;
  const FieldDescriptor* field;
  int element;  // -1 where the field is not repeated.
};

bool IsNumber(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE ||
         field.cpp_type() == FieldDescriptor::CPPTYPE_INT64;
}

constexpr char kMeasured[] = "measured";
// A machine may be without these.
constexpr char kCompiler[] = "core.compiler";
constexpr char kSimple[] = "core.simple";
constexpr char kDataCentre[] = "network.data_centre";
constexpr char kHost[] = "host";

// Calls `visit` for every number under `message`, those that are not set as 0; of what was measured only those that are set.
void ForEachNumber(Message* message, const std::string& prefix,
                   const std::function<void(const Number&)>& visit) {
  const google::protobuf::Reflection& reflection = *message->GetReflection();
  for (int f = 0; f < message->GetDescriptor()->field_count(); ++f) {
    const FieldDescriptor* field = message->GetDescriptor()->field(f);
    const std::string path = absl::StrCat(prefix, prefix.empty() ? "" : ".", field->name());
    const int elements = field->is_repeated() ? reflection.FieldSize(*message, field) : 1;
    for (int e = 0; e < elements; ++e) {
      const std::string element_path = field->is_repeated() ? absl::StrCat(path, "[", e, "]") : path;
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        const bool may_lack = absl::StartsWith(path, kMeasured) || path == kCompiler || path == kSimple ||
                              path == kDataCentre || path == kHost;
        if (may_lack && !reflection.HasField(*message, field)) continue;
        Message* inner = field->is_repeated() ? reflection.MutableRepeatedMessage(message, field, e)
                                              : reflection.MutableMessage(message, field);
        ForEachNumber(inner, element_path, visit);
      } else if (IsNumber(*field)) {
        if (absl::StartsWith(path, kMeasured) && !reflection.HasField(*message, field)) continue;
        visit({element_path, message, field, field->is_repeated() ? e : -1});
      }
    }
  }
}

double Get(const Number& number) {
  const google::protobuf::Reflection& reflection = *number.message->GetReflection();
  const bool is_double = number.field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE;
  if (number.element < 0) {
    return is_double ? reflection.GetDouble(*number.message, number.field)
                     : static_cast<double>(reflection.GetInt64(*number.message, number.field));
  }
  return is_double ? reflection.GetRepeatedDouble(*number.message, number.field, number.element)
                   : static_cast<double>(
                         reflection.GetRepeatedInt64(*number.message, number.field, number.element));
}

absl::Status Set(const Number& number, double value) {
  const google::protobuf::Reflection& reflection = *number.message->GetReflection();
  const bool is_double = number.field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE;
  if (!is_double && (value != std::floor(value) || std::abs(value) > 9e15)) {
    return absl::InvalidArgumentError(absl::StrCat(number.path, " is an integer and cannot be ", value));
  }
  const int64_t integer = is_double ? 0 : static_cast<int64_t>(value);
  if (number.element < 0) {
    is_double ? reflection.SetDouble(number.message, number.field, value)
              : reflection.SetInt64(number.message, number.field, integer);
  } else {
    is_double ? reflection.SetRepeatedDouble(number.message, number.field, number.element, value)
              : reflection.SetRepeatedInt64(number.message, number.field, number.element, integer);
  }
  return absl::OkStatus();
}

// What a machine can do without: costs, lower limits, and what is counted from 0. A 0 elsewhere would divide, or leave nothing.
bool MayBeZero(const Number& number) {
  static constexpr absl::string_view kCosts[] = {
      "_seconds", "_seconds_per_byte", "_cycles", "_passes", "_times", "_share", "_colors", "_factor"};
  const std::string& name = number.field->name();
  const bool is_cost = std::any_of(std::begin(kCosts), std::end(kCosts),
                                   [&](absl::string_view suffix) { return absl::EndsWith(name, suffix); });
  return is_cost || absl::StartsWith(name, "least_") || name == "write_efficiency" || name == "chip" ||
         name == "axis" || name == "copies" || absl::StartsWith(number.path, "network.router.") ||
         absl::StrContains(number.path, ".slots_of.");
}

// Plain rules do not ask for it.
bool IsUnused(absl::string_view path) {
  static constexpr absl::string_view kUsed[] = {"core.memory_bytes",
                                                "core.clock_hertz",
                                                "core.matrix.units",
                                                "core.matrix.tile",
                                                "core.vector.lanes",
                                                "core.vector.sublanes",
                                                "core.vector.slots",
                                                "core.memory.bytes_per_second",
                                                "core.simple.",
                                                "core.memory.stream_efficiency",
                                                "core.matrix.cycles_per_row",
                                                "core.vector.slots_of.exponential"};
  return absl::StartsWith(path, "core.") &&
         std::none_of(std::begin(kUsed), std::end(kUsed),
                      [&](absl::string_view used) { return absl::StartsWith(path, used); });
}

absl::Status CheckNumbers(MachineFamily* family) {
  absl::Status first;
  const bool is_simple = family->core().has_simple();
  ForEachNumber(family, "", [&](const Number& number) {
    if (!first.ok()) return;
    const double value = Get(number);
    if (!std::isfinite(value)) {
      first = absl::InvalidArgumentError(absl::StrCat(number.path, " is no finite number"));
    } else if (value < 0) {
      first = absl::InvalidArgumentError(absl::StrCat(number.path, " is negative: ", value));
    } else if (value == 0 && !MayBeZero(number) && !(is_simple && IsUnused(number.path))) {
      first = absl::InvalidArgumentError(absl::StrCat(number.path, " is 0 or missing; it must be more"));
    }
  });
  return first;
}

absl::Status CheckSlices(const MachineFamily& family) {
  std::set<std::string> names;
  for (const SliceSpec& slice : family.slices()) {
    if (slice.name().empty()) return absl::InvalidArgumentError("a slice has no name");
    if (!names.insert(slice.name()).second) {
      return absl::InvalidArgumentError(absl::StrCat("two slices are named ", slice.name()));
    }
    if (slice.chips().empty()) return absl::InvalidArgumentError(absl::StrCat(slice.name(), " has no chips"));
    if (slice.wrap_size() > slice.chips_size()) {
      return absl::InvalidArgumentError(absl::StrCat(slice.name(), " has ", slice.chips_size(),
                                                     " axes, but wrap is given for ", slice.wrap_size()));
    }
    if (slice.copies() > 1 && !family.network().has_data_centre()) {
      return absl::InvalidArgumentError(absl::StrCat(
          slice.name(), ": ", family.name(),
          " has no network between slices; name one slice, or give a file with network.data_centre"));
    }
    int64_t cores = SaturatingMultiply(family.cores_per_chip(), std::max<int64_t>(1, slice.copies()));
    for (const int64_t chips : slice.chips()) cores = SaturatingMultiply(cores, chips);
    if (cores > kMostCores) {
      return absl::InvalidArgumentError(
          absl::StrCat(slice.name(), " has ", cores, " cores; at most ", kMostCores, " are simulated"));
    }
  }
  return family.slices().empty() ? absl::InvalidArgumentError("there is no slice") : absl::OkStatus();
}

absl::StatusOr<MachineFamily> ParseFamily(absl::string_view text, const std::string& place) {
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(100);
  MachineFamily family;
  if (!parser.ParseFromString(std::string(text), &family)) {
    return absl::InvalidArgumentError(absl::StrCat(place, ":", error.text()));
  }
  RETURN_IF_ERROR(Annotate(CheckNumbers(&family), place));
  RETURN_IF_ERROR(Annotate(CheckSlices(family), place));
  return family;
}

absl::StatusOr<Machine> SliceOf(MachineFamily family, absl::string_view name, const std::string& place) {
  std::vector<std::string> names;
  for (const SliceSpec& slice : family.slices()) {
    if (name.empty() || slice.name() == name) return Machine{family, slice};
    names.push_back(slice.name());
  }
  return absl::NotFoundError(absl::StrCat(place, ": no slice is named ", name, DidYouMean(name, names)));
}

absl::StatusOr<Number> FindNumber(absl::string_view path, MachineFamily* family) {
  std::vector<std::string> paths;
  std::optional<Number> found;
  ForEachNumber(family, "", [&](const Number& number) {
    if (number.path == path) found = number;
    paths.push_back(number.path);
  });
  if (found.has_value()) return *found;
  return absl::NotFoundError(absl::StrCat("a machine has no parameter ", path, DidYouMean(path, paths)));
}

// "tpu-v3-8 to tpu-v3-2048", for each family built in.
std::vector<std::string> FamilyRanges() {
  std::vector<std::string> ranges;
  for (const BuiltInFile& file : kBuiltIn) {
    const absl::StatusOr<MachineFamily> family = ParseFamily(file.text, file.name);
    TOROID_CHECK(family.ok(), family.status().ToString());
    ranges.push_back(absl::StrCat(family->slices(0).name(), " to ", family->slices().rbegin()->name()));
  }
  return ranges;
}

absl::StatusOr<Machine> FindSlice(const std::string& name) {
  for (const BuiltInFile& file : kBuiltIn) {
    ASSIGN_OR_RETURN(const MachineFamily family, ParseFamily(file.text, file.name));
    for (const SliceSpec& slice : family.slices()) {
      if (slice.name() == name) return Machine{family, slice};
    }
  }
  absl::StatusOr<std::string> text = ReadFile(name);
  if (text.ok()) return ParseMachine(*text, "", name);
  if (const size_t colon = name.rfind(':'); colon != std::string::npos) {
    const std::string path = name.substr(0, colon);
    text = ReadFile(path);
    if (text.ok()) return ParseMachine(*text, absl::string_view(name).substr(colon + 1), path);
  }
  // Something with a folder or a suffix was meant as a file.
  if (absl::StrContains(name, '/') || absl::StrContains(name, '.')) return text.status();
  return absl::NotFoundError(absl::StrCat("no machine is named ", name, DidYouMean(name, BuiltInSlices()),
                                          "; there are ", absl::StrJoin(FamilyRanges(), ", "),
                                          ", or give a file"));
}

// "4xtpu-v5e-256": four of what the rest names.
absl::StatusOr<Machine> FindMachine(const std::string& name) {
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  if (digits == 0 || digits + 1 >= name.size() || name[digits] != 'x') return FindSlice(name);
  ASSIGN_OR_RETURN(Machine machine, FindSlice(name.substr(digits + 1)));
  int64_t copies = 0;
  if (!absl::SimpleAtoi(name.substr(0, digits), &copies) || copies < 1 || copies > kMostCores) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": ", name.substr(0, digits), " slices; use 1 to ", kMostCores));
  }
  machine.slice.set_copies(SaturatingMultiply(copies, std::max<int64_t>(1, machine.slice.copies())));
  machine.slice.set_name(absl::StrCat(name.substr(0, digits + 1), machine.slice.name()));
  MachineFamily family = machine.family;
  family.clear_slices();
  *family.add_slices() = machine.slice;
  RETURN_IF_ERROR(CheckSlices(family));
  return machine;
}

}  // namespace

absl::string_view RatesName(Rates rates) { return rates == Rates::kMeasured ? "measured" : "compiler"; }

int64_t Machine::chips() const {
  int64_t product = std::max<int64_t>(1, slice.copies());
  for (const int64_t n : slice.chips()) product = SaturatingMultiply(product, n);
  return product;
}

std::vector<std::string> BuiltInSlices() {
  std::vector<std::string> names;
  for (const BuiltInFile& file : kBuiltIn) {
    const absl::StatusOr<MachineFamily> family = ParseFamily(file.text, file.name);
    TOROID_CHECK(family.ok(), family.status().ToString());
    for (const SliceSpec& slice : family->slices()) names.push_back(slice.name());
  }
  return names;
}

absl::StatusOr<Machine> ParseMachine(absl::string_view text, absl::string_view slice,
                                     const std::string& place) {
  ASSIGN_OR_RETURN(MachineFamily family, ParseFamily(text, place));
  return SliceOf(std::move(family), slice, place);
}

void UseRates(Rates rates, Machine* machine) {
  if (rates == Rates::kMeasured) machine->family.mutable_core()->MergeFrom(machine->family.measured());
  machine->rates = rates;
}

absl::Status CheckHasCores(const Machine& machine, int64_t devices) {
  if (devices <= machine.cores()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the program is for ", devices, " devices, and ",
                                                 machine.slice.name(), " has ", machine.cores(),
                                                 " cores as programs see them"));
}

absl::StatusOr<Machine> LoadMachine(const std::string& name, Rates rates) {
  ASSIGN_OR_RETURN(Machine machine, FindMachine(name));
  UseRates(rates, &machine);
  return machine;
}

absl::Status SetParameter(absl::string_view path, double value, MachineFamily* family) {
  ASSIGN_OR_RETURN(const Number number, FindNumber(path, family));
  RETURN_IF_ERROR(Set(number, value));
  RETURN_IF_ERROR(CheckNumbers(family));
  return CheckSlices(*family);
}

absl::StatusOr<double> GetParameter(absl::string_view path, const MachineFamily& family) {
  MachineFamily copy = family;
  ASSIGN_OR_RETURN(const Number number, FindNumber(path, &copy));
  return Get(number);
}

std::vector<std::string> ParameterPaths(const MachineFamily& family) {
  MachineFamily copy = family;
  std::vector<std::string> paths;
  ForEachNumber(&copy, "", [&](const Number& number) {
    if (!absl::StartsWith(number.path, "slices")) paths.push_back(number.path);
  });
  return paths;
}

}  // namespace toroid
