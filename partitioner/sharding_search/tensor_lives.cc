#include "partitioner/sharding_search/tensor_lives.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "hlo/analysis/custom_call_targets.h"

namespace toroid {
namespace {

// What consumers can compute while they read.
bool CanBeFused(const Instruction& op) {
  if (op.opcode() == Opcode::kCustomCall) return IsElementwiseCall(op);
  return IsElementwise(op.opcode()) ||
         (HasTrait(op.opcode(), kDataMovement) && HasTrait(op.opcode(), kCheap)) ||
         HasTrait(op.opcode(), kFreeToRepeat);
}

bool NeedsArrays(const Instruction& op) {
  return HasTrait(op.opcode(), kRunsBody) || HasTrait(op.opcode(), kNoStorage) ||
         op.opcode() == Opcode::kCustomCall;
}

class Lives {
 public:
  explicit Lives(const PreparedProgram& program)
      : module_(*program.flat), graph_(*program.graph), lives_(graph_.num_tensors()) {
    for (TensorLife& life : lives_) life.begin = INT64_MAX;
  }

  std::vector<TensorLife> Find() {
    Number(*module_.entry());
    const int64_t end = ++now_;
    for (const Instruction* parameter : module_.entry()->parameters()) {
      for (const int t : graph_.Leaves(*parameter)) lives_[t] = {0, end, true};
    }
    for (const int t : graph_.Leaves(*module_.entry()->root())) lives_[t].end = end;
    // The outputs are the root's values: they hold no memory of their own.
    for (TensorLife& life : lives_) life.begin = std::min(life.begin, life.end);
    return std::move(lives_);
  }

 private:
  void Number(const Computation& computation) {
    const UserMap users(computation);
    for (const auto& instruction : computation.instructions()) {
      for (const Computation* body : instruction->called()) {
        if (graph_.Reached(*body)) Number(*body);
      }
      ++now_;
      Make(*instruction, users.users(*instruction));
      for (const Instruction* operand : instruction->operands()) {
        for (const int t : graph_.Leaves(*operand)) lives_[t].end = now_ + 1;
      }
    }
    for (const int t : graph_.Leaves(*computation.root())) lives_[t].end = now_ + 1;
  }

  void Make(const Instruction& instruction, absl::Span<Instruction* const> users) {
    for (const int t : graph_.Leaves(instruction)) {
      TensorLife& life = lives_[t];
      life.begin = std::min(life.begin, now_);
      life.end = std::max(life.end, now_ + 1);
      if (instruction.opcode() == Opcode::kTuple || instruction.opcode() == Opcode::kGetTupleElement)
        continue;
      life.is_written = life.is_written || IsWritten(instruction, users);
    }
  }

  static bool IsWritten(const Instruction& op, absl::Span<Instruction* const> users) {
    if (HasTrait(op.opcode(), kInPlace)) return false;
    if (!CanBeFused(op) || users.empty()) return true;
    return users.size() > 1 || NeedsArrays(*users.front());
  }

  const Module& module_;
  const FlowGraph& graph_;
  std::vector<TensorLife> lives_;
  int64_t now_ = 0;
};

}  // namespace

std::vector<TensorLife> LivesOf(const PreparedProgram& program) { return Lives(program).Find(); }

}  // namespace toroid
