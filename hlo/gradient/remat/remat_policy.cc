#include "hlo/gradient/remat/remat_policy.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/analysis/work.h"
#include "hlo/gradient/remat/layer_plan.h"

namespace toroid {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

bool IsContraction(const Instruction& op);

bool HoldsContraction(const Instruction& op) {
  return std::any_of(op.called().begin(), op.called().end(), [](const Computation* callee) {
    return std::any_of(callee->instructions().begin(), callee->instructions().end(),
                       [](const auto& inner) { return IsContraction(*inner); });
  });
}

bool IsContraction(const Instruction& op) { return MatrixFlops(op) > 0 || HoldsContraction(op); }

bool IsDearer(const Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kGather:
    case Opcode::kDynamicSlice:
      return op.shape().NumElements() < op.operand(0)->shape().NumElements();
    case Opcode::kCustomCall:
      return !IsElementwiseCall(op) && !HandsLeavesOn(op);
    default:
      return IsCollective(op.opcode()) || IsContraction(op);
  }
}

std::optional<std::string> ScopeOf(const Instruction& op, absl::string_view prefix) {
  if (op.metadata() == nullptr) return std::nullopt;
  const absl::string_view name = op.metadata()->op_name();
  size_t end = 0;
  for (const absl::string_view part : absl::StrSplit(name, '/')) {
    end += part.size();
    if (absl::StartsWith(part, prefix)) return std::string(name.substr(0, end));
    ++end;
  }
  return std::nullopt;
}

}  // namespace

void KeepDots(GradientOptions* options) { options->keep = IsDearer; }

absl::Status KeepLayerInputs(const Computation& computation, absl::Span<const Instruction* const> boundaries,
                             GradientOptions* options) {
  const int n = computation.size();
  const auto count = static_cast<int64_t>(boundaries.size());
  std::vector<int64_t> boundary(n, kNone);
  for (int64_t k = 0; k < count; ++k) {
    if (boundaries[k]->computation() != &computation) {
      return absl::InvalidArgumentError(absl::StrCat(
          boundaries[k]->Path(), ": a boundary of layers must be a value of ", computation.name()));
    }
    boundary[boundaries[k]->index()] = k;
  }
  LayerPlan layers;
  layers.computed_again.assign(count + 1, true);
  layers.computed_again.front() = layers.computed_again.back() = false;
  layers.of_op.assign(n, 0);  // 0: depends on no boundary, so far.
  for (const auto& op : computation.instructions()) {
    int64_t& layer = layers.of_op[op->index()];
    for (const Instruction* operand : op->operands()) {
      const int64_t k = boundary[operand->index()];
      layer = std::max(layer, k == kNone ? layers.of_op[operand->index()] : k + 1);
    }
    const int64_t k = boundary[op->index()];
    if (k == kNone) continue;
    if (layer > k) {
      return absl::InvalidArgumentError(absl::StrCat(op->Path(), ": boundary ", k,
                                                     " of the layers depends on boundary ", layer - 1,
                                                     "; list them in the order in which they are computed"));
    }
    layer = k;
  }
  std::vector<int64_t> first_use(n, kNone);
  for (int i = n - 1; i >= 0; --i) {
    int64_t& layer = layers.of_op[i];
    if (layer == 0 && boundary[i] == kNone) layer = first_use[i] == kNone ? count : first_use[i];
    for (const Instruction* operand : computation.instruction(i)->operands()) {
      first_use[operand->index()] = std::min(first_use[operand->index()], layer);
    }
  }
  KeepWhatLayersHandOn(computation, layers, options);
  return absl::OkStatus();
}

absl::Status KeepScopeInputs(const Computation& computation, absl::string_view prefix,
                             GradientOptions* options) {
  const int n = computation.size();
  // Scopes in the order in which they end.
  std::vector<std::optional<std::string>> scope_of(n);
  absl::flat_hash_map<std::string, int64_t> numbers;
  std::vector<std::string> scopes;
  for (int i = n - 1; i >= 0; --i) {
    scope_of[i] = ScopeOf(*computation.instruction(i), prefix);
    if (scope_of[i] && numbers.insert({*scope_of[i], 0}).second) scopes.push_back(*scope_of[i]);
  }
  std::reverse(scopes.begin(), scopes.end());
  if (scopes.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("no op of ", computation.name(),
                                                   " is in a scope whose name begins with '", prefix, "'"));
  }
  // Scope k is layer 2 k + 1; the instructions between it and the next scope are layer 2 k + 2.
  for (size_t k = 0; k < scopes.size(); ++k) numbers[scopes[k]] = static_cast<int64_t>(2 * k + 1);
  LayerPlan layers;
  layers.of_op.assign(n, 0);
  for (int i = 0; i < n; ++i) {
    int64_t& layer = layers.of_op[i];
    const Instruction& op = *computation.instruction(i);
    for (const Instruction* operand : op.operands()) layer = std::max(layer, layers.of_op[operand->index()]);
    if (!scope_of[i]) continue;
    const int64_t own = numbers[*scope_of[i]];
    if (layer > own) {
      return absl::InvalidArgumentError(absl::StrCat(op.Path(), ": layer ", *scope_of[i],
                                                     " needs a value of layer ", scopes[(layer - 1) / 2],
                                                     ", which ends after it"));
    }
    layer = own;
  }
  // A value without the layer's name belongs to it if a value of the layer depends on it.
  std::vector<bool> leads_back(n, false);
  for (int i = n - 1; i >= 0; --i) {
    const Instruction& op = *computation.instruction(i);
    const bool is_in = scope_of[i].has_value() || leads_back[i];
    const int64_t layer = layers.of_op[i];
    if (!is_in && layer % 2 == 1) ++layers.of_op[i];
    if (!is_in) continue;
    for (const Instruction* operand : op.operands()) {
      if (layers.of_op[operand->index()] == layer) leads_back[operand->index()] = true;
    }
  }
  for (size_t k = 0; k <= 2 * scopes.size(); ++k) layers.computed_again.push_back(k % 2 == 1);
  KeepWhatLayersHandOn(computation, layers, options);
  return absl::OkStatus();
}

}  // namespace toroid
