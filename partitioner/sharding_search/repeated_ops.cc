#include "partitioner/sharding_search/repeated_ops.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/hash/hash.h"

namespace toroid {
namespace {

// How many ops away the surroundings of an op matter.
constexpr int kRounds = 6;

class Coloring {
 public:
  Coloring(const ProgramSteps& steps, const PlanMemo& memo)
      : graph_(*memo.program().graph), users_(graph_.num_tensors()), makers_(graph_.num_tensors(), {-1, 0}) {
    const Annotations& annotations = memo.program().annotations;
    for (int i = 0; i < steps.size(); ++i) {
      const FlowOp& op = graph_.ops()[i];
      for (size_t k = 0; k < op.operands.size(); ++k)
        users_[op.operands[k]].push_back({i, static_cast<int>(k)});
      for (size_t k = 0; k < op.results.size(); ++k) makers_[op.results[k]] = {i, static_cast<int>(k)};
      ops_.push_back(absl::HashOf(memo.ClassOf(op), steps.step(i).times));
    }
    for (int t = 0; t < graph_.num_tensors(); ++t) {
      const Shape& shape = graph_.shape(t);
      size_t color =
          absl::HashOf(shape.IsArray(), shape.IsArray() ? static_cast<int>(shape.element_type()) : -1,
                       shape.IsArray() ? shape.dims() : absl::Span<const int64_t>(), annotations.manual[t]);
      if (annotations.tensor[t])
        color = absl::HashOf(color, annotations.tensor[t]->sharding, annotations.tensor[t]->closed);
      tensors_.push_back(color);
    }
  }

  Kinds Find() {
    for (int round = 0; round < kRounds; ++round) Refine();
    return {FirstsOf(ops_), FirstsOf(tensors_)};
  }

 private:
  void Refine() {
    std::vector<size_t> ops = ops_, tensors = tensors_;
    for (size_t i = 0; i < ops.size(); ++i) {
      const FlowOp& op = graph_.ops()[i];
      for (const int t : op.operands) ops[i] = absl::HashOf(ops[i], tensors_[t]);
      for (const int t : op.results) ops[i] = absl::HashOf(ops[i], tensors_[t], 1);
    }
    for (size_t t = 0; t < tensors.size(); ++t) {
      const auto [maker, leaf] = makers_[t];
      tensors[t] = absl::HashOf(tensors[t], maker < 0 ? size_t{0} : ops_[maker], leaf);
      std::vector<size_t> users;
      for (const auto& [user, k] : users_[t]) users.push_back(absl::HashOf(ops_[user], k));
      std::sort(users.begin(), users.end());
      // A value of all layers, such as a mask, has as many users as there are layers.
      users.erase(std::unique(users.begin(), users.end()), users.end());
      tensors[t] = absl::HashOf(tensors[t], users);
    }
    ops_ = std::move(ops);
    tensors_ = std::move(tensors);
  }

  static std::vector<int> FirstsOf(const std::vector<size_t>& colors) {
    absl::flat_hash_map<size_t, int> first;
    std::vector<int> firsts;
    for (size_t i = 0; i < colors.size(); ++i)
      firsts.push_back(first.try_emplace(colors[i], static_cast<int>(i)).first->second);
    return firsts;
  }

  const FlowGraph& graph_;
  std::vector<std::vector<std::pair<int, int>>> users_;  // By tensor: op and operand number.
  std::vector<std::pair<int, int>> makers_;              // By tensor: op and leaf.
  std::vector<size_t> ops_, tensors_;                    // Colors.
};

}  // namespace

Kinds AllApart(const ProgramSteps& steps) {
  Kinds kinds;
  kinds.of_op.resize(steps.size());
  kinds.of_tensor.resize(steps.num_tensors());
  std::iota(kinds.of_op.begin(), kinds.of_op.end(), 0);
  std::iota(kinds.of_tensor.begin(), kinds.of_tensor.end(), 0);
  return kinds;
}

Kinds RepeatedKinds(const ProgramSteps& steps, const PlanMemo& memo) { return Coloring(steps, memo).Find(); }

}  // namespace toroid
