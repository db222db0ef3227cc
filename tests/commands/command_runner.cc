#include "tests/commands/command_runner.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/base/status.h"

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
  // The shell reports a signal as 128 plus its number.
  outcome.exit = WIFEXITED(status) && WEXITSTATUS(status) < 128 ? WEXITSTATUS(status) : -1;
  outcome.out = Content(out);
  outcome.err = Content(err);
  return outcome;
}

std::string MpiFolder() {
  // Short, because socket names have at most 107 characters.
  static const class Folder {
   public:
    Folder() { TOROID_CHECK(mkdtemp(path_) != nullptr, "no folder in /tmp"); }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path_, ignored);
    }
    std::string path() const { return path_; }

   private:
    char path_[32] = "/tmp/ranks.XXXXXX";
  } folder;
  return absl::StrCat("TMPDIR=", folder.path(), " OMPI_MCA_btl_vader_backing_directory=", folder.path(), " ");
}

std::string Mpirun() { return MpiFolder() + "mpirun --oversubscribe --allow-run-as-root "; }

}  // namespace toroid
