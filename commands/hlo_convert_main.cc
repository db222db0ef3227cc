// hlo-convert: any HLO file format to any other.
#include <cstdio>
#include <map>
#include <string>

#include "CLI/CLI.hpp"
#include "commands/file_names.h"
#include "hlo/analysis/module_stats.h"
#include "hlo/analysis/module_stats_report.h"
#include "hlo/base/command_line.h"
#include "hlo/base/status.h"
#include "hlo/base/terminal.h"
#include "hlo/io/file.h"

namespace {

using toroid::Format;
using toroid::HloFile;

constexpr char kHelp[] =
    R"(Converts an HLO module from any format to any other.

IN may be an HloModuleProto, HloProto, HloSnapshot or HloUnoptimizedSnapshot (binary, protobuf text or JSON), HLO
text or StableHLO text, compressed with gzip or not; the format is recognised from the content. OUT's name says what is written:
  *snapshot.pb   HloSnapshot      *.hlo, *.txt   HLO text
  *unoptimized_snapshot.pb        HloUnoptimizedSnapshot, its arguments streamed behind it as XLA does
  *.pbtxt        protobuf text    *.json         JSON
  *.mlir         StableHLO text
  *.pb           binary, the container of the input (HloProto for text)
and with .gz behind it, the same compressed. Other names need --format.

  hlo-convert module.hlo.pb -o module.hlo
  hlo-convert module.txt -o - --format=pbtxt
  hlo-convert module.hlo.pb --stats)";

std::string Stats(const HloFile& file, const std::string& form) {
  const toroid::ModuleStats stats = toroid::ComputeModuleStats(*file.module);
  const toroid::StatsOrigin origin = {toroid::ContainerName(file.container), file.HasArguments()};
  return form == "json" ? toroid::ModuleStatsJson(stats, origin) + "\n"
                        : toroid::ModuleStatsTable(stats, origin, toroid::OutputWidth());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(kHelp, "hlo-convert");
  std::string input, output, stats;
  std::string format = "text";
  const std::map<std::string, Format> formats = {{"text", Format::kHloText},
                                                 {"stablehlo", Format::kStableHlo},
                                                 {"pb", Format::kContainer},
                                                 {"snapshot", Format::kSnapshot},
                                                 {"unoptimized_snapshot", Format::kUnoptimizedSnapshot},
                                                 {"pbtxt", Format::kProtoText},
                                                 {"json", Format::kJson}};
  app.add_option("IN", input, "The file to read, - for standard input")->required();
  CLI::Option* out_option = app.add_option("-o", output, "The file to write, - for standard output");
  CLI::Option* format_option =
      app.add_option("--format", format, "Write this format instead of the one OUT's name asks for")
          ->check(
              CLI::IsMember({"text", "stablehlo", "pb", "snapshot", "unoptimized_snapshot", "pbtxt", "json"}))
          ->type_name("FORMAT")
          ->needs(out_option);
  CLI::Option* stats_option = app.add_flag("--stats{table}", stats,
                                           "Print what is in the module: opcodes, types, work, parameters, "
                                           "largest arrays, calls, collectives, "
                                           "shardings; as tables, or as one line of JSON with --stats=json")
                                  ->check(CLI::IsMember({"table", "json"}))
                                  ->type_name("[=table|json]");
  app.callback([&] {
    if (!*out_option && !*stats_option) throw CLI::RequiredError("-o or --stats");
    if (*out_option && !*format_option) toroid::CheckOutputName(output, "; or give --format");
  });
  return toroid::RunCommand(app, argc, argv, [&]() -> absl::Status {
    ASSIGN_OR_RETURN(HloFile file, toroid::ReadHloFile(input));
    if (*out_option) {
      const bool by_name = !*format_option && output != "-";
      RETURN_IF_ERROR(by_name ? toroid::WriteHloFile(file, output)
                              : toroid::WriteHloFile(file, output, formats.at(format)));
    }
    if (*stats_option) std::fputs(Stats(file, stats).c_str(), stdout);
    toroid::PrintWarnings(file);
    return absl::OkStatus();
  });
}
