#include "partitioner/sharding_search/annotation_groups.h"

#include <map>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace toroid {
namespace {

// Ops that are walked back from one new value to the arguments that it is made of.
constexpr size_t kMostWalked = 256;

class Groups {
 public:
  Groups(const PreparedProgram& program, const Plan& plan, const std::vector<std::string>& names)
      : program_(program),
        graph_(*program.graph),
        plan_(plan),
        names_(names),
        parent_(graph_.num_tensors()),
        producer_(graph_.num_tensors(), nullptr) {
    std::iota(parent_.begin(), parent_.end(), 0);
    for (const FlowOp& op : graph_.ops()) {
      for (const int t : op.results) producer_[t] = &op;
    }
  }

  void Join(int a, int b) { parent_[Root(a)] = Root(b); }

  void JoinNames() {
    absl::flat_hash_map<absl::string_view, int> first;
    for (int t = 0; t < graph_.num_tensors(); ++t) {
      if (names_[t].empty()) continue;
      const auto [it, is_new] = first.try_emplace(names_[t], t);
      if (is_new) continue;
      Join(t, it->second);
      if (plan_.shardings[t] != plan_.shardings[it->second]) ambiguous_.insert(names_[t]);
    }
  }

  void JoinAverages(const ProgramState& state) {
    absl::flat_hash_set<int> arguments;
    for (const auto& [argument, output] : state) arguments.insert(argument);
    for (const auto& [argument, output] : state) {
      for (const int other : MadeElementwiseOf(output)) {
        if (arguments.contains(other)) Join(other, argument);
      }
    }
  }

  std::vector<SuggestedAnnotation> Take() {
    // A group whose tensors differ in sharding is several.
    std::vector<SuggestedAnnotation> groups;
    std::map<int, std::vector<size_t>> of_root;
    for (const int t : Candidates()) {
      std::vector<size_t>& known = of_root[Root(t)];
      size_t* at = nullptr;
      for (size_t& i : known) {
        if (groups[i].sharding == plan_.shardings[t]) at = &i;
      }
      if (at == nullptr) {
        known.push_back(groups.size());
        groups.push_back({{}, plan_.shardings[t]});
        at = &known.back();
      }
      groups[*at].tensors.push_back(t);
    }
    return groups;
  }

 private:
  int Root(int t) {
    while (parent_[t] != t) t = parent_[t] = parent_[parent_[t]];
    return t;
  }

  // The tensors of the same shape from which ops on single elements make `t`.
  std::vector<int> MadeElementwiseOf(int t) const {
    std::vector<int> reached = {t};
    absl::flat_hash_set<int> seen = {t};
    for (size_t i = 0; i < reached.size() && reached.size() < kMostWalked; ++i) {
      const FlowOp* op = producer_[reached[i]];
      const bool is_output = i == 0 && op != nullptr && op->instruction == nullptr;
      const bool is_elementwise =
          op != nullptr && op->instruction != nullptr && IsElementwise(op->instruction->opcode());
      if (!is_output && !is_elementwise) continue;
      for (const int operand : op->operands) {
        const bool is_like = graph_.shape(operand).IsArray() && graph_.shape(operand).rank() > 0 &&
                             graph_.shape(operand).dims() == graph_.shape(t).dims();
        if (is_like && seen.insert(operand).second) reached.push_back(operand);
      }
    }
    return reached;
  }

  std::vector<int> Candidates() const {
    std::vector<int> found;
    const auto add = [&](int t) {
      const bool is_free = program_.annotations.tensor[t] || program_.annotations.manual[t] != 0;
      if (is_free || names_[t].empty() || ambiguous_.contains(names_[t])) return;
      if (graph_.shape(t).IsArray() && graph_.shape(t).rank() > 0) found.push_back(t);
    };
    for (const Instruction* parameter : program_.flat->entry()->parameters()) {
      for (const int t : graph_.Leaves(*parameter)) add(t);
    }
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      const FlowOp& op = graph_.ops()[i];
      if (i >= plan_.ops.size() || !plan_.ops[i] || op.instruction->shape().IsTuple()) continue;
      add(op.results[0]);
    }
    return found;
  }

  const PreparedProgram& program_;
  const FlowGraph& graph_;
  const Plan& plan_;
  const std::vector<std::string>& names_;
  std::vector<int> parent_;
  std::vector<const FlowOp*> producer_;
  absl::flat_hash_set<absl::string_view> ambiguous_;
};

}  // namespace

std::vector<SuggestedAnnotation> AnnotationGroups(const PreparedProgram& program, const Plan& plan,
                                                  const Kinds& kinds, const ProgramState& state,
                                                  const std::vector<std::string>& names) {
  Groups groups(program, plan, names);
  for (int t = 0; t < program.graph->num_tensors(); ++t) groups.Join(t, kinds.of_tensor[t]);
  groups.JoinNames();
  groups.JoinAverages(state);
  return groups.Take();
}

}  // namespace toroid
