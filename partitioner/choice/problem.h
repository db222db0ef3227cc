// The choice of one strategy per node, so that the sum of costs is least and memory suffices at all times.
//
//   minimise   sum over nodes i of cost_i[x_i]  +  sum over edges e of cost_e[x of its nodes]
//   so that    at each time t: sum over the nodes i alive at t of usage_i[x_i]  <=  limit
//
// A node is a tensor or an op, a strategy one of its shardings. A node's cost is that of the op under this sharding, an edge's
// that of moving data from one sharding to another; both are integers of any unit. A cost of kForbidden or more
// excludes a strategy or a combination. Usages are bytes, alive from `begin` up to but not including `end`.
//
// Example: two nodes of two strategies, alive together, and an edge that costs 5 where they differ:
//   costs (0, 3) and (4, 0), usages (8, 2) and (8, 2). Without a limit (0, 0) costs 0 + 4 + 0 = 4, (1, 1) 3 + 0 + 0 = 3,
//   (0, 1) 0 + 0 + 5 = 5: the best is (1, 1), with a peak of 4 bytes.
// Source: the contest on intra-operator parallelism of ASPLOS and EuroSys 2025, whose format problem_json.h reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace toroid {

inline constexpr int64_t kForbidden = 1'000'000'000'000'000'000;

struct ChoiceNode {
  std::string name;             // For messages; may be empty.
  std::vector<int64_t> costs;   // By strategy.
  std::vector<int64_t> usages;  // By strategy.
  int64_t begin = 0;            // Alive in [begin, end); an empty interval uses no memory.
  int64_t end = 0;
};

struct ChoiceEdge {
  std::vector<int> nodes;
  std::vector<int64_t> costs;  // Row-major over the strategies of nodes[0], nodes[1], ...
};

struct ChoiceProblem {
  std::string name;
  std::vector<ChoiceNode> nodes;
  std::vector<ChoiceEdge> edges;
  std::optional<int64_t> usage_limit;
};

// What a choice costs, counted anew from the problem alone. Sums saturate at kForbidden.
struct ChoiceValue {
  int64_t cost = 0;
  int64_t peak = 0;       // The largest sum of usages at any time.
  int64_t peak_time = 0;  // The first time of the peak.
};

// Errors: kInvalidArgument, naming the node or edge: no strategies, negative costs or usages, sizes that do not agree, an
// edge that names no node or a node that does not exist, usages whose sum overflows.
absl::Status VerifyChoiceProblem(const ChoiceProblem& problem);

// Errors: kInvalidArgument if `choice` has not one strategy for each node.
// Requires: the problem is verified.
absl::Status VerifyChoice(const ChoiceProblem& problem, const std::vector<int>& choice);

// Requires: both are verified.
ChoiceValue Evaluate(const ChoiceProblem& problem, const std::vector<int>& choice);

// The node for messages: its name, or "node 12".
std::string NodeName(const ChoiceProblem& problem, int node);

// a + b, at most kForbidden. Requires: 0 <= a, b <= kForbidden.
inline int64_t AddCosts(int64_t a, int64_t b) { return a + b >= kForbidden ? kForbidden : a + b; }

}  // namespace toroid
