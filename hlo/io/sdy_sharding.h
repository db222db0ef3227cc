// The texts of Shardy's frontend attributes: meshes and shardings over named axes.
//
//   {mesh = #sdy.mesh<["data"=4, "model"=2]>}
//   #sdy.sharding<@mesh, [{"data"}, {"model", ?}p1], replicated={"x"}>
//   #sdy.sharding_per_value<[<@mesh, [{}, {?}]>, ...]>
//   #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=2, k=4} reduction={k}, custom>
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace toroid {

struct SdyMesh {
  struct Axis {
    std::string name;
    int64_t size = 1;
  };
  std::vector<Axis> axes;
  std::vector<int64_t> device_ids;  // Empty: 0, 1, 2, ...
  int64_t NumDevices() const;
};

// An axis, or its part between `pre` (the product of the more major parts) and pre * size.
struct SdyAxisRef {
  std::string name;
  int64_t pre = 1;
  int64_t size = 0;  // 0: the whole axis.
};

struct SdyDim {
  std::vector<SdyAxisRef> axes;
  bool open = false;
  int priority = 0;
};

struct SdySharding {
  SdyMesh mesh;
  std::vector<SdyDim> dims;
  std::vector<SdyAxisRef> replicated;
  std::vector<SdyAxisRef> unreduced;
};

using SdyMeshes = std::map<std::string, SdyMesh>;

// Errors of all functions: kInvalidArgument for syntax (the message names what was expected), an unknown mesh
// or axis, a sub-axis that does not divide its axis, or an axis that one sharding uses twice.
absl::StatusOr<SdyMeshes> ParseSdyMeshes(absl::string_view text);
// Reads either spelling; a sharding without per_value is a list of one.
absl::StatusOr<std::vector<SdySharding>> ParseSdyShardings(absl::string_view text, const SdyMeshes& meshes);
// #sdy<manual_axes{"a", "b"}>
absl::StatusOr<std::vector<std::string>> ParseSdyManualAxes(absl::string_view text);

// How the dimensions of an op's operands and results map to factors.
struct SdyShardingRule {
  struct Factor {
    std::string name;
    int64_t size = 1;
    // None of them: a factor that passes through.
    bool is_reduction = false, needs_replication = false, is_permutation = false, is_blocked = false;
  };
  // By tensor and dimension: numbers of the factors that make the dimension, major first.
  using Tensor = std::vector<std::vector<int>>;
  std::vector<Factor> factors;
  std::vector<Tensor> operands, results;
};

absl::StatusOr<SdyShardingRule> ParseSdyShardingRule(absl::string_view text);

// The text of one sharding over a mesh of the given name.
std::string SdyShardingToString(const SdySharding& sharding, absl::string_view mesh_name);

}  // namespace toroid
