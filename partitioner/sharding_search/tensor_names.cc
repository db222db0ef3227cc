#include "partitioner/sharding_search/tensor_names.h"

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "hlo/devices/spmd_record.h"
#include "partitioner/prepare/sharding_lines.h"

namespace toroid {
namespace {

// By name: the instructions that have it.
using Named = absl::flat_hash_map<absl::string_view, std::vector<const Instruction*>>;

bool IsLocal(const Instruction& instruction) {
  return instruction.sharding() != nullptr && IsManual(*instruction.sharding());
}

absl::string_view OpName(const Instruction& instruction) {
  if (instruction.metadata() == nullptr) return "";
  return instruction.metadata()->op_name();
}

// Where a call was inlined, its op_name stands before those of the callee.
bool AreTheSame(const Instruction& given, const Instruction& inlined) {
  absl::string_view outer = OpName(inlined);
  const bool are_named_alike =
      OpName(given) == outer ||
      (absl::ConsumeSuffix(&outer, OpName(given)) && (OpName(given).empty() || absl::EndsWith(outer, "/")));
  return are_named_alike && given.opcode() == inlined.opcode() && given.shape().Compatible(inlined.shape());
}

}  // namespace

std::vector<std::string> GivenNamesOfTensors(const Module& module, const PreparedProgram& program) {
  const FlowGraph& graph = *program.graph;
  Named inside, given;
  for (const Instruction* instruction : graph.ReachedInstructions(*program.flat))
    inside[instruction->name()].push_back(instruction);
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions())
      given[instruction->name()].push_back(instruction.get());
  }
  std::vector<std::string> names(graph.num_tensors());
  for (const auto& [name, copies] : inside) {
    const auto original = given.find(name);
    if (original == given.end() || original->second.size() != 1 || IsLocal(*original->second[0])) continue;
    const bool are_the_same = absl::c_all_of(copies, [&](const Instruction* copy) {
      return copy->shape().IsArray() && AreTheSame(*original->second[0], *copy);
    });
    if (!are_the_same) continue;
    for (const Instruction* copy : copies) names[graph.Leaves(*copy)[0]] = copy->name();
  }
  const std::vector<std::string> arguments = GivenNames(module);
  for (const Instruction* parameter : program.flat->entry()->parameters()) {
    const int64_t number = parameter->parameter_number();
    if (!parameter->shape().IsArray() || IsLocal(*module.entry()->parameter(number))) continue;
    names[graph.Leaves(*parameter)[0]] = arguments[number];
  }
  return names;
}

}  // namespace toroid
