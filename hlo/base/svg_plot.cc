#include "hlo/base/svg_plot.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace toroid {

std::string GnuplotString(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "''"}, {"\n", " "}}), "'");
}

absl::Status PlotSvg(const std::string& script, const std::string& path, int width, int height) {
  FILE* gnuplot = popen("gnuplot", "w");
  if (gnuplot == nullptr) return absl::UnavailableError("gnuplot cannot be started");
  const std::string whole = absl::StrCat("set terminal svg size ", width, ",", height,
                                         " font 'sans-serif,12' background rgb 'white'\nset output ",
                                         GnuplotString(path), "\n", script);
  const bool written = std::fwrite(whole.data(), 1, whole.size(), gnuplot) == whole.size();
  if (pclose(gnuplot) == 0 && written) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path, ": gnuplot failed; ./setup.sh --test installs it"));
}

}  // namespace toroid
