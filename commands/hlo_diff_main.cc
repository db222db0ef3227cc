// hlo-diff: where two partitioned HLO programs differ.
#include <string>

#include "CLI/CLI.hpp"
#include "commands/diff_command.h"
#include "hlo/base/command_line.h"
#include "hlo/base/status.h"

namespace {

constexpr char kHelp[] =
    R"(Says where two partitioned HLO modules differ: what each sends, computes and holds, by line of the author's program.

Both are the program of one device, whoever partitioned them: Toroid or XLA (a dump's after_spmd-partitioning or
after_optimizations), in any format. Instructions are matched by what they compute, not by their names or order.

  hlo-diff before.hlo.pb after.hlo.pb                    a summary, figures, and rows for what differs
  hlo-diff before.hlo.pb after.hlo.pb --machine=tpu-v3-8 with predicted times
  hlo-diff before.hlo.pb after.hlo.pb --html=diff.html   a page to look at; opens offline
  hlo-diff ours.hlo.pb xla.hlo.pb --json=-               for programs

Exit status: 0 if both are the same program, 1 if they differ, 2 if something went wrong.)";

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(kHelp, "hlo-diff");
  toroid::DiffCommand command;
  app.add_option("A", command.a, "A module, - for standard input")->required();
  app.add_option("B", command.b, "The module to compare it with, - for standard input")->required();
  app.add_option("--machine", command.machine,
                 "Slice, or FILE or FILE:SLICE, as for hlo-simulate: compares predicted times, too");
  app.add_flag("--full", command.full, "Print all rows, not only those that differ most");
  app.add_option("--label", command.labels,
                 "What to call the modules, given twice; default: the names of their files")
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.callback([&] {
    if (command.labels.size() == 1 || command.labels.size() > 2)
      throw CLI::ValidationError("--label", "give it twice, or not");
  });
  app.add_option("--html", command.html,
                 "Write the comparison as a page for a browser, - for standard output");
  app.add_option("--json", command.json, "Write the comparison as JSON, - for standard output");
  bool differs = false;
  const int exit = toroid::RunCommand(app, argc, argv, [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const bool same, toroid::RunDiffCommand(command));
    differs = !same;
    return absl::OkStatus();
  });
  // As diff has it: 1 says that the inputs differ, so that all errors are 2.
  if (exit != toroid::kExitSuccess) return toroid::kExitUsage;
  return differs ? toroid::kExitFailure : toroid::kExitSuccess;
}
