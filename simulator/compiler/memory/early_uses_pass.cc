#include "simulator/compiler/memory/early_uses_pass.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo/analysis/peak_memory.h"
#include "simulator/memory/donated_arguments.h"
#include "simulator/memory/temporaries.h"
#include "simulator/program/elementwise.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

class EarlyOrder {
 public:
  // `needed`: temporary bytes of the program.
  EarlyOrder(const Computation& computation, const ArraySize& size, int64_t needed)
      : computation_(computation),
        n_(computation.size()),
        small_(needed / Thresholds().early_use_part_of_all()),
        buffers_(computation, &size),
        stays_(ResultBuffers(*computation.module(), buffers_)),
        waits_(n_, 0),
        then_(n_),
        readers_(buffers_.size(), 0),
        done_(n_, false) {
    for (const Instruction* parameter : computation.parameters()) {
      for (const int b : buffers_.Of(*parameter)) stays_[b] = true;
    }
    for (int i = 0; i < n_; ++i) {
      const Instruction& op = Op(i);
      for (const Instruction* operand : op.operands()) Await(operand->index(), i);
      for (const Instruction* before : op.control_predecessors()) Await(before->index(), i);
      if (IsName(op)) continue;
      for (const int b : Read(op)) ++readers_[b];
    }
    for (const ReadBeforeWritten& pair : ReadersOfDonated(computation, buffers_))
      Await(pair.reader, pair.writer);
  }

  // The new order; empty if nothing runs earlier than in the program.
  std::vector<Instruction*> Run() {
    for (int i = 0; i < n_; ++i) {
      if (!done_[i]) Take(i);
      while (!ready_.empty()) {
        const int now = ready_.back();
        ready_.pop_back();
        if (done_[now] || !MayRunEarly(Op(now))) continue;
        changed_ |= now != i + 1;
        Take(now);
      }
    }
    return changed_ ? std::move(order_) : std::vector<Instruction*>();
  }

 private:
  const Instruction& Op(int i) const { return *computation_.instruction(i); }
  static bool IsName(const Instruction& op) { return HasTrait(op.opcode(), kNoStorage); }

  void Await(int before, int after) {
    ++waits_[after];
    then_[before].push_back(after);
  }

  // Each once.
  std::vector<int> Read(const Instruction& op) const {
    std::vector<int> read;
    for (const Instruction* operand : op.operands()) {
      for (const int b : buffers_.Of(*operand)) {
        if (std::find(read.begin(), read.end(), b) == read.end()) read.push_back(b);
      }
    }
    return read;
  }

  bool MayRunEarly(const Instruction& op) const {
    if (IsName(op)) return &op != computation_.root();
    if (&op == computation_.root() || HasTrait(op.opcode(), kInPlace)) return false;
    if (op.opcode() == Opcode::kFusion) {
      if (op.called().empty() || HasTrait(op.called(0)->root()->opcode(), kInPlace)) return false;
    } else if (op.opcode() != Opcode::kReduce && !IsElementwise(op)) {
      return false;
    }
    int64_t taken = 0, freed = 0, largest = 0;
    for (const int b : buffers_.Of(op)) {
      if (!stays_[b]) taken += buffers_[b].bytes;
    }
    for (const int b : Read(op)) {
      largest = std::max(largest, buffers_[b].bytes);
      if (!stays_[b] && readers_[b] == 1) freed += buffers_[b].bytes;
    }
    return taken <= std::max({freed, largest / Thresholds().early_use_part(), small_});
  }

  void Take(int i) {
    done_[i] = true;
    order_.push_back(computation_.instruction(i));
    if (!IsName(Op(i))) {
      for (const int b : Read(Op(i))) --readers_[b];
    }
    for (const int after : then_[i]) {
      if (--waits_[after] == 0 && !done_[after]) ready_.push_back(after);
    }
  }

  const Computation& computation_;
  const int n_;
  const int64_t small_;
  const Buffers buffers_;
  std::vector<bool> stays_;             // By buffer: arguments and results.
  std::vector<int> waits_;              // By instruction: for how many.
  std::vector<std::vector<int>> then_;  // By instruction: who waits for it.
  std::vector<int> readers_;            // By buffer: that have not run.
  std::vector<bool> done_;
  std::vector<int> ready_;
  std::vector<Instruction*> order_;
  bool changed_ = false;
};

}  // namespace

absl::StatusOr<bool> EarlyUsesPass::Run(std::unique_ptr<Module>* module) {
  if (!IsOn(Rule::kEarlyUses)) return false;
  const ArraySize size = PaddedSize(tiling_);
  Computation* entry = (*module)->entry();
  const int64_t needed = ComputeMemoryNeeds(**module, &size).temporary;
  const std::vector<Instruction*> order = EarlyOrder(*entry, size, needed).Run();
  if (order.empty()) return false;
  std::vector<Instruction*> given;
  given.reserve(entry->size());
  for (const auto& op : entry->instructions()) given.push_back(op.get());
  entry->Reorder(order);
  if (ComputeMemoryNeeds(**module, &size).temporary < needed) return true;
  entry->Reorder(given);
  return false;
}

}  // namespace toroid
