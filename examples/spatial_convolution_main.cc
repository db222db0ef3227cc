// spatial_convolution: a convolutional network on images cut into tiles of rows and columns, forward and
// backward.
//
// A small copy is run on a simulated mesh and compared with one device. The bytes that its devices send are
// listed beside those that gathering images would send. A large one is simulated on TPU v3 under several
// tilings.
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "examples/images/conv_network.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/base/command_line.h"
#include "hlo/base/status.h"
#include "hlo/base/text_table.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "runtime/partitioned/run_partitioned.h"
#include "simulator/machines/machine.h"
#include "simulator/report/summary.h"
#include "simulator/stages/simulate.h"

namespace toroid {
namespace {

struct RowsByColumns {
  int64_t rows = 1, columns = 1;
};

// "8x8".
bool Parse(const std::string& text, RowsByColumns* value) {
  const std::vector<std::string> parts = absl::StrSplit(text, 'x');
  return parts.size() == 2 && absl::SimpleAtoi(parts[0], &value->rows) &&
         absl::SimpleAtoi(parts[1], &value->columns);
}

// Checks such a text; both numbers are at most `most`.
CLI::Validator RowsByColumnsUpTo(int64_t most) {
  const auto check = [most](std::string& text) {
    RowsByColumns value;
    const bool valid = Parse(text, &value) && value.rows > 0 && value.columns > 0 && value.rows <= most &&
                       value.columns <= most;
    return valid ? std::string()
                 : absl::StrCat("'", text, "' is not ROWSxCOLUMNS of 1 to ", most, ", as 3x2");
  };
  return CLI::Validator(check, "ROWSxCOLUMNS");
}

struct Request {
  std::string size = "27x22", tiles = "3x2";
  int64_t batch = 2, batch_parts = 1;
  int64_t full_size = 2048, cores = 64;
  std::vector<std::string> full_tiles = {"64x1", "16x4", "8x8"};
  bool breakdown = false;
  uint64_t seed = 1;
};

// Keeps images in the tiles asked for, even if small images would send less with other cuts.
PartitionOptions InTiles() {
  PartitionOptions options;
  options.strategies = NoSearch();
  return options;
}

std::string Tiling(const ConvNetworkConfig& config) {
  std::string text =
      absl::StrFormat("%d x %d", static_cast<int>(config.row_parts), static_cast<int>(config.column_parts));
  if (config.batch_parts > 1) absl::StrAppend(&text, ", batch ", config.batch_parts);
  return text;
}

void PrintCollectives(const Module& partition) {
  struct Totals {
    int64_t count = 0, bytes = 0;
  };
  std::map<std::pair<std::string, std::string>, Totals> causes;
  for (const CollectiveRecord& record : ListCollectives(partition)) {
    Totals& totals = causes[{record.opcode, record.cause.substr(0, record.cause.find(':'))}];
    ++totals.count;
    totals.bytes += record.sent_bytes;
  }
  std::vector<std::vector<std::string>> rows = {{"collective", "count", "sent", "for"}};
  for (const auto& [key, totals] : causes) {
    rows.push_back({key.first, CountText(totals.count), BytesText(totals.bytes), key.second});
  }
  std::printf("%s\n", TableText(rows, 120).c_str());
}

int64_t SentBytes(const Module& partition) {
  int64_t bytes = 0;
  for (const CollectiveRecord& record : ListCollectives(partition)) bytes += record.sent_bytes;
  return bytes;
}

absl::Status RunSmall(const Request& request) {
  RowsByColumns size, tiles;
  Parse(request.size, &size);
  Parse(request.tiles, &tiles);
  ConvNetworkConfig config;
  config.batch = request.batch;
  config.height = size.rows;
  config.width = size.columns;
  config.batch_parts = request.batch_parts;
  config.row_parts = tiles.rows;
  config.column_parts = tiles.columns;
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, BuildConvNetworkGradient(config));
  const std::vector<Literal> arguments = ConvNetworkArguments(*module, request.seed);
  ASSIGN_OR_RETURN(const Literal expected, RunSingle(*module, arguments));
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*module, InTiles()));
  ASSIGN_OR_RETURN(const Literal actual,
                   RunPartitioned(*partitioned.module, arguments, module->entry()->root()->shape()));
  // Tolerance of f32 for a sum of many terms in another order.
  const Comparison comparison = Compare(actual, expected);
  std::printf(
      "%d images of %d x %d, cut into %s on %d devices: the loss and its derivatives by %d kernels and biases\n\n",
      static_cast<int>(config.batch), static_cast<int>(size.rows), static_cast<int>(size.columns),
      Tiling(config).c_str(), static_cast<int>(config.devices()), static_cast<int>(2 * config.layers.size()));
  std::printf(
      "  loss, 1 device      %.7f\n  loss, %d devices%*s%.7f\n  largest error       %.1e of an array's largest element\n  %s\n\n",
      expected.element(0).data<float>()[0], static_cast<int>(config.devices()),
      config.devices() < 10     ? 5
      : config.devices() < 100  ? 4
      : config.devices() < 1000 ? 3
                                : 2,
      "", actual.element(0).data<float>()[0], comparison.max_rel_error,
      comparison.equal ? "equal: the partitioned program computes the same" : "DIFFERENT");
  PrintCollectives(*partitioned.module);
  std::printf("  sent per device in all: %s; if images were gathered: %s\n\n",
              BytesText(SentBytes(*partitioned.module)).c_str(),
              BytesText(BytesIfGathered(*module, config)).c_str());
  if (!comparison.equal) return absl::FailedPreconditionError("the partitioned run differs");
  return absl::OkStatus();
}

absl::Status PredictFullSize(const Request& request) {
  SimulationOptions options;
  ASSIGN_OR_RETURN(options.machine,
                   LoadMachine(absl::StrFormat("tpu-v3-%d", request.cores), Rates::kMeasured));
  std::string simulated_on, breakdowns;
  std::vector<std::vector<std::string>> rows = {
      {"tiles", "step", "communication", "permutes", "sent", "if gathered", "memory"}};
  for (const std::string& text : request.full_tiles) {
    RowsByColumns tiles;
    Parse(text, &tiles);
    ConvNetworkConfig config;
    config.batch = 1;
    config.height = config.width = request.full_size;
    config.layers = {{64}, {128, 3, 2}, {128, 3, 1, 2}, {128}};
    config.type = xla::BF16;
    config.row_parts = tiles.rows;
    config.column_parts = tiles.columns;
    if (config.devices() != request.cores) {
      return absl::InvalidArgumentError(absl::StrCat("--full_tiles: ", text, " are ", config.devices(),
                                                     " tiles, not ", request.cores,
                                                     "; say --cores=", config.devices()));
    }
    ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, BuildConvNetworkGradient(config));
    ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*module, InTiles()));
    ASSIGN_OR_RETURN(const Simulation simulation, Simulate(*partitioned.module, options));
    if (request.breakdown) {
      absl::StrAppend(&breakdowns, "\nTiles: ", Tiling(config), "\n\n",
                      SummaryText(simulation.prediction, 120));
    }
    simulated_on = simulation.prediction.machine;
    ProgramStatistics statistics = ComputeStatistics(*partitioned.module);
    rows.push_back({Tiling(config),
                    absl::StrFormat("%.2f ms", static_cast<double>(simulation.prediction.step_ps) * 1e-9),
                    absl::StrFormat("%.1f %%", simulation.prediction.communication_share * 100),
                    CountText(statistics.collectives["collective-permute"].count),
                    BytesText(SentBytes(*partitioned.module)), BytesText(BytesIfGathered(*module, config)),
                    BytesText(statistics.device.peak)});
  }
  std::printf(
      "One image of %d x %d with 64 to 128 features in bf16, forward and backward, on %s, predicted; per core:\n\n%s",
      static_cast<int>(request.full_size), static_cast<int>(request.full_size), simulated_on.c_str(),
      TableText(rows, 120).c_str());
  std::fputs(breakdowns.c_str(), stdout);
  return absl::OkStatus();
}

absl::Status Run(const Request& request) {
  RETURN_IF_ERROR(RunSmall(request));
  return PredictFullSize(request);
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app(
      "Runs a small convolutional network, forward and backward, on images cut into tiles of rows and columns over a simulated "
      "mesh, and predicts the time of a large one on TPU v3.",
      "spatial_convolution");
  toroid::Request request;
  app.add_option("--size", request.size, "Rows and columns of the images that are executed")
      ->check(toroid::RowsByColumnsUpTo(512))
      ->capture_default_str();
  app.add_option("--tiles", request.tiles, "Into how many tiles they are cut")
      ->check(toroid::RowsByColumnsUpTo(64))
      ->capture_default_str();
  app.add_option("--batch", request.batch, "Images that are executed")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--batch_parts", request.batch_parts, "Into how many parts the batch is cut too")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--full_size", request.full_size, "Rows, and columns, of the image that is simulated")
      ->check(CLI::Range(16, 65536))
      ->capture_default_str();
  app.add_option("--cores", request.cores, "Cores of the TPU v3 slice")->capture_default_str();
  app.add_option("--full_tiles", request.full_tiles, "Its tilings")
      ->delimiter(',')
      ->check(toroid::RowsByColumnsUpTo(1 << 20))
      ->capture_default_str();
  app.add_flag("--breakdown", request.breakdown, "Print what takes the time of each tiling");
  app.add_option("--seed", request.seed, "Seed of images and weights")->capture_default_str();
  return toroid::RunCommand(app, argc, argv, [&] { return toroid::Run(request); });
}
