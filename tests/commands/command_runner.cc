#include "tests/commands/command_runner.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace toroid {
namespace {

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

int64_t Outcome::ErrorLines() const { return std::count(err.begin(), err.end(), '\n'); }

std::string TempPath(const std::string& name) { return absl::StrCat(::testing::TempDir(), "/", name); }

std::string TempFile(const std::string& name, const std::string& content) {
  std::ofstream(TempPath(name), std::ios::binary) << content;
  return TempPath(name);
}

Outcome RunShell(const std::string& command) {
  const std::string out = TempPath("stdout"), err = TempPath("stderr");
  Outcome outcome;
  const int status =
      std::system(absl::StrCat("{ ", command, "\n} >", out, " 2>", err, " </dev/null").c_str());
  // The shell reports a signal as 128 and more.
  outcome.exit = WIFEXITED(status) && WEXITSTATUS(status) < 128 ? WEXITSTATUS(status) : -1;
  outcome.out = Content(out);
  outcome.err = Content(err);
  return outcome;
}

}  // namespace toroid
