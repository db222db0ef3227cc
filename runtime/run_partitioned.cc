#include "runtime/run_partitioned.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/ir/hlo_sharding.h"
#include "runtime/executor.h"

namespace toroid {

absl::StatusOr<Literal> RunPartitioned(const Module& partitioned, absl::Span<const Literal> arguments,
                                       const Shape& result, const AssembleOptions& options) {
  const int64_t n = partitioned.config().num_partitions;
  const auto& recorded = partitioned.proto().spmd_parameters_shardings();
  if (static_cast<int>(arguments.size()) != recorded.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the module takes ", recorded.size(), " arguments, got ", arguments.size()));
  }
  std::vector<MeshValue> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings,
                     HloSharding::LeavesFromProto(recorded[static_cast<int>(i)], arguments[i].shape()));
    absl::StatusOr<MeshValue> value = CutLiteral(arguments[i], shardings, n);
    if (!value.ok()) return Annotate(value.status(), absl::StrCat("argument ", i));
    values.push_back(*std::move(value));
  }
  ASSIGN_OR_RETURN(const MeshValue output, RunOnMesh(partitioned, std::move(values), n));
  ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings,
                   HloSharding::LeavesFromProto(partitioned.proto().spmd_output_sharding(), result));
  return AssembleLiteral(output, result, shardings, options);
}

}  // namespace toroid
