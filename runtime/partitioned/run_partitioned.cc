#include "runtime/partitioned/run_partitioned.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/devices/spmd_record.h"
#include "runtime/mesh/limit_error.h"
#include "runtime/partitioned/ranks_run.h"
#include "runtime/partitioned/where_devices_part.h"

namespace toroid {
namespace {

// The shards as one value. The error for devices that disagree says where they part, if that can be found.
absl::StatusOr<Literal> Assemble(const Module& partitioned, absl::Span<const Literal> arguments,
                                 const MeshValue& shards, const RunPartitionedOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings, OutputShardings(partitioned));
  std::optional<Disagreement> disagreement;
  AssembleOptions assemble = options.assemble;
  assemble.disagreement = &disagreement;
  const auto assembled = [&](const Shape& global) {
    return AssembleLiteral(shards, global, shardings, assemble);
  };
  absl::StatusOr<Literal> result;
  if (options.result != nullptr) {
    result = assembled(*options.result);
  } else {
    ASSIGN_OR_RETURN(const Shape global, GlobalShape(shards.shape(), shardings, shards.num_devices()));
    result = assembled(global);
  }
  if (result.ok() || !disagreement.has_value() || options.run.transport != nullptr) return result;
  const auto where = WhereDevicesPart(partitioned, arguments, *disagreement, options.run);
  if (!where.ok()) return result;
  return absl::Status(result.status().code(), absl::StrCat(result.status().message(), "; ", *where));
}

}  // namespace

absl::StatusOr<Literal> RunPartitioned(const Module& partitioned, absl::Span<const Literal> arguments,
                                       const RunPartitionedOptions& options) {
  RunOptions run = options.run;
  ASSIGN_OR_RETURN(run.num_partitions, PartitionsOf(partitioned));
  run.num_replicas = std::max<int64_t>(1, ReplicasOf(partitioned));
  const Computation& entry = *partitioned.entry();
  if (static_cast<int>(arguments.size()) != entry.num_parameters()) {
    return absl::InvalidArgumentError(
        absl::StrCat(entry.name(), ": takes ", entry.num_parameters(), " arguments, got ", arguments.size()));
  }
  const auto cut = [&](int i, int64_t begin, int64_t end) -> absl::StatusOr<MeshValue> {
    ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings, ParameterShardings(partitioned, i));
    absl::StatusOr<MeshValue> value = CutLiteral(arguments[i], shardings, run.num_partitions, begin, end);
    if (!value.ok()) return AnnotateMarked(value.status(), absl::StrCat("argument ", i));
    return value;
  };
  MeshValue output;
  if (run.transport != nullptr) {
    ASSIGN_OR_RETURN(output, RunOnRanks(partitioned, cut, run, /*whole=*/true, options.seconds));
  } else {
    std::vector<MeshValue> values;
    for (int i = 0; i < entry.num_parameters(); ++i) {
      ASSIGN_OR_RETURN(MeshValue value, cut(i, 0, run.num_devices()));
      values.push_back(std::move(value));
    }
    const Stopwatch stopwatch;
    ASSIGN_OR_RETURN(output, RunModule(partitioned, std::move(values), run));
    if (options.seconds != nullptr) *options.seconds = stopwatch.Seconds();
  }
  // Devices of the first replica come first.
  return Assemble(partitioned, arguments, MeshValue(output.shape(), run.num_partitions, output.buffer()),
                  options);
}

absl::StatusOr<Literal> RunPartitioned(const Module& partitioned, absl::Span<const Literal> arguments,
                                       const Shape& result, const AssembleOptions& assemble) {
  RunPartitionedOptions options;
  options.assemble = assemble;
  options.result = &result;
  return RunPartitioned(partitioned, arguments, options);
}

}  // namespace toroid
