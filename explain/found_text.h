// What `hlo-partition --search=shardings` prints and writes of the shardings that it found.
//
//   search of 312 choices, 0.2 million costs: 2 rounds, 1.3 s; by prices at most 0.4 % above the best
//                          before         found
//     sent                71.7 kB       16.4 kB  -77.1 %
//     ...
//   found: 3 annotations
//     params['w_up']     [{}, {"model"}]       P(None, 'model')
//     params['w_down']   [{"model"}, {}]       P('model', None)
//     x                  [{"data"}, {}, {}]    P('data', None, None)
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/what_if.h"
#include "hlo/passes/change_mesh.h"
#include "partitioner/sharding_search/find_shardings.h"

namespace toroid {

// `mesh`: the mesh that was chosen; empty: it was given. `before`: of the program with the shardings that it had.
std::string FoundText(const FoundShardings& found, const std::vector<AxisSize>& mesh,
                      const ProgramFigures& figures, const std::optional<ProgramFigures>& before,
                      double seconds);

// The annotations as lines for --annotations, behind comments that say which mesh they are over.
std::string AnnotationLines(const FoundShardings& found, const std::vector<AxisSize>& mesh);

// [{"data", "model"}, {}] as P(('data', 'model'), None), as JAX spells it.
std::string PartitionSpecText(absl::string_view sharding);

}  // namespace toroid
