// Plots, drawn by gnuplot (a package of the distribution that setup.sh --test installs).
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace toroid {

// Runs `script` after `set terminal svg` and `set output` for `path`; 860 by 420 unless said otherwise.
// Errors: kUnavailable if gnuplot is not installed, or fails.
absl::Status PlotSvg(const std::string& script, const std::string& path, int width = 860, int height = 420);

// `text` as a gnuplot string, in single quotes.
std::string GnuplotString(absl::string_view text);

}  // namespace toroid
