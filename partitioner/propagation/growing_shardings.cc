#include "partitioner/propagation/growing_shardings.h"

#include <algorithm>
#include <utility>

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

GrowingShardings::GrowingShardings(const FlowGraph& graph, const Annotations& annotations,
                                   const std::vector<bool>& even)
    : graph_(graph), mesh_(annotations.mesh), tensors_(graph.num_tensors()) {
  for (int t = 0; t < graph.num_tensors(); ++t) {
    GrowingSharding& tensor = tensors_[t];
    tensor.sharding = Sharding::Replicated(graph.shape(t).rank());
    tensor.blocked = t < static_cast<int>(annotations.manual.size()) ? annotations.manual[t] : 0;
    tensor.even = !even.empty() && even[t];
    if (!annotations.tensor[t]) continue;
    const Annotation& annotation = *annotations.tensor[t];
    tensor.closed = annotation.closed;
    tensor.blocked |= annotation.replicated;
    for (size_t d = 0; d < annotation.sharding.dims.size(); ++d) {
      const AxisList& axes = annotation.sharding.dims[d];
      const int priority = annotation.priorities.empty() ? 0 : annotation.priorities[d];
      if (priority == 0) {
        tensor.sharding.dims[d] = axes;
      } else {
        later_.push_back({priority, t, static_cast<int>(d), axes});
      }
    }
  }
  std::stable_sort(later_.begin(), later_.end(),
                   [](const Later& a, const Later& b) { return a.priority < b.priority; });
  // Ops come after the producers of their operands.
  for (const FlowOp& op : graph.ops()) {
    if (op.instruction == nullptr || op.results.size() != 1) continue;
    GrowingSharding& result = tensors_[op.results[0]];
    if (result.closed != 0) continue;
    result.free = IsMadeAnywhere(
        graph_, op, [&](int t) { return tensors_[t].free; },
        [&](int t) { return graph_.shape(t).rank() == 0; });
  }
}

bool GrowingShardings::Extend(int t, int dim, const AxisList& axes, bool given) {
  GrowingSharding& tensor = tensors_[t];
  AxisList& own = tensor.sharding.dims[dim];
  if (axes.size() <= own.size() || !own.IsPrefixOf(axes)) return false;
  if (!given && tensor.closed >> dim & 1) return false;
  const int64_t size = graph_.shape(t).dim(dim);
  const AxisSet used = tensor.blocked | tensor.sharding.DimAxes();
  AxisList extended = own;
  int64_t tiles = mesh_.Product(own);
  for (int i = own.size(); i < axes.size(); ++i) {
    tiles *= mesh_.size(axes[i]);
    if ((used >> axes[i] & 1) || (!given && tiles > size)) break;
    extended.push_back(axes[i]);
  }
  // A shorter list of axes that divides evenly would give tiles that do not nest with the neighbours', so
  // the dimension stays as it is.
  if (tensor.even && !given && size % mesh_.Product(extended) != 0) return false;
  if (extended.size() == own.size()) return false;
  own = extended;
  return true;
}

std::optional<std::vector<int>> GrowingShardings::ExtendNextPriority() {
  if (next_ == later_.size()) return std::nullopt;
  std::vector<int> grown;
  for (const int priority = later_[next_].priority;
       next_ < later_.size() && later_[next_].priority == priority; ++next_) {
    const Later& later = later_[next_];
    if (Extend(later.tensor, later.dim, later.axes, /*given=*/true)) grown.push_back(later.tensor);
  }
  return grown;
}

int GrowingShardings::Align(const FlowOp& group) {
  std::vector<int> members(group.operands.begin(), group.operands.end());
  members.push_back(group.results[0]);
  const auto first = std::find_if(members.begin(), members.end(), [&](int t) {
    return tensors_[t].closed != 0 && tensors_[t].sharding.DimAxes() != 0;
  });
  const int model_member = first == members.end() ? members[0] : *first;
  const Sharding model = tensors_[model_member].sharding;
  for (const int t : members) {
    if (tensors_[t].closed == 0 && (model.DimAxes() & tensors_[t].blocked) == 0) {
      tensors_[t].sharding.dims = model.dims;
    }
  }
  return model_member;
}

std::vector<Sharding> GrowingShardings::Take() && {
  std::vector<Sharding> shardings;
  shardings.reserve(tensors_.size());
  for (GrowingSharding& tensor : tensors_) shardings.push_back(std::move(tensor.sharding));
  return shardings;
}

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
