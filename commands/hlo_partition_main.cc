// hlo-partition: turns a global HLO program with shardings into the program of one partition.
#include <map>
#include <string>

#include "CLI/CLI.hpp"
#include "commands/file_names.h"
#include "commands/partition_command.h"
#include "commands/partition_flags.h"
#include "commands/search_command.h"
#include "hlo/base/command_line.h"

namespace {

constexpr char kHelp[] =
    R"(Partitions an HLO module into one SPMD program for any number of devices.

Shardings are read from the module (GSPMD `sharding` fields or Shardy `xla.sdy.*` attributes) and from --shard, and
propagated to every value; then every op is rewritten for one partition, with the collectives it needs.

  hlo-partition step.hlo.pb -o step.spmd.hlo.pb --stats=-
  hlo-partition step.hlo.pb --explain
  hlo-partition layer.hlo --shard 'parameter(0)={devices=[8,1]<=[8]}' --num_partitions=8 -o layer.spmd.hlo)";

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(kHelp, "hlo-partition");
  toroid::PartitionCommand command;
  std::string format, explain;
  const std::map<std::string, toroid::Format> formats = {{"text", toroid::Format::kHloText},
                                                         {"stablehlo", toroid::Format::kStableHlo},
                                                         {"pb", toroid::Format::kContainer},
                                                         {"pbtxt", toroid::Format::kProtoText},
                                                         {"json", toroid::Format::kJson}};
  const std::map<std::string, toroid::ExplainMode> modes = {{"grouped", toroid::ExplainMode::kGrouped},
                                                            {"full", toroid::ExplainMode::kFull},
                                                            {"json", toroid::ExplainMode::kJson},
                                                            {"full_json", toroid::ExplainMode::kFullJson},
                                                            {"plan", toroid::ExplainMode::kPlan}};
  app.add_option("IN", command.input, "The module to partition, - for standard input")->required();
  toroid::AddPartitionFlags(app, &command.options);
  app.add_option("-o", command.output, "The file to write, - for standard output; its name says the format");
  app.add_option("--format", format, "Write this format instead of the one the output's name asks for")
      ->check(CLI::IsMember({"text", "stablehlo", "pb", "pbtxt", "json"}));
  toroid::AddShardingFlags(app, &command.given);
  toroid::AddSearchFlags(app, &command.search);
  app.add_option("--annotations", command.annotations,
                 "File of NAME=SHARDING lines, # begins a comment; with --search it is written");
  app.add_option("--plan", command.plan,
                 "Partition by the plan in this file, as --explain=plan prints it, instead of choosing one");
  app.add_flag("--replicate_outputs", command.options.replicate_outputs,
               "Replicate all results on every device");
  app.add_option(
         "--why", command.why,
         "Print why this value is cut as it is, or why it is not: an instruction, a name of --explain, parameter(K), "
         "output{K}, or a glob on op_name")
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option(
      "--why_json", command.why_json,
      "Write for all cut values where their axes come from, as JSON to a file, - for standard output");
  app.add_option(
         "--what_if,--what-if", command.what_if,
         "Try this sharding, in place of the module's own, and print the program's bytes, flops and memory beside those "
         "without it; NAME as for --shard")
      ->type_name("NAME=SHARDING")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag(
      "--advise", command.advise,
      "Try changes of the annotations behind the largest collectives, and print at most three that make the program "
      "send less");
  app.add_flag(
      "--frames", command.frames,
      "Print for each row of --explain the calls that led to it, whose they are, and which one the row names");
  const auto files_of = [&](const char* name, std::vector<std::string>* files, const char* help) {
    app.add_option(name, *files, help)
        ->type_name("PART")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  files_of("--author", &command.author_files.author,
           "Lines are of files whose names have this part, such as maxtext/layers/");
  files_of("--not_author", &command.author_files.not_author,
           "Lines are not of files whose names have this part, such as utils/sharding.py");
  app.add_option("--stats", command.stats,
                 "Write time, collectives, flops and memory as JSON to a file, - for standard output");
  CLI::Option* explain_option =
      app.add_flag(
             "--explain{grouped}", explain,
             "Print which instruction and source line needs each collective; rows that differ by a layer's "
             "number alone are one, with --explain=full none are; also for modules partitioned already. json and "
             "full_json: the same as JSON. --explain=plan prints the plan instead: how each array is cut and each op computed")
          ->check(CLI::IsMember(modes));
  app.add_option(
      "--html", command.html,
      "Write the explanation as a page for a browser: one file that opens without a network; - for standard output");
  std::string html_sources = "lines";
  app.add_option(
         "--html_sources", html_sources,
         "What the page holds of source files that are at hand: lines, those that cause communication and lines around "
         "them; or none")
      ->check(CLI::IsMember({"lines", "none"}));
  app.add_option(
      "--machine", command.machine,
      "Decide by predicted seconds on this slice, such as tpu-v3-128 (hlo-simulate), instead of by bytes; "
      "--explain adds time and share of the step");
  app.add_flag("--check", command.check,
               "Run the partitioned program on simulated devices and compare it with the unpartitioned run");
  app.add_option("--dump_dir", command.dump_dir,
                 "Write the module after each phase and pass into this folder");
  app.add_flag("--verify", command.verify, "Verify the module after each phase and pass; an error names it");
  app.callback([&] {
    if (!command.output.empty() && format.empty()) {
      toroid::CheckOutputName(command.output, "; or give --format");
    }
  });
  return toroid::RunCommand(app, argc, argv, [&] {
    if (!format.empty()) command.format = formats.at(format);
    command.html_sources = html_sources == "lines";
    if (*explain_option) {
      command.explain = modes.at(explain);
    }
    return toroid::RunPartitionCommand(command);
  });
}
