// Annotations as a user gives them: by names of the module, over the author's axes.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "hlo/ir/module.h"
#include "partitioner/provenance/program_names.h"
#include "partitioner/sharding_search/few_annotations.h"

namespace toroid {

// NAME=SHARDING, for arrays that have it in common.
struct FoundAnnotation {
  std::vector<std::string> names;  // As --shard takes them (../prepare/sharding_lines.h).
  std::string sharding;            // Over the author's axes: [{"data"}, {}]
  std::string given;               // In HLO text: {devices=[4,1,2]<=[8] last_tile_dim_replicate}
  bool is_argument = false;        // Of the program; otherwise a value inside or a result.
  bool is_uneven = false;  // Devices hold parts of unequal size, which JAX takes for values inside alone.
};

// Names what was suggested, and the results that are the new values of arguments, which are returned as these are taken.
// `tensor_names`: by tensor, empty for those without (tensor_names.h). Results inside tuples inside the result have no name.
std::vector<FoundAnnotation> NameAnnotations(const PreparedProgram& program, const ProgramNames& names,
                                             const std::vector<std::string>& tensor_names,
                                             const FewAnnotations& few, const ProgramState& state);

// Gives the module the annotations. Errors: those of ApplyShardingLines.
absl::Status GiveAnnotations(const std::vector<FoundAnnotation>& annotations, Module* module);

}  // namespace toroid
