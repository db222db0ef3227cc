#include "partitioner/propagation/agreed_axes.h"

namespace toroid {
namespace {

bool Flows(const Factor& factor) {
  return factor.kind != FactorKind::kBlocked && factor.kind != FactorKind::kExchanged && !factor.holds_back;
}

// Cuts `agreed` to what it has in common with `axes`, or extends it if it is a prefix. Returns false if
// neither list is a prefix of the other.
bool AgreeWith(const AxisList& axes, AxisList* agreed) {
  if (agreed->IsPrefixOf(axes)) {
    *agreed = axes;
    return true;
  }
  if (axes.IsPrefixOf(*agreed)) return true;
  int common = 0;
  while ((*agreed)[common] == axes[common]) ++common;
  *agreed = agreed->Prefix(common);
  return false;
}

}  // namespace

std::optional<AgreedAxes> AgreeOn(const FlowOp& op, const Mesh& mesh, const GrowingShardings& shardings,
                                  bool results_only) {
  const ShardingRule& rule = *op.rule;
  if (rule.factors.empty()) return std::nullopt;
  AgreedAxes agreed;
  agreed.factor_axes.resize(rule.factors.size());
  absl::InlinedVector<AxisSet, 8> wanted(rule.factors.size(), 0);  // By any tensor.
  bool any = false;
  ForEachTensor(op, [&](int t, const TensorFactors& tensor, bool is_result) {
    if ((results_only && !is_result) || !(is_result ? op.backward : op.forward)) return;
    if (shardings[t].free) return;
    const Sharding& sharding = shardings[t].sharding;
    for (size_t d = 0; d < tensor.size(); ++d) {
      if (sharding.dims[d].empty()) continue;
      for (int i = 0; i < tensor[d].size; ++i) {
        const int f = tensor[d].factor[i];
        if (!Flows(rule.factors[f])) continue;
        const AxisList axes =
            rule.Admissible(mesh, f, FactorAxes(mesh, rule, tensor[d], i, sharding.dims[d]));
        if (axes.empty()) continue;
        any = true;
        wanted[f] |= axes.Set();
        agreed.conflict |= !AgreeWith(axes, &agreed.factor_axes[f]);
      }
    }
  });
  if (!any) return std::nullopt;
  AxisSet once = 0, twice = 0;
  for (const AxisSet axes : wanted) {
    twice |= once & axes;
    once |= axes;
  }
  if (twice == 0) return agreed;
  agreed.conflict = true;
  for (AxisList& axes : agreed.factor_axes) {
    int kept = 0;
    while (kept < axes.size() && !(twice >> axes[kept] & 1)) ++kept;
    axes = axes.Prefix(kept);
  }
  return agreed;
}

}  // namespace toroid
