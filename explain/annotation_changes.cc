#include "explain/annotation_changes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "explain/annotated_arrays.h"
#include "partitioner/plan/greedy_plan.h"

namespace toroid {
namespace {

// Different shardings that surroundings give the arrays of one group.
constexpr size_t kMostProposals = 3;
// Plans that are priced whatever their size.
constexpr size_t kLeastPrices = 8;

// A group of arrays and a sharding for all of them.
struct Change {
  const ArrayGroup* group = nullptr;
  Sharding to;
};

// The axes that cut an array, on other dimensions of it.
std::vector<Sharding> Moves(const Sharding& asked, const Shape& shape, const Mesh& mesh,
                            const std::vector<AxisList>& axes) {
  std::vector<Sharding> variants;
  for (int d = 0; d < shape.rank(); ++d) {
    if (asked.dims[d].empty()) continue;
    for (int e = 0; e < shape.rank(); ++e) {
      if (e == d || shape.dim(e) % mesh.Product(asked.dims[d]) != 0) continue;
      const bool exchanges = !asked.dims[e].empty();
      if (exchanges && (e < d || shape.dim(d) % mesh.Product(asked.dims[e]) != 0)) continue;
      Sharding& moved = variants.emplace_back(asked);
      std::swap(moved.dims[d], moved.dims[e]);
    }
  }
  // One axis of several on a dimension goes to another.
  for (const AxisList& axis : axes) {
    for (int d = 0; d < shape.rank(); ++d) {
      if ((asked.dims[d].Set() & axis.Set()) != axis.Set() || asked.dims[d].size() == axis.size()) continue;
      for (int e = 0; e < shape.rank(); ++e) {
        if (e == d || shape.dim(e) % (mesh.Product(asked.dims[e]) * mesh.Product(axis)) != 0) continue;
        Sharding& moved = variants.emplace_back(asked);
        moved.dims[d] = asked.dims[d].Only(asked.dims[d].Set() & ~axis.Set());
        moved.dims[e].Append(axis);
      }
    }
  }
  return variants;
}

// Another axis cuts an array, too, or none does.
std::vector<Sharding> Additions(const Sharding& asked, const Shape& shape, const Mesh& mesh,
                                const std::vector<AxisList>& axes) {
  std::vector<Sharding> variants;
  for (const AxisList& axis : axes) {
    if ((asked.DimAxes() & axis.Set()) != 0) continue;
    for (int d = 0; d < shape.rank(); ++d) {
      if (shape.dim(d) % (mesh.Product(asked.dims[d]) * mesh.Product(axis)) != 0) continue;
      variants.emplace_back(asked).dims[d].Append(axis);
    }
  }
  if (asked.DimAxes() != 0) variants.push_back(Sharding::Replicated(shape.rank()));
  return variants;
}

class Pricer {
 public:
  Pricer(const PreparedProgram& program, const AnnotatedArrays& arrays, const ChangeBudget& budget)
      : program_(program), arrays_(arrays), memo_(program) {
    const size_t ops = std::max<size_t>(program.graph->ops().size(), 1);
    left_ = std::min(budget.prices, std::max(kLeastPrices, budget.ops / ops));
    now_ = PriceOf(program.annotations);
  }

  bool IsExhausted() const { return left_ == 0; }

  // What propagation gives the arrays of the group if it is not annotated; without what is asked now.
  std::vector<Sharding> Proposals(const ArrayGroup& group) {
    if (!Take()) return {};
    Annotations without = program_.annotations;
    for (const int t : group.tensors) without.tensor[t].reset();
    const ShardingPlan plan = ProposeShardings(program_, without);
    std::vector<Sharding> proposals;
    for (const int t : group.tensors) {
      Sharding proposed = Sharding::Replicated(program_.graph->shape(t).rank());
      proposed.dims = plan[t].dims;
      const bool is_known = proposed == arrays_.AskedOf(group) ||
                            std::find(proposals.begin(), proposals.end(), proposed) != proposals.end();
      if (!is_known && proposals.size() < kMostProposals) proposals.push_back(std::move(proposed));
    }
    return proposals;
  }

  // The bytes that a change saves; nullopt if it cannot be planned, repeats work, or the budget is exhausted.
  std::optional<double> SavedBy(const Change& change) {
    if (!now_ || !Take()) return std::nullopt;
    Annotations changed = program_.annotations;
    for (const int t : change.group->tensors) changed.tensor[t] = Annotation::Closed(change.to);
    const std::optional<Price> then = PriceOf(changed);
    if (!then || then->flops > kMostFlops * now_->flops) return std::nullopt;
    return now_->sent_bytes - then->sent_bytes;
  }

 private:
  static constexpr double kMostFlops = 1.1;

  bool Take() {
    if (left_ == 0) return false;
    --left_;
    return true;
  }

  std::optional<Price> PriceOf(const Annotations& annotations) {
    Plan plan;
    plan.shardings = ProposeShardings(program_, annotations);
    const std::optional<PricedPlan> priced =
        DecideGreedily(std::move(plan), CheapestAssignments(), /*fixed_outputs=*/false, &memo_);
    if (!priced) return std::nullopt;
    return priced->price;
  }

  const PreparedProgram& program_;
  const AnnotatedArrays& arrays_;
  PlanMemo memo_;
  size_t left_ = 0;
  std::optional<Price> now_;
};

}  // namespace

std::vector<AnnotationChange> PromisingChanges(const Partitioned& partitioned,
                                               const std::vector<ExplainedRow>& rows,
                                               const ChangeBudget& budget) {
  const PreparedProgram& program = *partitioned.program;
  AnnotatedArrays arrays(partitioned);
  const std::vector<ArrayGroup> groups = arrays.Groups(rows);
  Pricer pricer(program, arrays, budget);
  std::vector<std::pair<double, Change>> priced;
  const auto add = [&](Change change) {
    const std::optional<double> saved = pricer.SavedBy(change);
    if (saved) priced.push_back({*saved, std::move(change)});
  };
  std::vector<std::vector<Sharding>> known(groups.size());
  const auto add_variants = [&](size_t i, auto variants_of) {
    const Shape& shape = program.graph->shape(groups[i].tensors[0]);
    for (Sharding& to :
         variants_of(arrays.AskedOf(groups[i]), shape, program.annotations.mesh, arrays.NamedAxes())) {
      if (std::find(known[i].begin(), known[i].end(), to) == known[i].end()) add({&groups[i], std::move(to)});
    }
  };
  for (size_t i = 0; i < groups.size() && !pricer.IsExhausted(); ++i) {
    known[i] = pricer.Proposals(groups[i]);
    for (const Sharding& to : known[i]) add({&groups[i], to});
    add_variants(i, Moves);
  }
  for (size_t i = 0; i < groups.size() && !pricer.IsExhausted(); ++i) add_variants(i, Additions);
  std::stable_sort(priced.begin(), priced.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<AnnotationChange> changes;
  for (const auto& [saved, change] : priced) {
    const int first = change.group->tensors[0];
    changes.push_back({arrays.NameOf(first), arrays.SourceOf(first),
                       arrays.Text(arrays.AskedOf(*change.group)), arrays.Text(change.to),
                       arrays.GivenTexts(*change.group, change.to), saved});
  }
  return changes;
}

}  // namespace toroid
