// The author's names for the values and mesh axes of a program, for reports.
//
//   parameters    the metadata's op_name: params['w_down']
//   outputs       the attribute jax.result_info, or else output{6}, followed by "in place of" the parameter
//                 whose memory the output takes
//   instructions  the author's scopes and the instruction's name: layers_3/mlp/dot_general.57, followed by
//                 "for" the output if it makes one
//   shardings     over the axes of the module's mesh, as Shardy spells them:
//                 [{"data"}, {}] partial over {"model"}
//
// If a module names no axes, names are made up of a letter and a size: [{a4}, {b2}] cuts dimension 0 by 4 and
// dimension 1 by 2.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/devices/mesh.h"
#include "hlo/ir/module.h"
#include "partitioner/propagation/annotations.h"
#include "partitioner/propagation/flow_graph.h"

namespace toroid {

class ProgramNames {
 public:
  // `relabeled`: whether the devices of the mesh were permuted, so that their order need not agree with the
  // module's meshes.
  ProgramNames(const Module& module, const FlowGraph& graph, const Annotations& annotations, bool relabeled);

  std::string NameOf(const Instruction& instruction) const;
  // The name of leaf `i` of the entry's result.
  std::string OutputName(int i) const;
  // The name of the entry parameter whose elements a tensor holds, perhaps converted, sliced or moved; "" if
  // none.
  std::string ParameterBehind(int tensor) const;

  // "[{"x"}, {}] partial over {"y"}", without manual axes.
  std::string Text(const Sharding& sharding) const;
  // The axes that names stand for, each as mesh axes.
  std::vector<AxisList> Axes() const;
  // The axes made up for a module that names none: "a4, b2"; "" if it names its own.
  std::string MadeUpAxes() const;

 private:
  struct Axis {
    std::string name;  // As printed.
    AxisList axes;     // The mesh axes that make it up.
  };

  // Takes the axes that the module names, if it names any.
  void TakeAxes(const Module& module, const Mesh& mesh, bool relabeled);
  // Makes up axes.
  void MakeAxes(const Annotations& annotations);
  // Sets `axes_`. False if the mesh has no such axes.
  bool SetAxes(const Mesh& mesh, absl::Span<const std::pair<std::string, int64_t>> named);
  void NameOutputs(const Module& module);
  void FollowParameters(const Module& module, const FlowGraph& graph);
  std::string Text(const AxisList& axes) const;

  const Mesh& mesh_;
  std::vector<Axis> axes_;
  bool made_up_ = false;
  std::vector<std::string> outputs_;
  // By Sharding call that annotates an output: the output's name.
  absl::flat_hash_map<const Instruction*, std::string> names_;
  // By op that makes an output: the output's name.
  absl::flat_hash_map<const Instruction*, std::string> output_of_;
  std::vector<int> from_;                                   // By tensor: the tensor whose elements it holds.
  absl::flat_hash_map<int, const Instruction*> parameter_;  // By tensor of an entry parameter.
};

}  // namespace toroid
