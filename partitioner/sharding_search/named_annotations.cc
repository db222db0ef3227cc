#include "partitioner/sharding_search/named_annotations.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "partitioner/prepare/sharding_lines.h"

namespace toroid {
namespace {

class Naming {
 public:
  Naming(const PreparedProgram& program, const ProgramNames& names,
         const std::vector<std::string>& tensor_names)
      : program_(program), graph_(*program.graph), names_(names), tensor_names_(tensor_names) {
    for (const Instruction* parameter : program.flat->entry()->parameters()) {
      for (const int t : graph_.Leaves(*parameter)) arguments_.insert(t);
    }
  }

  void AddSuggested(const SuggestedAnnotation& one) {
    FoundAnnotation annotation = Spelled(one.sharding);
    annotation.is_argument = arguments_.contains(one.tensors[0]);
    const Shape& shape = graph_.shape(one.tensors[0]);
    for (int d = 0; d < shape.rank(); ++d) {
      const int64_t parts = program_.annotations.mesh.Product(one.sharding.dims[d]);
      annotation.is_uneven = annotation.is_uneven || shape.dim(d) % parts != 0;
    }
    for (const int t : one.tensors) {
      if (!tensor_names_[t].empty() && !absl::c_linear_search(annotation.names, tensor_names_[t]))
        annotation.names.push_back(tensor_names_[t]);
    }
    if (!annotation.names.empty()) found_.push_back(std::move(annotation));
  }

  void AddState(const ProgramState& state, const ShardingPlan& shardings) {
    const Shape& result = program_.flat->entry()->root()->shape();
    const bool is_flat = !result.IsTuple() ||
                         absl::c_all_of(result.tuple_shapes(), [](const Shape& s) { return s.IsArray(); });
    if (!is_flat) return;
    const absl::Span<const int> outputs = graph_.outputs();
    absl::flat_hash_map<std::string, size_t> place;  // By sharding: where its results stand.
    for (const auto& [argument, output] : state) {
      if (program_.annotations.tensor[output]) continue;
      FoundAnnotation annotation = Spelled(shardings[argument]);
      const auto [at, is_new] = place.try_emplace(annotation.given, found_.size());
      if (is_new) found_.push_back(std::move(annotation));
      const auto number = absl::c_find(outputs, output) - outputs.begin();
      found_[at->second].names.push_back(!result.IsTuple() ? "output{}"
                                                           : absl::StrCat("output{", number, "}"));
    }
  }

  std::vector<FoundAnnotation> Take() { return std::move(found_); }

 private:
  FoundAnnotation Spelled(const Sharding& sharding) const {
    FoundAnnotation annotation;
    annotation.sharding = names_.Text(sharding);
    annotation.given = program_.annotations.mesh.ToHlo(sharding).ToString();
    return annotation;
  }

  const PreparedProgram& program_;
  const FlowGraph& graph_;
  const ProgramNames& names_;
  const std::vector<std::string>& tensor_names_;
  absl::flat_hash_set<int> arguments_;
  std::vector<FoundAnnotation> found_;
};

}  // namespace

std::vector<FoundAnnotation> NameAnnotations(const PreparedProgram& program, const ProgramNames& names,
                                             const std::vector<std::string>& tensor_names,
                                             const FewAnnotations& few, const ProgramState& state) {
  Naming naming(program, names, tensor_names);
  for (const SuggestedAnnotation& one : few.annotations) naming.AddSuggested(one);
  naming.AddState(state, few.plan.plan.shardings);
  return naming.Take();
}

absl::Status GiveAnnotations(const std::vector<FoundAnnotation>& annotations, Module* module) {
  std::vector<ShardingLine> lines;
  for (const FoundAnnotation& annotation : annotations) {
    for (const std::string& name : annotation.names)
      lines.push_back({absl::StrCat(name, "=", annotation.given), ""});
  }
  return ApplyShardingLines(lines, module);
}

}  // namespace toroid
