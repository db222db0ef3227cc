#include "partitioner/prepare/sharding_lines.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/analysis/author_names.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/analysis/output_names.h"
#include "hlo/base/glob.h"
#include "hlo/base/status.h"
#include "hlo/base/suggestion.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/devices/hlo_sharding.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/io/module_meshes.h"
#include "hlo/io/sdy_sharding.h"
#include "hlo/io/sharding_text.h"
#include "hlo/ir/parameter_name.h"
#include "partitioner/prepare/shown_name.h"

namespace toroid {
namespace {

// Parses `name` as `prefix`, a number, `suffix`.
bool TakeNumber(absl::string_view name, absl::string_view prefix, absl::string_view suffix, int64_t* number) {
  return absl::ConsumePrefix(&name, prefix) && absl::ConsumeSuffix(&name, suffix) &&
         absl::SimpleAtoi(name, number);
}

absl::Status Give(const xla::OpSharding* sharding, Instruction* instruction) {
  if (instruction->sharding() != nullptr && IsManual(*instruction->sharding())) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", instruction->name(),
                     "' is manual, local to each device already; shard a value outside the manual region"));
  }
  instruction->GiveSharding(sharding);
  return absl::OkStatus();
}

// Adds a Sharding call (an identity) of `value` that carries the sharding.
absl::StatusOr<Instruction*> Annotate(Module* module, const xla::OpSharding* sharding, Instruction* value) {
  InstructionBuilder b(module->entry());
  b.set_metadata(value->metadata());
  Instruction* call = b.CustomCall("Sharding", value->shape(), {value});
  RETURN_IF_ERROR(b.status());
  call->set_name(value->name());
  RETURN_IF_ERROR(Give(sharding, call));
  return call;
}

// The root's sharding of all results, with that of result `index` replaced; null if the root has none.
const xla::OpSharding* ResultsWith(Module* module, int64_t index, const xla::OpSharding& given) {
  const Instruction& root = *module->entry()->root();
  if (root.sharding() == nullptr) return nullptr;
  xla::OpSharding of_all;
  of_all.set_type(xla::OpSharding::TUPLE);
  int64_t leaf = 0;
  for (int64_t i = 0; i < index; ++i) leaf += root.shape().tuple_shape(i).NumLeaves();
  const bool is_of_each = root.sharding()->type() == xla::OpSharding::TUPLE;
  for (int64_t i = 0; i < root.shape().NumLeaves(); ++i) {
    const bool is_known = !is_of_each || i < root.sharding()->tuple_shardings_size();
    if (!is_known && i != leaf) break;
    *of_all.add_tuple_shardings() = i == leaf    ? given
                                    : is_of_each ? root.sharding()->tuple_shardings(static_cast<int>(i))
                                                 : *root.sharding();
  }
  return module->New(of_all);
}

// In place of what the module asks for the output.
absl::Status GiveOutput(Module* module, int64_t index, const xla::OpSharding* sharding) {
  Computation* entry = module->entry();
  Instruction* root = entry->root();
  if (!root->shape().IsTuple()) {
    if (index != 0) return absl::NotFoundError("the module has one output, output{0}");
    ASSIGN_OR_RETURN(Instruction * annotated, Annotate(module, sharding, root));
    if (!root->sharding_is_given() && !IsShardingAnnotation(*root)) root->set_sharding(nullptr);
    entry->set_root(annotated);
    return absl::OkStatus();
  }
  const auto elements = root->shape().tuple_shapes();
  if (index < 0 || index >= static_cast<int64_t>(elements.size())) {
    return absl::NotFoundError(absl::StrCat("the module has ", elements.size(), " outputs"));
  }
  InstructionBuilder b(entry);
  std::vector<Instruction*> values;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (root->opcode() == Opcode::kTuple) {
      values.push_back(root->operand(i));
      continue;
    }
    values.push_back(b.GetTupleElement(root, i));
    values.back()->set_name(absl::StrCat(root->name(), ".element.", i));
  }
  RETURN_IF_ERROR(b.status());
  if (!values[index]->shape().IsArray()) return absl::InvalidArgumentError("that output is no array");
  if (IsCallTo(*values[index], "xla.sdy.FuncResultSharding")) RETURN_IF_ERROR(Give(sharding, values[index]));
  ASSIGN_OR_RETURN(values[index], Annotate(module, sharding, values[index]));
  Instruction* tuple = b.Op(Opcode::kTuple, root->shape(), values);
  RETURN_IF_ERROR(b.status());
  tuple->set_name(absl::StrCat(root->name(), ".given"));
  if (root->opcode() == Opcode::kTuple) tuple->set_sharding(ResultsWith(module, index, *sharding));
  entry->set_root(tuple);
  return absl::OkStatus();
}

// The position of the '=' between name and sharding: the first one before a '{' or '['. Names and shardings
// may contain others.
size_t FindEquals(absl::string_view line) {
  for (size_t at = line.find('='); at != absl::string_view::npos; at = line.find('=', at + 1)) {
    const absl::string_view behind = absl::StripLeadingAsciiWhitespace(line.substr(at + 1));
    if (absl::StartsWith(behind, "{") || absl::StartsWith(behind, "[")) return at;
  }
  return line.find('=');
}

// `line` up to a '#' at its start or after a blank. A '#' elsewhere may be part of an op_name.
absl::string_view WithoutComment(absl::string_view line) {
  for (size_t at = line.find('#'); at != absl::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || absl::ascii_isspace(line[at - 1])) return line.substr(0, at);
  }
  return line;
}

// By name or op_name: the number of instructions that it means.
using NameCounts = absl::flat_hash_map<absl::string_view, int>;

NameCounts CountNames(const Module& module) {
  NameCounts counts;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      ++counts[instruction->name()];
      if (instruction->metadata() == nullptr || !instruction->shape().IsArray()) continue;
      const std::string& op_name = instruction->metadata()->op_name();
      if (op_name != instruction->name()) ++counts[op_name];
    }
  }
  return counts;
}

std::string UniqueName(const Instruction& parameter, const NameCounts& counts) {
  const auto is_unique = [&](const std::string& name) {
    const auto it = counts.find(name);
    // A name with wildcards is a glob, which may match other instructions.
    return !name.empty() && name.find_first_of("*?") == std::string::npos && it != counts.end() &&
           it->second == 1;
  };
  if (parameter.metadata() != nullptr && is_unique(parameter.metadata()->op_name())) {
    return parameter.metadata()->op_name();
  }
  if (is_unique(parameter.name())) return parameter.name();
  return absl::StrCat("parameter(", parameter.parameter_number(), ")");
}

// Suggestions for a name that matches nothing: the nearest name, else a parameter whose name contains it,
// else the first eight parameters.
std::string NamesInstead(absl::string_view name, const Module& module) {
  std::vector<std::string> parameters = GivenNames(module);
  std::vector<std::string> names = parameters;
  absl::string_view last;
  for (const Instruction* parameter : module.entry()->parameters()) {
    names.push_back(absl::StrCat("parameter(", parameter->parameter_number(), ")"));
  }
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      names.push_back(instruction->name());
      if (instruction->metadata() == nullptr || !instruction->shape().IsArray()) continue;
      const std::string& op_name = instruction->metadata()->op_name();
      if (op_name != last) names.push_back(op_name);  // Consecutive instructions often share one.
      last = op_name;
    }
  }
  // Never suggest the name itself: an empty name equals the empty op_names.
  names.erase(std::remove(names.begin(), names.end(), name), names.end());
  const std::string meant = DidYouMean(name, names);
  if (!meant.empty()) return meant;
  for (const std::string& parameter : parameters) {
    if (!name.empty() && absl::StrContains(parameter, name)) {
      return absl::StrCat("; did you mean ", parameter, "?");
    }
  }
  constexpr size_t kFew = 8;
  if (parameters.empty()) return "";
  const bool few = parameters.size() <= kFew;
  if (!few) parameters.resize(kFew);
  return absl::StrCat("; the parameters are ", absl::StrJoin(parameters, ", "), few ? "" : ", ...");
}

// Completes a sharding as --explain prints it, [{"model"}, {}], with the module's one mesh:
// {mesh['model'=4], [{'model'}, {}]}.
absl::StatusOr<std::string> OverTheMesh(absl::string_view dims, const Module& module) {
  ASSIGN_OR_RETURN(const SdyMeshes meshes, SdyMeshesOf(module));
  const SdyMesh* only = nullptr;
  int count = 0;
  for (const auto& [name, mesh] : meshes) {
    if (mesh.NumDevices() <= 1) continue;
    only = &mesh;
    ++count;
  }
  if (count != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the module has ", count == 0 ? "no mesh" : "several meshes",
                     "; name the axes, as in {mesh['x'=2,'y'=4], [{'x'}, {}]}"));
  }
  std::vector<std::string> axes;
  for (const SdyMesh::Axis& axis : only->axes) axes.push_back(absl::StrCat("'", axis.name, "'=", axis.size));
  return absl::StrCat("{mesh[", absl::StrJoin(axes, ","), "], ", absl::StrReplaceAll(dims, {{"\"", "'"}}),
                      "}");
}

absl::Status HasRankOf(const xla::OpSharding& sharding, const Instruction& instruction) {
  if (!instruction.shape().IsArray() || sharding.type() == xla::OpSharding::TUPLE) return absl::OkStatus();
  const absl::StatusOr<HloSharding> own = HloSharding::FromProto(sharding);
  return toroid::Annotate(own.ok() ? own->Validate(instruction.shape()) : own.status(),
                          absl::StrCat(instruction.computation()->name(), "/", instruction.name()));
}

// Whether `name` is the instruction's as --explain prints it, with the author's scopes in front.
bool IsNameInScopes(absl::string_view name, const Instruction& instruction) {
  return name.size() > instruction.name().size() && absl::EndsWith(name, instruction.name()) &&
         name == InAuthorScopes(instruction, instruction.name());
}

// The instruction of that name, and those whose op_name matches it as a glob.
bool IsMeant(absl::string_view name, const Instruction& instruction) {
  if (instruction.name() == name || IsNameInScopes(name, instruction)) return true;
  return instruction.metadata() != nullptr && instruction.shape().IsArray() &&
         !instruction.metadata()->op_name().empty() && GlobMatches(name, instruction.metadata()->op_name());
}

// An array of a name that a row of --explain shows for several.
bool IsShown(const ShownName& shown, const Instruction& instruction) {
  if (!instruction.shape().IsArray()) return false;
  if (instruction.opcode() == Opcode::kParameter) {
    return shown.Means(ParameterName(instruction)) || shown.Means(instruction.name());
  }
  return shown.Means(instruction.name()) || shown.Means(InAuthorScopes(instruction, instruction.name()));
}

// What was given a sharding, and what could not be for its rank.
struct Matches {
  int given = 0, of_other_rank = 0;
  absl::Status misfit;
};

absl::Status GiveAll(absl::FunctionRef<bool(const Instruction&)> is_meant, const xla::OpSharding* sharding,
                     Module* module, Matches* matches) {
  for (const auto& computation : module->computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (!is_meant(*instruction)) continue;
      const absl::Status fits = HasRankOf(*sharding, *instruction);
      if (fits.ok()) {
        RETURN_IF_ERROR(Give(sharding, instruction.get()));
        ++matches->given;
      } else {
        matches->misfit.Update(fits);
        ++matches->of_other_rank;
      }
    }
  }
  return absl::OkStatus();
}

// Shards what `name` means; outputs only if it means no instruction. If it may mean several, `note` tells their number.
absl::Status GiveMatches(absl::string_view name, const xla::OpSharding* sharding, Module* module,
                         std::string* note) {
  const ShownName shown(name);
  Matches matches;
  RETURN_IF_ERROR(GiveAll([&](const Instruction& instruction) { return IsMeant(name, instruction); },
                          sharding, module, &matches));
  if (shown.IsPlain() && !matches.misfit.ok()) return matches.misfit;
  if (matches.given == 0 && matches.of_other_rank == 0 && !shown.IsPlain()) {
    RETURN_IF_ERROR(GiveAll([&](const Instruction& instruction) { return IsShown(shown, instruction); },
                            sharding, module, &matches));
  }
  if (matches.given == 0 && matches.of_other_rank == 0) {
    const std::vector<std::string> outputs = OutputNames(*module);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] != name && !shown.Means(outputs[i]) && !shown.Means(absl::StrCat("output{", i, "}")))
        continue;
      RETURN_IF_ERROR(toroid::Annotate(GiveOutput(module, static_cast<int64_t>(i), sharding),
                                       absl::StrCat("'", outputs[i], "'")));
      ++matches.given;
    }
  }
  if (matches.given == 0 && matches.of_other_rank > 0) return matches.misfit;
  if (matches.given == 0) {
    return absl::NotFoundError(absl::StrCat("'", name, "' names no instruction and matches no op_name",
                                            NamesInstead(name, *module)));
  }
  if (shown.IsPlain()) return absl::OkStatus();
  *note = absl::StrCat("'", name, "' shards ", matches.given, matches.given == 1 ? " value" : " values");
  if (matches.of_other_rank > 0)
    absl::StrAppend(note, ", not the ", matches.of_other_rank, " of another rank that it matches");
  return absl::OkStatus();
}

absl::Status ApplyOne(absl::string_view line, Module* module, std::string* note) {
  const size_t equals = FindEquals(line);
  if (equals == absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("'", line, "': expected NAME=SHARDING"));
  }
  const absl::string_view name = absl::StripAsciiWhitespace(line.substr(0, equals));
  std::string text(absl::StripAsciiWhitespace(line.substr(equals + 1)));
  if (absl::StartsWith(text, "[")) {
    absl::StatusOr<std::string> full = OverTheMesh(text, *module);
    if (!full.ok()) return toroid::Annotate(full.status(), absl::StrCat("sharding of '", name, "'"));
    text = *std::move(full);
  }
  absl::StatusOr<xla::OpSharding> parsed = ParseSharding(text);
  if (!parsed.ok()) return toroid::Annotate(parsed.status(), absl::StrCat("sharding of '", name, "'"));
  const xla::OpSharding* sharding = module->New(*parsed);
  int64_t number;
  if (TakeNumber(name, "parameter(", ")", &number)) {
    if (number < 0 || number >= module->entry()->num_parameters()) {
      return absl::NotFoundError(
          absl::StrCat("'", name, "': the module has ", module->entry()->num_parameters(), " parameters"));
    }
    Instruction* parameter = module->entry()->parameter(number);
    RETURN_IF_ERROR(HasRankOf(*sharding, *parameter));
    return Give(sharding, parameter);
  }
  if (name == "output{}" && !module->entry()->root()->shape().IsTuple()) {
    return toroid::Annotate(GiveOutput(module, 0, sharding), absl::StrCat("'", name, "'"));
  }
  if (TakeNumber(name, "output{", "}", &number)) {
    return toroid::Annotate(GiveOutput(module, number, sharding), absl::StrCat("'", name, "'"));
  }
  return GiveMatches(name, sharding, module, note);
}

}  // namespace

absl::Status ApplyShardingLines(const std::vector<ShardingLine>& shardings, Module* module,
                                std::vector<std::string>* notes) {
  absl::flat_hash_set<std::string> names;
  for (const auto& [line, where] : shardings) {
    const auto located = [&where = where](const absl::Status& status) {
      return where.empty() ? status : toroid::Annotate(status, where);
    };
    const std::string name(absl::StripAsciiWhitespace(absl::string_view(line).substr(0, FindEquals(line))));
    if (!names.insert(name).second) {
      return located(
          absl::InvalidArgumentError(absl::StrCat("'", name, "' is given two shardings; give one")));
    }
    std::string note;
    RETURN_IF_ERROR(located(ApplyOne(line, module, &note)));
    if (notes == nullptr || note.empty()) continue;
    notes->push_back(where.empty() ? note : absl::StrCat(where, ": ", note));
  }
  return absl::OkStatus();
}

std::vector<std::string> GivenNames(const Module& module) {
  std::vector<std::string> names;
  const NameCounts counts = CountNames(module);
  for (const Instruction* parameter : module.entry()->parameters())
    names.push_back(UniqueName(*parameter, counts));
  return names;
}

std::vector<ShardingLine> ReadShardingLines(absl::string_view text, absl::string_view file) {
  std::vector<ShardingLine> lines;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(WithoutComment(line));
    if (!line.empty()) lines.push_back({std::string(line), absl::StrCat(file, ":", number)});
  }
  return lines;
}

}  // namespace toroid
