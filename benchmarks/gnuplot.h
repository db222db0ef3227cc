// Plots of benchmarks, drawn by gnuplot (a package of the distribution that setup.sh --test installs).
#ifndef TOROID_BENCHMARKS_GNUPLOT_H_
#define TOROID_BENCHMARKS_GNUPLOT_H_

#include <string>

#include "absl/status/status.h"

namespace toroid {

// Runs `script` after `set terminal svg` and `set output` for `path`.
// Errors: kUnavailable if gnuplot is not there, or fails.
absl::Status PlotSvg(const std::string& script, const std::string& path);

// benchmarks/results/NAME in the workspace under `bazel run`, else in the current folder.
std::string ResultPath(const std::string& name);

}  // namespace toroid

#endif  // TOROID_BENCHMARKS_GNUPLOT_H_
