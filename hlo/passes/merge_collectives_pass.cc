#include "hlo/passes/merge_collectives_pass.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "hlo/analysis/alike.h"
#include "hlo/analysis/rough_costs.h"
#include "hlo/analysis/work.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/replace_instructions.h"

namespace toroid {
namespace {

bool IsKind(Opcode opcode, bool all_reduces_only) {
  switch (opcode) {
    case Opcode::kAllReduce:
      return true;
    case Opcode::kAllGather:
    case Opcode::kReduceScatter:
    case Opcode::kCollectivePermute:
      return !all_reduces_only;
    default:
      return false;
  }
}

// True for a collective of one array with a simple reducer or none.
bool IsPlain(const Instruction& op) {
  if (op.num_operands() != 1 || !op.shape().IsArray() || op.shape().IsDynamic() || op.shape().IsBuffer() ||
      !op.control_predecessors().empty() || op.sharding() != nullptr ||
      op.attrs().dynamic_slice_sizes_size() > 0) {
    return false;
  }
  return op.called().empty() ||
         (op.called().size() == 1 && op.called(0)->root() != nullptr && op.called(0)->size() == 3);
}

size_t HashOfKind(const Instruction& op) {
  const size_t hash = absl::HashOf(static_cast<int>(op.opcode()), static_cast<int>(op.shape().element_type()),
                                   HashOfAttributes(op));
  return op.called().empty() ? hash : absl::HashOf(hash, static_cast<int>(op.called(0)->root()->opcode()));
}

// True if the two can be merged, provided neither depends on the other.
bool AreOfOneKind(const Instruction& a, const Instruction& b) {
  if (a.opcode() != b.opcode() || a.shape().element_type() != b.shape().element_type() ||
      a.called().size() != b.called().size()) {
    return false;
  }
  if (!a.called().empty() && a.called(0)->root()->opcode() != b.called(0)->root()->opcode()) return false;
  return HaveEqualAttributes(a, b);
}

// Bytes of the operand or the result, whichever is larger.
int64_t BytesOf(const Instruction& op) {
  return std::max(ArrayBytes(op.operand(0)->shape()), ArrayBytes(op.shape()));
}

// The dependency graph by operands and control predecessors: by index, the users of each instruction.
class Order {
 public:
  explicit Order(const Computation& computation)
      : waits_for_(computation.size(), 0), begin_(computation.size() + 1, 0) {
    ForEachEdge(computation, [&](int from, int to) {
      ++begin_[from + 1];
      ++waits_for_[to];
    });
    for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    users_.resize(begin_.back());
    std::vector<int> next(begin_.begin(), begin_.end() - 1);
    ForEachEdge(computation, [&](int from, int to) { users_[next[from]++] = to; });
  }

  absl::Span<const int> users(int i) const {
    return absl::MakeConstSpan(users_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
  }
  // By index: the number of instructions it depends on.
  const std::vector<int>& waits_for() const { return waits_for_; }

 private:
  template <typename Edge>
  static void ForEachEdge(const Computation& computation, Edge edge) {
    for (const auto& op : computation.instructions()) {
      for (const Instruction* operand : op->operands()) edge(operand->index(), op->index());
      for (const Instruction* before : op->control_predecessors()) edge(before->index(), op->index());
    }
  }

  std::vector<int> waits_for_, begin_, users_;
};

// Indices of delayed collectives whose operands are ready.
struct Waiting {
  std::vector<int> ops;
  double longest = 0;  // The longest path through one of them.
};

// Collectives of one kind.
struct Kind {
  std::vector<Instruction*> all;
  Waiting inner, last;  // Collectives on which others of the kind depend; the rest.
};

// The kinds with more than one collective.
std::vector<Kind> KindsIn(const Computation& computation, bool all_reduces_only) {
  absl::flat_hash_map<size_t, std::vector<int>> by_hash;
  std::vector<Kind> kinds;
  for (const auto& op : computation.instructions()) {
    if (!IsKind(op->opcode(), all_reduces_only) || !IsPlain(*op)) continue;
    std::vector<int>& alike = by_hash[HashOfKind(*op)];
    const auto same =
        std::find_if(alike.begin(), alike.end(), [&](int k) { return AreOfOneKind(*kinds[k].all[0], *op); });
    if (same != alike.end()) {
      kinds[*same].all.push_back(op.get());
      continue;
    }
    alike.push_back(static_cast<int>(kinds.size()));
    kinds.push_back({{op.get()}, {}, {}});
  }
  kinds.erase(
      std::remove_if(kinds.begin(), kinds.end(), [](const Kind& kind) { return kind.all.size() < 2; }),
      kinds.end());
  return kinds;
}

using Groups = std::vector<std::vector<Instruction*>>;

// Walks a computation and chooses the groups to merge.
class Walk {
 public:
  Walk(const MergeCollectivesPass::Options& options, const RoughCosts& costs, Computation* computation,
       std::vector<Kind> kinds)
      : options_(options),
        computation_(*computation),
        kinds_(std::move(kinds)),
        order_(*computation),
        left_(order_.waits_for()),
        kind_of_(computation->size(), -1),
        cost_(computation->size()),
        before_(computation->size(), 0),
        behind_(computation->size(), 0),
        kinds_behind_(computation->size(), 0) {
    for (size_t k = 0; k < kinds_.size(); ++k) {
      for (const Instruction* op : kinds_[k].all) kind_of_[op->index()] = static_cast<int>(k);
    }
    double longest = 0;
    for (int i = computation->size() - 1; i >= 0; --i) {
      cost_[i] = costs.CostOf(*computation->instruction(i));
      for (const int user : order_.users(i)) {
        behind_[i] = std::max(behind_[i], cost_[user] + behind_[user]);
        kinds_behind_[i] |= kinds_behind_[user] | BitOf(kind_of_[user]);
      }
      longest = std::max(longest, cost_[i] + behind_[i]);
    }
    most_ =
        options.most_delay < 0 ? std::numeric_limits<double>::infinity() : longest * (1 + options.most_delay);
  }

  Groups Run() {
    for (int i = 0; i < computation_.size(); ++i) {
      if (left_[i] == 0) ready_.push_back(i);
    }
    while (true) {
      DoReady();
      Waiting* next = MostUrgent();
      if (next == nullptr) break;
      Flush(next);
    }
    return std::move(groups_);
  }

 private:
  // Runs everything that does not depend on a delayed collective; delays ready collectives.
  void DoReady() {
    for (size_t next = 0; next < ready_.size(); ++next) {
      const int i = ready_[next];
      if (kind_of_[i] < 0) {
        Finish(i, before_[i] + cost_[i]);
        continue;
      }
      Kind& kind = kinds_[kind_of_[i]];
      const bool is_last = options_.put_off_last && (kinds_behind_[i] & BitOf(kind_of_[i])) == 0;
      Waiting& waiting = is_last ? kind.last : kind.inner;
      waiting.ops.push_back(i);
      waiting.longest = std::max(waiting.longest, before_[i] + cost_[i] + behind_[i]);
    }
    ready_.clear();
  }

  // More than 64 kinds share bits.
  static uint64_t BitOf(int kind) { return kind < 0 ? 0 : uint64_t{1} << (kind % 64); }

  void Finish(int i, double at) {
    for (const int user : order_.users(i)) {
      before_[user] = std::max(before_[user], at);
      if (--left_[user] == 0) ready_.push_back(user);
    }
  }

  // The `inner` collectives come first, so that all `last` ones of a kind can be merged. Null: none is
  // delayed.
  Waiting* MostUrgent() {
    Waiting* best = nullptr;
    for (Waiting Kind::*which : {&Kind::inner, &Kind::last}) {
      for (Kind& kind : kinds_) {
        Waiting& waiting = kind.*which;
        if (!waiting.ops.empty() && (best == nullptr || waiting.longest > best->longest)) best = &waiting;
      }
      if (best != nullptr) break;
    }
    return best;
  }

  // Runs all delayed collectives of `all`, in program order.
  void Flush(Waiting* all) {
    const std::vector<int> waiting = [&] {
      std::vector<int> ops = std::move(all->ops);
      *all = Waiting();
      std::sort(ops.begin(), ops.end());
      return ops;
    }();
    const bool are_sums = computation_.instruction(waiting[0])->opcode() == Opcode::kAllReduce;
    const int64_t most_bytes =
        options_.most_bytes.value_or(are_sums ? kMergedAllReduceBytes : kMergedCollectiveBytes);
    for (size_t first = 0; first < waiting.size();) {
      double before = 0, cost = 0, behind = 0;
      int64_t bytes = 0;
      size_t end = first;
      for (; end < waiting.size(); ++end) {
        const int i = waiting[end];
        const double now_before = std::max(before, before_[i]), now_behind = std::max(behind, behind_[i]);
        const double now_cost = std::max(cost, cost_[i]);  // Not a sum: they share the links in any case.
        const int64_t now_bytes = SaturatingAdd(bytes, BytesOf(*computation_.instruction(i)));
        if (end > first && (now_bytes > most_bytes || now_before + now_cost + now_behind > most_)) break;
        before = now_before;
        behind = now_behind;
        cost = now_cost;
        bytes = now_bytes;
      }
      if (end - first > 1) groups_.emplace_back();
      for (size_t k = first; k < end; ++k) {
        if (end - first > 1) groups_.back().push_back(computation_.instruction(waiting[k]));
        Finish(waiting[k], before + cost);
      }
      first = end;
    }
  }

  const MergeCollectivesPass::Options& options_;
  const Computation& computation_;
  std::vector<Kind> kinds_;
  const Order order_;
  std::vector<int> left_;     // By index: dependencies that have not run.
  std::vector<int> kind_of_;  // By index: the kind; -1 for none.
  // Costs: of the instruction, of the longest path to it and from it.
  std::vector<double> cost_, before_, behind_;
  std::vector<uint64_t> kinds_behind_;  // As bits: kinds of collectives that depend on the instruction.
  double most_ = 0;
  std::vector<int> ready_;
  Groups groups_;
};

// Adds one collective that replaces all `ops`; sets the replacement of each in `now`, by index.
void MergeAll(absl::Span<Instruction* const> ops, std::vector<Instruction*>* now) {
  Computation* computation = ops[0]->computation();
  std::vector<Instruction*> operands;
  std::vector<Shape> shapes;
  for (const Instruction* op : ops) {
    operands.push_back(op->operand(0));
    shapes.push_back(op->shape());
  }
  Instruction* all = computation->AddClone(*ops[0], Shape::Tuple(shapes), operands);
  all->set_name(ops[0]->name());
  all->set_called(ops[0]->called());
  all->set_cause(ops[0]->cause());
  for (size_t k = 0; k < ops.size(); ++k) {
    xla::HloInstructionProto* attrs;
    Instruction* element = computation->Add(Opcode::kGetTupleElement, ops[k]->shape(), {all}, &attrs);
    attrs->set_tuple_index(static_cast<int64_t>(k));
    element->set_metadata(ops[k]->metadata());
    element->set_cause(ops[k]->cause());
    if (k > 0) element->set_name(ops[k]->name());  // The merged collective has the first one's name.
    (*now)[ops[k]->index()] = element;
  }
}

absl::Status Apply(const Groups& groups, Computation* computation) {
  std::vector<Instruction*> now(computation->size(), nullptr);
  std::vector<Instruction*> replaced;
  for (const std::vector<Instruction*>& group : groups) {
    MergeAll(group, &now);
    replaced.insert(replaced.end(), group.begin(), group.end());
  }
  RETURN_IF_ERROR(ReplaceInstructions(computation, now));
  std::vector<bool> keep(computation->size(), true);
  for (const Instruction* op : replaced) keep[op->index()] = false;
  computation->Keep(keep);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> MergeCollectivesPass::Run(std::unique_ptr<Module>* module) {
  if (options_.most_bytes.has_value() && *options_.most_bytes <= 0) return false;
  bool changed = false;
  std::unique_ptr<RoughCosts> costs;
  for (const auto& computation : (*module)->computations()) {
    std::vector<Kind> kinds = KindsIn(*computation, options_.all_reduces_only);
    if (kinds.empty()) continue;
    if (costs == nullptr) costs = std::make_unique<RoughCosts>(**module);
    const Groups groups = Walk(options_, *costs, computation.get(), std::move(kinds)).Run();
    if (groups.empty()) continue;
    RETURN_IF_ERROR(Apply(groups, computation.get()));
    changed = true;
  }
  return changed;
}

}  // namespace toroid
