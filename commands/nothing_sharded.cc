#include "commands/nothing_sharded.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/analysis/sharding_stats.h"
#include "hlo/io/module_meshes.h"
#include "hlo/io/sdy_sharding.h"
#include "hlo/opcode.h"
#include "partitioner/prepare/sharding_lines.h"

namespace toroid {
namespace {

bool IsCut(const xla::OpSharding& sharding) {
  for (const xla::OpSharding& leaf : sharding.tuple_shardings()) {
    if (IsCut(leaf)) return true;
  }
  return sharding.type() == xla::OpSharding::OTHER || sharding.type() == xla::OpSharding::MANUAL ||
         sharding.type() == xla::OpSharding::UNREDUCED || sharding.has_named_sharding();
}

// True if the sharding cuts a dimension of its array over several devices.
bool AsksForCut(const xla::OpSharding& sharding) {
  for (const xla::OpSharding& leaf : sharding.tuple_shardings()) {
    if (AsksForCut(leaf)) return true;
  }
  for (const auto& dim : sharding.named_sharding().dim_shardings()) {
    if (!dim.axes().empty()) return true;
  }
  if (sharding.type() != xla::OpSharding::OTHER) return false;
  const int groups = sharding.last_tile_dims_size() + (sharding.replicate_on_last_tile_dim() ? 1 : 0);
  for (int d = 0; d + groups < sharding.tile_assignment_dimensions_size(); ++d) {
    if (sharding.tile_assignment_dimensions(d) > 1) return true;
  }
  return false;
}

bool AsksForCut(const std::string& shardy, const SdyMeshes& meshes) {
  const auto shardings = ParseSdyShardings(shardy, meshes);
  if (!shardings.ok()) return false;
  for (const SdySharding& sharding : *shardings) {
    for (const SdyDim& dim : sharding.dims) {
      if (!dim.axes.empty()) return true;
    }
  }
  return false;
}

// The first instruction whose sharding cuts something; null if there is none.
const Instruction* FirstAskedCut(const Module& module) {
  const SdyMeshes meshes = SdyMeshesOf(module).value_or(SdyMeshes());
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      const std::string* shardy = instruction->FrontendAttribute("xla.sdy.sharding");
      if (shardy != nullptr ? AsksForCut(*shardy, meshes)
                            : instruction->sharding() != nullptr && AsksForCut(*instruction->sharding())) {
        return instruction.get();
      }
    }
  }
  return nullptr;
}

// True if the module looks like the output of a compiler.
bool IsOptimized(const Module& module) {
  if (module.config().is_scheduled) return true;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (instruction->opcode() == Opcode::kFusion) return true;
    }
  }
  return false;
}

const Instruction* LargestParameter(const Module& module) {
  const Instruction* largest = nullptr;
  for (const Instruction* parameter : module.entry()->parameters()) {
    const Shape& shape = parameter->shape();
    if (!shape.IsArray() || shape.rank() == 0 || shape.IsDynamic() || shape.ByteSize() < 2) continue;
    if (largest == nullptr || shape.ByteSize() > largest->shape().ByteSize()) largest = parameter;
  }
  return largest;
}

// The largest dimension that n divides, and true; if n divides none, the largest dimension, and false.
std::pair<int, bool> DimensionToCut(const Shape& shape, int64_t n) {
  int best = -1, largest = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dims()[d] > shape.dims()[largest]) largest = d;
    if (shape.dims()[d] > 0 && shape.dims()[d] % n == 0 && (best < 0 || shape.dims()[d] > shape.dims()[best]))
      best = d;
  }
  return {best < 0 ? largest : best, best >= 0};
}

// Quotes `text` as one word for a shell.
std::string Quoted(const std::string& text) {
  if (!absl::StrContains(text, "'")) return absl::StrCat("'", text, "'");
  return absl::StrCat("\"", text, "\"");
}

}  // namespace

bool IsNothingCut(const Module& partitioned) {
  for (const xla::OpSharding& sharding : partitioned.proto().spmd_parameters_shardings()) {
    if (IsCut(sharding)) return false;
  }
  if (IsCut(partitioned.proto().spmd_output_sharding())) return false;
  for (const auto& computation : partitioned.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (IsCollective(instruction->opcode())) return false;
    }
  }
  return true;
}

std::string NothingShardedText(const Module& module, int64_t num_devices) {
  std::string text = "nothing is sharded, so every device does all of it";
  if (IsOptimized(module)) {
    return absl::StrCat(
        text,
        "; a compiler has worked on this module: give the one before, in a dump of XLA the file with "
        "before_optimizations in its name");
  }
  if (const Instruction* asked = FirstAskedCut(module)) {
    return absl::StrCat("nothing that the program needs is cut, so every device does all of it, though ",
                        asked->Path(), " asks for ", ShardingText(*asked));
  }
  const Instruction* parameter = LargestParameter(module);
  if (parameter == nullptr) return text;
  int64_t n = num_devices;
  for (const int64_t trial : {8, 4, 2}) {
    if (n > 1) break;
    if (DimensionToCut(parameter->shape(), trial).second) n = trial;
  }
  if (n < 2) n = 2;
  const int cut = DimensionToCut(parameter->shape(), n).first;
  std::vector<int64_t> tiles(parameter->shape().rank(), 1);
  tiles[cut] = n;
  const std::string sharding = absl::StrCat("={devices=[", absl::StrJoin(tiles, ","), "]<=[", n, "]}");
  std::string name = GivenNames(module)[parameter->parameter_number()];
  if (name.find_first_of("\"$`\\!\n") != std::string::npos) {
    name = absl::StrCat("parameter(", parameter->parameter_number(), ")");
  }
  return absl::StrCat(text, "; give a sharding, for example --num_partitions=", n, " --shard ",
                      Quoted(absl::StrCat(name, sharding)));
}

}  // namespace toroid
