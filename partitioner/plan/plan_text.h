// A plan as text that people read and edit, and that a program can be partitioned by again.
//
// One row for each array of the program, in program order: its name, its shape, the sharding in which it is made, and, if
// an op makes it, the sizes of the op's factors (sharding_rule.h), the axes that cut each of them, and the operands that
// the op takes as partial sums. Columns stand at least two blanks apart. Lines that begin with # count nothing.
//
//   # form: as given
//   value      shape       sharding           factors     cut                 takes partial
//   main/x     f32[8,16]   [{"data"}, {}]     -           -                   -
//   main/w     f32[16,32]  [{}, {"model"}]    -           -                   -
//   main/dot   f32[8,32]   [{"data"}, {}]     8, 16, 32   [{"data"}, {}, {}]  -
//   output{0}  f32[8,32]   [{"data"}, {}]     -           -                   -
//
// A row "early main/x" gives a second sharding in which a value is made before its users are computed.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partitioner/plan/plan.h"
#include "partitioner/provenance/program_names.h"

namespace toroid {

std::string PlanText(const PreparedProgram& program, const ProgramNames& names, const Plan& plan);

// The form that a plan's text says it belongs to.
// Errors: kInvalidArgument if it names none that is known.
absl::StatusOr<ProgramForm> FormOfPlan(absl::string_view text);

// The plan of a text for the program that was prepared in its form.
// Errors: kInvalidArgument "the plan, line N: ...": a row that cannot be read, a value that the program lacks, another shape or
// other factors than the program has; a value of the program without a row; and those of CheckPlan.
absl::StatusOr<Plan> ReadPlan(absl::string_view text, const PreparedProgram& program,
                              const ProgramNames& names);

}  // namespace toroid
