// Places and plots of benchmark results.
#pragma once

#include <string>

#include "hlo/base/svg_plot.h"

namespace toroid {

// benchmarks/results/NAME in the workspace under `bazel run`, else NAME in the current folder.
std::string ResultPath(const std::string& name);

}  // namespace toroid
