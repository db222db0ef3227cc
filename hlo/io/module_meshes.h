// The Shardy meshes that a module names, over which its shardings are.
#pragma once

#include <array>
#include <string>

#include "absl/status/statusor.h"
#include "hlo/io/sdy_sharding.h"
#include "hlo/ir/module.h"

namespace toroid {

// The frontend attribute of a module that holds them.
inline constexpr char kSdyMeshes[] = "xla.sdy.meshes";

// The frontend attributes that hold shardings over them, of instructions and of modules.
inline constexpr std::array kSdyShardingAttributes = {"xla.sdy.sharding", "xla.sdy.in_shardings",
                                                      "xla.sdy.out_shardings", "xla.sdy.tuple_args_shardings",
                                                      "xla.sdy.tuple_results_shardings"};

// The text of the attribute; null if the module has none.
const std::string* SdyMeshesText(const Module& module);

// The meshes; none if the module has no such attribute. Errors: those of ParseSdyMeshes.
absl::StatusOr<SdyMeshes> SdyMeshesOf(const Module& module);

}  // namespace toroid
