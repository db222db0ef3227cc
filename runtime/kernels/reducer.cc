#include "runtime/kernels/reducer.h"

#include <utility>

#include "hlo/base/status.h"
#include "runtime/mesh/mesh_rows.h"
#include "runtime/plan/run_plan.h"

namespace toroid {
absl::Status CombineSlices(Plan& body, absl::Span<MeshBuffer> a, absl::Span<MeshBuffer> b, int64_t count,
                           const MeshContext& mesh, std::vector<MeshBuffer>* results) {
  std::vector<MeshBuffer> arguments;
  arguments.reserve(a.size() + b.size());
  for (MeshBuffer& buffer : a) arguments.push_back(std::move(buffer));
  for (MeshBuffer& buffer : b) arguments.push_back(std::move(buffer));
  MeshBuffer result;
  RETURN_IF_ERROR(RunLifted(body, absl::MakeSpan(arguments), count, mesh, &result));
  results->clear();
  if (result.is_tuple()) {
    for (const MeshBuffer& element : result.elements()) results->push_back(element);
    result.Reset();
  } else {
    results->push_back(std::move(result));
  }
  for (MeshBuffer& buffer : *results) RETURN_IF_ERROR(SpreadRows(count, &buffer));
  return absl::OkStatus();
}

}  // namespace toroid
