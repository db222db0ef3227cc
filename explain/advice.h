// `hlo-partition --advise`: changes of one annotation that were tried and that make the program send less.
//
// The candidates are those changes that save most in a quick plan (annotation_changes.h): of an annotated array, or of arrays
// that are annotated alike, as in the layers of a model. The module is partitioned once for each trial.
//
//   advice: params['w_up'] [{}, {"model"}] instead of [{"model"}, {}] sends 57.3 kB instead of 71.7 kB (-20.0 %), without the
//   all-to-all of 28.7 kB for h (model.py:9), and needs 147.5 kB of memory instead of 385.0 kB:
//   --shard "params['w_up']={devices=[1,8]<=[8]}" (model.py:3)
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "explain/annotation_changes.h"
#include "explain/diagnosis.h"
#include "explain/what_if.h"
#include "partitioner/stages/partitioned.h"

namespace toroid {

struct Advice {
  TriedChange change;
  WhatIf effect;
};

// Partitions the module with other shardings, NAME=SHARDING each.
using TryChange = absl::FunctionRef<absl::StatusOr<ProgramFigures>(const std::vector<std::string>& given)>;

// How far to look.
struct AdviceBudget {
  ChangeBudget changes;
  size_t trials = 16;  // Programs that are partitioned.
  // Changes are tried that save more than this part of the bytes in the quick plan, and count if they save this part of them.
  double least_promised = -1, least_saved = 0.05;
  // A change that removes a row of the explanation, and saves most of its bytes, counts from this part of the bytes on.
  double least_saved_of_row = 0.01;
  double least_time_saved =
      0.01;  // On a machine, the part of the time that a change saves at least; then bytes do not count.
  bool combines = true;  // Whether the best change is tried with others, too.
};

// At most three changes, those that save most bytes (on a machine: time) first, among equals those of fewer arrays; then the
// best change with one more, and with two more, where these save more together. A change counts if it saves enough, flops grow
// by at most 9 %, and the peak of memory by at most 10 %. `partitioned`: the program without a change, made by this
// partitioner, with its figures `now`. A change that the module does not take is no error.
std::vector<Advice> FindAdvice(const Partitioned& partitioned, const ProgramFigures& now,
                               TryChange try_change, const AdviceBudget& budget = {});

// The lines above, without breaks.
std::string AdviceText(const std::vector<Advice>& advice);

}  // namespace toroid
