#include "hlo/io/module_header_text.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/devices/device_limit.h"
#include "hlo/io/mesh_text.h"
#include "hlo/io/metadata_text.h"
#include "hlo/io/shape_text.h"
#include "hlo/io/sharding_text.h"
#include "hlo/ir/schedule.h"

namespace toroid {
namespace {

constexpr char kOutputSharding[] = "toroid.spmd_output_sharding";
constexpr char kParametersShardings[] = "toroid.spmd_parameters_shardings";
constexpr char kDeviceAssignment[] = "toroid.device_assignment";

using IntList = google::protobuf::RepeatedField<int64_t>;

absl::Status ParseIndex(TextScanner* scanner, IntList* index) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> values, scanner->IntegerList());
  index->Add(values.begin(), values.end());
  return absl::OkStatus();
}

std::string IndexToString(const IntList& index) { return absl::StrCat("{", absl::StrJoin(index, ","), "}"); }

// ---- Aliasing ---------------------------------------------------------------------------------------------

// (param, {index}[, kind])
template <typename Entry>
absl::Status ParseParameterIndex(TextScanner* scanner, Entry* entry) {
  RETURN_IF_ERROR(scanner->Expect("("));
  ASSIGN_OR_RETURN(const int64_t parameter, scanner->Integer());
  entry->set_parameter_number(parameter);
  RETURN_IF_ERROR(scanner->Expect(","));
  return ParseIndex(scanner, entry->mutable_parameter_shape_index());
}

absl::Status ParseAlias(TextScanner* scanner, xla::HloInputOutputAliasProto* alias) {
  return scanner->List("{", "}", [&]() -> absl::Status {
    auto* entry = alias->add_entries();
    RETURN_IF_ERROR(ParseIndex(scanner, entry->mutable_output_shape_index()));
    RETURN_IF_ERROR(scanner->Expect(":"));
    RETURN_IF_ERROR(ParseParameterIndex(scanner, entry));
    entry->set_kind(xla::MAY_ALIAS);
    if (scanner->Consume(",")) {
      if (scanner->ConsumeWord("must-alias")) {
        entry->set_kind(xla::MUST_ALIAS);
      } else if (!scanner->ConsumeWord("may-alias")) {
        return scanner->Error("expected may-alias or must-alias");
      }
    }
    return scanner->Expect(")");
  });
}

std::string AliasToString(const xla::HloInputOutputAliasProto& alias) {
  std::vector<std::string> entries;
  for (const auto& entry : alias.entries()) {
    entries.push_back(absl::StrCat(IndexToString(entry.output_shape_index()), ": (", entry.parameter_number(),
                                   ", ", IndexToString(entry.parameter_shape_index()), ", ",
                                   entry.kind() == xla::MAY_ALIAS ? "may-alias" : "must-alias", ")"));
  }
  return absl::StrCat("{ ", absl::StrJoin(entries, ", "), " }");
}

absl::Status ParseDonors(TextScanner* scanner, xla::HloBufferDonorProto* donors) {
  return scanner->List("{", "}", [&]() -> absl::Status {
    RETURN_IF_ERROR(ParseParameterIndex(scanner, donors->add_entries()));
    return scanner->Expect(")");
  });
}

std::string DonorsToString(const xla::HloBufferDonorProto& donors) {
  std::vector<std::string> entries;
  for (const auto& entry : donors.entries()) {
    entries.push_back(
        absl::StrCat("(", entry.parameter_number(), ", ", IndexToString(entry.parameter_shape_index()), ")"));
  }
  return absl::StrCat("{ ", absl::StrJoin(entries, ", "), " }");
}

// ---- Entry layout, flags ----------------------------------------------------------------------------------

absl::Status ParseEntryLayout(TextScanner* scanner, xla::ProgramShapeProto* program_shape) {
  RETURN_IF_ERROR(scanner->Expect("{"));
  RETURN_IF_ERROR(scanner->List("(", ")", [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const Shape shape, ParseShape(scanner));
    shape.ToProto(program_shape->add_parameters());
    return absl::OkStatus();
  }));
  RETURN_IF_ERROR(scanner->Expect("->"));
  ASSIGN_OR_RETURN(const Shape result, ParseShape(scanner));
  result.ToProto(program_shape->mutable_result());
  return scanner->Expect("}");
}

std::string EntryLayoutToString(const Module& module, bool layouts) {
  std::string out = "{(";
  const auto append = [&](int i, const Shape& shape) {
    if (i > 0) out += ", ";
    if (i > 0 && i % 5 == 0) absl::StrAppend(&out, "/*index=", i, "*/");
    out += shape.ToString(layouts);
  };
  const xla::ProgramShapeProto& recorded = module.proto().host_program_shape();
  const Computation& entry = *module.entry();
  // The recorded layout counts if it still fits the entry's shapes.
  std::vector<Shape> parameters;
  for (const xla::ShapeProto& proto : recorded.parameters()) {
    parameters.push_back(Shape::FromProto(proto).value_or(Shape()));
  }
  Shape result = Shape::FromProto(recorded.result()).value_or(Shape());
  bool fits = static_cast<int>(parameters.size()) == entry.num_parameters() &&
              result.Compatible(entry.root()->shape());
  for (int i = 0; fits && i < entry.num_parameters(); ++i) {
    fits = parameters[i].Compatible(entry.parameter(i)->shape());
  }
  for (int i = 0; i < entry.num_parameters(); ++i)
    append(i, fits ? parameters[i] : entry.parameter(i)->shape());
  absl::StrAppend(&out, ")->", (fits ? result : entry.root()->shape()).ToString(layouts), "}");
  return out;
}

absl::Status ParseFlags(TextScanner* scanner, std::vector<bool>* flags) {
  flags->clear();
  const auto parse_one = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const bool flag, scanner->Boolean());
    flags->push_back(flag);
    return absl::OkStatus();
  };
  return scanner->Peek() == '{' ? scanner->List("{", "}", parse_one) : parse_one();
}

void AppendFlags(absl::string_view key, const std::vector<bool>& flags, std::string* out) {
  if (flags.empty() || (flags.size() == 1 && !flags[0])) return;
  const std::string list =
      absl::StrJoin(flags, ",", [](std::string* s, bool flag) { s->append(flag ? "true" : "false"); });
  absl::StrAppend(out, ", ", key, "=", flags.size() == 1 ? list : absl::StrCat("{", list, "}"));
}

// ---- What partitioning records ----------------------------------------------------------------------------

// [replicas, computations] and the devices, replica by replica.
absl::StatusOr<xla::DeviceAssignmentProto> ParseDeviceAssignment(TextScanner* scanner) {
  RETURN_IF_ERROR(scanner->Expect("{"));
  ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, scanner->IntegerList("[", "]"));
  if (sizes.size() != 2) return scanner->Error("expected [replicas,computations] before this");
  ASSIGN_OR_RETURN(const int64_t count, DeviceCount(sizes, scanner));
  std::vector<int64_t> devices;
  if (scanner->Consume("<=")) {
    ASSIGN_OR_RETURN(const std::vector<int64_t> iota, scanner->IntegerList("[", "]"));
    for (int64_t i = 0; iota.size() == 1 && iota[0] == count && i < count; ++i) devices.push_back(i);
  } else {
    do {
      ASSIGN_OR_RETURN(const int64_t device, scanner->Integer());
      devices.push_back(device);
    } while (scanner->Consume(","));
  }
  if (static_cast<int64_t>(devices.size()) != count) {
    return scanner->Error(
        absl::StrCat("the device assignment before this does not list ", count, " devices"));
  }
  xla::DeviceAssignmentProto assignment;
  assignment.set_replica_count(static_cast<int32_t>(sizes[0]));
  assignment.set_computation_count(static_cast<int32_t>(sizes[1]));
  for (int64_t c = 0; c < sizes[1]; ++c) {
    auto* computation = assignment.add_computation_devices();
    for (int64_t r = 0; r < sizes[0]; ++r) computation->add_replica_device_ids(devices[r * sizes[1] + c]);
  }
  RETURN_IF_ERROR(scanner->Expect("}"));
  return assignment;
}

std::string DeviceAssignmentToString(const xla::DeviceAssignmentProto& assignment) {
  std::vector<int64_t> devices;
  for (int r = 0; r < assignment.replica_count(); ++r) {
    for (const auto& computation : assignment.computation_devices()) {
      if (r < computation.replica_device_ids_size()) devices.push_back(computation.replica_device_ids(r));
    }
    if (devices.empty()) break;
  }
  bool iota = true;
  for (size_t i = 0; i < devices.size(); ++i) iota &= devices[i] == static_cast<int64_t>(i);
  const int64_t count = int64_t{assignment.replica_count()} * assignment.computation_count();
  return absl::StrCat("{[", assignment.replica_count(), ",", assignment.computation_count(), "]",
                      iota ? absl::StrCat("<=[", count, "]") : absl::StrJoin(devices, ","), "}");
}

// True if device r * partitions + p runs partition p of replica r, or no device is named.
bool CountsUp(const xla::DeviceAssignmentProto& assignment) {
  if (assignment.computation_devices_size() == 0) return true;
  const int64_t partitions = assignment.computation_devices_size();
  if (partitions != assignment.computation_count()) return false;
  for (int64_t p = 0; p < partitions; ++p) {
    const auto& ids = assignment.computation_devices(static_cast<int>(p)).replica_device_ids();
    if (ids.size() != assignment.replica_count()) return false;
    for (int r = 0; r < ids.size(); ++r) {
      if (ids[r] != r * partitions + p) return false;
    }
  }
  return true;
}

absl::StatusOr<std::vector<xla::OpSharding>> ParseShardingList(TextScanner* scanner) {
  std::vector<xla::OpSharding> shardings;
  RETURN_IF_ERROR(scanner->List("{", "}", [&]() -> absl::Status {
    ASSIGN_OR_RETURN(xla::OpSharding sharding, ParseSharding(scanner));
    shardings.push_back(std::move(sharding));
    return absl::OkStatus();
  }));
  return shardings;
}

// Moves the toroid.* attributes into their proto fields.
absl::Status TakeRecordedFields(xla::HloModuleProto* proto) {
  auto& map = *proto->mutable_frontend_attributes()->mutable_map();
  if (const auto it = map.find(kOutputSharding); it != map.end()) {
    ASSIGN_OR_RETURN(*proto->mutable_spmd_output_sharding(), ParseSharding(it->second));
    map.erase(it);
  }
  if (const auto it = map.find(kParametersShardings); it != map.end()) {
    ASSIGN_OR_RETURN(const std::vector<xla::OpSharding> shardings, ParseWhole(it->second, ParseShardingList));
    for (const xla::OpSharding& sharding : shardings) *proto->add_spmd_parameters_shardings() = sharding;
    map.erase(it);
  }
  if (const auto it = map.find(kDeviceAssignment); it != map.end()) {
    ASSIGN_OR_RETURN(*proto->mutable_device_assignment(), ParseWhole(it->second, ParseDeviceAssignment));
    map.erase(it);
  }
  if (map.empty()) proto->clear_frontend_attributes();
  return absl::OkStatus();
}

xla::FrontendAttributes WithRecordedFields(const Module& module) {
  const xla::HloModuleProto& proto = module.proto();
  xla::FrontendAttributes attributes = proto.frontend_attributes();
  auto& map = *attributes.mutable_map();
  if (proto.has_spmd_output_sharding()) map[kOutputSharding] = ShardingToString(proto.spmd_output_sharding());
  if (proto.spmd_parameters_shardings_size() > 0) {
    map[kParametersShardings] = absl::StrCat(
        "{",
        absl::StrJoin(
            proto.spmd_parameters_shardings(), ", ",
            [](std::string* s, const xla::OpSharding& sharding) { s->append(ShardingToString(sharding)); }),
        "}");
  }
  // Without a list in the text, devices are numbered in order.
  if (!CountsUp(proto.device_assignment())) {
    map[kDeviceAssignment] = DeviceAssignmentToString(proto.device_assignment());
  }
  return attributes;
}

absl::Status ParseAttribute(absl::string_view key, TextScanner* scanner, Module* module) {
  ModuleConfig& config = module->config();
  xla::HloModuleProto* proto = module->mutable_proto();
  if (key == "is_scheduled") {
    ASSIGN_OR_RETURN(config.is_scheduled, scanner->Boolean());
  } else if (key == "replica_count") {
    ASSIGN_OR_RETURN(config.replica_count, scanner->Integer());
  } else if (key == "num_partitions") {
    ASSIGN_OR_RETURN(config.num_partitions, scanner->Integer());
  } else if (key == "alias_passthrough_params") {
    ASSIGN_OR_RETURN(config.alias_passthrough_params, scanner->Boolean());
  } else if (key == "allow_spmd_sharding_propagation_to_parameters") {
    return ParseFlags(scanner, &config.allow_spmd_sharding_propagation_to_parameters);
  } else if (key == "allow_spmd_sharding_propagation_to_output") {
    return ParseFlags(scanner, &config.allow_spmd_sharding_propagation_to_output);
  } else if (key == "entry_computation_layout") {
    proto->clear_host_program_shape();
    return ParseEntryLayout(scanner, proto->mutable_host_program_shape());
  } else if (key == "input_output_alias") {
    return ParseAlias(scanner, proto->mutable_input_output_alias());
  } else if (key == "buffer_donor") {
    return ParseDonors(scanner, proto->mutable_buffer_donor());
  } else if (key == "frontend_attributes") {
    const size_t begin = scanner->Position();
    RETURN_IF_ERROR(ParseFrontendAttributes(scanner, proto->mutable_frontend_attributes()));
    const absl::Status status = TakeRecordedFields(proto);
    if (!status.ok())
      return scanner->ErrorAt(begin, absl::StrCat("in a toroid.* attribute: ", status.message()));
  } else {
    return scanner->SkipValue();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ParseModuleAttributes(TextScanner* scanner, Module* module) {
  while (scanner->Consume(",")) {
    ASSIGN_OR_RETURN(const absl::string_view key, scanner->Word("an attribute of the module"));
    RETURN_IF_ERROR(scanner->Expect("="));
    RETURN_IF_ERROR(ParseAttribute(key, scanner, module));
  }
  // Protos keep the numbers of replicas and partitions in the device assignment.
  ModuleConfig& config = module->config();
  const int64_t replicas = config.replica_count, partitions = config.num_partitions;
  const bool possible = replicas >= 1 && replicas <= kMaxDevices && partitions >= 1 &&
                        partitions <= kMaxDevices / replicas && replicas * partitions > 1;
  if (possible && !module->proto().has_device_assignment()) {
    auto* assignment = module->mutable_proto()->mutable_device_assignment();
    assignment->set_replica_count(static_cast<int32_t>(replicas));
    assignment->set_computation_count(static_cast<int32_t>(partitions));
    config.identity_device_assignment = true;
  }
  return absl::OkStatus();
}

void AppendModuleAttributes(const Module& module, bool layouts, std::string* out) {
  const ModuleConfig& config = module.config();
  const xla::HloModuleProto& proto = module.proto();
  if (IsScheduled(module)) absl::StrAppend(out, ", is_scheduled=true");
  if (proto.input_output_alias().entries_size() > 0) {
    absl::StrAppend(out, ", input_output_alias=", AliasToString(proto.input_output_alias()));
  }
  if (proto.buffer_donor().entries_size() > 0) {
    absl::StrAppend(out, ", buffer_donor=", DonorsToString(proto.buffer_donor()));
  }
  if (config.alias_passthrough_params) absl::StrAppend(out, ", alias_passthrough_params=true");
  absl::StrAppend(out, ", entry_computation_layout=", EntryLayoutToString(module, layouts));
  AppendFlags("allow_spmd_sharding_propagation_to_parameters",
              config.allow_spmd_sharding_propagation_to_parameters, out);
  AppendFlags("allow_spmd_sharding_propagation_to_output", config.allow_spmd_sharding_propagation_to_output,
              out);
  // Protos keep these two in the device assignment.
  const int64_t replicas = config.replica_count != 1
                               ? config.replica_count
                               : std::max<int64_t>(proto.device_assignment().replica_count(), 1);
  const int64_t partitions = config.num_partitions != 1
                                 ? config.num_partitions
                                 : std::max<int64_t>(proto.device_assignment().computation_count(), 1);
  if (replicas != 1) absl::StrAppend(out, ", replica_count=", replicas);
  if (partitions != 1) absl::StrAppend(out, ", num_partitions=", partitions);
  const xla::FrontendAttributes attributes = WithRecordedFields(module);
  if (!attributes.map().empty()) {
    absl::StrAppend(out, ", frontend_attributes=", FrontendAttributesToString(attributes));
  }
}

// ---- Stack frames -----------------------------------------------------------------------------------------

namespace {

// Rows `N value` with N = 1, 2, ...; parse() reads the value.
template <typename Parse>
absl::Status ParseRows(TextScanner* scanner, const Parse& parse) {
  for (int64_t row = 1; scanner->Peek() >= '0' && scanner->Peek() <= '9'; ++row) {
    const size_t begin = scanner->Position();
    ASSIGN_OR_RETURN(const int64_t number, scanner->Integer());
    if (number != row) return scanner->ErrorAt(begin, absl::StrCat("expected row ", row));
    RETURN_IF_ERROR(parse());
  }
  return absl::OkStatus();
}

// {key=1 key=2}
template <typename Set>
absl::Status ParseNumbers(TextScanner* scanner, const Set& set) {
  RETURN_IF_ERROR(scanner->Expect("{"));
  while (!scanner->Consume("}")) {
    if (scanner->Consume(",")) continue;
    ASSIGN_OR_RETURN(const absl::string_view key, scanner->Word("an item or '}'"));
    RETURN_IF_ERROR(scanner->Expect("="));
    ASSIGN_OR_RETURN(const int64_t value, scanner->Integer());
    if (value != static_cast<int32_t>(value)) return scanner->Error("number before this is out of range");
    set(key, static_cast<int32_t>(value));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ParseStackFrames(TextScanner* scanner, Module* module) {
  while (true) {
    const absl::string_view table = scanner->PeekWord();
    if (table != "FileNames" && table != "FunctionNames" && table != "FileLocations" &&
        table != "StackFrames") {
      return absl::OkStatus();
    }
    scanner->ConsumeWord(table);
    xla::StackFrameIndexProto* index = module->mutable_proto()->mutable_stack_frame_index();
    RETURN_IF_ERROR(ParseRows(scanner, [&]() -> absl::Status {
      if (table == "FileNames" || table == "FunctionNames") {
        ASSIGN_OR_RETURN(std::string name, scanner->String());
        (table == "FileNames" ? index->add_file_names() : index->add_function_names())->swap(name);
        return absl::OkStatus();
      }
      if (table == "StackFrames") {
        auto* frame = index->add_stack_frames();
        return ParseNumbers(scanner, [&](absl::string_view key, int32_t value) {
          if (key == "file_location_id") frame->set_file_location_id(value);
          // In text 1 means "no parent", stored as 0.
          if (key == "parent_frame_id") frame->set_parent_frame_id(value > 0 ? value - 1 : 0);
        });
      }
      auto* location = index->add_file_locations();
      return ParseNumbers(scanner, [&](absl::string_view key, int32_t value) {
        if (key == "file_name_id") location->set_file_name_id(value);
        if (key == "function_name_id") location->set_function_name_id(value);
        if (key == "line") location->set_line(value);
        if (key == "end_line") location->set_end_line(value);
        if (key == "column") location->set_column(value);
        if (key == "end_column") location->set_end_column(value);
      });
    }));
  }
}

void AppendStackFrames(const Module& module, std::string* out) {
  const xla::StackFrameIndexProto& index = module.proto().stack_frame_index();
  if (index.stack_frames_size() == 0 && index.file_names_size() == 0) return;
  out->append("\n\nFileNames");
  for (int i = 0; i < index.file_names_size(); ++i) {
    absl::StrAppend(out, "\n", i + 1, " ", Quoted(index.file_names(i)));
  }
  out->append("\n\nFunctionNames");
  for (int i = 0; i < index.function_names_size(); ++i) {
    absl::StrAppend(out, "\n", i + 1, " ", Quoted(index.function_names(i)));
  }
  out->append("\n\nFileLocations");
  for (int i = 0; i < index.file_locations_size(); ++i) {
    const auto& location = index.file_locations(i);
    absl::StrAppend(out, "\n", i + 1, " {file_name_id=", location.file_name_id(),
                    " function_name_id=", location.function_name_id(), " line=", location.line());
    absl::StrAppend(out, " end_line=", location.end_line(), " column=", location.column(),
                    " end_column=", location.end_column(), "}");
  }
  out->append("\n\nStackFrames");
  for (int i = 0; i < index.stack_frames_size(); ++i) {
    const auto& frame = index.stack_frames(i);
    absl::StrAppend(out, "\n", i + 1, " {file_location_id=", frame.file_location_id(),
                    " parent_frame_id=", int64_t{frame.parent_frame_id()} + 1, "}");
  }
}

}  // namespace toroid
