// The frame of every command: exit status, error printing, --version.
//
//   int main(int argc, char** argv) {
//     CLI::App app("Converts HLO files.", "hlo-convert");
//     std::string input;
//     app.add_option("IN", input, "...")->required();
//     return toroid::RunCommand(app, argc, argv, [&] { return Convert(input); });
//   }
#pragma once

#include <functional>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

namespace toroid {

inline constexpr int kExitSuccess = 0;
inline constexpr int kExitFailure = 1;  // The input cannot be processed, or a check failed.
inline constexpr int kExitUsage = 2;    // Unknown flags, bad values.

// Parses the flags, runs `run` and returns the exit status. --help and --version print to standard output and
// succeed. An error is one line on standard error. A usage error is printed behind the command's name, and
// for an unknown flag it suggests the nearest one; an error of `run` is printed unchanged.
int RunCommand(CLI::App& app, int argc, char** argv, const std::function<absl::Status()>& run);

}  // namespace toroid
