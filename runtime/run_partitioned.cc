#include "runtime/run_partitioned.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/ir/spmd_record.h"

namespace toroid {

absl::StatusOr<Literal> RunPartitioned(const Module& partitioned, absl::Span<const Literal> arguments,
                                       const RunPartitionedOptions& options) {
  RunOptions run = options.run;
  ASSIGN_OR_RETURN(run.num_partitions, PartitionsOf(partitioned));
  const Computation& entry = *partitioned.entry();
  if (static_cast<int>(arguments.size()) != entry.num_parameters()) {
    return absl::InvalidArgumentError(
        absl::StrCat(entry.name(), ": takes ", entry.num_parameters(), " arguments, got ", arguments.size()));
  }
  std::vector<MeshValue> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings,
                     ParameterShardings(partitioned, static_cast<int>(i)));
    absl::StatusOr<MeshValue> value = CutLiteral(arguments[i], shardings, run.num_partitions);
    if (!value.ok()) return Annotate(value.status(), absl::StrCat("argument ", i));
    values.push_back(*std::move(value));
  }
  const Stopwatch stopwatch;
  ASSIGN_OR_RETURN(const MeshValue output, RunModule(partitioned, std::move(values), run));
  if (options.seconds != nullptr) *options.seconds = stopwatch.Seconds();
  ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings, OutputShardings(partitioned));
  if (options.result != nullptr) return AssembleLiteral(output, *options.result, shardings, options.assemble);
  ASSIGN_OR_RETURN(const Shape global, GlobalShape(output.shape(), shardings, run.num_partitions));
  return AssembleLiteral(output, global, shardings, options.assemble);
}

absl::StatusOr<Literal> RunPartitioned(const Module& partitioned, absl::Span<const Literal> arguments,
                                       const Shape& result, const AssembleOptions& assemble) {
  RunPartitionedOptions options;
  options.assemble = assemble;
  options.result = &result;
  return RunPartitioned(partitioned, arguments, options);
}

}  // namespace toroid
