#include "simulator/lowering/group_plan.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "hlo/ir/attribute_views.h"
#include "simulator/chip/matrix_work.h"
#include "simulator/lowering/unit_dims.h"

namespace toroid {
namespace {

// Ops that are computed anew for one reader.
constexpr int64_t kMostRecomputed = 64;
// Ops that a dot takes behind it.
constexpr int kLongestEpilogue = 48;
constexpr int64_t kNestedFeatures = 1024;

bool HasNoTime(const Instruction& op) {
  const Opcode opcode = op.opcode();
  return opcode == Opcode::kParameter || opcode == Opcode::kConstant || opcode == Opcode::kTuple ||
         opcode == Opcode::kGetTupleElement || opcode == Opcode::kAfterAll || opcode == Opcode::kReplicaId ||
         opcode == Opcode::kPartitionId;
}

// Takes what its operands are made from into its own group.
bool TakesProducers(const Instruction& op) {
  return IsMatrixOp(op.opcode()) || op.opcode() == Opcode::kReduce || op.opcode() == Opcode::kReduceWindow ||
         op.opcode() == Opcode::kDynamicUpdateSlice;
}

bool IsArithmetic(const Instruction& op) {
  return IsElementwise(op.opcode()) && op.opcode() != Opcode::kConvert && op.opcode() != Opcode::kCopy &&
         op.opcode() != Opcode::kBitcastConvert;
}

class Planner {
 public:
  Planner(const Computation& computation, int64_t sublanes)
      : computation_(computation), sublanes_(sublanes), users_(computation), n_(computation.size()) {}

  GroupPlan Run() {
    plan_.written.assign(n_, false);
    plan_.renamed.assign(n_, false);
    owner_.assign(n_, nullptr);
    recomputed_.assign(n_, false);
    for (int i = 0; i < n_; ++i) recomputed_[i] = IsRecomputed(*At(i), sublanes_);
    FindArithmetic();
    TakeEpilogues();
    TakeConverts();
    Write();
    TakeReductions();
    Group();
    Merge();
    Collect();
    return std::move(plan_);
  }

 private:
  const Instruction* At(int i) const { return computation_.instruction(i); }

  // made_[i]: arithmetic on arrays has been done to make it, not counting what is written.
  void FindArithmetic() {
    made_.assign(n_, false);
    for (int i = 0; i < n_; ++i) {
      const Instruction* op = At(i);
      if (!recomputed_[i]) continue;
      bool of_arrays = false, made = false;
      for (const Instruction* operand : op->operands()) {
        of_arrays |= operand->shape().rank() > 0;
        made |= made_[operand->index()];
      }
      made_[i] = made || (IsArithmetic(*op) && of_arrays);
    }
  }

  // Reductions are rounded as they are written.
  void TakeConverts() {
    for (int i = 0; i < n_; ++i) {
      const Instruction* op = At(i);
      if (op->opcode() != Opcode::kReduce || !op->shape().IsArray() || users_.users(*op).size() != 1) continue;
      const Instruction* user = users_.users(*op)[0];
      if (user->opcode() == Opcode::kConvert && owner_[user->index()] == nullptr) owner_[i] = owner_[user->index()] = user;
    }
  }
  // Sets owner_ of what dots take behind them, to the last of it.
  void TakeEpilogues() {
    for (int i = n_ - 1; i >= 0; --i) {
      if (!IsMatrixOp(At(i)->opcode())) continue;
      if (owner_[i] != nullptr) continue;
      TakeEpilogue(At(i));
      TakeNestedDot(At(i));
    }
  }
  void TakeEpilogue(const Instruction* dot);
  void TakeNestedDot(const Instruction* dot);

  // Written, or in memory under this or another name.
  bool IsInMemory(const Instruction& value) const {
    return plan_.written[value.index()] || plan_.renamed[value.index()] || HasNoTime(value);
  }
  void Write();
  bool MustBeWritten(const Instruction* op) const;
  // How many groups would make each value anew, by index.
  void CountReaders();
  // Making it anew in each of its r readers reads k arrays of its size each time; writing it, k + 1 + (r - 1) are moved.
  bool IsWorthWriting(const Instruction* op);
  // By index: written values on the longest way to each, itself included.
  std::vector<int> Levels() const;
  // Of the value, or of what is made from it elementwise, that wait for nothing that `value` does not.
  std::vector<const Instruction*> ReductionsOf(const Instruction* value, const std::vector<int>& level);
  void TakeReductions();
  void Group();
  void Merge();
  // `op`, or what it rounds, if that is a reduction; null if not.
  const Instruction* ReductionOf(const Instruction* op) const {
    if (op->opcode() == Opcode::kConvert && owner_[op->index()] == op) op = op->operand(0);
    return op->opcode() == Opcode::kReduce ? op : nullptr;
  }
  // Of a product, or of what it takes behind it.
  bool IsOfProduct(int g) const;
  // The lowest level of a group that reads what `g` writes.
  int LowestReader(int g, int except = -1);
  // The group that writes a value, or what it is another name of; -1 if none does.
  int MakerOf(int value) const;
  bool Reads(int g, int other) const;
  // Of both as one.
  int LevelWith(int g, int other) const;
  // Whether `g`, which reads what `other` makes elementwise, can be made with it.
  bool CanJoin(int g, int other);
  // Groups of one level wait for each other never. The lower one rises if all that read it stay above.
  bool CanShareLevel(int a, int b);
  void Collect();

  // Ops that a group makes the value with, itself included; `limit` if there are as many.
  int64_t CountRecomputed(const Instruction* op, int64_t limit);
  // Calls visit(leaf) for each written value or argument that the value `op` is made from inside of its group.
  template <typename Visit>
  void ForLeaves(const Instruction* op, Visit visit);

  const Computation& computation_;
  const int64_t sublanes_;
  const UserMap users_;
  const int n_;
  GroupPlan plan_;
  std::vector<bool> recomputed_, made_;
  std::vector<int64_t> readers_;
  // Of a dot and what follows it inside of its group: the value that leaves the group. Null for others.
  std::vector<const Instruction*> owner_;
  std::vector<bool> not_written_ = std::vector<bool>(n_, false);  // Only a reduction that joined reads it.

  // Groups by number of their first value; values of each.
  std::vector<int> group_of_;
  std::vector<std::vector<int>> values_;
  std::vector<std::vector<int>> inputs_;  // Written values and arguments that a group reads.
  std::vector<int> level_;
  std::vector<int> levels_;  // Of values, by index, before groups merge.
  std::vector<int> seen_ = std::vector<int>(n_, -1);
  int visit_ = 0;
};

void Planner::TakeEpilogue(const Instruction* dot) {
  std::vector<const Instruction*> members = {dot};
  std::vector<int> open_users;  // Of members, how many users are no members yet.
  const auto distinct_users = [&](const Instruction* op) {
    std::vector<const Instruction*> distinct(users_.users(*op).begin(), users_.users(*op).end());
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    return distinct;
  };
  std::priority_queue<int, std::vector<int>, std::greater<int>> next;
  const auto open = [&](const Instruction* op) {
    const auto users = distinct_users(op);
    // A value that many read ends the group.
    open_users.push_back(users.size() > 16 ? 1 << 20 : static_cast<int>(users.size()));
    if (users.size() > 16) return;
    for (const Instruction* user : users) next.push(user->index());
  };
  open(dot);
  size_t best_size = 1;
  const Instruction* best = dot;
  while (!next.empty() && members.size() <= kLongestEpilogue) {
    const int i = next.top();
    while (!next.empty() && next.top() == i) next.pop();
    const Instruction* user = At(i);
    const bool in_place =
        user->opcode() == Opcode::kTranspose ||
        (user->opcode() == Opcode::kReshape && SameButUnitDims(user->operand(0)->shape(), user->shape()));
    if (!recomputed_[i] || owner_[i] != nullptr || user->shape().NumElements() != dot->shape().NumElements() ||
        !(IsElementwise(user->opcode()) || in_place)) {
      break;
    }
    members.push_back(user);
    for (size_t m = 0; m + 1 < members.size(); ++m) {
      const auto operands = user->operands();
      if (std::find(operands.begin(), operands.end(), members[m]) != operands.end()) --open_users[m];
    }
    open(user);
    size_t leaving = 0;
    for (const int users : open_users) leaving += users > 0;
    const bool is_root = user == computation_.root();
    // What is but another name of the result ends no group.
    if (leaving + (is_root && open_users.back() == 0) == 1 && (open_users.back() > 0 || is_root) && !in_place) {
      best_size = members.size();
      best = user;
    }
    if (is_root) break;
  }
  for (size_t m = 0; m < best_size; ++m) owner_[members[m]->index()] = best;
}

void Planner::TakeNestedDot(const Instruction* dot) {
  if (dot->opcode() != Opcode::kDot || dot->shape().rank() == 0) return;
  const int64_t last = dot->shape().dim(dot->shape().rank() - 1);
  if (last > kNestedFeatures || last < kNestedFeatures / 2) return;
  for (const Instruction* operand : dot->operands()) {
    // Back through what only this dot reads.
    const Instruction* value = operand;
    while (recomputed_[value->index()] && users_.users(*value).size() == 1 && value->num_operands() == 1 &&
           (value->opcode() != Opcode::kReshape || SameButUnitDims(value->operand(0)->shape(), value->shape()))) {
      value = value->operand(0);
    }
    if (value->opcode() != Opcode::kDot || users_.users(*value).size() != 1 || value == dot) continue;
    if (owner_[value->index()] != nullptr && owner_[value->index()] != value) continue;
    // Only one level.
    const DotView view(*value);
    int64_t features = 1;
    const Shape& rhs = value->operand(1)->shape();
    for (int64_t d = 0; d < rhs.rank(); ++d) {
      const auto among = [d](auto list) { return std::find(list.begin(), list.end(), d) != list.end(); };
      if (!among(view.rhs_batch()) && !among(view.rhs_contracting())) features *= rhs.dim(d);
    }
    if (features > kNestedFeatures || view.lhs_batch().empty()) continue;
    owner_[value->index()] = owner_[dot->index()] != nullptr ? owner_[dot->index()] : dot;
    return;
  }
}

bool Planner::MustBeWritten(const Instruction* op) const {
  const int i = op->index();
  for (const Instruction* user : users_.users(*op)) {
    const int u = user->index();
    if (user->opcode() == Opcode::kBroadcast) {
      // Made once for many elements.
      if (made_[i] && op->shape().rank() > 0) return true;
    } else if (user->opcode() == Opcode::kReshape && made_[i] && recomputed_[u] &&
               !SameButUnitDims(op->shape(), user->shape())) {
      for (const Instruction* reader : users_.users(*user)) {
        if (IsMatrixOp(reader->opcode())) return true;
        if (reader->opcode() != Opcode::kConvert) continue;
        for (const Instruction* second : users_.users(*reader)) {
          if (IsMatrixOp(second->opcode())) return true;
        }
      }
    }
    if (!recomputed_[u] && !TakesProducers(*user)) return true;
  }
  return op == computation_.root();
}

void Planner::CountReaders() {
  readers_.assign(n_, 0);
  for (int i = n_ - 1; i >= 0; --i) {
    const Instruction* op = At(i);
    int64_t groups = op == computation_.root() ? 1 : 0;
    const Instruction* last = nullptr;
    for (const Instruction* user : users_.users(*op)) {
      if (user == last) continue;
      last = user;
      const int u = user->index();
      const Instruction* end = owner_[u] != nullptr ? owner_[u] : user;
      groups += owner_[u] != nullptr || !recomputed_[u] ? 1 : readers_[end->index()];
    }
    readers_[i] = std::min<int64_t>(groups, 1 << 20);
  }
}

bool Planner::IsWorthWriting(const Instruction* op) {
  const int64_t readers = readers_[op->index()];
  if (!made_[op->index()] || op->shape().rank() == 0 || readers < 2) return false;
  int64_t arrays = 0;
  ForLeaves(op, [&](const Instruction* leaf) { arrays += leaf->shape().NumElements() == op->shape().NumElements(); });
  return arrays * readers > arrays + readers;
}

void Planner::Write() {
  std::vector<int64_t> cost(n_, 0);
  CountReaders();
  for (int i = 0; i < n_; ++i) {
    const Instruction* op = At(i);
    if (HasNoTime(*op)) continue;
    if (owner_[i] != nullptr) {
      plan_.written[i] = owner_[i] == op;
      continue;
    }
    if (!recomputed_[i]) {
      plan_.written[i] = true;
      continue;
    }
    if ((op->opcode() == Opcode::kTranspose || op->opcode() == Opcode::kReshape) && IsInMemory(*op->operand(0))) {
      plan_.renamed[i] = true;
      continue;
    }
    cost[i] = 1;
    for (const Instruction* operand : op->operands()) {
      if (!plan_.written[operand->index()]) cost[i] = std::min<int64_t>(cost[i] + cost[operand->index()], 1 << 20);
    }
    // Counted once for each way to them so far.
    if (cost[i] > kMostRecomputed) cost[i] = CountRecomputed(op, 16 * kMostRecomputed + 1);
    // Scalars and what is made from constants alone go along.
    const bool is_long = cost[i] > kMostRecomputed && made_[i] && op->shape().rank() > 0 && users_.users(*op).size() > 1;
    plan_.written[i] = MustBeWritten(op) || is_long || cost[i] > 16 * kMostRecomputed || IsWorthWriting(op);
    if (plan_.written[i]) cost[i] = 0;
  }
}

int64_t Planner::CountRecomputed(const Instruction* op, int64_t limit) {
  ++visit_;
  std::vector<const Instruction*> found = {op};
  for (size_t next = 0; next < found.size() && static_cast<int64_t>(found.size()) < limit; ++next) {
    for (const Instruction* operand : found[next]->operands()) {
      const int o = operand->index();
      if (seen_[o] == visit_ || IsInMemory(*operand)) continue;
      seen_[o] = visit_;
      found.push_back(operand);
    }
  }
  return static_cast<int64_t>(found.size());
}

template <typename Visit>
void Planner::ForLeaves(const Instruction* op, Visit visit) {
  ++visit_;
  std::vector<const Instruction*> todo = {op};
  while (!todo.empty()) {
    const Instruction* value = todo.back();
    todo.pop_back();
    for (const Instruction* operand : value->operands()) {
      const int o = operand->index();
      if (seen_[o] == visit_) continue;
      seen_[o] = visit_;
      if (IsInMemory(*operand)) {
        visit(operand);
      } else {
        todo.push_back(operand);
      }
    }
  }
}

std::vector<int> Planner::Levels() const {
  std::vector<int> level(n_, 0);
  for (int i = 0; i < n_; ++i) {
    const Instruction* op = At(i);
    for (const Instruction* operand : op->operands()) level[i] = std::max(level[i], level[operand->index()]);
    for (const Instruction* before : op->control_predecessors()) level[i] = std::max(level[i], level[before->index()]);
    if (plan_.written[i]) ++level[i];
  }
  return level;
}

std::vector<const Instruction*> Planner::ReductionsOf(const Instruction* value, const std::vector<int>& level) {
  std::vector<const Instruction*> found, todo = {value};
  for (size_t next = 0; next < todo.size() && next < 16; ++next) {
    for (const Instruction* user : users_.users(*todo[next])) {
      const int u = user->index();
      if (user->opcode() == Opcode::kReduce) {
        if (!user->shape().IsArray() || user->num_operands() != 2 || owner_[u] != nullptr ||
            user->operand(1)->opcode() != Opcode::kConstant || std::find(found.begin(), found.end(), user) != found.end()) {
          continue;
        }
        bool waits = false;
        ForLeaves(user, [&](const Instruction* leaf) { waits |= leaf != value && level[leaf->index()] >= level[value->index()]; });
        if (!waits) found.push_back(user);
      } else if (recomputed_[u] && !plan_.written[u] && owner_[u] == nullptr && IsElementwise(user->opcode()) &&
                 user->shape().NumElements() == value->shape().NumElements()) {
        todo.push_back(user);
      }
    }
  }
  return found;
}

void Planner::TakeReductions() {
  const std::vector<int> level = Levels();
  for (int i = 0; i < n_; ++i) {
    const Instruction* value = At(i);
    if (!plan_.written[i] || !value->shape().IsArray()) continue;
    const bool of_product = owner_[i] == value && !(value->opcode() == Opcode::kConvert && recomputed_[i] &&
                                                    value->operand(0)->opcode() == Opcode::kReduce);
    if (!of_product && !(recomputed_[i] && made_[i] && value->shape().rank() > 0)) continue;
    int direct = 0;
    for (const Instruction* reduction : ReductionsOf(value, level)) {
      owner_[reduction->index()] = value;
      direct += reduction->operand(0) == value;
      if (of_product) break;
    }
    if (direct > 0 && static_cast<int>(users_.users(*value).size()) == direct && value != computation_.root()) {
      not_written_[i] = true;
    }
  }
}

void Planner::Group() {
  group_of_.assign(n_, -1);
  values_.resize(n_);
  inputs_.resize(n_);
  level_.assign(n_, 0);
  for (int i = 0; i < n_; ++i) {
    if (!plan_.written[i]) continue;
    const Instruction* op = At(i);
    const bool joins = op->opcode() == Opcode::kReduce && owner_[i] != nullptr && owner_[i] != op;
    const int g = joins ? owner_[i]->index() : i;
    group_of_[i] = g;
    values_[g].push_back(i);
    ForLeaves(op, [&](const Instruction* leaf) {
      if (leaf->index() != g) inputs_[g].push_back(leaf->index());
    });
  }
  // Levels: every group above all that it reads. Values between groups (tuples, parts of them) pass levels on; what joins
  // another group waits for nothing more than that.
  std::vector<int>& level = levels_;
  level.assign(n_, 0);
  for (int i = 0; i < n_; ++i) {
    const Instruction* op = At(i);
    for (const Instruction* operand : op->operands()) level[i] = std::max(level[i], level[operand->index()]);
    for (const Instruction* before : op->control_predecessors()) level[i] = std::max(level[i], level[before->index()]);
    if (!plan_.written[i]) continue;
    const int g = group_of_[i];
    if (g == i) level_[g] = level[i] + 1;
    level[i] = level_[g];
  }
}

void Planner::Merge() {
  // What a group works on: the sizes of what it reduces or makes; its element width where it makes it.
  const auto space = [&](const Instruction* op) -> const Shape* {
    if (const Instruction* reduction = ReductionOf(op)) return &reduction->operand(0)->shape();
    if (recomputed_[op->index()] && IsElementwise(op->opcode())) return &op->shape();
    return nullptr;
  };
  // Groups by the arrays of their sizes that they read.
  std::vector<std::vector<int>> readers(n_);
  for (int g = 0; g < n_; ++g) {
    if (values_[g].empty() || (owner_[g] != nullptr && !recomputed_[g] && At(g)->opcode() != Opcode::kReduce)) continue;
    if (owner_[g] != nullptr && IsOfProduct(g)) continue;  // Products stay apart.
    const Shape* own = space(At(g));
    if (own == nullptr || own->rank() == 0) continue;
    int into = -1;
    for (const int input : inputs_[g]) {
      if (At(input)->shape().dims() != own->dims()) continue;
      if (ReductionOf(At(g)) == nullptr && CanJoin(g, group_of_[input])) {
        into = group_of_[input];
        break;
      }
      // The last ones: nearest in level.
      const std::vector<int>& candidates = readers[input];
      for (size_t k = 0; k < std::min<size_t>(8, candidates.size()) && into < 0; ++k) {
        const int other = candidates[candidates.size() - 1 - k];
        if (values_[other].empty() || values_[other].size() >= 16) continue;
        const Shape* theirs = space(At(other));
        if (theirs->dims() != own->dims()) continue;
        const bool both_made = ReductionOf(At(g)) == nullptr && ReductionOf(At(other)) == nullptr;
        const bool narrow = ByteWidth(own->element_type()) < 2 || ByteWidth(theirs->element_type()) < 2;
        if (both_made && narrow) continue;
        if (!CanShareLevel(g, other)) continue;
        into = other;
      }
      if (into >= 0) break;
    }
    if (into >= 0) {
      level_[into] = level_[g] = LevelWith(g, into);
      for (const int value : values_[g]) {
        group_of_[value] = into;
        values_[into].push_back(value);
      }
      values_[g].clear();
      inputs_[into].insert(inputs_[into].end(), inputs_[g].begin(), inputs_[g].end());
    }
    for (const int input : inputs_[g]) {
      if (At(input)->shape().dims() == own->dims()) readers[input].push_back(into >= 0 ? into : g);
    }
  }
}

bool Planner::IsOfProduct(int g) const {
  for (const int value : values_[g]) {
    const Instruction* op = At(value);
    if (op->opcode() == Opcode::kReduce && owner_[value] != nullptr) op = owner_[value];
    if (IsMatrixOp(op->opcode())) return true;
    // What a product takes behind it ends in another op.
    for (const Instruction* operand : op->operands()) {
      if (owner_[operand->index()] == op && operand->opcode() != Opcode::kReduce) return true;
    }
  }
  return false;
}

int Planner::MakerOf(int value) const {
  // Through other names of the same memory.
  while (group_of_[value] < 0 && At(value)->num_operands() == 1) value = At(value)->operand(0)->index();
  return group_of_[value];
}

bool Planner::Reads(int g, int other) const {
  for (const int input : inputs_[g]) {
    if (group_of_[input] == other) return true;
  }
  return false;
}

int Planner::LevelWith(int g, int other) const {
  if (!Reads(g, other)) return std::max(level_[g], level_[other]);
  int level = level_[other];
  for (const int input : inputs_[g]) {
    const int maker = MakerOf(input);
    if (maker >= 0 && maker != other) level = std::max(level, level_[maker] + 1);
  }
  return level;
}

bool Planner::CanJoin(int g, int other) {
  if (other < 0 || other == g || values_[other].empty() || values_[other].size() >= 16) return false;
  const Instruction* maker = At(other);
  if (!recomputed_[other] || !IsElementwise(maker->opcode()) || IsOfProduct(other) ||
      maker->shape().dims() != At(g)->shape().dims()) {
    return false;
  }
  // What else `g` reads waits for nothing that `other` makes, and stays below what reads either.
  for (const int input : inputs_[g]) {
    if (group_of_[input] == other) continue;
    const int from = MakerOf(input);
    if (from == other || (from < 0 ? levels_[input] > 0 : level_[from] > level_[other])) return false;
  }
  const int level = LevelWith(g, other);
  return level == level_[other] || LowestReader(other, g) > level;
}

int Planner::LowestReader(int g, int except) {
  int lowest = std::numeric_limits<int>::max();
  std::vector<int> todo = values_[g];
  for (int steps = 0; !todo.empty(); ++steps) {
    if (steps > 256) return 0;
    const int value = todo.back();
    todo.pop_back();
    for (const Instruction* user : users_.users(*At(value))) {
      const int u = user->index();
      if (plan_.written[u]) {
        if (group_of_[u] != except) lowest = std::min(lowest, level_[group_of_[u]]);
      } else if (user == computation_.root() && user->opcode() == Opcode::kTuple) {
        continue;
      } else {
        todo.push_back(u);
      }
    }
  }
  return lowest;
}

bool Planner::CanShareLevel(int a, int b) {
  if (level_[a] == level_[b]) return true;
  const int lower = level_[a] < level_[b] ? a : b;
  return LowestReader(lower) > std::max(level_[a], level_[b]);
}

void Planner::Collect() {
  for (int g = 0; g < n_; ++g) {
    if (values_[g].empty()) continue;
    std::vector<Instruction*> group;
    for (const int value : values_[g]) {
      if (!not_written_[value]) group.push_back(computation_.instruction(value));
    }
    plan_.groups.push_back(std::move(group));
  }
  for (int i = 0; i < n_; ++i) {
    if (not_written_[i]) plan_.written[i] = false;
  }
}

}  // namespace

bool IsRecomputed(const Instruction& op, int64_t sublanes) {
  if (!op.shape().IsArray() || !op.control_predecessors().empty()) return false;
  switch (op.opcode()) {
    case Opcode::kCopy:
    case Opcode::kOptimizationBarrier:
    case Opcode::kDomain:
      return false;
    case Opcode::kBroadcast:
    case Opcode::kIota:
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kTranspose:
    case Opcode::kReverse:
      return true;
    case Opcode::kReshape:
      return KeepsTiles(op.operand(0)->shape(), op.shape(), sublanes);
    default:
      return IsElementwise(op.opcode());
  }
}

GroupPlan PlanGroups(const Computation& computation, int64_t sublanes) { return Planner(computation, sublanes).Run(); }

}  // namespace toroid
