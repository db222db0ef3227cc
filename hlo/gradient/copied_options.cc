#include "hlo/gradient/copied_options.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace toroid {

Instruction* InCopy(const Instruction& instruction, const Module& copy) {
  return copy.computation(instruction.computation()->index())->instruction(instruction.index());
}

GradientOptions OptionsInCopy(const GradientOptions& options, const Module& module, const Module& copy) {
  GradientOptions of_copy;
  for (const Instruction* stopped : options.stopped) of_copy.stopped.insert(InCopy(*stopped, copy));
  for (const auto& [value, rule] : options.custom) {
    CustomRule& of_value = of_copy.custom[InCopy(*value, copy)] = rule;
    for (const Instruction*& read : of_value.reads) read = InCopy(*read, copy);
  }
  absl::flat_hash_set<const Instruction*> kept;
  absl::flat_hash_map<const Instruction*, int64_t> layers;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      const Instruction* const same = InCopy(*instruction, copy);
      if (options.keep != nullptr && options.keep(*instruction)) kept.insert(same);
      if (options.layer != nullptr) layers[same] = options.layer(*instruction);
    }
  }
  if (options.keep != nullptr) {
    of_copy.keep = [kept = std::move(kept)](const Instruction& value) { return kept.contains(&value); };
  }
  if (options.layer != nullptr) {
    of_copy.layer = [layers = std::move(layers)](const Instruction& value) {
      const auto found = layers.find(&value);
      return found == layers.end() ? 0 : found->second;  // For instructions added later.
    };
  }
  return of_copy;
}

}  // namespace toroid
