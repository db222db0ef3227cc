// router_efficiency: the table of the share of the links' rates that blocked packets leave, for slices of a
// machine.
//
//   bazel run -c opt //benchmarks:router_efficiency -- tpu-v3-16 tpu-v3-32 ... >
//   simulator/machines/tpu_v3_router.textproto
// Simulates each pattern packet by packet, at several payloads, with the router of the machine, and writes a
// RouterEfficiencyTable in the text format. Takes minutes for all of TPU v3; shows progress on standard
// error.
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "hlo/base/command_line.h"
#include "hlo/base/status.h"
#include "simulator/collectives/packet_efficiency.h"
#include "simulator/machines/machine.h"
#include "simulator/network/topology.h"

namespace toroid {
namespace {

struct Pattern {
  const char* name;
  std::vector<int64_t> bytes;
};
const Pattern kPatterns[] = {
    {"all-to-all", {64 << 10, 1 << 20, 8 << 20, 32 << 20}},
    {"permute", {64 << 10, 1 << 20}},
};

absl::Status WriteTable(const std::vector<std::string>& names) {
  RouterEfficiencyTable table;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const Machine machine, LoadMachine(name));
    const NetworkSpec& network = machine.family.network();
    *table.mutable_router() = network.router();
    table.set_link_bytes_per_second(network.link_bytes_per_second());
    table.set_hop_latency_seconds(network.hop_latency_seconds());
    ASSIGN_OR_RETURN(const Topology topology,
                     Topology::Create(network, machine.slice, machine.family.cores_per_chip()));
    for (const Pattern& pattern : kPatterns) {
      for (const int64_t bytes : pattern.bytes) {
        RouterEfficiencyTable::Row row;
        row.set_pattern(pattern.name);
        for (const TopologyAxis& axis : topology.axes()) {
          row.add_chips(axis.size);
          row.add_far_wrap(axis.far_wrap);
        }
        row.set_cores_per_chip(topology.cores_per_chip());
        row.set_bytes_per_core(bytes);
        ASSIGN_OR_RETURN(*table.add_rows(), ComputeRouterEfficiency(network, row));
        std::fprintf(stderr, "%s, %s, %lld bytes: %.4f\n", name.c_str(), pattern.name,
                     static_cast<long long>(bytes), table.rows().rbegin()->efficiency());
      }
    }
  }
  std::string text;
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseShortRepeatedPrimitives(true);
  printer.PrintToString(table, &text);
  std::printf(
      "# proto-file: simulator/machines/network.proto\n# proto-message: RouterEfficiencyTable\n"
      "# Written by //benchmarks:router_efficiency; do not edit.\n%s",
      text.c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Computes the router efficiencies of slices, packet by packet.", "router_efficiency");
  std::vector<std::string> slices;
  app.add_option("SLICE", slices, "Slices built in, or of a machine's file")->required();
  return toroid::RunCommand(app, argc, argv, [&] { return toroid::WriteTable(slices); });
}
