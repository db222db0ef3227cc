#include "simulator/simple/plain_groups.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/analysis/work.h"

namespace toroid {
namespace {

// Readers can make its elements themselves.
bool IsMadeWhereRead(const Instruction& op) {
  if (!op.shape().IsArray()) return false;
  if (IsElementwise(op.opcode())) return op.opcode() != Opcode::kOptimizationBarrier;
  switch (op.opcode()) {
    case Opcode::kBroadcast:
    case Opcode::kIota:
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kTranspose:
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kPad:
    case Opcode::kReverse:
    case Opcode::kBitcastConvert:
      return true;
    default:
      return false;
  }
}

// Names memory that is there, or runs bodies: no group makes it.
bool IsNoGroup(const Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kAfterAll:
    case Opcode::kPartitionId:
    case Opcode::kReplicaId:
    case Opcode::kOptimizationBarrier:
      return true;
    case Opcode::kCustomCall:
      return IsIdentityTarget(op);
    default:
      return HasTrait(op.opcode(), kRunsBody) || HasTrait(op.opcode(), kSideEffect) ||
             IsCollective(op.opcode());
  }
}

bool IsRenaming(const Instruction& op) {
  return op.opcode() == Opcode::kReshape || op.opcode() == Opcode::kBitcast;
}

// Needs few elements of each operand for one of its own, so that its group can hold what a product makes.
bool CanFollow(const Instruction& op) { return IsElementwise(op.opcode()) || IsRenaming(op); }

class Planner {
 public:
  explicit Planner(const Computation& computation)
      : computation_(computation),
        n_(computation.size()),
        users_(n_),
        leaf_bytes_(n_, 0),
        is_dear_(n_, false) {
    plan_.written.assign(n_, false);
    plan_.renamed.assign(n_, false);
    for (const auto& op : computation.instructions()) {
      for (const Instruction* operand : op->operands()) {
        std::vector<const Instruction*>& users = users_[operand->index()];
        if (users.empty() || users.back() != op.get()) users.push_back(op.get());
      }
    }
  }

  GroupPlan Plan() {
    for (int i = 0; i < n_; ++i) Decide(*computation_.instruction(i));
    JoinReaders();
    for (int i = 0; i < n_; ++i) {
      Instruction* op = computation_.instruction(i);
      if (plan_.written[i] && !IsNoGroup(*op)) plan_.groups.push_back({op});
    }
    return std::move(plan_);
  }

 private:
  bool IsReadFromMemory(const Instruction& op) const {
    if (&op == computation_.root()) return true;
    return std::any_of(users_[op.index()].begin(), users_[op.index()].end(), [](const Instruction* user) {
      return IsNoGroup(*user) || user->opcode() == Opcode::kCustomCall;
    });
  }

  bool IsInMemory(const Instruction& op) const {
    return plan_.written[op.index()] || plan_.renamed[op.index()];
  }

  void Decide(const Instruction& op) {
    const int i = op.index();
    const double own = static_cast<double>(ArrayBytes(op.shape()));
    if (!IsMadeWhereRead(op)) {
      plan_.written[i] = true;
      leaf_bytes_[i] = op.opcode() == Opcode::kConstant && op.shape().rank() == 0 ? 0 : own;
      return;
    }
    if (IsRenaming(op) && IsInMemory(*op.operand(0))) {
      plan_.renamed[i] = true;
      leaf_bytes_[i] = own;
      return;
    }
    for (const Instruction* operand : op.operands()) {
      // A part of an array is read alone.
      leaf_bytes_[i] += std::min(leaf_bytes_[operand->index()], IsPart(op) ? own : 1e300);
    }
    const double readers = static_cast<double>(users_[i].size());
    is_dear_[i] = HasTrait(op.opcode(), kTranscendental) ||
                  absl::c_any_of(op.operands(), [&](const Instruction* operand) {
                    return is_dear_[operand->index()] && !plan_.written[operand->index()];
                  });
    // A product reads its operands several times, too often to make a dear one for each of several readers.
    const bool is_made_once = readers > 1 && is_dear_[i] && IsReadByProduct(op);
    if (IsReadFromMemory(op) || is_made_once ||
        (readers > 1 && readers * leaf_bytes_[i] > (1 + readers) * own + leaf_bytes_[i])) {
      plan_.written[i] = true;
      leaf_bytes_[i] = own;
    }
  }

  bool IsReadByProduct(const Instruction& op) const {
    return absl::c_any_of(users_[op.index()],
                          [](const Instruction* user) { return IsMatrixOp(user->opcode()); });
  }

  static bool IsPart(const Instruction& op) {
    return op.opcode() == Opcode::kSlice || op.opcode() == Opcode::kDynamicSlice;
  }

  // The written value that ends the chain of single readers behind `op`; null if there is none.
  const Instruction* EndOfChain(const Instruction& op) const {
    const Instruction* at = &op;
    while (users_[at->index()].size() == 1) {
      const Instruction* user = users_[at->index()][0];
      if (!CanFollow(*user) || plan_.renamed[user->index()]) return nullptr;
      if (plan_.written[user->index()]) return user;
      at = user;
    }
    return nullptr;
  }

  void JoinReaders() {
    std::vector<bool> has_heavy(n_, false);
    for (int i = n_ - 1; i >= 0; --i) {
      const Instruction& op = *computation_.instruction(i);
      const bool is_heavy = IsMatrixOp(op.opcode()) || op.opcode() == Opcode::kReduce;
      if (!is_heavy || !op.shape().IsArray() || IsReadFromMemory(op)) continue;
      const Instruction* end = EndOfChain(op);
      if (end == nullptr || has_heavy[end->index()]) continue;
      has_heavy[end->index()] = true;
      plan_.written[i] = false;
    }
  }

  const Computation& computation_;
  const int n_;
  std::vector<std::vector<const Instruction*>> users_;
  std::vector<double> leaf_bytes_;  // Read from memory to make the value where it is read.
  std::vector<bool> is_dear_;       // Made with transcendental functions, since it was last in memory.
  GroupPlan plan_;
};

}  // namespace

GroupPlan PlainGroups(const Computation& computation) { return Planner(computation).Plan(); }

}  // namespace toroid
