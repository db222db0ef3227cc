#include "benchmarks/table4_model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/analysis/work.h"
#include "hlo/base/status.h"
#include "hlo/builder/builder.h"
#include "hlo/ir/module.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/machines/machine.h"
#include "simulator/stages/place_devices.h"
#include "simulator/stages/simulate.h"

namespace toroid {
namespace {

constexpr int64_t kShard = 1 << 20;  // Elements.
constexpr int64_t kGrown = 512;      // Per device.
constexpr int64_t kFixed = 2048;

// Builds the op for D devices; the result becomes the module's.
using Program = std::function<Value(Builder&, int64_t)>;

// A parameter cut along dimension `cut`; -1: whole on every device.
Value Input(Builder& b, absl::Span<const int64_t> dims, int64_t cut, const std::string& name) {
  Value x = b.Parameter(Shape(xla::F32, dims), name);
  return cut < 0 ? b.Replicate(x) : b.Split(x, cut, b.num_devices());
}

Value Add(Builder& b, int64_t d) {
  const int64_t a = kShard * d;
  return b.Add(Input(b, {a}, 0, "x"), Input(b, {a}, 0, "y"));
}

Value MatmulOverB(Builder& b, int64_t d) {
  const int64_t rows = kShard / kFixed, inner = kGrown * d;
  return b.Replicate(
      b.Einsum("AB,BC->AC", Input(b, {rows, inner}, 1, "x"), Input(b, {inner, kFixed}, 0, "y")));
}

Value MatmulOverA(Builder& b, int64_t d) {
  const int64_t rows = kShard / kFixed * d;
  return b.Split(b.Einsum("AB,BC->AC", Input(b, {rows, kFixed}, 0, "x"), Input(b, {kFixed, kFixed}, -1, "y")),
                 0, d);
}

Value MatmulOverAAndB(Builder& b, int64_t d) {
  const int64_t rows = kGrown * d, inner = kShard / kFixed * d;
  return b.Split(b.Einsum("AB,BC->AC", Input(b, {rows, inner}, 0, "x"), Input(b, {inner, kFixed}, 0, "y")), 0,
                 d);
}

Value MatmulOverAAndC(Builder& b, int64_t d) {
  const int64_t rows = kGrown * d, columns = kShard / kFixed * d;
  return b.Split(b.Einsum("AB,BC->AC", Input(b, {rows, kFixed}, 0, "x"), Input(b, {kFixed, columns}, 1, "y")),
                 0, d);
}

Value ReduceToA(Builder& b, int64_t d) { return b.Sum(Input(b, {kShard * d, kFixed}, 0, "x"), {1}); }

Value ReduceToB(Builder& b, int64_t d) {
  return b.Replicate(b.Sum(Input(b, {kGrown * d, kShard}, 0, "x"), {0}));
}

// The dispatch mask is made from each token's expert and its position there, as in a model.
Value Dispatch(Builder& b, int64_t d, int64_t tokens) {
  const int64_t capacity = 2 * tokens / d, features = kShard / (2 * kFixed);
  const std::vector<int64_t> mask_dims = {d, tokens, d, capacity};
  const auto chosen = [&](const char* name, int64_t dimension) {
    Value index = b.Split(b.Parameter(Shape(xla::S32, {d, tokens}), name), 0, d);
    return b.Compare(b.Broadcast(index, mask_dims, {0, 1}), b.Iota(xla::S32, mask_dims, dimension), "EQ");
  };
  Value mask = b.Convert(b.And(chosen("expert", 2), chosen("place", 3)), xla::F32);
  return b.Split(b.Einsum("GSEC,GSM->EGCM", mask, Input(b, {d, tokens, features}, 0, "x")), 0, d);
}

Value SpatialConvolution(Builder& b, int64_t d) {
  constexpr int64_t kImages = 8, kFeatures = 128, kWindow = 3;
  const int64_t columns = kShard / (kImages * kFeatures);
  xla::Window window;
  for (int i = 0; i < 2; ++i) {
    xla::WindowDimension& dimension = *window.add_dimensions();
    dimension.set_size(kWindow);
    dimension.set_stride(1);
    dimension.set_padding_low(kWindow / 2);
    dimension.set_padding_high(kWindow / 2);
    dimension.set_window_dilation(1);
    dimension.set_base_dilation(1);
  }
  xla::ConvolutionDimensionNumbers numbers;  // BIXY, xyIO -> BOXY.
  numbers.set_input_batch_dimension(0);
  numbers.set_input_feature_dimension(1);
  numbers.set_kernel_input_feature_dimension(2);
  numbers.set_kernel_output_feature_dimension(3);
  numbers.set_output_batch_dimension(0);
  numbers.set_output_feature_dimension(1);
  for (int i = 0; i < 2; ++i) {
    numbers.add_input_spatial_dimensions(2 + i);
    numbers.add_kernel_spatial_dimensions(i);
    numbers.add_output_spatial_dimensions(2 + i);
  }
  return b.Split(
      b.Convolution(Input(b, {kImages, kFeatures, kGrown * d, columns}, 2, "x"),
                    Input(b, {kWindow, kWindow, kFeatures, kFeatures}, -1, "kernel"), window, numbers),
      2, d);
}

absl::StatusOr<double> FlopsOf(const Module& module) {
  double flops = 0;
  for (const auto& instruction : module.entry()->instructions()) {
    if (HasTrait(instruction->opcode(), kRunsBody)) {
      return absl::InternalError(
          absl::StrCat(instruction->Path(), ": flops of loops and branches are not counted here"));
    }
    const Work work = WorkOf(*instruction);
    flops += static_cast<double>(work.matrix_flops) + static_cast<double>(work.vector_flops);
  }
  return flops;
}

absl::StatusOr<Table4Point> Simulated(const Program& program, int64_t cores,
                                      std::set<std::string>* collectives) {
  Builder b("table4", cores);
  Value result = program(b, cores);
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, b.Build(result));
  PartitionOptions partition_options;
  // The paper's rows gather.
  std::erase(partition_options.passes, "windowed_einsum");
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*module, partition_options));
  SimulationOptions options;
  ASSIGN_OR_RETURN(options.machine, LoadMachine(absl::StrCat("tpu-v3-", cores), Rates::kMeasured));
  options.keep_timeline = true;
  ASSIGN_OR_RETURN(options.core_of_device, PlaceDevices("topology", *partitioned.module, options.machine));
  ASSIGN_OR_RETURN(const Simulation simulation, Simulate(*partitioned.module, options));
  const Prediction& prediction = simulation.prediction;
  if (prediction.memory.peak > prediction.memory.capacity) {
    return absl::InternalError(
        absl::StrCat("needs ", prediction.memory.peak, " bytes of memory on ", cores, " cores"));
  }

  Table4Point point;
  point.cores = cores;
  ASSIGN_OR_RETURN(point.flops, FlopsOf(*partitioned.module));
  for (const CollectiveRecord& record : ListCollectives(*partitioned.module)) {
    point.sent_bytes += static_cast<double>(record.sent_bytes) * static_cast<double>(record.executions.times);
  }
  for (const PredictedGroup& group : prediction.groups) {
    point.compute_seconds += group.executions * static_cast<double>(group.picoseconds) * 1e-12;
  }
  const double link_rate = options.machine.family.network().link_bytes_per_second();
  for (const PredictedCollective& collective : prediction.collectives) {
    const double seconds = collective.executions * static_cast<double>(collective.picoseconds) * 1e-12;
    point.communication_seconds += seconds;
    collectives->insert(collective.kind);
    if (collective.link_load < 0) continue;
    double busy = 0;  // Links.
    for (const float load : prediction.network.link_loads[collective.link_load]) busy += std::max(load, 0.0f);
    point.carried_bytes += busy * seconds * link_rate / static_cast<double>(cores);
  }
  return point;
}

}  // namespace

absl::StatusOr<std::vector<Table4Row>> SimulateTable4() {
  const std::pair<Table4Row, Program> programs[] = {
      {{"Add A,A->A", "A", 0, 0, ""}, Add},
      {{"Matmul AB,BC->AC", "B", 0, 0, "all-reduce"}, MatmulOverB},
      {{"Matmul AB,BC->AC", "A", 0, 0, ""}, MatmulOverA},
      {{"Matmul AB,BC->AC", "A, B", 1, 1, "all-gather or permute"}, MatmulOverAAndB},
      {{"Matmul AB,BC->AC", "A, C", 1, 1, "all-gather or permute"}, MatmulOverAAndC},
      {{"Reduce AB->A", "A", 0, 0, ""}, ReduceToA},
      {{"Reduce AB->B", "A", 0, 0, "all-reduce"}, ReduceToB},
      {{"Einsum GSEC,GSM->EGCM", "G, E", 0, 0.5, "all-to-all"},
       [](Builder& b, int64_t d) { return Dispatch(b, d, kFixed); }},
      {{"the same, larger groups", "G, E", 0, 0.5, "all-to-all"},
       [](Builder& b, int64_t d) { return Dispatch(b, d, 4 * kFixed); }},
      {{"Convolution BIXY,xyIO->BOXY", "X", 0, 0, "permute"}, SpatialConvolution},
  };
  std::vector<Table4Row> rows;
  for (const auto& [paper, program] : programs) {
    Table4Row row = paper;
    std::set<std::string> collectives;
    for (int64_t cores = 16; cores <= 2048; cores *= 2) {
      absl::StatusOr<Table4Point> point = Simulated(program, cores, &collectives);
      if (!point.ok()) return Annotate(point.status(), absl::StrCat(row.op, ", ", row.grows, " grows"));
      row.points.push_back(*point);
    }
    row.collective = absl::StrJoin(collectives, ", ");
    rows.push_back(std::move(row));
  }
  return rows;
}

double Exponent(const Table4Row& row, double Table4Point::*y) {
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0, n = 0;
  for (const Table4Point& point : row.points) {
    if (point.*y <= 0) continue;
    const double x = std::log(static_cast<double>(point.cores)), log_y = std::log(point.*y);
    sum_x += x;
    sum_y += log_y;
    sum_xx += x * x;
    sum_xy += x * log_y;
    ++n;
  }
  const double spread = n * sum_xx - sum_x * sum_x;
  return spread <= 0 ? 0 : (n * sum_xy - sum_x * sum_y) / spread;
}

}  // namespace toroid
