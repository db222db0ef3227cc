#include "partitioner/assign/seeds.h"

#include <algorithm>
#include <utility>

#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

class SeedCollector {
 public:
  SeedCollector(const AssignmentProblem& problem, const Mesh& mesh)
      : problem_(problem), rule_(*problem.rule), mesh_(mesh) {}

  std::vector<Seed> Collect() {
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
    return std::move(seeds_);
  }

 private:
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

  bool MovesData(size_t factor) const {
    const FactorKind kind = rule_.factors[factor].kind;
    return kind == FactorKind::kPermuting || kind == FactorKind::kExchanged;
  }

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

  const AssignmentProblem& problem_;
  const ShardingRule& rule_;
  const Mesh& mesh_;
  std::vector<Seed> seeds_;
};

}  // namespace

std::vector<Seed> SeedsOf(const AssignmentProblem& problem, const Mesh& mesh) {
  return SeedCollector(problem, mesh).Collect();
}

}  // namespace toroid
