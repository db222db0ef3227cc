// The graph of a problem while nodes are merged; see reduction.h.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "partitioner/choice/problem.h"

namespace toroid {

class ContractedGraph {
 public:
  struct Node {
    std::vector<int64_t> costs;
    std::vector<std::pair<int, std::vector<int>>>
        members;               // Original node; its strategy for each of this node's.
    std::map<int, int> edges;  // By neighbour.
    bool live = true;
  };
  struct Edge {
    int a = 0;
    int b = 0;
    std::vector<int64_t> costs;  // Row-major, those of a first.
    bool live = true;
  };

  explicit ContractedGraph(const ChoiceProblem& problem);

  // Drops strategies and merges nodes until nothing changes.
  // Errors: kFailedPrecondition if a node has no strategy left.
  absl::Status Contract(const ChoiceProblem& problem);

  // Forbids strategies and combinations that cost more than `most`.
  void ForbidAbove(int64_t most);

  // Drops strategies that are nowhere cheaper and nowhere smaller than another one. Returns whether there were any.
  bool DropDominated(const ChoiceProblem& problem);

  // Subtracts the least cost of each node; returns their sum.
  int64_t TakeConstant();

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Edge>& edges() const { return edges_; }

 private:
  int Strategies(int node) const { return static_cast<int>(nodes_[node].costs.size()); }
  int64_t& Cell(Edge& edge, int node, int strategy, int other);
  void AddEdge(int a, int b, std::vector<int64_t> costs);
  void AddWideEdge(const ChoiceEdge& edge);
  void Keep(int node, const std::vector<int>& strategies);
  // Drops strategies without support; returns whether there were any.
  bool DropUnsupported(int node);
  bool IsDominated(const ChoiceProblem& problem, int node, int strategy, int by);
  // For each strategy of a the only one of b that goes with it; empty if there is none or another one.
  std::vector<int> OnlyPartners(int a, int b, int edge);
  void Merge(int into, int node, const std::vector<int>& partners);
  // Merges `node` with one neighbour where that is possible; returns the merged node or -1.
  int MergeOne(int node);
  void Push(int node);
  void PushAround(int node);

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::deque<int> queue_;
  std::vector<bool> queued_;
};

}  // namespace toroid
