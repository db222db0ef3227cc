#include "hlo/base/command_line.h"

#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "google/protobuf/stubs/logging.h"
#include "hlo/base/allocator.h"
#include "hlo/base/suggestion.h"
#include "hlo/base/version.h"

namespace toroid {
namespace {

void PrintError(absl::string_view what) {
  const std::string line = absl::StrReplaceAll(what, {{"\n", " "}, {"\r", " "}});
  std::fprintf(stderr, "%s\n", line.c_str());
}

// The first argument that looks like a flag but is not a known one; "" if there is none.
std::string UnknownFlag(const CLI::App& app) {
  for (const std::string& argument : app.remaining()) {
    if (argument.size() > 1 && argument[0] == '-') return argument.substr(0, argument.find('='));
  }
  return "";
}

std::string UsageError(const CLI::App& app, const CLI::ParseError& error) {
  const std::string flag = UnknownFlag(app);
  if (flag.empty()) return error.what();
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(absl::StrCat("--", name));
    for (const std::string& name : option->get_snames()) names.push_back(absl::StrCat("-", name));
  }
  // -num_partitions for --num_partitions.
  const std::string full = flag.substr(0, 2) == "--" ? flag : absl::StrCat("-", flag);
  return absl::StrCat("there is no flag ", flag, DidYouMean(full, names));
}

}  // namespace

int RunCommand(CLI::App& app, int argc, char** argv, const std::function<absl::Status()>& run) {
  google::protobuf::SetLogHandler(nullptr);  // Protobuf's own messages would add lines.
  app.set_version_flag("--version", absl::StrCat(app.get_name(), " (Toroid) ", kVersion),
                       "Print the version");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return kExitSuccess;
  } catch (const CLI::CallForVersion& version) {
    std::printf("%s\n", version.what());
    return kExitSuccess;
  } catch (const CLI::ParseError& error) {
    PrintError(app.get_name() + ": " + UsageError(app, error) + " (--help explains the flags)");
    return kExitUsage;
  }
  absl::Status status;
  try {
    status = run();
  } catch (const std::bad_alloc&) {
    status = absl::ResourceExhaustedError(app.get_name() + ": out of memory");
  }
  // Output that could not be written is an error.
  if (status.ok() && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) {
    status = absl::UnavailableError(app.get_name() + ": standard output cannot be written");
  }
  if (status.ok()) return kExitSuccess;
  PrintError({status.message().data(), status.message().size()});
  return kExitFailure;
}

}  // namespace toroid
