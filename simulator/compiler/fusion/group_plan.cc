#include "simulator/compiler/fusion/group_plan.h"

#include "simulator/compiler/fusion/grouper.h"

namespace toroid {

void Grouper::Group() {
  group_of_.assign(n_, -1);
  values_.resize(n_);
  inputs_.resize(n_);
  level_.assign(n_, 0);
  for (int i = 0; i < n_; ++i) {
    if (!made_.written[i]) continue;
    const Instruction* op = At(i);
    const bool reduces = op->opcode() == Opcode::kReduce ||
                         (op->opcode() == Opcode::kConvert && op->operand(0)->opcode() == Opcode::kReduce);
    const bool joins = reduces && made_.owner[i] != nullptr && made_.owner[i] != op;
    const int g = joins ? made_.owner[i]->index() : i;
    group_of_[i] = g;
    values_[g].push_back(i);
    inside_.ForLeaves(op, [&](const Instruction* leaf) {
      if (made_.SourceOf(leaf)->index() != g) inputs_[g].push_back(leaf->index());
    });
  }
  // Levels: every group above all that it reads. Values between groups (tuples, parts of them) pass levels on.
  std::vector<int>& level = levels_;
  level.assign(n_, 0);
  // Reductions that join a value may wait for more than it does, which stands behind it.
  constexpr int kMostRounds = 64;
  bool rises = true;
  for (int round = 0; round < kMostRounds && rises; ++round) {
    rises = false;
    for (int i = 0; i < n_; ++i) {
      const Instruction* op = At(i);
      int now = level[i];
      for (const Instruction* operand : op->operands()) {
        if (!made_.written[i] || MakerOf(operand->index()) != group_of_[i])
          now = std::max(now, level[operand->index()]);
      }
      for (const Instruction* before : op->control_predecessors())
        now = std::max(now, level[before->index()]);
      if (made_.written[i]) {
        const int g = group_of_[i];
        inside_.ForLeaves(op, [&](const Instruction* leaf) {
          if (MakerOf(leaf->index()) != g) now = std::max(now, level[leaf->index()] + kBetweenLevels);
        });
        now = std::max({now, level_[g], kBetweenLevels});
        rises |= now > level_[g];
        level_[g] = now;
      }
      level[i] = now;
    }
  }
}

const Shape* Grouper::SpaceOf(int g) const {
  const Instruction* op = At(g);
  if (const Instruction* reduction = ReductionOf(op)) return &reduction->operand(0)->shape();
  if (made_.written[g] && IsColumnToVector(*op, tiling_)) return &op->operand(0)->shape();
  const Shape* shape = &op->shape();
  // Under another name.
  while (op->opcode() == Opcode::kReshape && SameButUnitDims(op->shape(), op->operand(0)->shape()) &&
         !made_.IsInMemory(*op->operand(0))) {
    op = op->operand(0);
  }
  return made_.recomputed[g] && IsElementwise(*op) && op->opcode() != Opcode::kCopy ? shape : nullptr;
}

const Instruction* Grouper::SliceOf(const Instruction* op) const {
  while ((op->opcode() == Opcode::kReshape || op->opcode() == Opcode::kConvert) &&
         !made_.IsInMemory(*op->operand(0)))
    op = op->operand(0);
  return op->opcode() == Opcode::kSlice ? op : nullptr;
}

void Grouper::MergeSlices() {
  std::vector<std::vector<int>> slices(
      n_);  // By what they are of: in groups of their own, or the first of a group.
  for (int i = 0; i < n_; ++i) {
    if (group_of_[i] != i || values_[i].size() != 1 || made_.owner[i] != nullptr || IsPlaced(At(i))) continue;
    const Instruction* slice = SliceOf(At(i));
    if (slice == nullptr) continue;
    std::vector<int>& others = slices[slice->operand(0)->index()];
    const auto alike = absl::c_find_if(others, [&](int other) {
      const Shape &own = At(i)->shape(), &theirs = At(other)->shape();
      return own == theirs && SliceOf(At(other))->shape().dims() == slice->shape().dims() &&
             values_[other].size() < MostValues() && ShareLevel(other, i) &&
             Decides(Rule::kSlicesTogether, *At(i));
    });
    if (alike == others.end()) {
      others.push_back(i);
      continue;
    }
    group_of_[i] = *alike;
    values_[*alike].push_back(i);
    values_[i].clear();
    inputs_[*alike].insert(inputs_[*alike].end(), inputs_[i].begin(), inputs_[i].end());
  }
}

std::vector<int> Grouper::ReadInside(int g) const {
  std::vector<int> found = {g};
  for (size_t next = 0; next < found.size(); ++next) {
    if (At(found[next]) == computation_.root()) return {};
    for (const Instruction* user : users_.users(*At(found[next]))) {
      const int u = user->index();
      if (user == computation_.root() || (made_.written[u] && group_of_[u] != g) || found.size() > kMostRead)
        return {};
      if (!made_.written[u]) found.push_back(u);
    }
  }
  return found;
}

void Grouper::Collect() {
  plan_.written = made_.written;
  plan_.renamed = made_.renamed;
  for (int g = 0; g < n_; ++g) {
    if (values_[g].empty()) continue;
    // Of what a product makes, all that read it may have joined it.
    if (values_[g].size() > 1 && IsOfProduct(g)) {
      for (const int inside : ReadInside(g)) plan_.written[inside] = plan_.renamed[inside] = false;
    }
    std::vector<Instruction*> group;
    for (const int value : values_[g]) {
      if (made_.only_joined[value]) plan_.written[value] = false;
      if (plan_.written[value]) group.push_back(computation_.instruction(value));
    }
    plan_.groups.push_back(std::move(group));
  }
}

GroupPlan PlanGroups(const Computation& computation, const Tiling& tiling) {
  return Grouper(computation, tiling).Run();
}

}  // namespace toroid
