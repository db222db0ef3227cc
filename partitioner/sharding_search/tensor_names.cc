#include "partitioner/sharding_search/tensor_names.h"

#include "absl/container/flat_hash_map.h"
#include "hlo/devices/spmd_record.h"
#include "partitioner/prepare/sharding_lines.h"

namespace toroid {
namespace {

// By name: the only instruction that has it; null if several have.
using Named = absl::flat_hash_map<absl::string_view, const Instruction*>;

void Add(const Instruction* instruction, Named* named) {
  const auto [it, is_new] = named->try_emplace(instruction->name(), instruction);
  if (!is_new) it->second = nullptr;
}

bool IsLocal(const Instruction& instruction) {
  return instruction.sharding() != nullptr && IsManual(*instruction.sharding());
}

bool AreTheSame(const Instruction& a, const Instruction& b) {
  return a.opcode() == b.opcode() && a.shape().Compatible(b.shape()) &&
         (a.metadata() == nullptr ? "" : a.metadata()->op_name()) ==
             (b.metadata() == nullptr ? "" : b.metadata()->op_name());
}

}  // namespace

std::vector<std::string> GivenNamesOfTensors(const Module& module, const PreparedProgram& program) {
  const FlowGraph& graph = *program.graph;
  Named inside, given;
  for (const Instruction* instruction : graph.ReachedInstructions(*program.flat)) Add(instruction, &inside);
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) Add(instruction.get(), &given);
  }
  std::vector<std::string> names(graph.num_tensors());
  for (const auto& [name, instruction] : inside) {
    if (instruction == nullptr || !instruction->shape().IsArray()) continue;
    const auto original = given.find(name);
    if (original == given.end() || original->second == nullptr) continue;
    if (IsLocal(*original->second) || !AreTheSame(*original->second, *instruction)) continue;
    names[graph.Leaves(*instruction)[0]] = instruction->name();
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
