#include "simulator/memory/temporaries.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "hlo/analysis/updating_group.h"
#include "hlo/base/math.h"
#include "simulator/memory/packed_lives.h"
#include "simulator/program/elementwise.h"

namespace toroid {
namespace {

constexpr int64_t kPlaceBytes = 16384;

int64_t Rounded(int64_t bytes) {
  return bytes > std::numeric_limits<int64_t>::max() - kPlaceBytes
             ? bytes
             : CeilOfRatio(bytes, kPlaceBytes) * kPlaceBytes;
}

// Free and taken places of an address space without end.
class Places {
 public:
  int64_t Take(int64_t bytes) {
    auto best = holes_.end();
    for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
      if (hole->second >= bytes && (best == holes_.end() || hole->second < best->second)) best = hole;
    }
    if (best == holes_.end()) {
      const int64_t at = end_;
      end_ = SaturatingAdd(end_, bytes);
      highest_ = std::max(highest_, end_);
      return at;
    }
    const int64_t at = best->first, left = best->second - bytes;
    holes_.erase(best);
    if (left > 0) holes_[at + bytes] = left;
    return at;
  }

  void Free(int64_t at, int64_t bytes) {
    auto next = holes_.lower_bound(at);
    if (next != holes_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == at) {
        at = before->first;
        bytes += before->second;
        holes_.erase(before);
      }
    }
    if (next != holes_.end() && at + bytes == next->first) {
      bytes += next->second;
      holes_.erase(next);
    }
    if (at + bytes == end_) {
      end_ = at;
    } else {
      holes_[at] = bytes;
    }
  }

  int64_t highest() const { return highest_; }

 private:
  std::map<int64_t, int64_t> holes_;  // Begin and bytes.
  int64_t end_ = 0, highest_ = 0;     // Of what is taken; beyond, all is free.
};

// The result of a group is made element by element from parameter `p`, in elements as wide.
bool ReusesOperandBuffer(const Computation& group, int p) {
  const Instruction* from = group.parameter(p);
  const int64_t width = ByteWidth(from->shape().element_type());
  std::vector<bool> reached(group.size(), false);
  reached[from->index()] = true;
  for (const auto& op : group.instructions()) {
    const auto operands = op->operands();
    if (!std::any_of(operands.begin(), operands.end(),
                     [&](const Instruction* o) { return reached[o->index()]; }))
      continue;
    if (!IsElementwise(*op) || op->shape().dims() != from->shape().dims() ||
        ByteWidth(op->shape().element_type()) > width) {
      return false;
    }
    reached[op->index()] = true;
  }
  return reached[group.root()->index()];
}

// Results of which the k-th is written where the k-th of the arrays it was made from lies.
bool UpdatesInPlace(Opcode opcode) { return HasTrait(opcode, kInPlace) || opcode == Opcode::kAllReduce; }

// One computation.
class Allocator {
 public:
  // `needs`: temporary bytes of the computations before this one, by index.
  Allocator(const Computation& computation, bool is_branch, const std::vector<int64_t>& needs,
            const ArraySize* size, const CountedMemory& memory)
      : computation_(computation),
        needs_(needs),
        buffers_(computation, size, &memory),
        last_(LastUses(computation, buffers_)),
        stays_(buffers_.size(), false),
        place_(buffers_.size()) {
    const bool is_entry = &computation == computation.module()->entry();
    if (is_entry) {
      stays_ = ResultBuffers(*computation.module(), buffers_);
    } else if (is_branch) {
      for (const int b : buffers_.Of(*computation.root())) stays_[b] = true;  // The conditional's.
    }
    stays_ = UpdatedToResults(std::move(stays_));
    for (const Instruction* parameter : computation.parameters()) {
      for (const int b : buffers_.Of(*parameter)) stays_[b] = true;  // The caller's.
    }
    if (!is_entry) MarkUpdatedArguments();
  }

  int64_t Run(bool packs) {
    TakePlaces();
    return packs ? PackedBytes(Lives()) : BytesInProgramOrder();
  }

 private:
  // Places that are passed on from operands to results.
  void TakePlaces() {
    const std::vector<int> taken = PlacesTaken(computation_, buffers_, last_, stays_);
    for (int b = 0; b < buffers_.size(); ++b) {  // In order of their makers: what is taken was made before.
      place_[b] = taken[b] < 0 ? b : place_[taken[b]];
      last_[place_[b]] = std::max(last_[place_[b]], last_[b]);
    }
  }

  // Of the bodies that `op` runs, one at a time.
  int64_t BytesInside(const Instruction& op) const {
    int64_t inside = 0;
    if (!HasTrait(op.opcode(), kRunsBody)) return inside;
    for (const Computation* callee : op.called()) inside = std::max(inside, needs_[callee->index()]);
    return inside;
  }

  std::vector<ArrayLife> Lives() const {
    std::vector<ArrayLife> lives;
    for (int b = 0; b < buffers_.size(); ++b) {
      if (IsPlaced(b)) lives.push_back({buffers_[b].maker->index(), last_[b], Rounded(buffers_[b].bytes)});
    }
    for (const auto& op : computation_.instructions()) {
      const int64_t inside = BytesInside(*op);
      if (inside > 0) lives.push_back({op->index(), op->index(), inside});
    }
    return lives;
  }

  int64_t BytesInProgramOrder() const {
    const int n = computation_.size();
    std::vector<std::vector<int>> free_after(n + 1);
    for (int b = 0; b < buffers_.size(); ++b) {
      if (IsPlaced(b)) free_after[last_[b]].push_back(b);
    }
    Places places;
    std::vector<int64_t> at(buffers_.size(), 0);
    for (int i = 0; i < n; ++i) {
      const Instruction& op = *computation_.instruction(i);
      for (const int b : buffers_.Of(op)) {
        if (buffers_[b].maker == &op && IsPlaced(b)) at[b] = places.Take(Rounded(buffers_[b].bytes));
      }
      const int64_t inside = BytesInside(op);
      if (inside > 0) places.Free(places.Take(inside), inside);
      for (const int b : free_after[i]) places.Free(at[b], Rounded(buffers_[b].bytes));
    }
    return places.highest();
  }

  // What updates an array of the caller in place lies there.
  void MarkUpdatedArguments() {
    for (const auto& op : computation_.instructions()) {
      const int updated = HasTrait(op->opcode(), kInPlace) ? 0 : UpdatedOperand(*op);
      if (updated < 0 || op->num_operands() == 0) continue;
      const auto results = buffers_.Of(*op), operands = buffers_.Of(*op->operand(updated));
      if (results.size() != 1 || operands.size() != 1) continue;
      const int from = operands[0];
      if (stays_[from] && last_[from] == op->index() && buffers_[from].bytes == buffers_[results[0]].bytes) {
        stays_[results[0]] = true;
      }
    }
  }

  // With what is updated in place to become one of those.
  std::vector<bool> UpdatedToResults(std::vector<bool> is_result) const {
    for (int i = computation_.size() - 1; i >= 0; --i) {
      const Instruction& op = *computation_.instruction(i);
      const int updated = HasTrait(op.opcode(), kInPlace) ? 0 : UpdatedOperand(op);
      if (updated < 0 || op.num_operands() == 0) continue;
      const auto results = buffers_.Of(op), operands = buffers_.Of(*op.operand(updated));
      if (results.size() != 1 || operands.size() != 1 || !is_result[results[0]]) continue;
      const int from = operands[0];
      if (last_[from] == i && buffers_[from].bytes == buffers_[results[0]].bytes) is_result[from] = true;
    }
    return is_result;
  }

  // Has a place of its own.
  bool IsPlaced(int b) const {
    return !stays_[b] && place_[b] == b && buffers_[b].bytes > 0 && last_[b] >= 0;
  }

  const Computation& computation_;
  const std::vector<int64_t>& needs_;
  const Buffers buffers_;
  std::vector<int> last_;
  std::vector<bool> stays_;
  std::vector<int> place_;  // The buffer whose place it is: itself, or the first of those that passed it on.
};

}  // namespace

int64_t MemoryNeeds::All() const { return SaturatingAdd(SaturatingAdd(arguments, results), temporary); }

std::vector<bool> ResultBuffers(const Module& module, const Buffers& buffers) {
  std::vector<bool> is_result(buffers.size(), false);
  for (const int b : buffers.Of(*module.entry()->root())) is_result[b] = true;
  return is_result;
}

std::vector<int> LastUses(const Computation& computation, const Buffers& buffers) {
  std::vector<int> last(buffers.size(), -1);
  for (const auto& op : computation.instructions()) {
    for (const int b : buffers.Of(*op)) {
      if (buffers[b].maker == op.get()) last[b] = op->index();
    }
    if (HasTrait(op->opcode(), kNoStorage)) continue;  // A name is no use.
    for (const Instruction* operand : op->operands()) {
      for (const int b : buffers.Of(*operand)) last[b] = op->index();
    }
  }
  if (computation.root() != nullptr) {
    for (const int b : buffers.Of(*computation.root())) last[b] = computation.size();
  }
  return last;
}

std::vector<int> PlacesTaken(const Computation& computation, const Buffers& buffers,
                             const std::vector<int>& last_uses, const std::vector<bool>& stays) {
  std::vector<int> taken(buffers.size(), -1);
  std::vector<bool> passed_on(buffers.size(), false);  // Once.
  const auto take = [&](int from, int to, const Instruction& at) {
    if (buffers[to].maker != &at || stays[from] || stays[to] || last_uses[from] != at.index() ||
        taken[to] >= 0 || passed_on[from] || from == to || buffers[from].bytes != buffers[to].bytes) {
      return false;
    }
    taken[to] = from;
    passed_on[from] = true;
    return true;
  };
  for (const auto& op : computation.instructions()) {
    const auto results = buffers.Of(*op);
    if (UpdatesInPlace(op->opcode())) {
      std::vector<int> operands;
      for (const Instruction* operand : op->operands()) {
        const auto own = buffers.Of(*operand);
        operands.insert(operands.end(), own.begin(), own.end());
      }
      for (size_t leaf = 0; leaf < results.size() && leaf < operands.size(); ++leaf)
        take(operands[leaf], results[leaf], *op);
      continue;
    }
    const bool is_group = op->opcode() == Opcode::kFusion && !op->called().empty();
    if (results.size() != 1 || !(is_group || IsElementwise(*op))) continue;
    if (const int updated = UpdatedOperand(*op); updated >= 0) {
      const auto operand = buffers.Of(*op->operand(updated));
      if (operand.size() == 1) take(operand[0], results[0], *op);
      continue;
    }
    for (int k = 0; k < op->num_operands(); ++k) {
      const Instruction* operand = op->operand(k);
      if (buffers.Of(*operand).size() != 1 || !operand->shape().Compatible(op->shape())) continue;
      if (is_group && !ReusesOperandBuffer(*op->called(0), k)) continue;
      if (take(buffers.Of(*operand)[0], results[0], *op)) break;
    }
  }
  return taken;
}

MemoryNeeds ComputeMemoryNeeds(const Module& module, const ArraySize* size, bool packs) {
  MemoryNeeds needs;
  if (module.entry() == nullptr || module.entry()->root() == nullptr) return needs;
  const MemorySpaces spaces(module);
  const CountedMemory memory = {&spaces};
  std::vector<bool> is_branch(module.num_computations(), false);
  for (const auto& computation : module.computations()) {
    for (const auto& op : computation->instructions()) {
      if (op->opcode() != Opcode::kConditional) continue;
      for (const Computation* branch : op->called()) is_branch[branch->index()] = true;
    }
  }
  std::vector<int64_t> temporary(module.num_computations(), 0);
  for (const auto& computation : module.computations()) {
    if (computation->root() == nullptr || computation->is_fusion()) continue;
    temporary[computation->index()] =
        Allocator(*computation, is_branch[computation->index()], temporary, size, memory).Run(packs);
  }
  needs.temporary = temporary[module.entry()->index()];
  const Buffers buffers(*module.entry(), size, &memory);
  for (const Instruction* parameter : module.entry()->parameters()) {
    for (const int b : buffers.Of(*parameter))
      needs.arguments = SaturatingAdd(needs.arguments, buffers[b].bytes);
  }
  const std::vector<bool> is_result = ResultBuffers(module, buffers);
  int64_t results = 0, donated = 0;
  for (int b = 0; b < buffers.size(); ++b) {
    if (is_result[b] && buffers[b].maker->opcode() != Opcode::kParameter)
      results = SaturatingAdd(results, buffers[b].bytes);
  }
  // An alias gives a result the memory of an argument, which holds it exactly.
  std::vector<bool> aliased(module.entry()->num_parameters(), false);
  for (const auto& alias : module.proto().input_output_alias().entries()) {
    const int64_t p = alias.parameter_number();
    if (p >= 0 && p < static_cast<int64_t>(aliased.size())) aliased[p] = true;
  }
  for (int p = 0; p < module.entry()->num_parameters(); ++p) {
    if (!aliased[p]) continue;
    for (const int b : buffers.Of(*module.entry()->parameter(p)))
      donated = SaturatingAdd(donated, buffers[b].bytes);
  }
  needs.results = std::max<int64_t>(0, results - donated);
  return needs;
}

}  // namespace toroid
