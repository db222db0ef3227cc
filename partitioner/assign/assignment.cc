#include "partitioner/assign/assignment.h"

#include <limits>

#include "partitioner/assign/candidates.h"

namespace toroid {
namespace {

// By IdleAxes: the flops that each additional byte sent for idle axes must save. kFlopsOfAByte is about the f32 flops
// that the target does in the time in which it sends a byte. kCutForFewFlops is for programs of small arrays, which
// should be partitioned like the larger ones that they stand for.
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kFlopsOfAByte[] = {kNever, kNever, 256, 4};

class Chooser {
 public:
  Chooser(const AssignmentProblem& problem, const Pricing& pricing)
      : problem_(problem),
        rule_(*problem.rule),
        mesh_(*pricing.mesh),
        costs_(problem, pricing),
        prices_flops_(pricing.planner->cost().ContractionTime(1).has_value()),
        seeds_(SeedsOf(problem, *pricing.mesh)) {}

  Assignment Choose() {
    // The first seed is the sharding wanted of a result. Extended by the operands' seeds, it usually sends
    // nothing.
    const FactorAxesList none(rule_.factors.size());
    Assignment best;
    best.cost = kNever;
    for (size_t first = 0; first < seeds_.size(); ++first) {
      FactorAxesList extended = none;
      ExtendBy(seeds_[first], &extended);
      const FactorAxesList exact = extended;
      for (size_t other = 0; other < seeds_.size(); ++other) {
        if (other != first) ExtendBy(seeds_[other], &extended);
      }
      DropInexpressible(&extended);
      Try(extended, &best);
      if (best.sent_bytes == 0 && first == 0 && best.flops == 0) return best;
      if (exact != extended) Try(exact, &best);
      // Cuts other factors over those axes of their seeds that are not used yet. Example: rows cut over (a,
      // b); weights cut over (b, c) are then gathered over b only.
      FactorAxesList with_unused = extended;
      for (size_t other = 0; other < seeds_.size(); ++other) {
        if (other != first) AddUnusedAxes(seeds_[other], &with_unused);
      }
      if (with_unused != extended) Try(with_unused, &best);
      // Cuts pass-through factors only: gathers operands instead of reducing results or exchanging halos.
      FactorAxesList unreduced = extended;
      for (size_t f = 0; f < rule_.factors.size(); ++f) {
        if (rule_.factors[f].kind != FactorKind::kPassThrough) unreduced[f] = AxisList();
      }
      if (unreduced != extended) Try(unreduced, &best);
      if (rule_.flops_per_point != 0) continue;
      FactorAxesList reduced = extended;
      AddUnusedReductionAxes(&reduced);
      if (reduced != extended) Try(reduced, &best);
    }
    Try(none, &best);
    return best;
  }

  // Replaces `best` by an assignment that also cuts idle axes, if IdleAxes allows it and it is better.
  void TryIdleAxes(IdleAxes idle_axes, Assignment* best) {
    if (best->flops == 0) return;
    for (const TensorView& view : problem_.results) {
      if (view.places.empty()) return;
    }
    const AxisSet idle = mesh_.AllAxes() & ~problem_.reserved & ~UsedAxes(best->factor_axes);
    if (idle == 0) return;
    const Assignment busy = *best;
    for (size_t f = 0; f < rule_.factors.size(); ++f) {
      if (rule_.factors[f].kind != FactorKind::kPassThrough) continue;
      Assignment cut;
      cut.factor_axes = busy.factor_axes;
      AxisList& axes = cut.factor_axes[f];
      for (const int axis : mesh_.InOrder(idle)) {
        if (mesh_.Product(axes) * mesh_.size(axis) <= rule_.factors[f].size) axes.push_back(axis);
      }
      axes = rule_.Admissible(mesh_, static_cast<int>(f), axes);
      if (axes == busy.factor_axes[f]) continue;
      DropInexpressible(&cut.factor_axes);
      costs_.Evaluate(&cut);
      const double worth =
          prices_flops_ ? 0 : (busy.flops - cut.flops) / kFlopsOfAByte[static_cast<int>(idle_axes)];
      if (static_cast<double>(cut.sent_bytes - busy.sent_bytes) <= worth && cut.time - busy.time <= worth &&
          cut.replicates <= busy.replicates && cut.flops < best->flops && costs_.IsBetter(cut, *best)) {
        *best = cut;
      }
    }
  }

 private:
  // Extends the axes of each factor to those of the seed, if they are a prefix of these, up to the first used
  // axis.
  void ExtendBy(const Seed& seed, FactorAxesList* axes) const {
    AxisSet used = UsedAxes(*axes);
    for (size_t f = 0; f < axes->size(); ++f) {
      const AxisList& wanted = seed.axes[f];
      AxisList& own = (*axes)[f];
      if (wanted.size() <= own.size() || !own.IsPrefixOf(wanted)) continue;
      for (int i = own.size(); i < wanted.size() && !(used >> wanted[i] & 1); ++i) {
        own.push_back(wanted[i]);
        used |= AxisSet{1} << wanted[i];
      }
    }
  }

  // Cuts uncut factors, of whose axes in the seed some are used, over the axes that are not used.
  void AddUnusedAxes(const Seed& seed, FactorAxesList* axes) const {
    AxisSet used = UsedAxes(*axes);
    for (size_t f = 0; f < axes->size(); ++f) {
      const AxisList& wanted = seed.axes[f];
      AxisList& own = (*axes)[f];
      if (!own.empty() || wanted.empty() || (wanted.Set() & used) == 0) continue;
      own = rule_.Admissible(mesh_, static_cast<int>(f), wanted.Only(~used));
      used |= own.Set();
    }
  }

  // Cuts reduction factors also over all axes that cut them in some seed and that are not used yet.
  // Example: a scatter into a table cut over a, of updates cut over (a, b): the updates stay cut over b.
  void AddUnusedReductionAxes(FactorAxesList* axes) const {
    AxisSet used = UsedAxes(*axes);
    for (size_t f = 0; f < axes->size(); ++f) {
      if (rule_.factors[f].kind != FactorKind::kReduction || !rule_.leaves_partial) continue;
      for (const Seed& seed : seeds_) {
        for (const int axis : seed.axes[f]) {
          if (used >> axis & 1) continue;
          (*axes)[f].push_back(axis);
          used |= AxisSet{1} << axis;
        }
      }
      (*axes)[f] = rule_.Admissible(mesh_, static_cast<int>(f), (*axes)[f]);
    }
  }

  void Try(const FactorAxesList& axes, Assignment* best) {
    Assignment candidate;
    candidate.factor_axes = axes;
    DropInexpressible(&candidate.factor_axes);
    costs_.Evaluate(&candidate);
    if (best->cost == kNever || costs_.IsBetter(candidate, *best)) *best = candidate;
  }

  // Drops cuts that shardings cannot express: in a dimension of several factors a factor can be cut only if
  // all factors before it are cut to single elements.
  void DropInexpressible(FactorAxesList* axes) const {
    for (bool changed = true; changed;) {
      changed = false;
      ForEachSplitDim(rule_, [&](const DimFactors& dim) {
        bool single_elements = true;
        for (int i = 0; i < dim.size; ++i) {
          AxisList& own = (*axes)[dim.factor[i]];
          if (!single_elements && !own.empty()) {
            own = AxisList();
            changed = true;
          }
          single_elements &= mesh_.Product(own) == rule_.factors[dim.factor[i]].size;
        }
      });
    }
  }

  const AssignmentProblem& problem_;
  const ShardingRule& rule_;
  const Mesh& mesh_;
  const AssignmentCosts costs_;
  const bool prices_flops_;  // Whether the cost model does.
  const std::vector<Seed> seeds_;
};

class Cheapest : public AssignmentPolicy {
 public:
  explicit Cheapest(IdleAxes idle_axes) : idle_axes_(idle_axes) {}

  Assignment Choose(const AssignmentProblem& problem, const Pricing& pricing) const override {
    return ChooseAssignment(problem, pricing, idle_axes_);
  }

 private:
  const IdleAxes idle_axes_;
};

class Replicating : public AssignmentPolicy {
 public:
  void AdjustPlan(const std::vector<bool>& at_boundary, std::vector<Sharding>* plan) const override {
    for (size_t t = 0; t < plan->size(); ++t) {
      if (!at_boundary[t]) (*plan)[t] = Sharding::Replicated(static_cast<int>((*plan)[t].dims.size()));
    }
  }

  Assignment Choose(const AssignmentProblem& problem, const Pricing&) const override {
    Assignment uncut;
    uncut.factor_axes.resize(problem.rule->factors.size());
    return uncut;
  }
};

}  // namespace

Assignment ChooseAssignment(const AssignmentProblem& problem, const Pricing& pricing, IdleAxes idle_axes) {
  Chooser chooser(problem, pricing);
  Assignment best = chooser.Choose();
  if (idle_axes != IdleAxes::kLeave) chooser.TryIdleAxes(idle_axes, &best);
  return best;
}

const AssignmentPolicy& CheapestAssignments() { return CheapestAssignmentsOnIdleAxes(IdleAxes::kLeave); }

const AssignmentPolicy& CheapestAssignmentsOnIdleAxes(IdleAxes idle_axes) {
  static const Cheapest* const policies[] = {new Cheapest(IdleAxes::kLeave), new Cheapest(IdleAxes::kCut),
                                             new Cheapest(IdleAxes::kCutForFlops),
                                             new Cheapest(IdleAxes::kCutForFewFlops)};
  return *policies[static_cast<int>(idle_axes)];
}

const AssignmentPolicy& ReplicateEverything() {
  static const Replicating* const policy = new Replicating;
  return *policy;
}

}  // namespace toroid
