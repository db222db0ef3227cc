#include "hlo/passes/split_collectives_pass.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/analysis/merged_collectives.h"
#include "hlo/base/status.h"
#include "hlo/ir/replace_instructions.h"

namespace toroid {
namespace {

absl::StatusOr<bool> SplitIn(Computation* computation) {
  const MergedCollectives merged(*computation);
  if (merged.empty()) return false;
  std::vector<Instruction*> now(computation->size(), nullptr);
  std::vector<bool> goes(computation->size(), false);
  for (int i = 0; i < static_cast<int>(now.size()); ++i) {
    Instruction* element = computation->instruction(i);
    if (element->opcode() != Opcode::kGetTupleElement) continue;
    const Instruction* all = element->operand(0);
    if (merged.ElementsOf(*all).empty()) continue;
    const int64_t k = element->tuple_index();
    Instruction* one = computation->AddClone(*all, element->shape(), {all->operand(k)});
    one->set_called(all->called());
    one->set_cause(element->cause());
    one->set_metadata(element->metadata());
    one->set_frontend_attributes(element->frontend_attributes());
    one->set_name(k == 0 ? all->name() : element->name());
    now[i] = one;
    goes[i] = goes[all->index()] = true;
  }
  std::vector<const Instruction*> gone;
  for (size_t i = 0; i < goes.size(); ++i) {
    if (goes[i]) gone.push_back(computation->instruction(static_cast<int64_t>(i)));
  }
  RETURN_IF_ERROR(ReplaceInstructions(computation, now));
  std::vector<bool> keep(computation->size(), true);
  for (const Instruction* op : gone) keep[op->index()] = false;
  computation->Keep(keep);
  return true;
}

}  // namespace

absl::StatusOr<bool> SplitCollectivesPass::Run(std::unique_ptr<Module>* module) {
  bool changed = false;
  for (const auto& computation : (*module)->computations()) {
    ASSIGN_OR_RETURN(const bool here, SplitIn(computation.get()));
    changed |= here;
  }
  return changed;
}

}  // namespace toroid
