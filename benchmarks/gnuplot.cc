#include "benchmarks/gnuplot.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace toroid {

std::string ResultPath(const std::string& name) {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  return absl::StrCat(workspace == nullptr ? "." : workspace, "/benchmarks/results/", name);
}

}  // namespace toroid
