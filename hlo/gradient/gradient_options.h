// What a caller may ask of differentiation.
#ifndef TOROID_HLO_GRADIENT_GRADIENT_OPTIONS_H_
#define TOROID_HLO_GRADIENT_GRADIENT_OPTIONS_H_

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

// A rule of the caller's own (pullback.h), in place of that of a value's op. It may run on a copy of the
// program, so values that it needs beside the op's operands and result are named in `reads`:
// Pullback::read(i) is values[i] wherever it runs.
//   options.custom[chosen] = CustomRule([](Pullback& p) { p.Add(0, p.b.Multiply(p.cotangent(), p.read(0))); ... }, {mask});
struct CustomRule {
  CustomRule() = default;
  template <typename Rule, typename = std::enable_if_t<std::is_invocable_r_v<absl::Status, Rule, Pullback&>>>
  CustomRule(Rule rule, std::vector<const Instruction*> reads = {})  // NOLINT: a lambda is a rule.
      : rule(std::move(rule)), reads(std::move(reads)) {}

  std::function<absl::Status(Pullback&)> rule;
  std::vector<const Instruction*> reads;
};

struct GradientOptions {
  // Values that count as constants: nothing flows back through them.
  absl::flat_hash_set<const Instruction*> stopped;
  absl::flat_hash_map<const Instruction*, CustomRule> custom;
  // Which values of the forward pass are kept until the backward pass needs them; others are computed again
  // from those. Parameters always are, and what cannot be repeated (kept_values.h). Empty: all but those that
  // take no work (broadcasts, transposes, converts, ...). Ready ones: remat_policy.h.
  std::function<bool(const Instruction&)> keep;
  // The number of the layer that a value belongs to; operands' are not greater. What is computed again for a
  // layer waits for that layer's cotangents (layer_barrier.h). Empty: a layer ends at each kept value. Asked
  // of the scalar's first cotangent too, which may be in any.
  std::function<int64_t(const Instruction&)> layer;
};

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_GRADIENT_OPTIONS_H_
