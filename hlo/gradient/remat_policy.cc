#include "hlo/gradient/remat_policy.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/analysis/work.h"
#include "hlo/gradient/kept_values.h"

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

// What layers are made of, while they are being found: by index of the instruction.
struct Layers {
  std::vector<int64_t> of_op;
  std::vector<bool> computed_again;  // By layer.
};

// Follows what takes no work to the least array that it is made of; null if that is none at all.
const Instruction* Anchor(const Instruction& value) {
  const Instruction* least = &value;
  const Instruction* at = &value;
  while (TakesNoWork(*at)) {
    if (at->num_operands() == 0) return nullptr;
    if (at->opcode() == Opcode::kTuple || at->opcode() == Opcode::kGetTupleElement || !at->operand(0)->shape().IsArray()) break;
    at = at->operand(0);
    if (at->shape().ByteSize() <= least->shape().ByteSize()) least = at;
  }
  return least;
}

class Kept {
 public:
  Kept(const Computation& computation, const Layers& layers) {
    for (const auto& op : computation.instructions()) {
      const int64_t layer = layers.of_op[op->index()];
      layer_[op.get()] = layer;
      if (!layers.computed_again[layer]) {
        if (!TakesNoWork(*op)) values_.insert(op.get());
        AddAllOf(*op);
      }
      for (const Instruction* operand : op->operands()) {
        if (layers.of_op[operand->index()] != layer) AddAnchors(*operand);
      }
    }
  }

  bool contains(const Instruction& value) const { return values_.contains(&value); }
  int64_t LayerOf(const Instruction& value) const {
    const auto found = layer_.find(&value);
    return found == layer_.end() ? 0 : found->second;
  }

 private:
  void AddAnchors(const Instruction& value) {
    if (value.opcode() == Opcode::kTuple) {
      for (const Instruction* element : value.operands()) AddAnchors(*element);
    } else if (!value.shape().IsArray()) {
      values_.insert(&value);
    } else if (const Instruction* anchor = Anchor(value)) {
      values_.insert(anchor);
    }
  }

  // Bodies of loops that are in no layer.
  void AddAllOf(const Instruction& op) {
    for (const Computation* callee : op.called()) {
      for (const auto& inner : callee->instructions()) {
        if (!TakesNoWork(*inner)) values_.insert(inner.get());
        AddAllOf(*inner);
      }
    }
  }

  absl::flat_hash_map<const Instruction*, int64_t> layer_;
  absl::flat_hash_set<const Instruction*> values_;
};

void Use(const Computation& computation, const Layers& layers, GradientOptions* options) {
  auto kept = std::make_shared<const Kept>(computation, layers);
  options->keep = [kept, within = options->keep](const Instruction& value) {
    return kept->contains(value) || (within != nullptr && within(value));
  };
  options->layer = [kept, &computation, others = options->layer](const Instruction& value) {
    return value.computation() == &computation || others == nullptr ? kept->LayerOf(value) : others(value);
  };
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
      return absl::InvalidArgumentError(absl::StrCat(boundaries[k]->Path(), ": a boundary of layers must be a value of ",
                                                     computation.name()));
    }
    boundary[boundaries[k]->index()] = k;
  }
  Layers layers;
  layers.computed_again.assign(count + 1, true);
  layers.computed_again.front() = layers.computed_again.back() = false;
  layers.of_op.assign(n, 0);  // 0: depends on no boundary, as far as is known.
  for (const auto& op : computation.instructions()) {
    int64_t& layer = layers.of_op[op->index()];
    for (const Instruction* operand : op->operands()) {
      const int64_t k = boundary[operand->index()];
      layer = std::max(layer, k == kNone ? layers.of_op[operand->index()] : k + 1);
    }
    const int64_t k = boundary[op->index()];
    if (k == kNone) continue;
    if (layer > k) {
      return absl::InvalidArgumentError(absl::StrCat(op->Path(), ": boundary ", k, " of the layers depends on boundary ",
                                                     layer - 1, "; list them in the order in which they are computed"));
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
  Use(computation, layers, options);
  return absl::OkStatus();
}

absl::Status KeepScopeInputs(const Computation& computation, absl::string_view prefix, GradientOptions* options) {
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
    return absl::InvalidArgumentError(absl::StrCat("no op of ", computation.name(), " is in a scope whose name begins with '",
                                                   prefix, "'"));
  }
  // Layer k is number 2 k + 1, what stands behind it 2 k + 2.
  for (size_t k = 0; k < scopes.size(); ++k) numbers[scopes[k]] = static_cast<int64_t>(2 * k + 1);
  Layers layers;
  layers.of_op.assign(n, 0);
  for (int i = 0; i < n; ++i) {
    int64_t& layer = layers.of_op[i];
    const Instruction& op = *computation.instruction(i);
    for (const Instruction* operand : op.operands()) layer = std::max(layer, layers.of_op[operand->index()]);
    if (!scope_of[i]) continue;
    const int64_t own = numbers[*scope_of[i]];
    if (layer > own) {
      return absl::InvalidArgumentError(absl::StrCat(op.Path(), ": layer ", *scope_of[i], " needs a value of layer ",
                                                     scopes[(layer - 1) / 2], ", which ends after it"));
    }
    layer = own;
  }
  // What has no name of the layer belongs to it if a value of the layer depends on it.
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
  Use(computation, layers, options);
  return absl::OkStatus();
}

}  // namespace toroid
