// What custom calls without HLO cost, if the user or the program says it.
//
//   --kernel_cost=my_kernel=250us        one execution on one device
//   --kernel_cost=my_kernel=2e12,3e9     flops, bytes: the longest of both at the core's rates
// NAME is a part of the call's op name, of its kernel's own name, or of its target; of several that fit the first counts. A
// call that no model of the core knows may carry an estimate of its author in its backend config:
//   {"custom_call_config": {"cost_estimate": {"flops": F, "transcendentals": T, "bytes_accessed": B}}}
// Order: what is given, what the model knows, the estimate, the bytes of operands and results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/instruction.h"
#include "hlo/ir/module.h"
#include "simulator/chip/core_model.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

struct KernelCost {
  std::string name;
  std::optional<int64_t> picoseconds;  // If it is not there: by what follows.
  double flops = 0, transcendentals = 0, bytes = 0;
};

// Errors: kInvalidArgument for text of another form, and for numbers that are negative or not finite.
absl::StatusOr<KernelCost> ParseKernelCost(absl::string_view text);

// What the author of the kernel wrote into the call; nullopt if there is nothing.
std::optional<KernelCost> CostEstimateOf(const Instruction& call);

// What the kernel is called: its own name, else the end of the op's name, else the call's target.
std::string KernelNameOf(const Instruction& call);

// Errors: kNotFound for a cost whose name no custom call of `module` has; lists those that there are.
absl::Status CheckKernelCosts(const std::vector<KernelCost>& costs, const Module& module);

// Answers for custom calls whose cost is known, and asks `model` for all else.
class KernelCosts : public CoreModel {
 public:
  KernelCosts(std::unique_ptr<CoreModel> model, const CoreSpec& core, std::vector<KernelCost> given)
      : model_(std::move(model)), core_(core), given_(std::move(given)) {}

  const GroupTime& TimeOf(const Instruction& group) override;
  RuleSet RulesOf(const Instruction& group) const override { return model_->RulesOf(group); }

 private:
  GroupTime TimeBy(const KernelCost& cost, GroupTime time) const;

  const std::unique_ptr<CoreModel> model_;
  const CoreSpec core_;
  const std::vector<KernelCost> given_;
  absl::flat_hash_map<const Instruction*, GroupTime> known_;
};

}  // namespace toroid
