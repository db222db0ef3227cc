// Changes of a program's annotations that might make it send less, the most promising first, without writing a program.
//
// Annotated arrays are taken together if they are annotated alike: of one line and one name but for numbers, as in the layers
// of a model (sharding_constraint.6, sharding_constraint.9; params['layers'][0]['w'], params['layers'][1]['w']). Arguments and
// results are also taken together if the last key of their names is the same, as those of weights and of their moments
// (params['w'], mu['w'], the new params['w']); and so are arrays of the same dimensions behind one row. The changes of such a
// group are
//
//   as its surroundings    what propagation gives the array if the annotation is left out
//   an axis added          an axis of the mesh that the annotation does not use cuts a dimension, too
//   an axis moved          the axes of one dimension cut another one
//   whole                  no axis cuts the array
//
// Each is priced by a plan whose ops are decided one by one (partitioner/plan/greedy_plan.h); the bytes of such a plan tell the
// changes apart and take milliseconds. What a change really saves shows when the program is partitioned with it (advice.h).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "explain/explanation.h"
#include "partitioner/stages/partitioned.h"

namespace toroid {

struct AnnotationChange {
  std::string name, source;        // Of the first array of the group; its line, "" if unknown.
  std::string from, to;            // Its sharding, over the author's axes.
  std::vector<std::string> given;  // NAME=SHARDING for all arrays of the group, as --shard takes it.
  double saved_bytes = 0;          // In the quick plan.
};

// How far to look.
struct ChangeBudget {
  size_t prices = 256;  // Plans that are priced at most.
  size_t ops =
      1
      << 21;  // Ops of all these plans together, so that a large program has fewer plans; at least 8 plans are priced.
};

// The changes, those that save most in the quick plan first. `rows`: of the explanation; what is annotated behind the first of
// them is looked at first. Requires `partitioned.program`.
std::vector<AnnotationChange> PromisingChanges(const Partitioned& partitioned,
                                               const std::vector<ExplainedRow>& rows,
                                               const ChangeBudget& budget = {});

}  // namespace toroid
