// The annotated arrays of a program, in groups that a person changes together (annotation_changes.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "explain/explanation.h"
#include "explain/origins.h"
#include "hlo/analysis/source_frames.h"
#include "partitioner/provenance/program_names.h"
#include "partitioner/stages/partitioned.h"

namespace toroid {

// Tensors of the flow graph that are annotated alike: in program order, outputs last.
struct ArrayGroup {
  std::vector<int> tensors;
};

class AnnotatedArrays {
 public:
  // Keeps a reference to `partitioned`, whose `program` is not null.
  explicit AnnotatedArrays(const Partitioned& partitioned);

  // The groups; first those behind the rows that send most, then those of most elements. An array may be in two groups, one of
  // which holds the other.
  std::vector<ArrayGroup> Groups(const std::vector<ExplainedRow>& rows);

  const Sharding& AskedOf(const ArrayGroup& group) const { return AskedOf(group.tensors[0]); }
  std::string NameOf(int tensor) const;
  std::string SourceOf(int tensor);  // The author's line; "" if unknown.
  std::string Text(const Sharding& sharding) const { return names_.Text(sharding); }
  std::vector<AxisList> NamedAxes() const { return names_.Axes(); }
  // NAME=SHARDING for all arrays of the group, each name once.
  std::vector<std::string> GivenTexts(const ArrayGroup& group, const Sharding& to) const;

 private:
  // The number of the output that a tensor is; -1 if it is none.
  int OutputOf(int tensor) const;
  const Sharding& AskedOf(int tensor) const { return program_.annotations.tensor[tensor]->sharding; }
  // Whether the tensor has an annotation that a user can replace by another one.
  bool CanBeGiven(int tensor) const;
  bool IsArgument(int tensor) const;
  std::string GivenName(int tensor) const;
  // Finds the arguments whose new values the results are: by shape and sharding, arguments in their order are a run of the
  // results, which begins within the first few. The longest run counts.
  void FindState();
  // The last key of an argument's path; for a result, that of the argument whose new value it is; "" if there is none.
  std::string KeyOf(int tensor) const;
  // The annotated arrays of the op that needs a row, and those from which its arrays have their axes.
  std::vector<int> AnnotatedBehind(const ExplainedRow& row) const;
  // By tensor: the bytes of the rows that it is annotated behind.
  absl::flat_hash_map<int, double> BytesBehind(const std::vector<ExplainedRow>& rows) const;
  // The consumer of a row: its name is "NAME" or "NAME of PARAMETER".
  const Instruction* ConsumerOf(const ExplainedRow& row) const;

  const PreparedProgram& program_;
  const FlowGraph& graph_;
  const ProgramNames names_;
  const Origins origins_;
  SourceFrames frames_;
  const std::vector<std::string> given_names_;  // Of the entry's parameters.
  absl::flat_hash_map<std::string, const Instruction*> by_name_;
  absl::flat_hash_map<int, const Instruction*> maker_;  // By tensor: the first instruction with it.
  absl::flat_hash_map<int, int> state_;                 // By output: the argument whose new value it is.
  std::vector<int> in_order_;  // Tensors with a maker, in program order; then outputs.
  std::vector<int> place_;     // By tensor: its place in in_order_.
};

}  // namespace toroid
