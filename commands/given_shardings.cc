#include "commands/given_shardings.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/devices/spmd_record.h"

namespace toroid {

void AddShardingFlags(CLI::App& app, GivenShardings* given) {
  app.add_option_function<std::string>(
         "--mesh",
         [given](const std::string& text) {
           absl::StatusOr<std::vector<AxisSize>> sizes = ParseAxisSizes(text);
           if (!sizes.ok()) throw CLI::ValidationError("--mesh", std::string(sizes.status().message()));
           given->mesh = *std::move(sizes);
         },
         "Other sizes for axes of the module's mesh, as in data=32,model=16, for another number of devices than it was "
         "lowered for; axes that are not named keep theirs. A module without shardings gets this mesh")
      ->type_name("AXIS=SIZE,...");
  app.add_option_function<std::vector<std::string>>(
         "--shard",
         [given](const std::vector<std::string>& lines) {
           for (const std::string& line : lines) given->lines.push_back({line, ""});
         },
         "NAME=SHARDING; NAME: an instruction, parameter(K), output{K}, or a glob on op_name; repeated for several")
      ->type_name("NAME=SHARDING")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

absl::Status IsPartitionedAlready(const GivenShardings& given) {
  return absl::InvalidArgumentError(absl::StrCat(
      "is partitioned already; ", given.lines.empty() ? "--mesh" : "--shard",
      " needs the module before partitioning, in a dump of XLA the file with before_optimizations in its name"));
}

absl::Status GiveShardings(const GivenShardings& given, Module* module, std::vector<std::string>* notes) {
  if (given.empty()) return absl::OkStatus();
  if (IsPartitioned(*module)) return IsPartitionedAlready(given);
  RETURN_IF_ERROR(Annotate(ChangeMesh(given.mesh, module, notes), "--mesh"));
  return ApplyShardingLines(given.lines, module, notes);
}

}  // namespace toroid
