#include "hlo/analysis/module_stats.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/analysis/device_groups.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/analysis/work.h"
#include "hlo/base/math.h"
#include "hlo/ir/parameter_name.h"

namespace toroid {
namespace {

// By index: computations that move bytes. Callees are before their callers, so one walk backwards suffices.
std::vector<bool> FindPrograms(const Module& module) {
  std::vector<bool> program(static_cast<size_t>(module.num_computations()), false);
  program[static_cast<size_t>(module.entry()->index())] = true;
  for (auto it = module.computations().rbegin(); it != module.computations().rend(); ++it) {
    if (!program[static_cast<size_t>((*it)->index())]) continue;
    for (const auto& instruction : (*it)->instructions()) {
      if (!HasTrait(instruction->opcode(), kRunsBody)) continue;
      for (const Computation* callee : instruction->called())
        program[static_cast<size_t>(callee->index())] = true;
    }
  }
  return program;
}

// An array that an instruction makes; its texts are made only if it is among the largest.
struct Leaf {
  const Instruction* instruction;
  std::vector<int> path;
  const Shape* shape;
  int64_t bytes;
};

class Collector {
 public:
  explicit Collector(const Module& module)
      : module_(module), frames_(module), counts_(DeviceCountsOf(module)) {}

  ModuleStats Collect() {
    stats_.name = module_.name();
    stats_.computations = module_.num_computations();
    stats_.instructions = module_.NumInstructions();
    const std::vector<bool> program = FindPrograms(module_);
    for (const auto& computation : module_.computations()) {
      AddCalls(*computation);
      for (const auto& instruction : computation->instructions()) {
        Add(*instruction, program[static_cast<size_t>(computation->index())]);
      }
    }
    AddEntry(*module_.entry());
    for (const Leaf& leaf : leaves_) stats_.largest.push_back(TensorOf(leaf));
    stats_.shardings = ComputeShardingStats(module_);
    return std::move(stats_);
  }

 private:
  void Add(const Instruction& instruction, bool moves_bytes) {
    ++stats_.opcodes[std::string(instruction.opcode_name())];
    stats_.flops = SaturatingAdd(stats_.flops, MatrixFlops(instruction));
    if (moves_bytes) {
      const Work work = WorkOf(instruction);
      stats_.bytes_read = SaturatingAdd(stats_.bytes_read, work.bytes_read);
      stats_.bytes_written = SaturatingAdd(stats_.bytes_written, work.bytes_written);
    }
    if (!HasTrait(instruction.opcode(), kNoStorage) || instruction.opcode() == Opcode::kParameter) {
      std::vector<int> path;
      AddArrays(instruction, instruction.shape(), &path);
    }
    if (instruction.opcode() == Opcode::kCustomCall) {
      ++stats_.custom_calls[std::string(instruction.custom_call_target())];
    }
    if (IsCollective(instruction.opcode())) AddCollective(instruction);
  }

  void AddArrays(const Instruction& instruction, const Shape& shape, std::vector<int>* path) {
    if (shape.IsTuple()) {
      for (int i = 0; i < static_cast<int>(shape.tuple_shapes().size()); ++i) {
        path->push_back(i);
        AddArrays(instruction, shape.tuple_shape(i), path);
        path->pop_back();
      }
      return;
    }
    if (!shape.IsArray()) return;
    const int64_t bytes = shape.ByteSize();
    ModuleStats::Arrays& arrays = stats_.element_types[std::string(TypeName(shape.element_type()))];
    ++arrays.count;
    arrays.bytes = SaturatingAdd(arrays.bytes, bytes);
    // Sorted by size; among equal sizes, in program order.
    if (leaves_.size() == ModuleStats::kLargest && leaves_.back().bytes >= bytes) return;
    const auto place = std::upper_bound(leaves_.begin(), leaves_.end(), bytes,
                                        [](int64_t b, const Leaf& leaf) { return b > leaf.bytes; });
    leaves_.insert(place, Leaf{&instruction, *path, &shape, bytes});
    if (leaves_.size() > ModuleStats::kLargest) leaves_.pop_back();
  }

  ModuleStats::Tensor TensorOf(const Leaf& leaf) {
    const Instruction& i = *leaf.instruction;
    return {i.computation()->name(),
            leaf.path.empty() ? i.name() : absl::StrCat(i.name(), "{", absl::StrJoin(leaf.path, ","), "}"),
            std::string(i.opcode_name()),
            leaf.shape->ToString(),
            leaf.bytes,
            frames_.LineOf(i.metadata())};
  }

  void AddCalls(const Computation& computation) {
    std::map<std::pair<int, absl::string_view>, int64_t> counts;  // By callee and opcode.
    for (const auto& instruction : computation.instructions()) {
      for (const Computation* callee : instruction->called())
        ++counts[{callee->index(), instruction->opcode_name()}];
    }
    for (const auto& [key, count] : counts) {
      stats_.calls.push_back({computation.name(), std::string(key.second),
                              module_.computations()[static_cast<size_t>(key.first)]->name(), count});
    }
  }

  void AddCollective(const Instruction& instruction) {
    ModuleStats::Collective& collective = stats_.collectives[std::string(instruction.opcode_name())];
    ++collective.count;
    for (const Instruction* operand : instruction.operands()) {
      collective.operand_bytes = SaturatingAdd(collective.operand_bytes, ArrayBytes(operand->shape()));
    }
    if (instruction.opcode() == Opcode::kCollectivePermute ||
        instruction.opcode() == Opcode::kCollectivePermuteStart) {
      return;  // Has pairs, not groups.
    }
    const std::optional<std::set<int64_t>> sizes = GroupSizesOf(instruction, counts_);
    if (!sizes) {
      ++collective.unknown_groups;
      return;
    }
    collective.group_sizes.insert(sizes->begin(), sizes->end());
  }

  void AddEntry(const Computation& entry) {
    for (const Instruction* parameter : entry.parameters()) {
      const int64_t bytes = ArrayBytes(parameter->shape());
      stats_.parameters.push_back({parameter->name(), ParameterName(*parameter),
                                   parameter->shape().ToString(), bytes, ShardingText(*parameter)});
      stats_.parameter_bytes = SaturatingAdd(stats_.parameter_bytes, bytes);
    }
    stats_.result_shape = entry.root()->shape().ToString();
    stats_.result_bytes = ArrayBytes(entry.root()->shape());
  }

  const Module& module_;
  SourceFrames frames_;
  const DeviceCounts counts_;
  ModuleStats stats_;
  std::vector<Leaf> leaves_;  // The largest so far, largest first.
};

}  // namespace

ModuleStats ComputeModuleStats(const Module& module) { return Collector(module).Collect(); }

}  // namespace toroid
