#include "hlo/passes/duplicates_pass.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "hlo/analysis/alike.h"
#include "hlo/analysis/side_effects.h"

namespace toroid {
namespace {

// A cheap value of more than kLargeBytes is not kept for a use more than kDistant instructions later.
constexpr int64_t kLargeBytes = 64 << 10;
constexpr int kDistant = 64;

bool HoldsBuffer(const Shape& shape) {
  if (shape.IsBuffer()) return true;
  return std::any_of(shape.tuple_shapes().begin(), shape.tuple_shapes().end(), HoldsBuffer);
}

bool IsAlwaysItself(const Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kParameter:
    case Opcode::kOptimizationBarrier:
    case Opcode::kDomain:
    case Opcode::kAfterAll:
    case Opcode::kAddDependency:
    case Opcode::kCopyStart:
    case Opcode::kCopyDone:
    case Opcode::kAllReduceStart:
    case Opcode::kAllReduceDone:
    case Opcode::kAllGatherStart:
    case Opcode::kAllGatherDone:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kCollectivePermuteDone:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
    case Opcode::kUnknown:
      return true;
    case Opcode::kCustomCall:
      return op.attrs().output_operand_aliasing_size() > 0 || HoldsBuffer(op.shape());
    default:
      return HoldsBuffer(op.shape());
  }
}

bool IsCheap(const Instruction& op) {
  return IsElementwise(op.opcode()) || op.num_operands() == 0 || HasTrait(op.opcode(), kCheap);
}

bool MayExchange(Opcode opcode) {
  return opcode == Opcode::kAdd || opcode == Opcode::kMultiply || opcode == Opcode::kAnd ||
         opcode == Opcode::kOr || opcode == Opcode::kXor;
}

class Merger {
 public:
  Merger(const DuplicatesPass::Options& options, const SideEffects& side_effects,
         const std::vector<const Computation*>& first_alike, Computation* computation)
      : options_(options),
        side_effects_(side_effects),
        first_alike_(first_alike),
        computation_(computation),
        number_(computation->size()),
        last_use_(computation->size(), 0),
        stands_(computation->size(), nullptr) {}

  bool Run() {
    const int n = computation_->size();
    std::vector<Instruction*> now(n, nullptr);
    absl::flat_hash_set<const Instruction*, Hash, Equal> seen(n, Hash{this}, Equal{this});
    bool changed = false;
    for (int i = 0; i < n; ++i) {
      Instruction* op = computation_->instruction(i);
      for (const Instruction* operand : op->operands()) last_use_[operand->index()] = i;
      number_[i] = i;
      stands_[i] = op;
      if (!Stays(*op)) {
        const auto [it, is_new] = seen.insert(op);
        if (!is_new) {
          const int first = (*it)->index();
          number_[i] = first;
          if (MayUse(*stands_[first], *op)) {
            now[i] = stands_[first];
            changed = true;
          } else {
            stands_[first] = op;
          }
        }
      }
      Rewire(now, op);
    }
    if (!changed) return false;
    if (Instruction* root = now[computation_->root()->index()]) computation_->set_root(root);
    std::vector<bool> keep(n);
    for (int i = 0; i < n; ++i) keep[i] = now[i] == nullptr;
    computation_->Keep(keep);
    return true;
  }

 private:
  struct Hash {
    const Merger* merger;
    size_t operator()(const Instruction* op) const { return merger->HashOf(*op); }
  };
  struct Equal {
    const Merger* merger;
    bool operator()(const Instruction* a, const Instruction* b) const { return merger->AreAlike(*a, *b); }
  };

  // The numbers of the first two operands, sorted if the op is commutative.
  std::pair<int, int> Sides(const Instruction& op) const {
    const int a = op.num_operands() > 0 ? number_[op.operand(0)->index()] : -1;
    const int b = op.num_operands() > 1 ? number_[op.operand(1)->index()] : -1;
    return MayExchange(op.opcode()) && b < a ? std::make_pair(b, a) : std::make_pair(a, b);
  }

  size_t HashOf(const Instruction& op) const {
    const auto [a, b] = Sides(op);
    size_t hash =
        absl::HashOf(static_cast<int>(op.opcode()), a, b, static_cast<int>(op.shape().element_type()),
                     op.shape().dims(), HashOfAttributes(op));
    for (int k = 2; k < op.num_operands(); ++k) hash = absl::HashOf(hash, number_[op.operand(k)->index()]);
    return hash;
  }

  bool AreAlike(const Instruction& a, const Instruction& b) const {
    if (&a == &b) return true;
    if (a.opcode() != b.opcode() || a.num_operands() != b.num_operands() ||
        a.called().size() != b.called().size() || Sides(a) != Sides(b) || a.shape() != b.shape() ||
        a.frontend_attributes() != b.frontend_attributes()) {
      return false;
    }
    for (int k = 2; k < a.num_operands(); ++k) {
      if (number_[a.operand(k)->index()] != number_[b.operand(k)->index()]) return false;
    }
    for (size_t c = 0; c < a.called().size(); ++c) {
      if (first_alike_[a.called(c)->index()] != first_alike_[b.called(c)->index()]) return false;
    }
    return HaveEqualAttributes(a, b);
  }

  bool Stays(const Instruction& op) const {
    if (!op.control_predecessors().empty() || op.sharding() != nullptr || side_effects_.Has(op) ||
        IsAlwaysItself(op)) {
      return true;
    }
    return options_.stays && options_.stays(op);
  }

  // True if users of `later` may read `before` instead.
  bool MayUse(const Instruction& before, const Instruction& later) const {
    if (!IsCheap(later)) return true;
    if (options_.leave_cheap) return false;
    return !later.shape().IsArray() || later.shape().ByteSize() <= kLargeBytes ||
           later.index() - last_use_[before.index()] <= kDistant;
  }

  void Rewire(const std::vector<Instruction*>& now, Instruction* op) {
    for (int k = 0; k < op->num_operands(); ++k) {
      Instruction* other = now[op->operand(k)->index()];
      if (other == nullptr) continue;
      op->set_operand(k, other);
      last_use_[other->index()] = op->index();
    }
    const auto is_replaced = [&](const Instruction* before) { return now[before->index()] != nullptr; };
    if (!std::any_of(op->control_predecessors().begin(), op->control_predecessors().end(), is_replaced))
      return;
    const std::vector<Instruction*> before(op->control_predecessors().begin(),
                                           op->control_predecessors().end());
    op->clear_control_predecessors();
    for (Instruction* b : before) op->AddControlPredecessor(is_replaced(b) ? now[b->index()] : b);
  }

  const DuplicatesPass::Options& options_;
  const SideEffects& side_effects_;
  const std::vector<const Computation*>& first_alike_;
  Computation* computation_;
  std::vector<int> number_;           // By index: the index of the first equal instruction.
  std::vector<int> last_use_;         // By index: the last user so far.
  std::vector<Instruction*> stands_;  // By number: the instruction that replaces later ones.
};

}  // namespace

absl::StatusOr<bool> DuplicatesPass::Run(std::unique_ptr<Module>* module) {
  const SideEffects side_effects(**module);
  const std::vector<const Computation*> first_alike = FirstsAlike(**module);
  bool changed = false;
  for (const auto& computation : (*module)->computations()) {
    changed |= Merger(options_, side_effects, first_alike, computation.get()).Run();
  }
  return changed;
}

}  // namespace toroid
