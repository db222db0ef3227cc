#include "tests/hlo/diff/rearranged.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/ir/edit.h"

namespace toroid {
namespace {

// Takes any instruction whose operands and control predecessors have been taken, until there is none.
std::vector<Instruction*> RandomOrder(const Computation& computation, std::mt19937_64* random) {
  std::vector<int> waits(computation.size(), 0);
  std::vector<std::vector<Instruction*>> followers(computation.size());
  std::vector<Instruction*> ready, order;
  for (const auto& op : computation.instructions()) {
    const auto wait_for = [&](const Instruction* before) {
      ++waits[op->index()];
      followers[before->index()].push_back(op.get());
    };
    for (const Instruction* operand : op->operands()) wait_for(operand);
    for (const Instruction* before : op->control_predecessors()) wait_for(before);
    if (waits[op->index()] == 0) ready.push_back(op.get());
  }
  while (!ready.empty()) {
    std::swap(ready[(*random)() % ready.size()], ready.back());
    Instruction* op = ready.back();
    ready.pop_back();
    order.push_back(op);
    for (Instruction* follower : followers[op->index()]) {
      if (--waits[follower->index()] == 0) ready.push_back(follower);
    }
  }
  return order;
}

}  // namespace

std::unique_ptr<Module> Rearranged(const Module& module, std::mt19937_64* random) {
  std::unique_ptr<Module> copy = CloneModule(module);
  int next = 0;
  for (const auto& computation : copy->computations()) {
    computation->set_name(absl::StrCat("c", (*random)() % 1000, ".", next++));
    computation->Reorder(RandomOrder(*computation, random));
    for (const auto& op : computation->instructions()) {
      op->set_name(absl::StrCat("i", (*random)() % 1000, ".", next++));
      op->set_id(-1);
      if (op->attrs().channel_id() != 0) op->MutableAttrs()->set_channel_id(1000 + next);
    }
  }
  return copy;
}

}  // namespace toroid
