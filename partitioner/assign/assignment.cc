#include "partitioner/assign/assignment.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "hlo/base/math.h"
#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

const ReshardPlan kNothing;

using FactorAxesList = absl::InlinedVector<AxisList, 6>;

AxisSet UsedAxes(const FactorAxesList& factor_axes) {
  AxisSet used = 0;
  for (const AxisList& axes : factor_axes) used |= axes.Set();
  return used;
}

bool MovesData(const Factor& factor) {
  return factor.kind == FactorKind::kPermuting || factor.kind == FactorKind::kExchanged;
}

// The flops that each additional byte sent for idle axes must save.
double FlopsOfAByte(IdleAxes idle_axes) {
  switch (idle_axes) {
    case IdleAxes::kCutForFlops:
      return kFlopsOfAByte;
    case IdleAxes::kCutForFewFlops:
      return kFewFlopsOfAByte;
    case IdleAxes::kLeave:
    case IdleAxes::kCut:
      break;
  }
  return std::numeric_limits<double>::infinity();
}

class Chooser {
 public:
  Chooser(const AssignmentProblem& problem, const Pricing& pricing)
      : problem_(problem),
        rule_(*problem.rule),
        planner_(pricing.planner),
        exchanges_(pricing.exchanges),
        mesh_(*pricing.mesh) {}

  Assignment Choose() {
    // The first seed is the sharding wanted of a result. Extended by the operands' seeds, it usually sends
    // nothing.
    Assignment best;
    best.cost = std::numeric_limits<double>::infinity();
    CollectSeeds();
    if (seeds_.empty()) {
      best.factor_axes.resize(rule_.factors.size());
      Evaluate(&best);
      return best;
    }
    for (size_t first = 0; first < seeds_.size(); ++first) {
      Assignment extended;
      extended.factor_axes.resize(rule_.factors.size());
      ExtendBy(seeds_[first], &extended.factor_axes);
      const FactorAxesList exact = extended.factor_axes;
      for (size_t other = 0; other < seeds_.size(); ++other) {
        if (other != first) ExtendBy(seeds_[other], &extended.factor_axes);
      }
      Try(extended, &best);
      if (best.sent_bytes == 0 && first == 0 && best.flops == 0) return best;
      if (exact != extended.factor_axes) {
        Assignment narrow;
        narrow.factor_axes = exact;
        Try(narrow, &best);
      }
      // Cuts other factors over those axes of their seeds that are not used yet. Example: rows cut over (a,
      // b); weights cut over (b, c) are then gathered over b only.
      Assignment with_unused = extended;
      for (size_t other = 0; other < seeds_.size(); ++other) {
        if (other != first) AddUnusedAxes(seeds_[other], &with_unused.factor_axes);
      }
      if (with_unused.factor_axes != extended.factor_axes) Try(with_unused, &best);
      // Cuts pass-through factors only: gathers operands instead of reducing results or exchanging halos.
      Assignment unreduced = extended;
      bool changed = false;
      for (size_t f = 0; f < rule_.factors.size(); ++f) {
        if (rule_.factors[f].kind == FactorKind::kPassThrough || unreduced.factor_axes[f].empty()) continue;
        unreduced.factor_axes[f] = AxisList();
        changed = true;
      }
      if (changed) Try(unreduced, &best);
      if (rule_.flops_per_point == 0) {
        Assignment reduced = extended;
        if (AddUnusedReductionAxes(&reduced.factor_axes)) Try(reduced, &best);
      }
    }
    Assignment none;
    none.factor_axes.resize(rule_.factors.size());
    Try(none, &best);
    return best;
  }

  // Replaces `best` by an assignment that also cuts idle axes, if IdleAxes allows it and it is better.
  void TryIdleAxes(IdleAxes idle_axes, Assignment* best) {
    if (best->flops == 0) return;
    for (const TensorView& view : problem_.results) {
      if (view.places.empty()) return;
    }
    AxisSet idle = mesh_.AllAxes() & ~problem_.reserved;
    for (const AxisList& axes : best->factor_axes) idle &= ~axes.Set();
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
      Evaluate(&cut);
      const bool are_counted = planner_->cost().ContractionTime(busy.flops).has_value();
      const double worth = are_counted ? 0 : (busy.flops - cut.flops) / FlopsOfAByte(idle_axes);
      if (static_cast<double>(cut.sent_bytes - busy.sent_bytes) <= worth && cut.time - busy.time <= worth &&
          cut.replicates <= busy.replicates && cut.flops < best->flops && IsBetter(cut, *best)) {
        *best = cut;
      }
    }
  }

 private:
  struct Seed {
    FactorAxesList axes;
    int64_t bytes;
  };

  void CollectSeeds() {
    std::vector<Seed> operands;
    for (size_t i = 0; i < problem_.results.size(); ++i) {
      for (const Sharding& place : problem_.results[i].places)
        AddSeed(problem_.results[i], place, rule_.results[i], &seeds_);
    }
    for (size_t i = 0; i < problem_.operands.size(); ++i) {
      if (problem_.operands[i].free) continue;
      for (const Sharding& place : problem_.operands[i].places) {
        AddSeed(problem_.operands[i], place, rule_.operands[i], &operands);
      }
    }
    std::stable_sort(operands.begin(), operands.end(),
                     [](const Seed& a, const Seed& b) { return a.bytes > b.bytes; });
    if (operands.size() > 6) operands.resize(6);
    for (Seed& seed : operands) {
      bool known = false;
      for (const Seed& other : seeds_) known |= other.axes == seed.axes;
      if (!known) seeds_.push_back(std::move(seed));
    }
  }

  void AddSeed(const TensorView& view, const Sharding& place, const TensorFactors& tensor,
               std::vector<Seed>* seeds) {
    Seed seed;
    seed.axes.resize(rule_.factors.size());
    bool any = false;
    AxisList stuck;     // Axes of dimensions that the op cannot cut, or whose tiles it combines by itself.
    AxisList permuted;  // Axes of dimensions whose cut makes the op move data.
    for (size_t d = 0; d < tensor.size() && d < place.dims.size(); ++d) {
      if (place.dims[d].empty()) continue;
      for (int i = 0; i < tensor[d].size; ++i) {
        const int f = tensor[d].factor[i];
        if (problem_.op != nullptr && !CanCutLocally(*problem_.op, rule_.factors[f].kind)) {
          if (tensor[d].size == 1) stuck.Append(place.dims[d]);
          continue;
        }
        if (CombinesParts(f) && tensor[d].size == 1) stuck.Append(place.dims[d]);
        AxisList axes = FactorAxes(mesh_, rule_, tensor[d], i, place.dims[d]);
        while (!axes.empty() && (axes.Set() & problem_.reserved) != 0) axes.pop_back();
        seed.axes[f] = rule_.Admissible(mesh_, f, axes);
        any |= !seed.axes[f].empty();
        if (MovesData(f)) permuted.Append(seed.axes[f]);
      }
    }
    seed.bytes = view.width;
    for (const int64_t size : view.dims) seed.bytes *= size;
    if (problem_.uneven) AddUnevenSeed(place, tensor, seed, seeds);
    if (any) seeds->push_back(seed);
    // Moving the cut to another dimension may cost less than moving data along this one, as in a concatenate
    // of many pieces. Convolutions are excepted: the few flops that fuller tiles save are not worth moving
    // the image.
    if (!permuted.empty() && rule_.flops_per_point == 0) {
      Seed turned = seed;
      for (size_t f = 0; f < turned.axes.size(); ++f) {
        if (MovesData(f)) turned.axes[f] = AxisList();
      }
      if (MoveStuck(permuted, tensor, &turned)) seeds->push_back(std::move(turned));
    }
    for (size_t f = 0; f < seed.axes.size(); ++f) {
      if (CombinesParts(static_cast<int>(f))) seed.axes[f] = AxisList();
    }
    if (MoveStuck(stuck, tensor, &seed)) seeds->push_back(std::move(seed));
  }

  // Adds `seed` with leading factors cut over the axes of their dimensions, even where these do not divide
  // them.
  void AddUnevenSeed(const Sharding& place, const TensorFactors& tensor, Seed seed,
                     std::vector<Seed>* seeds) const {
    bool any = false;
    for (size_t d = 0; d < tensor.size() && d < place.dims.size(); ++d) {
      if (tensor[d].size == 0 || !rule_.factors[tensor[d].factor[0]].by_halo) continue;
      const int f = tensor[d].factor[0];
      AxisList axes = UnevenAxes(mesh_, rule_, f, place.dims[d]);
      while (!axes.empty() && (axes.Set() & problem_.reserved) != 0) axes.pop_back();
      if (axes.size() <= seed.axes[f].size()) continue;
      for (int i = 1; i < tensor[d].size; ++i) seed.axes[tensor[d].factor[i]] = AxisList();
      seed.axes[f] = axes;
      any = true;
    }
    if (any) seeds->push_back(std::move(seed));
  }

  bool MovesData(size_t factor) const { return toroid::MovesData(rule_.factors[factor]); }

  // True if the op's local program combines the results of the factor's tiles by itself: cutting another
  // factor may be cheaper.
  bool CombinesParts(int factor) const {
    return problem_.op != nullptr && rule_.factors[factor].kind == FactorKind::kReduction &&
           !rule_.leaves_partial;
  }

  // Moves the axes `stuck`, which should not cut the dimensions that they cut now, to the dimension with the
  // largest tiles among those that all of them can cut. A sort along a cut dimension then costs an all-to-all
  // to the other dimension, and one back.
  bool MoveStuck(const AxisList& stuck, const TensorFactors& tensor, Seed* seed) const {
    if (stuck.empty() || problem_.op == nullptr || (stuck.Set() & problem_.reserved) != 0) return false;
    int best = -1;
    int64_t most = 0;
    for (const DimFactors& dim : tensor) {
      if (dim.size != 1 || rule_.factors[dim.factor[0]].kind != FactorKind::kPassThrough) continue;
      const int f = dim.factor[0];
      const int64_t tile = rule_.factors[f].size / mesh_.Product(seed->axes[f]);
      if (tile < mesh_.Product(stuck) || tile <= most) continue;
      AxisList axes = seed->axes[f];
      axes.Append(stuck);
      if (rule_.Admissible(mesh_, f, axes) != axes) continue;
      best = f;
      most = tile;
    }
    if (best < 0) return false;
    seed->axes[best].Append(stuck);
    return true;
  }

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

  // Cuts reduction factors also over all axes that cut them in some seed and that are not used yet. True if
  // there are any. Example: a scatter into a table cut over a, of updates cut over (a, b): the updates stay
  // cut over b.
  bool AddUnusedReductionAxes(FactorAxesList* axes) const {
    bool any = false;
    AxisSet used = UsedAxes(*axes);
    for (size_t f = 0; f < axes->size(); ++f) {
      if (rule_.factors[f].kind != FactorKind::kReduction || !rule_.leaves_partial) continue;
      for (const Seed& seed : seeds_) {
        for (const int axis : seed.axes[f]) {
          if (used >> axis & 1) continue;
          (*axes)[f].push_back(axis);
          used |= AxisSet{1} << axis;
          any = true;
        }
      }
      (*axes)[f] = rule_.Admissible(mesh_, static_cast<int>(f), (*axes)[f]);
    }
    return any;
  }

  void Try(Assignment& candidate, Assignment* best) {
    DropInexpressible(&candidate.factor_axes);
    Evaluate(&candidate);
    if (best->cost == std::numeric_limits<double>::infinity() || IsBetter(candidate, *best))
      *best = candidate;
  }

  bool IsBetter(const Assignment& a, const Assignment& b) const {
    if (!planner_->cost().ContractionTime(a.flops).has_value() && a.flops != b.flops) {
      return a.flops * kBytesPerFlop + a.cost < b.flops * kBytesPerFlop + b.cost;
    }
    return std::make_pair(a.replicates, a.cost) < std::make_pair(b.replicates, b.cost);
  }

  // Drops cuts that shardings cannot express: in a dimension of several factors a factor can be cut only if
  // all factors before it are cut to single elements.
  void DropInexpressible(FactorAxesList* axes) const {
    for (bool changed = true; changed;) {
      changed = false;
      const auto check = [&](const auto& tensors) {
        for (const TensorFactors& tensor : tensors) {
          for (const DimFactors& dim : tensor) {
            bool single_elements = true;
            for (int i = 0; dim.size > 1 && i < dim.size; ++i) {
              AxisList& own = (*axes)[dim.factor[i]];
              if (!single_elements && !own.empty()) {
                own = AxisList();
                changed = true;
              }
              single_elements &= mesh_.Product(own) == rule_.factors[dim.factor[i]].size;
            }
          }
        }
      };
      check(rule_.operands);
      check(rule_.results);
    }
  }

  void Evaluate(Assignment* candidate) {
    double cost = 0;
    double time = 0;
    int64_t sent = 0;
    const AxisSet used = UsedAxes(candidate->factor_axes);
    // Bytes of the largest operand that would be replicated, and of the largest other array.
    double replicated = 0;
    double largest = 0;
    for (size_t i = 0; i < problem_.operands.size(); ++i) {
      const TensorView& view = problem_.operands[i];
      if (view.free || view.places.empty()) continue;
      Sharding needed = ShardingUnder(mesh_, rule_, rule_.operands[i], candidate->factor_axes);
      const ReshardPlan* cheapest = nullptr;
      for (const Sharding& place : view.places) {
        needed.manual = place.manual;
        if (place == needed) {
          cheapest = &kNothing;
          break;
        }
        const ReshardPlan& plan = planner_->Plan(view.dims, view.width, place, needed);
        if (cheapest == nullptr || plan.time < cheapest->time) cheapest = &plan;
      }
      time += cheapest->time;
      sent += cheapest->sent_bytes;
      const double bytes = LocalBytes(view, needed);
      cost += planner_->cost().MemoryTime(bytes);
      bool gathers = false;
      if (cheapest->sent_bytes > 0 && needed.DimAxes() == 0 && !rule_.weighs_gathering && CanTakeParts(i)) {
        // Does not count weights all of whose axes now cut other factors of the op: they are meant to be
        // gathered.
        for (const Sharding& place : view.places) gathers |= (place.DimAxes() & ~used) != 0;
      }
      (gathers ? replicated : largest) = std::max(gathers ? replicated : largest, bytes);
    }
    const AxisSet partial = PartialAxes(rule_, candidate->factor_axes);
    for (size_t i = 0; i < problem_.results.size(); ++i) {
      const TensorView& view = problem_.results[i];
      Sharding natural = ShardingUnder(mesh_, rule_, rule_.results[i], candidate->factor_axes);
      natural.partial = partial;
      largest = std::max(largest, LocalBytes(view, natural));
      cost += planner_->cost().MemoryTime(LocalBytes(view, natural));
      Sharding wanted = natural;
      wanted.partial = 0;
      if (!view.places.empty()) wanted = GrownTo(natural, view.places[0], view.open);
      if (wanted.partial & ~partial) wanted.partial = 0;
      natural.manual = wanted.manual;
      natural.reducer = wanted.reducer = Reducer::kAdd;
      if (natural == wanted) continue;
      const ReshardPlan& plan = planner_->Plan(view.dims, view.width, natural, wanted);
      time += plan.time;
      sent += plan.sent_bytes;
    }
    // If the op's work is cut, replicating an operand of at most half the bytes of the op's largest other
    // array (such as the updates of a scatter) counts by its bytes only.
    candidate->replicates = replicated > 0 && (used == 0 || 2 * replicated > largest);
    if (problem_.op != nullptr) {
      const ExchangePrices::Exchanges& own = exchanges_->Of(*problem_.op, rule_, candidate->factor_axes);
      sent += static_cast<int64_t>(own.sent_bytes);
      time += own.time;
      cost += own.delay;
    }
    candidate->flops = LocalFlops(mesh_, rule_, candidate->factor_axes);
    cost += planner_->cost().ContractionTime(candidate->flops).value_or(0);
    candidate->sent_bytes = sent;
    candidate->time = time;
    candidate->cost = time + cost;
  }

  // `wanted`, with its open dimensions cut over all axes that cut them in `natural`, if possible.
  static Sharding GrownTo(const Sharding& natural, const Sharding& wanted, uint64_t open) {
    Sharding grown = wanted;
    for (size_t d = 0; d < wanted.dims.size(); ++d) {
      const AxisList& own = wanted.dims[d];
      if ((open >> d & 1) == 0 || !own.IsPrefixOf(natural.dims[d])) continue;
      if ((natural.dims[d].Set() & ~own.Set() & (grown.DimAxes() | wanted.partial)) == 0)
        grown.dims[d] = natural.dims[d];
    }
    return grown;
  }

  // True if every dimension of an operand can be cut where the op runs.
  bool CanTakeParts(size_t operand) const {
    if (problem_.op == nullptr) return true;
    for (const DimFactors& dim : rule_.operands[operand]) {
      bool can = dim.size > 0;
      for (int i = 0; i < dim.size; ++i)
        can &= CanCutLocally(*problem_.op, rule_.factors[dim.factor[i]].kind);
      if (!can) return false;
    }
    return true;
  }

  double LocalBytes(const TensorView& view, const Sharding& sharding) const {
    double bytes = static_cast<double>(view.width);
    for (size_t d = 0; d < view.dims.size(); ++d) {
      bytes *= static_cast<double>(CeilOfRatio(view.dims[d], mesh_.Product(sharding.dims[d])));
    }
    return bytes;
  }

  const AssignmentProblem& problem_;
  const ShardingRule& rule_;
  ReshardPlanner* planner_;
  ExchangePrices* exchanges_;
  const Mesh& mesh_;
  std::vector<Seed> seeds_;
};

}  // namespace

Assignment ChooseAssignment(const AssignmentProblem& problem, const Pricing& pricing, IdleAxes idle_axes) {
  Chooser chooser(problem, pricing);
  Assignment best = chooser.Choose();
  if (idle_axes != IdleAxes::kLeave) chooser.TryIdleAxes(idle_axes, &best);
  return best;
}

}  // namespace toroid
