#include "hlo/passes/async_collectives_pass.h"

#include <algorithm>
#include <vector>

#include "hlo/analysis/rough_costs.h"
#include "hlo/ir/edit.h"

namespace toroid {
namespace {

struct Pair {
  Opcode start, done;
};

// The opcodes of the pair; kUnknown if the op has none.
Pair PairOf(const Instruction& op) {
  const bool is_plain = op.control_predecessors().empty() && op.sharding() == nullptr &&
                        op.num_operands() > 0 && op.attrs().dynamic_slice_sizes_size() == 0;
  if (!is_plain) return {Opcode::kUnknown, Opcode::kUnknown};
  switch (op.opcode()) {
    case Opcode::kAllReduce:
      return {Opcode::kAllReduceStart, Opcode::kAllReduceDone};
    case Opcode::kAllGather:
      return {Opcode::kAllGatherStart, Opcode::kAllGatherDone};
    case Opcode::kCollectivePermute:
      return {Opcode::kCollectivePermuteStart, Opcode::kCollectivePermuteDone};
    default:
      return {Opcode::kUnknown, Opcode::kUnknown};
  }
}

// The shape of the start.
Shape StateOf(const Instruction& op) {
  if (op.opcode() == Opcode::kAllReduce) return op.shape();
  std::vector<Shape> operands;
  for (const Instruction* operand : op.operands()) operands.push_back(operand->shape());
  std::vector<Shape> state = {operands.size() == 1 ? operands[0] : Shape::Tuple(operands), op.shape()};
  if (op.opcode() == Opcode::kCollectivePermute) {
    for (int i = 0; i < 2; ++i) state.push_back(Shape(xla::U32, {}));
  }
  return Shape::Tuple(std::move(state));
}

class Cutter {
 public:
  Cutter(const RoughCosts& costs, Computation* computation)
      : costs_(costs),
        computation_(*computation),
        n_(computation->size()),
        start_(n_, nullptr),
        done_(n_, nullptr),
        behind_(n_),
        before_(n_ + 1) {}

  bool Run() {
    std::vector<int> cut;
    for (int i = 0; i < n_; ++i) {
      const Instruction& op = *computation_.instruction(i);
      if (PairOf(op).start != Opcode::kUnknown) cut.push_back(i);
    }
    if (cut.empty()) return false;
    is_cut_.assign(n_, false);
    start_stays_.assign(n_, true);
    for (const int i : cut) is_cut_[i] = true;
    first_user_.assign(n_, n_);
    for (int i = n_ - 1; i >= 0; --i) {
      for (const Instruction* operand : computation_.instruction(i)->operands())
        first_user_[operand->index()] = i;
      for (const Instruction* before : computation_.instruction(i)->control_predecessors())
        first_user_[before->index()] = i;
    }
    for (const int i : cut) Place(i);
    for (const int i : cut) MakePair(i);
    std::vector<Instruction*> order;
    for (int i = 0; i <= n_; ++i) {
      for (const int k : before_[i]) order.push_back(done_[k]);
      if (i == n_) break;
      if (!is_cut_[i]) order.push_back(computation_.instruction(i));
      if (is_cut_[i] && start_stays_[i]) order.push_back(start_[i]);
      for (const int k : behind_[i]) order.push_back(start_[k]);
    }
    for (const int i : cut) order.push_back(computation_.instruction(i));
    std::vector<Instruction*> now = done_;
    now.resize(computation_.size(), nullptr);
    ReplaceUses(&computation_, now);
    for (const int i : cut) Rewire(start_[i]);
    computation_.Reorder(order);
    std::vector<bool> keep(computation_.size(), true);
    for (size_t k = computation_.size() - cut.size(); k < keep.size(); ++k) keep[k] = false;
    computation_.Keep(keep);
    return true;
  }

 private:
  // Chooses the places of the start and the done of instruction i.
  void Place(int i) {
    const Instruction& op = *computation_.instruction(i);
    const double enough = costs_.CostOf(op);
    double between = 0;
    int at = i + 1;
    for (; at < first_user_[i] && between < enough; ++at)
      between += costs_.CostOf(*computation_.instruction(at));
    before_[at].push_back(i);
    int last = -1;  // Index of the last operand.
    for (const Instruction* operand : op.operands()) {
      if (is_cut_[operand->index()]) return;  // The operand's done may be placed just before i.
      last = std::max(last, operand->index());
    }
    int up = i;
    while (up - 1 > last && between < enough) between += costs_.CostOf(*computation_.instruction(--up));
    // Place the start after an instruction that is not split.
    while (up - 1 > last && is_cut_[up - 1]) --up;
    if (up == i || is_cut_[up - 1]) return;
    start_stays_[i] = false;
    behind_[up - 1].push_back(i);
  }

  void MakePair(int i) {
    const Instruction& op = *computation_.instruction(i);
    const Pair pair = PairOf(op);
    const Shape state = StateOf(op);
    Instruction* start = computation_.Add(pair.start, state, op.operands());
    start->set_attrs(&op.attrs());
    start->set_called(op.called());
    Instruction* done = computation_.Add(pair.done, op.shape(), {start});
    for (Instruction* half : {start, done}) half->set_metadata(op.metadata());
    start->set_frontend_attributes(op.frontend_attributes());
    start->set_cause(op.cause());
    done->set_name(op.name());
    start_[i] = start;
    done_[i] = done;
  }

  // Lets a start read the dones of the collectives that are its operands.
  void Rewire(Instruction* start) {
    for (int k = 0; k < start->num_operands(); ++k) {
      const int index = start->operand(k)->index();
      if (index < n_ && done_[index] != nullptr) start->set_operand(k, done_[index]);
    }
  }

  const RoughCosts& costs_;
  Computation& computation_;
  const int n_;
  std::vector<Instruction*> start_, done_;         // By index of the whole op.
  std::vector<std::vector<int>> behind_, before_;  // Starts behind an instruction, dones before one.
  std::vector<bool> is_cut_, start_stays_;
  std::vector<int> first_user_;  // n: none.
};

}  // namespace

absl::StatusOr<bool> AsyncCollectivesPass::Run(std::unique_ptr<Module>* module) {
  const RoughCosts costs(**module);
  bool changed = false;
  for (const auto& computation : (*module)->computations()) changed |= Cutter(costs, computation.get()).Run();
  return changed;
}

}  // namespace toroid
