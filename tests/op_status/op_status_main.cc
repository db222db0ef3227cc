// Probes every opcode and prints docs/op_status.md.
//
//   bazel run -c opt //tests/op_status              the page on standard output
//   bazel run -c opt //tests/op_status -- --write   the page into docs/ of the workspace
//
// If something fails, the reasons go to standard error, and the exit status is 1.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "hlo/base/files.h"
#include "tests/op_status/op_probe.h"

int main(int argc, char** argv) {
  const bool write = argc == 2 && absl::string_view(argv[1]) == "--write";
  if (argc > 1 && !write) {
    std::fprintf(stderr, "op_status: usage: op_status [--write]\n");
    return 2;
  }
  const std::vector<toroid::OpStatus> statuses = toroid::ProbeOpcodes();
  int failures = 0;
  for (const toroid::OpStatus& status : statuses) {
    for (const std::string& failure : status.failures) {
      std::fprintf(stderr, "%s\n", failure.c_str());
      ++failures;
    }
  }
  const std::string page = toroid::StatusPage(statuses);
  if (!write) {
    std::fputs(page.c_str(), stdout);
    return failures > 0;
  }
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  const std::string path = absl::StrCat(workspace == nullptr ? "." : workspace, "/docs/op_status.md");
  if (const absl::Status status = toroid::WriteFile(path, page); !status.ok()) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    return 1;
  }
  return failures > 0;
}
