// hlo-run: runs an HLO module with real values on a simulated mesh.
#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "commands/file_names.h"
#include "commands/partition_flags.h"
#include "commands/partition_on_demand.h"
#include "commands/run_command.h"
#include "hlo/base/command_line.h"
#include "hlo/base/status.h"
#include "runtime/arguments/numpy_arguments.h"
#include "runtime/loops/processor_level.h"

namespace {

constexpr char kHelp[] =
    R"(Runs an HLO module with real values, on one device or on a simulated mesh.

A module with shardings is partitioned first, for the devices that they name; a module that is partitioned already runs
on its devices. Global arguments are cut, and results put together, by the recorded shardings.

  hlo-run layer.snapshot.pb --check               compare partitioned, unpartitioned and recorded results
  hlo-run layer.hlo --num_partitions=1            print the result for generated arguments
  hlo-run layer.hlo --args=in.npz -o out.npz      NumPy arrays in and out
  hlo-run layer.hlo --args=in.npz -o out.snapshot.pb
  mpirun -n 4 hlo-run layer.hlo --transport=mpi   a quarter of the devices on each of 4 ranks)";

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(kHelp, "hlo-run");
  toroid::HloRunCommand command;
  toroid::PartitionOptions options;
  command.partition = [&](const toroid::Module& module,
                          int64_t num_partitions) -> absl::StatusOr<std::shared_ptr<const toroid::Module>> {
    toroid::PartitionOptions chosen = options;
    chosen.num_partitions = num_partitions;
    return toroid::PartitionOnDemand(module, chosen);
  };
  app.add_option("IN", command.input, "The module to run, - for standard input")->required();
  toroid::AddPartitionFlags(app, &options);
  toroid::AddShardingFlags(app, &command.given);
  app.add_option("--replicas", command.num_replicas,
                 "Number of replicas; default: what the module says, else what its collectives name")
      ->check(CLI::PositiveNumber);
  app.add_option("--args", command.args,
                 "Arguments: an HloSnapshot, or NumPy arrays as .npz or (one) .npy; default: those in IN, "
                 "else generated");
  app.add_option("--seed", command.seed, "Seed of the generated arguments");
  CLI::Option* check =
      app.add_flag("--check", command.check,
                   "Compare with the unpartitioned run and the recorded result; prints one JSON line, exit "
                   "status 1 if they "
                   "differ");
  app.add_option(
         "--expect", command.expected,
         "With --check: the result to compare with, too, instead of the recorded one: an HloSnapshot, .npz or .npy")
      ->needs(check);
  app.add_option("--tolerance", command.tolerance, "Relative error allowed; default: by element type")
      ->check(CLI::Validator(
          [](std::string& text) -> std::string {
            double value;
            if (absl::SimpleAtod(text, &value) && std::isfinite(value) && value >= 0) return "";
            return text + " is no finite number of 0 or more";
          },
          "NUMBER"));
  app.add_flag(
      "--promote", command.promote,
      "Run without rounding: floats in f64, rounded only where their bits count; with --check: errors by output");
  CLI::Option* plan =
      app.add_flag("--plan", command.plan,
                   "Print what would run, step by step: groups of instructions, bytes read and written");
  app.add_flag("--profile", command.profile,
               "Print where the time of the run goes, by step and line of source, on standard error");
  app.add_option("--trace", command.trace, "Write the times of the run's steps as JSON for ui.perfetto.dev");
  app.add_option("--max_bytes", command.max_bytes,
                 "Most memory for values, such as 4GiB; default: four fifths of what is available")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/true))
      ->check(CLI::PositiveNumber);
  app.add_option("--transport", command.transport,
                 "local: all devices in this process; mpi: an equal share of them on each rank of mpirun")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, toroid::TransportKind>{{"local", toroid::TransportKind::kLocal},
                                                       {"mpi", toroid::TransportKind::kMpi}},
          CLI::ignore_case))
      ->option_text("local|mpi");
  app.add_option_function<std::string>(
         "--processor",
         [&](const std::string& name) {
           for (const toroid::ProcessorLevel level : toroid::kProcessorLevels) {
             if (name == toroid::NameOf(level)) command.processor = level;
           }
         },
         "Level of x86-64 whose instructions are used; default: the highest that this processor has")
      ->check(CLI::IsMember({"x86-64-v2", "x86-64-v3", "x86-64-v4"}))
      ->option_text("x86-64-v2|x86-64-v3|x86-64-v4");
  app.add_option("--infeed", command.infeed, ".npz file whose arrays the infeeds take, in order");
  app.add_option("--outfeed", command.outfeed,
                 ".npz file to write, with the arrays the outfeeds give, in order");
  app.add_option(
      "-o", command.output,
      "Write the result as *.npz or *.npy (one array), else an HloSnapshot with arguments and result, - for "
      "standard output; *.gz: compressed");
  for (const char* runs : {"--check", "--profile", "--trace", "-o"}) plan->excludes(app.get_option(runs));
  app.callback([&] {
    if (command.output.empty() || toroid::IsNumpyName(command.output)) return;
    toroid::CheckOutputName(command.output, "; or .npz and .npy for NumPy arrays");
  });
  return toroid::RunCommand(app, argc, argv, [&]() -> absl::Status {
    if (command.processor.has_value()) RETURN_IF_ERROR(toroid::UseProcessorLevel(*command.processor));
    command.num_partitions = options.num_partitions;
    for (int i = 1; i < argc; ++i) command.command_line += std::string(i > 1 ? " " : "") + argv[i];
    return toroid::RunHloCommand(command);
  });
}
