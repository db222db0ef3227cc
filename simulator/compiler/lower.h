// What a compiler for the core makes of a module before it runs: every instruction that stays in the entry, in a loop or a
// branch is one step of the core or one exchange between cores, and its shapes say how arrays lie in memory.
//
//   inline_calls         calls become what they compute
//   split_collectives    what partitioning merged is apart again
//   cumulative_sum       trees of windows
//   row_scatter          scatters of one element for each row as choices
//   flat_scatter         other scatters of single elements as scatters into a vector
//   simplify             what moves nothing goes
//   packed_predicates    predicates of products that are needed later are bits of words
//   bfloat16             what only products read is rounded where it is made
//   merge_collectives    all-reduces that can run at once, as this compiler combines them
//   layout               the order of dimensions of every array, copies where two are needed
//   fusion               groups
//   early_uses           what little comes of a large value, updates of weights, runs as soon as it can
//   rematerialization    depth first, and large values made a second time, if the program does not fit otherwise
// The module may be one core's program, or a partitioned one: every core runs the same.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"
#include "simulator/machines/core.pb.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {

// A lowered copy; `module` stays as it is. With `decisions` the rules by which an instruction came to be are marked on it
// (compiler_scope.h), and searches that met their limits are counted there.
// Errors: kResourceExhausted of inline_calls; kInternal of `observer.verify`; kNotFound for a rule that `core` leaves out and
// does not exist.
absl::StatusOr<std::unique_ptr<Module>> Lower(const Module& module, const CoreSpec& core,
                                              const PassObserver& observer = {},
                                              Decisions* decisions = nullptr);

}  // namespace toroid
