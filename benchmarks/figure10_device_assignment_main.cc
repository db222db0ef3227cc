// figure10_device_assignment: the cost of the devices' places on the torus, for a 2-D mesh, after GShard's
// figure 10.
//
//   bazel run -c opt //benchmarks:figure10_device_assignment
// A tensor cut R x C (device r * C + c holds tile (r, c)) is summed (all-reduce) or cut along another
// dimension (all-to-all): along the rows of its mesh, along its columns, or first along one and then along
// the other. Each device takes part with 8 MiB. The programs are partitioned and simulated on slices of TPU
// v3 under the assignments of hlo-simulate --device_assignment: row-major, topology, best. Prints times and
// link loads, and writes them to benchmarks/results/figure10_device_assignment.txt, with a plot beside it.
// Source: GShard, arXiv:2006.16668, figure 10, which shows a good and a bad assignment for 2 x 4 partitions
// that exchange data along rows, and gives no times.
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/gnuplot.h"
#include "hlo/base/command_line.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/builder/builder.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/machines/machine.h"
#include "simulator/stages/place_devices.h"
#include "simulator/stages/simulate.h"

namespace toroid {
namespace {

constexpr int64_t kElements = 2 << 20;  // Per device, f32.
constexpr const char* kMethods[] = {"row-major", "topology", "best"};
constexpr std::pair<int64_t, int64_t> kMeshes[] = {{2, 4}, {4, 4}, {16, 8}, {4, 512}, {64, 32}};

struct Load {
  double microseconds = 0;
  double busiest = 0, mean = 0;  // Share of the time in which links carry bytes.
};

struct Case {
  int64_t rows, columns;
  bool all_to_all;
  bool along_rows, along_columns;
  std::array<Load, 3> loads = {};  // By method of assignment.

  std::string Name() const {
    return absl::StrCat(rows, " x ", columns, " ", all_to_all ? "all-to-all" : "all-reduce", " ",
                        along_rows && along_columns ? "both"
                        : along_rows                ? "rows"
                                                    : "columns");
  }
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const auto& [rows, columns] : kMeshes) {
    for (const bool all_to_all : {false, true}) {
      cases.push_back({rows, columns, all_to_all, true, false});
      cases.push_back({rows, columns, all_to_all, false, true});
      cases.push_back({rows, columns, all_to_all, true, true});
    }
  }
  return cases;
}

absl::StatusOr<std::unique_ptr<Module>> BuildCase(const Case& c) {
  const int64_t devices = c.rows * c.columns;
  Builder b("device_assignment", devices);
  b.SetMesh({{{"row", c.rows}, {"column", c.columns}}});
  std::vector<Value> results;
  // Devices of one row differ in their column, and exchange along it.
  const auto exchange = [&](bool along_rows) {
    const int64_t members = along_rows ? c.columns : c.rows;
    const char* kept = along_rows ? "row" : "column";
    const char* moved = along_rows ? "column" : "row";
    const int64_t outer = devices / members;
    Value x = b.Shard(b.Parameter(Shape(xla::F32, {outer, members, kElements}), absl::StrCat("along_", kept)),
                      {kept, moved, {}});
    results.push_back(c.all_to_all ? b.Shard(b.Negate(x), {kept, {}, moved})
                                   : b.Shard(b.Sum(x, {1}), {kept, {}}));
  };
  if (c.along_rows) exchange(true);
  if (c.along_columns) exchange(false);
  return b.Build(b.Tuple(results));
}

absl::StatusOr<Load> LoadUnder(const std::string& method, const Module& partition, const Machine& machine) {
  SimulationOptions options;
  options.machine = machine;
  options.keep_timeline = true;
  ASSIGN_OR_RETURN(options.core_of_device, PlaceDevices(method, partition, machine));
  ASSIGN_OR_RETURN(const Simulation simulation, Simulate(partition, options));
  Load load;
  std::vector<double> busy;  // Microseconds per link.
  for (const PredictedCollective& collective : simulation.prediction.collectives) {
    const double microseconds = collective.executions * static_cast<double>(collective.picoseconds) * 1e-6;
    load.microseconds += microseconds;
    if (collective.link_load < 0) continue;
    const std::vector<float>& loads = simulation.prediction.network.link_loads[collective.link_load];
    busy.resize(loads.size(), -1);
    for (size_t l = 0; l < loads.size(); ++l) {
      if (loads[l] >= 0) busy[l] = std::max(busy[l], 0.0) + loads[l] * microseconds;
    }
  }
  int64_t links = 0;
  for (const double b : busy) {
    if (b < 0) continue;
    ++links;
    load.busiest = std::max(load.busiest, b / load.microseconds);
    load.mean += b / load.microseconds;
  }
  if (links > 0) load.mean /= static_cast<double>(links);
  return load;
}

absl::Status SimulateCase(Case* c) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, BuildCase(*c));
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*module, PartitionOptions()));
  ASSIGN_OR_RETURN(const Machine machine, LoadMachine(absl::StrCat("tpu-v3-", c->rows * c->columns)));
  for (int m = 0; m < 3; ++m) {
    ASSIGN_OR_RETURN(c->loads[m], LoadUnder(kMethods[m], *partitioned.module, machine));
  }
  return absl::OkStatus();
}

std::string Table(const std::vector<Case>& cases) {
  std::string text = absl::StrFormat("%-10s %-8s %-11s %-8s", "", "", "", "");
  for (const char* method : kMethods) absl::StrAppendFormat(&text, " | %-23s", method);
  absl::StrAppendFormat(&text, " | row-major\n%-10s %-8s %-11s %-8s", "slice", "mesh", "collective", "along");
  for (int m = 0; m < 3; ++m) absl::StrAppendFormat(&text, " | %8s %7s %6s", "us", "busiest", "mean");
  text += " | / best\n";
  for (const Case& c : cases) {
    absl::StrAppendFormat(&text, "%-10s %-8s %-11s %-8s", absl::StrCat("tpu-v3-", c.rows * c.columns),
                          absl::StrCat(c.rows, " x ", c.columns), c.all_to_all ? "all-to-all" : "all-reduce",
                          c.along_rows && c.along_columns ? "both"
                          : c.along_rows                  ? "rows"
                                                          : "columns");
    for (const Load& load : c.loads) {
      absl::StrAppendFormat(&text, " | %8.0f %5.0f %% %4.0f %%", load.microseconds, load.busiest * 100,
                            load.mean * 100);
    }
    absl::StrAppendFormat(&text, " | %8.2f\n", c.loads[0].microseconds / c.loads[2].microseconds);
  }
  return text;
}

// The device of each core of the slice, chip by chip in the order of their places: "0,1 | 2,3".
absl::StatusOr<std::string> Picture(const Case& c, const std::string& method) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, BuildCase(c));
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*module, PartitionOptions()));
  ASSIGN_OR_RETURN(const Machine machine, LoadMachine(absl::StrCat("tpu-v3-", c.rows * c.columns)));
  ASSIGN_OR_RETURN(const std::vector<int64_t> core_of_device,
                   PlaceDevices(method, *partitioned.module, machine));
  std::vector<int64_t> device_of_core(machine.cores(), -1);
  for (size_t d = 0; d < core_of_device.size(); ++d)
    device_of_core[core_of_device[d]] = static_cast<int64_t>(d);
  const int64_t across = machine.slice.chips(1), cores = machine.family.cores_per_chip();
  std::string text = absl::StrCat(method, "\n");
  for (int64_t core = 0; core < machine.cores(); ++core) {
    absl::StrAppendFormat(&text, "%s%3d", core % cores == 0 ? "  [" : " ", device_of_core[core]);
    if (core % cores == cores - 1) text += " ]";
    if (core % (cores * across) == cores * across - 1) text += "\n";
  }
  return text;
}

std::string PlotScript(const std::vector<Case>& cases) {
  std::string script = "$d << EOD\n";
  for (const Case& c : cases) {
    absl::StrAppendFormat(&script, "\"%s\"", c.Name());
    for (const Load& load : c.loads) {
      absl::StrAppendFormat(&script, " %g %g", load.microseconds / c.loads[0].microseconds,
                            load.busiest * 100);
    }
    script += "\n";
  }
  absl::StrAppendFormat(&script, "EOD\nset xrange [-0.7:%g]\n", static_cast<double>(cases.size()) - 0.3);
  script +=
      "set terminal svg size 1000,640 font 'sans-serif,12' background rgb 'white'\nset multiplot layout 2,1\n"
      "set style data histogram\nset style histogram clustered gap 1\nset style fill solid 0.8 border -1\nset grid y\n"
      "set key above\nset lmargin 10\nset bmargin 0.5\nset xtics nomirror scale 0 rotate by 60 right font ',9'\n"
      "set ylabel 'time, row-major = 1'\nset yrange [0:*]\nplot ";
  for (int m = 0; m < 3; ++m)
    absl::StrAppendFormat(&script, "%s$d using %d:xtic('') title '%s'", m == 0 ? "" : ", ", 2 + 2 * m,
                          kMethods[m]);
  script +=
      "\nunset key\nset bmargin 9\n"
      "set ylabel 'busiest link, % of its rate'\nset yrange [0:100]\nplot ";
  for (int m = 0; m < 3; ++m)
    absl::StrAppendFormat(&script, "%s$d using %d:xtic(1)", m == 0 ? "" : ", ", 3 + 2 * m);
  return script + "\nunset multiplot\n";
}

absl::Status Figure10() {
  std::vector<Case> cases = Cases();
  for (Case& c : cases) RETURN_IF_ERROR(SimulateCase(&c));
  std::string text = absl::StrCat(
      "GShard, figure 10: device assignment. Written by //benchmarks:figure10_device_assignment.\n"
      "A tensor cut R x C is exchanged along the rows or columns of its mesh, 8 MiB per device. busiest, mean: load of the busiest\n"
      "link and the mean over links, in percent of a link's rate. The paper gives no times.\n\n",
      Table(cases),
      "\nPlaces of a 4 x 4 mesh of devices that exchange along columns, on the 2 x 4 chips of tpu-v3-16, two cores per chip:\n");
  for (const char* method : kMethods) {
    ASSIGN_OR_RETURN(const std::string picture, Picture({4, 4, false, false, true}, method));
    absl::StrAppend(&text, picture);
  }
  std::fputs(text.c_str(), stdout);
  RETURN_IF_ERROR(WriteFile(ResultPath("figure10_device_assignment.txt"), text));
  return PlotSvg(PlotScript(cases), ResultPath("figure10_device_assignment.svg"));
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Simulates collectives of a 2-D mesh under several device assignments.",
               "figure10_device_assignment");
  return toroid::RunCommand(app, argc, argv, toroid::Figure10);
}
