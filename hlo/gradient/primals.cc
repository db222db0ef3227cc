#include "hlo/gradient/primals.h"

#include <vector>

namespace toroid {

Value Primals::Get(const Instruction& value) {
  // Chains may be as long as the program: no recursion.
  std::vector<const Instruction*> todo = {&value};
  while (!todo.empty()) {
    const Instruction& now = *todo.back();
    if (known_.contains(&now)) {
      todo.pop_back();
      continue;
    }
    if (const Value kept = kept_(now)) {
      known_[&now] = kept;
      todo.pop_back();
      continue;
    }
    std::vector<Value> operands;
    for (const Instruction* operand : now.operands()) {
      const auto found = known_.find(operand);
      if (found == known_.end()) {
        todo.push_back(operand);
      } else {
        operands.push_back(found->second);
      }
    }
    if (static_cast<int>(operands.size()) < now.num_operands()) continue;
    Value again = b_.Clone(now, now.shape(), operands);
    again->set_called(now.called());
    again->set_sharding(now.sharding());
    known_[&now] = again;
    todo.pop_back();
  }
  return known_.at(&value);
}

}  // namespace toroid
