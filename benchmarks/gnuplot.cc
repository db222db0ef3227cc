#include "benchmarks/gnuplot.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace toroid {

absl::Status PlotSvg(const std::string& script, const std::string& path) {
  FILE* gnuplot = popen("gnuplot", "w");
  if (gnuplot == nullptr) return absl::UnavailableError("gnuplot cannot be started");
  const std::string whole = absl::StrCat(
      "set terminal svg size 860,420 font 'sans-serif,12' background rgb 'white'\nset output '", path, "'\n", script);
  const bool written = std::fwrite(whole.data(), 1, whole.size(), gnuplot) == whole.size();
  if (pclose(gnuplot) == 0 && written) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path, ": gnuplot failed; ./setup.sh --test installs it"));
}

std::string ResultPath(const std::string& name) {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  return absl::StrCat(workspace == nullptr ? "." : workspace, "/benchmarks/results/", name);
}

}  // namespace toroid
