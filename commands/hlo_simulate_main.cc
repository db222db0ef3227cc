// hlo-simulate: predicts time and memory of an HLO program on a slice of a pod.
#include <map>
#include <string>

#include "CLI/CLI.hpp"
#include "commands/partition_flags.h"
#include "commands/simulate_command.h"
#include "hlo/base/command_line.h"

namespace {

constexpr char kHelp[] =
    R"(Predicts one execution of an HLO module on a slice of a pod: time, memory, what costs most.

A module with shardings is partitioned first, for the devices that they name; one that is partitioned already, by Toroid or
by XLA, is taken as it is. One that names no devices runs on one core.

  hlo-simulate step.hlo.pb --machine=tpu-v3-128                    a table
  hlo-simulate step.hlo.pb --explain=model.py:41                   why groups of that line take what they take
  hlo-simulate step.hlo.pb --report=step.html                      a page to look at; opens offline
  hlo-simulate step.hlo.pb --trace=step.trace.json                 for ui.perfetto.dev
  hlo-simulate step.hlo.pb --sweep=machine=tpu-v3-128,tpu-v3-256 --sweep_output=sizes
  hlo-simulate step.hlo.pb --set=network.link_bytes_per_second=100e9

Machines: slices of TPU v2, v3, v4, v5e, v5p, v6e and 7x by name ("tpu-v3-2048", "tpu7x-128"), several ("4xtpu-v6e-256"), or a
file (docs/machine_model.md).)";

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(kHelp, "hlo-simulate");
  toroid::SimulateCommand command;
  const auto take_all = CLI::MultiOptionPolicy::TakeAll;
  CLI::Option* input = app.add_option("IN", command.input, "The module, - for standard input")->required();
  app.add_option(
      "--machine", command.machine,
      "Slice, or FILE or FILE:SLICE; default: the smallest TPU v3 slice with a core for each device");
  app.add_option(
         "--rates", command.rates,
         "Whose times of groups: those that Google's compiler estimates, or, where the machine was measured and they "
         "do not hold, as measured")
      ->transform(CLI::CheckedTransformer(std::map<std::string, toroid::Rates>{
          {"compiler", toroid::Rates::kCompiler}, {"measured", toroid::Rates::kMeasured}}))
      ->option_text("compiler|measured [compiler]");
  toroid::AddPartitionFlags(app, &command.options);
  toroid::AddShardingFlags(app, &command.given);
  app.add_option("--device_assignment", command.device_assignment,
                 "Which core runs which device: row-major, topology, best, or a file of core numbers")
      ->option_text("row-major|topology|best|FILE");
  app.add_option("--set", command.parameters,
                 "A parameter of the machine, such as network.link_bytes_per_second=100e9")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->multi_option_policy(take_all);
  app.add_option("--kernel_cost", command.kernel_costs,
                 "What one execution of a custom call takes: NAME=TIME (my_kernel=250us) or NAME=FLOPS,BYTES")
      ->type_name("NAME=COST")
      ->expected(1)
      ->multi_option_policy(take_all);
  app.add_option("--without_rule", command.without_rules,
                 "A rule of the machine's compiler to leave out; repeated for several (docs/rules.md)")
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(take_all);
  app.add_flag_callback(
      "--list_rules",
      [&] {
        command.list_rules = true;
        input->required(false);
      },
      "Print all rules of the machine's compiler, as docs/rules.md has them");
  app.add_flag("--overlap", command.schedule.overlap,
               "Collectives overlap with computation that does not need them");
  app.add_option("--trip_count", command.schedule.unknown_trip_count,
                 "Trips of loops whose length the program does not show")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--branch_probability", command.schedule.costliest_branch_probability,
                 "How often a conditional takes its costliest branch; default: always")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option(
         "--explain", command.explain,
         "In place of the table: of each group and collective with TEXT in its instruction, class, name or line what its "
         "time is made of, and the rules that decided it; all: of all")
      ->type_name("TEXT");
  app.add_option("--json", command.json, "Write the prediction as JSON, - for standard output");
  app.add_option("--trace", command.trace, "Write a trace that ui.perfetto.dev opens");
  app.add_option("--report", command.report,
                 "Write a page with link loads, timeline, roofline, memory: *.html");
  app.add_option("--dump_lowered", command.dump_lowered,
                 "Write the module as the machine's compiler would run it");
  CLI::Option* sweep =
      app.add_option(
             "--sweep", command.sweep,
             "What-if: NAME=VALUE,VALUE of a machine's parameter, machine, num_partitions, mesh=A|B or shard=A|B; repeated: "
             "all combinations")
          ->type_name("NAME=VALUES")
          ->expected(1)
          ->multi_option_policy(take_all);
  app.add_option("--sweep_output", command.sweep_output, "Write the sweep to PREFIX.csv and PREFIX.html")
      ->needs(sweep);
  return toroid::RunCommand(app, argc, argv, [&] { return toroid::RunSimulateCommand(command); });
}
