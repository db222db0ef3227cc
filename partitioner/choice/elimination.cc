// BUILD: copts = ["-O3"]
#include "partitioner/choice/elimination.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace toroid {
namespace {

constexpr double kDone = std::numeric_limits<double>::infinity();

void Insert(std::vector<int>& sorted, int value) {
  const auto it = std::lower_bound(sorted.begin(), sorted.end(), value);
  if (it == sorted.end() || *it != value) sorted.insert(it, value);
}

void Erase(std::vector<int>& sorted, int value) {
  const auto it = std::lower_bound(sorted.begin(), sorted.end(), value);
  if (it != sorted.end() && *it == value) sorted.erase(it);
}

// Costs over combinations of nodes, row-major. An edge of the problem is a table that refers to its costs.
struct Table {
  std::vector<int> nodes;
  std::vector<double> owned;
  const std::vector<double>* edge = nullptr;

  const std::vector<double>& costs() const { return edge == nullptr ? owned : *edge; }
};

// How an eliminated node is found again: its best strategy for each combination of its neighbours then.
struct Step {
  int node = 0;
  std::vector<int> neighbours;
  std::vector<int> best;
};

class Elimination {
 public:
  Elimination(const EliminationProblem& problem, size_t largest_table, RandomNumbers& random)
      : costs_(problem.costs),
        largest_(static_cast<double>(largest_table)),
        random_(random),
        neighbours_(costs_.size()),
        tables_of_(costs_.size()),
        table_size_(costs_.size()),
        choice_(costs_.size(), 0) {
    for (const EliminationEdge& edge : problem.edges) {
      AddTable({{edge.a, edge.b}, {}, &edge.costs});
      Insert(neighbours_[edge.a], edge.b);
      Insert(neighbours_[edge.b], edge.a);
    }
    for (size_t i = 0; i < costs_.size(); ++i) Measure(static_cast<int>(i));
  }

  std::vector<int> Run() {
    for (size_t left = costs_.size(); left > 0; --left) {
      const auto next = std::min_element(table_size_.begin(), table_size_.end());
      if (*next > largest_) {
        Hold(NodeToHold());
      } else {
        EliminateNode(static_cast<int>(next - table_size_.begin()));
      }
    }
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      size_t cell = 0;
      for (const int node : step->neighbours) cell = cell * Size(node) + choice_[node];
      choice_[step->node] = step->best[cell];
    }
    return choice_;
  }

 private:
  size_t Size(int node) const { return costs_[node].size(); }

  void Measure(int node) {
    table_size_[node] = static_cast<double>(Size(node));
    for (const int other : neighbours_[node]) table_size_[node] *= static_cast<double>(Size(other));
  }

  // A table of one node is added to the node's costs.
  void AddTable(Table table) {
    if (table.nodes.empty()) return;
    if (table.nodes.size() == 1) {
      std::vector<double>& costs = costs_[table.nodes[0]];
      for (size_t s = 0; s < costs.size(); ++s) costs[s] += table.costs()[s];
      return;
    }
    for (const int node : table.nodes) tables_of_[node].push_back(static_cast<int>(tables_.size()));
    tables_.push_back(std::move(table));
  }

  void Finish(int node) {
    for (const int other : neighbours_[node]) {
      Erase(neighbours_[other], node);
      Measure(other);
    }
    neighbours_[node].clear();
    table_size_[node] = kDone;
  }

  // The node in the most tables of the largest, more or less.
  int NodeToHold() {
    int held = -1;
    double best = -1;
    for (size_t i = 0; i < costs_.size(); ++i) {
      if (table_size_[i] == kDone || neighbours_[i].empty()) continue;
      const double weight = static_cast<double>(neighbours_[i].size()) * (0.5 + random_.Uniform()) *
                            std::log(1.0 + static_cast<double>(Size(static_cast<int>(i))));
      if (weight > best) {
        best = weight;
        held = static_cast<int>(i);
      }
    }
    return held;
  }

  void Hold(int node) {
    for (const int index : tables_of_[node]) {
      const Table table = std::move(tables_[index]);
      tables_[index] = Table();
      if (table.nodes.empty()) continue;
      const size_t position = std::find(table.nodes.begin(), table.nodes.end(), node) - table.nodes.begin();
      size_t inner = 1;
      Table slice;
      for (size_t k = 0; k < table.nodes.size(); ++k) {
        if (k > position) inner *= Size(table.nodes[k]);
        if (k != position) slice.nodes.push_back(table.nodes[k]);
      }
      const std::vector<double>& costs = table.costs();
      for (size_t begin = 0; begin < costs.size(); begin += inner * Size(node)) {
        slice.owned.insert(slice.owned.end(), costs.begin() + begin, costs.begin() + begin + inner);
      }
      AddTable(std::move(slice));
    }
    Finish(node);
  }

  // Adds a table to that over `nodes`, the last of which is the one to be eliminated.
  void Accumulate(const Table& table, const std::vector<int>& nodes) {
    std::vector<size_t> strides(nodes.size());
    size_t stride = 1;
    for (size_t k = table.nodes.size(); k-- > 0;) {
      strides[std::find(nodes.begin(), nodes.end(), table.nodes[k]) - nodes.begin()] = stride;
      stride *= Size(table.nodes[k]);
    }
    const size_t size = Size(nodes.back());
    const size_t step = strides.back();
    const size_t outer = nodes.size() - 1;
    std::vector<size_t> index(outer);
    size_t offset = 0;
    for (size_t cell = 0; cell < sum_.size(); cell += size) {
      double* out = &sum_[cell];
      const double* in = &table.costs()[offset];
      if (step == 1) {
        for (size_t s = 0; s < size; ++s) out[s] += in[s];
      } else {
        for (size_t s = 0; s < size; ++s) out[s] += in[s * step];
      }
      for (size_t k = outer; k-- > 0;) {
        offset += strides[k];
        if (++index[k] < Size(nodes[k])) break;
        offset -= strides[k] * index[k];
        index[k] = 0;
      }
    }
  }

  void EliminateNode(int node) {
    Step step{node, neighbours_[node], {}};
    const size_t size = Size(node);
    size_t cells = 1;
    for (const int other : step.neighbours) cells *= Size(other);
    sum_.resize(cells * size);
    for (size_t c = 0; c < cells; ++c)
      std::copy(costs_[node].begin(), costs_[node].end(), sum_.begin() + c * size);
    std::vector<int> nodes = step.neighbours;
    nodes.push_back(node);
    for (const int index : tables_of_[node]) {
      if (tables_[index].nodes.empty()) continue;
      Accumulate(tables_[index], nodes);
      tables_[index] = Table();
    }
    Table rest{step.neighbours, std::vector<double>(cells), nullptr};
    step.best.resize(cells);
    for (size_t c = 0; c < cells; ++c) {
      const auto least = std::min_element(sum_.begin() + c * size, sum_.begin() + (c + 1) * size);
      rest.owned[c] = *least;
      step.best[c] = static_cast<int>(least - (sum_.begin() + c * size));
    }
    AddTable(std::move(rest));
    for (const int one : step.neighbours) {
      for (const int other : step.neighbours) {
        if (one != other) Insert(neighbours_[one], other);
      }
    }
    Finish(node);
    steps_.push_back(std::move(step));
  }

  std::vector<std::vector<double>> costs_;
  const double largest_;
  RandomNumbers& random_;
  std::vector<std::vector<int>> neighbours_;
  std::vector<std::vector<int>> tables_of_;
  std::vector<double> table_size_;
  std::vector<Table> tables_;
  std::vector<Step> steps_;
  std::vector<double> sum_;
  std::vector<int> choice_;
};

}  // namespace

std::vector<int> Eliminate(const EliminationProblem& problem, size_t largest_table, RandomNumbers& random) {
  return Elimination(problem, largest_table, random).Run();
}

}  // namespace toroid
