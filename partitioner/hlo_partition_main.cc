// hlo-partition: a global HLO program with shardings becomes the program of one partition.
#include <map>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "hlo/base/command_line.h"
#include "partitioner/partition_command.h"

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
  std::string format, device_order;
  const std::map<std::string, toroid::Format> formats = {{"text", toroid::Format::kHloText},
                                                         {"pb", toroid::Format::kContainer},
                                                         {"pbtxt", toroid::Format::kProtoText},
                                                         {"json", toroid::Format::kJson}};
  app.add_option("IN", command.input, "The module to partition, - for standard input")->required();
  app.add_option("--num_partitions", command.options.num_partitions,
                 "Number of devices; default: what the module's shardings name")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 23));
  app.add_option("-o", command.output, "The file to write, - for standard output; its name says the format");
  app.add_option("--format", format, "Write this format instead of the one the output's name asks for")
      ->check(CLI::IsMember({"text", "pb", "pbtxt", "json"}));
  app.add_option("--shard", command.shardings, "NAME=SHARDING; NAME: an instruction, parameter(K), output{K}, or a glob on op_name")
      ->type_name("NAME=SHARDING")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--annotations", command.annotations, "File of NAME=SHARDING lines, # begins a comment");
  app.add_flag("--replicate_outputs", command.options.replicate_outputs, "Give every device all results whole");
  app.add_option("--device_order", device_order, "random:SEED relabels the devices of all shardings")
      ->check([](const std::string& value) {
        absl::string_view seed = value;
        uint64_t number;
        return absl::ConsumePrefix(&seed, "random:") && absl::SimpleAtoi(seed, &number)
                   ? std::string()
                   : std::string("expected random:SEED with a number");
      });
  app.add_flag("--poison_padding", command.options.poison_padding,
               "Test aid: write garbage beyond the valid part of every uneven shard");
  app.add_option("--stats", command.stats, "Write time, collectives, flops and memory as JSON to a file, - for standard output");
  app.add_flag("--explain", command.explain, "Print which instruction and source line needs each collective");
  app.add_option("--dump_dir", command.dump_dir, "Write the module after each phase into this folder");
  return toroid::RunCommand(app, argc, argv, [&]() -> absl::Status {
    if (!format.empty()) command.format = formats.at(format);
    if (!device_order.empty()) {
      absl::string_view seed = device_order;
      uint64_t number = 0;
      absl::ConsumePrefix(&seed, "random:");
      if (absl::SimpleAtoi(seed, &number)) command.options.device_order_seed = number;
    }
    return toroid::RunPartitionCommand(command);
  });
}
