// The author's names for the values and devices of a program: names for reports.
//
//   parameters    as the metadata's op_name says: params['w_down']
//   outputs       output{6}, with what is known beyond its number: jax.result_info, the argument whose memory
//                 it takes over
//   instructions  the author's scopes and the instruction: layers_3/mlp/dot_general.57, "for" the output it makes
//   shardings     over the axes of the module's mesh, in Shardy's spelling: [{"data"}, {}] partial over {"model"}
//
// A module that names no axes gets some, a letter and a size each: [{a4}, {b2}] is cut by 4 in the one dimension
// and by 2 in the other.
#ifndef TOROID_PARTITIONER_PROVENANCE_PROGRAM_NAMES_H_
#define TOROID_PARTITIONER_PROVENANCE_PROGRAM_NAMES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/mesh.h"
#include "hlo/ir/module.h"
#include "partitioner/propagation/annotations.h"
#include "partitioner/propagation/flow_graph.h"

namespace toroid {

// The scopes of an op_name that its author opened, without what tracing adds: "model/layers_3" of
// "jit(step)/jvp(model)/while/body/closed_call/layers_3/dot_general"; "" if there are none.
std::string AuthorScopes(absl::string_view op_name);

// The purpose of an instruction that a compiler inserted: author's scopes and the last part of its
// op_name; "" without one.
std::string NameFromMetadata(const Instruction& instruction);

class ProgramNames {
 public:
  // `relabeled`: the devices of the mesh were permuted, so their order says nothing about the module's meshes.
  ProgramNames(const Module& module, const FlowGraph& graph, const Annotations& annotations, bool relabeled);

  std::string NameOf(const Instruction& instruction) const;
  // Leaf `i` of the entry's result.
  std::string OutputName(int i) const;
  // The entry parameter whose elements a tensor holds, perhaps converted, sliced or moved; "" if none.
  std::string ParameterBehind(int tensor) const;

  // "[{"x"}, {}] partial over {"y"}"; manual axes are not told.
  std::string Text(const Sharding& sharding) const;
  // The axes made up for a module that names none: "a4, b2"; "" if it names its own.
  std::string MadeUpAxes() const;

 private:
  struct Axis {
    std::string name;  // As printed.
    AxisList axes;     // Of the mesh.
  };

  void TakeAxes(const Module& module, const Mesh& mesh, bool relabeled);
  void MakeAxes(const Annotations& annotations);
  // True if these axes are axes of the mesh.
  bool SetAxes(const Mesh& mesh, absl::Span<const std::pair<std::string, int64_t>> named);
  void NameOutputs(const Module& module);
  void FollowParameters(const Module& module, const FlowGraph& graph);
  std::string Text(const AxisList& axes) const;

  const Mesh& mesh_;
  std::vector<Axis> axes_;
  bool made_up_ = false;
  std::vector<std::string> outputs_;
  absl::flat_hash_map<const Instruction*, std::string> names_;      // Other than those of their instructions.
  absl::flat_hash_map<const Instruction*, std::string> output_of_;  // The output that an op makes.
  std::vector<int> from_;                                   // By tensor: the one it holds elements of.
  absl::flat_hash_map<int, const Instruction*> parameter_;  // By tensor.
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PROVENANCE_PROGRAM_NAMES_H_
