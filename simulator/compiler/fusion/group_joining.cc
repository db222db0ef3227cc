#include "simulator/compiler/fusion/grouper.h"

namespace toroid {

bool Grouper::IsOfProduct(int g) const {
  for (const int value : values_[g]) {
    const Instruction* op = At(value);
    if (op->opcode() == Opcode::kReduce && made_.owner[value] != nullptr) op = made_.owner[value];
    if (IsMatrixOp(op->opcode())) return true;
    // The op ends a product's epilogue: the product, or an op of the epilogue, is among its operands.
    for (const Instruction* operand : op->operands()) {
      if (made_.owner[operand->index()] == op && operand->opcode() != Opcode::kReduce) return true;
    }
  }
  return false;
}

int Grouper::MakerOf(int value) const {
  // Back through reshapes and transposes that are other names of the same memory.
  while (group_of_[value] < 0 && At(value)->num_operands() == 1) value = At(value)->operand(0)->index();
  return group_of_[value];
}

bool Grouper::Reads(int g, int other) const {
  for (const int input : inputs_[g]) {
    if (group_of_[input] == other) return true;
  }
  return false;
}

int Grouper::LevelWith(int g, int other) const {
  if (!Reads(g, other)) return std::max(level_[g], level_[other]);
  int level = level_[other];
  for (const int input : inputs_[g]) {
    const int maker = MakerOf(input);
    if (maker >= 0 && maker != other) level = std::max(level, level_[maker] + 1);
  }
  return level;
}

bool Grouper::ReadsInPlace(int g, int other) const {
  std::vector<const Instruction*> todo;
  for (const int value : values_[g]) todo.push_back(At(value));
  for (size_t next = 0; next < todo.size(); ++next) {
    const Instruction* op = todo[next];
    for (const Instruction* operand : op->operands()) {
      if (!made_.IsInMemory(*operand)) {
        if (!absl::c_linear_search(todo, operand)) todo.push_back(operand);
        continue;
      }
      if (MakerOf(operand->index()) != other) continue;
      const bool shifts = op->opcode() == Opcode::kSlice || op->opcode() == Opcode::kPad ||
                          op->opcode() == Opcode::kConcatenate || op->opcode() == Opcode::kReverse ||
                          op->opcode() == Opcode::kDynamicSlice;
      // Nor may it read a reduction's result, which is known only at the end.
      if (shifts || operand->shape().dims() != At(g)->shape().dims()) return false;
    }
  }
  return true;
}

bool Grouper::CanJoin(int g, int other) {
  if (other < 0 || other == g || values_[other].empty() || values_[other].size() >= MostValues())
    return false;
  const Instruction* maker = At(other);
  const bool is_product = IsOfProduct(other);
  if ((!is_product && (!made_.recomputed[other] || !IsElementwise(*maker))) ||
      maker->shape().dims() != At(g)->shape().dims())
    return false;
  // A copy of a product's result reads it from memory.
  if (is_product &&
      (At(g)->opcode() == Opcode::kCopy || PhysicalOrder(At(g)->shape()) != PhysicalOrder(maker->shape())))
    return false;
  // One elementwise reader of a value joins its group, or else its reductions; all readers join a product.
  const bool is_first = is_product || absl::c_any_of(inputs_[g], [&](int input) {
                          return group_of_[input] == other && !HasReaderInside(input, other);
                        });
  if (!is_first) return false;
  // The other values that `g` reads must not need what `other` makes, and the merged group must stay below its readers.
  for (const int input : inputs_[g]) {
    if (group_of_[input] == other) continue;
    const int from = MakerOf(input);
    if (from == other || (from < 0 && levels_[input] > level_[other])) return false;
  }
  if (!ReadsInPlace(g, other)) return false;
  const int level = LevelWith(g, other);
  return level == level_[other] || LowestReader(other, g) > level;
}

int Grouper::LowestReader(int g, int except) const {
  int lowest = std::numeric_limits<int>::max();
  const bool all = ForReaders(g, [&](int reader) {
    if (reader != except && reader != g) lowest = std::min(lowest, level_[reader]);
  });
  return all ? lowest : 0;
}

bool Grouper::ShareLevel(int a, int b) {
  if (level_[a] == level_[b]) return true;
  const int lower = level_[a] < level_[b] ? a : b, upper = lower == a ? b : a;
  // The lower one rises, and groups that wait for it rise with it. No group may sink: others that it reads may be as high.
  std::vector<std::pair<int, int>> risen = {{lower, level_[lower]}};  // With the levels before.
  level_[lower] = level_[upper];
  bool can_rise = true;
  for (size_t next = 0; next < risen.size() && can_rise; ++next) {
    const int group = risen[next].first;
    can_rise = ForReaders(group,
                          [&](int reader) {
                            if (reader == group || level_[reader] > level_[group]) return;
                            can_rise &= reader != upper && risen.size() < kMostRaised;
                            if (!can_rise) return;
                            risen.push_back({reader, level_[reader]});
                            level_[reader] = level_[group] + 1;
                          }) &&
               can_rise;
  }
  if (!can_rise) {
    for (; !risen.empty(); risen.pop_back()) level_[risen.back().first] = risen.back().second;
  }
  return can_rise;
}

}  // namespace toroid
