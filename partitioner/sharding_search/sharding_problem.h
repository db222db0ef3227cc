// The search of a program's shardings as a choice of one strategy per node (../choice/problem.h).
//
//   node of an op      its strategies are the ways to cut it (OpChoice): what it computes, exchanges and writes
//   node of a tensor   its strategies are shardings: for arguments, results, loop state, annotated arrays, and values with several
//                      users, which are then resharded once for all of them
//   edge               the cost of resharding a value from the sharding in which it is made to the one in which it is taken
//
// Costs are picoseconds on one device in a whole run, usages bytes on one device. Everything is read from sharding rules and
// prices that the partitioner has anyway: no op has code for this search. Ops of one kind (repeated_ops.h) are one node.
//
// Example: x f32[8,4] times w f32[4,16] over 2 devices: x and w are nodes of three strategies (rows, columns, whole), the
// product one of four (m, n, k, nothing). An edge charges w cut by rows and a product cut along n with an all-to-all of 128
// bytes.
// BUILD: srcs += "problem_builder.cc"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partitioner/choice/problem.h"
#include "partitioner/plan/greedy_plan.h"
#include "partitioner/plan/program_steps.h"
#include "partitioner/sharding_search/program_state.h"
#include "partitioner/sharding_search/repeated_ops.h"
#include "partitioner/sharding_search/step_prices.h"
#include "partitioner/sharding_search/tensor_lives.h"

namespace toroid {

struct SearchSpace {
  AxisUnits units;       // What may cut an array: each unit cuts one dimension or none.
  bool repeats = false;  // Whether ops of one kind share their choice.
  PriceScales scales;
  std::optional<int64_t> memory;  // Bytes of one device.
};

class ShardingProblem {
 public:
  // `base`: a plan of the program; where nothing can be chosen, as in manual regions, its shardings are kept. `memo` must
  // outlive this object. Errors: kResourceExhausted for a program of more than kMostCosts costs.
  static absl::StatusOr<ShardingProblem> Make(const Plan& base, const SearchSpace& space, PlanMemo* memo);

  const ChoiceProblem& problem() const { return problem_; }
  ChoiceProblem& problem() { return problem_; }

  // The plan of a choice: its shardings, and its decisions of ops.
  Plan PlanOf(const std::vector<int>& choice) const;

  // Leaves a tensor that has a node no other sharding than this one, if it is among those that it may have.
  void Fix(int tensor, const Sharding& sharding);

  // The nodes of tensors that can be cut in several ways, those of most bytes first; at most `most`.
  std::vector<int> WeightiestTensors(int most) const;

  // For each argument that a result is the new value of: the argument's tensor and the output's.
  const ProgramState& state() const { return state_; }

  // Costs, 8 bytes each, that a problem may have.
  static constexpr int64_t kMostCosts = int64_t{1} << 28;

 private:
  friend class ProblemBuilder;

  PlanMemo* memo_ = nullptr;
  Plan base_;
  ChoiceProblem problem_;
  ProgramState state_;
  std::vector<int> op_node_;      // By flow op; -1: none.
  std::vector<int> tensor_node_;  // By tensor; -1: none.
  // By node: the choices of an op, or the numbers of the shardings of a tensor.
  std::vector<std::vector<const OpChoice*>> op_choices_;
  std::vector<std::vector<int>> domains_;
};

}  // namespace toroid
