// Places and plots of benchmark results.
#ifndef TOROID_BENCHMARKS_GNUPLOT_H_
#define TOROID_BENCHMARKS_GNUPLOT_H_

#include <string>

#include "hlo/base/svg_plot.h"

namespace toroid {

// benchmarks/results/NAME in the workspace under `bazel run`, else NAME in the current folder.
std::string ResultPath(const std::string& name);

}  // namespace toroid

#endif  // TOROID_BENCHMARKS_GNUPLOT_H_
