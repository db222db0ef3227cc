#include "explain/origins.h"

#include <algorithm>
#include <utility>

#include "explain/handed_on.h"

namespace toroid {
namespace {

bool Holds(const AxisList& axes, int axis) {
  for (int i = 0; i < axes.size(); ++i) {
    if (axes[i] == axis) return true;
  }
  return false;
}

// A dimension of another tensor of an op that has a factor in common with dimension `dim` of `tensor`.
struct Neighbour {
  int tensor, dim;
};

std::vector<Neighbour> NeighboursAt(const FlowOp& op, int tensor, int dim) {
  std::vector<DimFactors> own;  // Twice if the tensor is an operand twice.
  ForEachTensor(op, [&](int t, const TensorFactors& factors, bool) {
    if (t == tensor && dim < static_cast<int>(factors.size())) own.push_back(factors[dim]);
  });
  std::vector<Neighbour> neighbours;
  ForEachTensor(op, [&](int t, const TensorFactors& factors, bool) {
    if (t == tensor) return;
    for (size_t d = 0; d < factors.size(); ++d) {
      const auto shares = [&](const DimFactors& one) { return SharesFactor(one, factors[d]); };
      if (std::any_of(own.begin(), own.end(), shares)) neighbours.push_back({t, static_cast<int>(d)});
    }
  });
  return neighbours;
}

}  // namespace

Origins::Origins(const PreparedProgram& program, const ShardingPlan& plan)
    : program_(program), plan_(plan), touching_(program.graph->num_tensors()) {
  ProposeShardings(program, program.annotations, {}, &growths_);
  handed_on_ = HandedOn(program, plan);
  const auto& ops = program.graph->ops();
  for (size_t i = 0; i < ops.size(); ++i) {
    for (const int t : TensorsOf(ops[i])) {
      if (touching_[t].empty() || touching_[t].back() != static_cast<int>(i))
        touching_[t].push_back(static_cast<int>(i));
    }
  }
}

bool Origins::IsAsked(int tensor, int dim, int axis) const {
  const auto& annotation = program_.annotations.tensor[tensor];
  return annotation && dim < static_cast<int>(annotation->sharding.dims.size()) &&
         Holds(annotation->sharding.dims[dim], axis);
}

bool Origins::Cuts(int tensor, int dim, int axis) const { return Holds(plan_[tensor].dims[dim], axis); }

const Growth* Origins::GrowthOf(int tensor, int axis) const {
  for (const GrowthLog* log : {&handed_on_, &growths_}) {
    const auto growth = log->find({tensor, axis});
    if (growth != log->end()) return &growth->second;
  }
  return nullptr;
}

// Ends: a tensor hands on only axes that it had before, and what is handed on in order leads to an annotation.
AxisOrigin Origins::Follow(int tensor, int dim, int axis) const {
  AxisOrigin origin;
  origin.dim = dim;
  origin.axes.push_back(axis);
  while (true) {
    origin.hops.push_back({tensor, dim, nullptr});
    if (IsAsked(tensor, dim, axis)) return origin;
    const Growth* growth = GrowthOf(tensor, axis);
    if (growth == nullptr) {
      origin.kind = AxisOrigin::Kind::kSearched;
      return origin;
    }
    origin.hops.back().through = growth->through;
    if (growth->from < 0) {
      origin.kind = AxisOrigin::Kind::kCheapest;
      return origin;
    }
    tensor = growth->from;
    dim = growth->from_dim;
  }
}

std::vector<AxisOrigin> Origins::Of(int tensor) const {
  std::vector<AxisOrigin> origins;
  const auto& dims = plan_[tensor].dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    for (int i = 0; i < dims[d].size(); ++i) {
      AxisOrigin origin = Follow(tensor, static_cast<int>(d), dims[d][i]);
      const auto same_hops = [&](const AxisOrigin& other) {
        return std::equal(origin.hops.begin(), origin.hops.end(), other.hops.begin(), other.hops.end(),
                          [](const OriginHop& a, const OriginHop& b) { return a.tensor == b.tensor; });
      };
      if (i > 0 && origins.back().kind == origin.kind && same_hops(origins.back())) {
        origins.back().axes.push_back(dims[d][i]);
      } else {
        origins.push_back(std::move(origin));
      }
    }
  }
  return origins;
}

std::vector<Origins::Refusal> Origins::Refusals(int tensor) const {
  std::vector<Refusal> refusals;
  const FlowGraph& graph = *program_.graph;
  const Shape& shape = graph.shape(tensor);
  const auto& annotation = program_.annotations.tensor[tensor];
  const AxisSet used = plan_[tensor].DimAxes();
  AxisSet told = 0;
  for (const int number : touching_[tensor]) {
    const FlowOp& op = graph.ops()[number];
    for (int d = 0; d < shape.rank(); ++d) {
      for (const Neighbour& neighbour : NeighboursAt(op, tensor, d)) {
        AxisList missing;
        const AxisList& axes = plan_[neighbour.tensor].dims[neighbour.dim];
        for (int i = 0; i < axes.size(); ++i) {
          if (Cuts(tensor, d, axes[i]) || (told >> axes[i] & 1)) continue;
          told |= AxisSet{1} << axes[i];
          missing.push_back(axes[i]);
        }
        if (missing.empty()) continue;
        Refusal refusal = {neighbour.tensor, d, missing, op.instruction};
        const Mesh& mesh = program_.annotations.mesh;
        const int64_t tiles = mesh.Product(plan_[tensor].dims[d]) * mesh.Product(missing);
        if (annotation && (annotation->closed >> d & 1)) {
          refusal.reason = Refusal::Reason::kAskedOtherwise;
        } else if ((used & missing.Set()) != 0) {
          refusal.reason = Refusal::Reason::kAxisInUse;
        } else if (tiles > shape.dim(d)) {
          refusal.reason = Refusal::Reason::kTooSmall;
        }
        refusals.push_back(refusal);
      }
    }
  }
  return refusals;
}

}  // namespace toroid
