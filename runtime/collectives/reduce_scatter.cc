#include "runtime/collectives/reduce_scatter.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/collectives/group_places.h"
#include "runtime/collectives/group_reduction.h"
#include "runtime/loops/strided_copy.h"

namespace toroid {

absl::Status ExecuteReduceScatter(OpCall& call) {
  const GroupPlaces* places;
  RETURN_IF_ERROR(FindGroups(call, /*all_take_part=*/true, &places));
  const int64_t d = call.instruction().dimension(), size = places->common_size;
  std::vector<MeshBuffer> results(call.num_operands());
  for (int i = 0; i < call.num_operands(); ++i) {
    const Shape& shape = call.operand_shape(i);
    const PieceLayout layout(shape, d);
    if (size == 0 || layout.count % size != 0) {
      return absl::InvalidArgumentError(absl::StrCat("groups of ", size,
                                                     " (0: of different sizes) do not divide dimension ", d,
                                                     " of ", shape.ToString()));
    }
    RETURN_IF_ERROR(
        CheckGroupSize(call.shape().IsTuple() ? call.shape().tuple_shape(i) : call.shape(), shape, d, size));
    const int64_t block = layout.count / size * layout.inner, bytes = layout.outer * block;
    const bool uniform = size == 1 && call.uniform(i);
    RETURN_IF_ERROR(call.New(bytes, uniform, &results[i]));
    StridedLoop loop;
    loop.width = 1;
    loop.Add(layout.outer, layout.count * layout.inner, block);
    loop.Add(block, 1, 1);
    loop.Simplify();
    const ScatteredBlocks blocks{loop, block, bytes};
    RETURN_IF_ERROR(ReduceGroups(call, i, places->groups, &blocks, &results[i]));
  }
  SetResults(call, std::move(results));
  return absl::OkStatus();
}

}  // namespace toroid
