// Options of differentiation.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "hlo/ir/instruction.h"

namespace toroid {

class Pullback;

// The caller's own rule (pullback.h) for one value, in place of the rule of its op. It may run on a copy of
// the program. Values that it needs besides the op's operands and result are therefore listed in `reads`, and
// Pullback::read(i) is reads[i] in that copy.
//   options.custom[chosen] =
//       CustomRule([](Pullback& p) { p.Add(0, p.b.Multiply(p.cotangent(), p.read(0))); ... }, {mask});
struct CustomRule {
  CustomRule() = default;
  template <typename Rule, typename = std::enable_if_t<std::is_invocable_r_v<absl::Status, Rule, Pullback&>>>
  CustomRule(Rule rule, std::vector<const Instruction*> reads = {})  // NOLINT: a lambda is a rule.
      : rule(std::move(rule)), reads(std::move(reads)) {}

  std::function<absl::Status(Pullback&)> rule;
  std::vector<const Instruction*> reads;
};

struct GradientOptions {
  // Values that are treated as constants: no gradient flows through them.
  absl::flat_hash_set<const Instruction*> stopped;
  absl::flat_hash_map<const Instruction*, CustomRule> custom;
  // Which values of the forward pass are kept until the backward pass needs them; the others are recomputed
  // from them. Parameters, and values that cannot be repeated (kept_values.h), are always kept. Empty: keeps
  // all values except those that take no work (broadcasts, transposes, converts, ...). See remat_policy.h for
  // policies.
  std::function<bool(const Instruction&)> keep;
  // The number of a value's layer; that of an operand is not greater. Recomputation for a layer waits for the
  // cotangents of the layer (layer_barrier.h). Empty: a layer ends at each kept value. Also called for the
  // scalar's first cotangent, which may be in any layer.
  std::function<int64_t(const Instruction&)> layer;
};

}  // namespace toroid
