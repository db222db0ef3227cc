// Module statistics as JSON and as tables.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "hlo/analysis/module_stats.h"

namespace toroid {

// The file that the module was read from.
struct StatsOrigin {
  absl::string_view container;  // See ContainerName.
  bool has_arguments = false;
};

// One line; the keys are those of docs/commands.md. Bytes that are not UTF-8 are replaced.
std::string ModuleStatsJson(const ModuleStats& stats, const StatsOrigin& origin);

// A long list is cut after its first entries, and a line says how many follow. Cells are cut so that no line
// has more than `width` columns.
std::string ModuleStatsTable(const ModuleStats& stats, const StatsOrigin& origin, int width);

}  // namespace toroid
