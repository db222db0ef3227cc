#include "hlo/base/command_line.h"

#include <cstdio>
#include <new>
#include <string>

#include "absl/strings/str_replace.h"
#include "google/protobuf/stubs/logging.h"

namespace toroid {
namespace {

void PrintError(absl::string_view what) {
  const std::string line = absl::StrReplaceAll(what, {{"\n", " "}, {"\r", " "}});
  std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace

int RunCommand(CLI::App& app, int argc, char** argv, const std::function<absl::Status()>& run) {
  google::protobuf::SetLogHandler(nullptr);  // Errors are one line, ours.
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return kExitSuccess;
  } catch (const CLI::ParseError& error) {
    PrintError(app.get_name() + ": " + error.what() + " (--help explains the flags)");
    return kExitUsage;
  }
  absl::Status status;
  try {
    status = run();
  } catch (const std::bad_alloc&) {
    status = absl::ResourceExhaustedError(app.get_name() + ": out of memory");
  }
  // What was printed must have arrived.
  if (status.ok() && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) {
    status = absl::UnavailableError(app.get_name() + ": standard output cannot be written");
  }
  if (status.ok()) return kExitSuccess;
  PrintError({status.message().data(), status.message().size()});
  return kExitFailure;
}

}  // namespace toroid
