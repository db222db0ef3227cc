#include "benchmarks/figure8_model.h"

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "examples/moe/transformer.h"
#include "hlo/base/status.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/machines/machine.h"
#include "simulator/stages/simulate.h"

namespace toroid {
namespace {

// Operators by the innermost scope of the program that contains them.
struct OperatorScope {
  const char* scope;
  int bar;
};
constexpr OperatorScope kScopes[] = {{"/projections", 0},    {"/attention", 1}, {"ffn", 2},
                                     {"/gate_logits", 3},    {"/dispatch", 3},  {"/combine", 3},
                                     {"/cumulative_sum", 4}, {"/experts", 6}};
constexpr int kAllToAll = 5;
constexpr int kOther = 7;

Figure8 Published() {
  Figure8 figure{.bars = {}, .other_us = {0, 0, 0}};
  for (const PublishedBar& bar : kFigure8) figure.bars.push_back({bar.name, bar.microseconds});
  return figure;
}

int BarOf(const std::string& op_name) {
  for (const OperatorScope& s : kScopes) {
    if (absl::EndsWith(op_name, s.scope)) return s.bar;
  }
  return kOther;
}

absl::Status AddColumn(int column, const Figure8Unknowns& unknowns, const CoreSpec& core, Figure8* figure) {
  const int64_t experts = kFigure8Experts[column];
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, Figure8Program(experts, unknowns));
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*module, PartitionOptions()));
  SimulationOptions options;
  ASSIGN_OR_RETURN(options.machine, LoadMachine(absl::StrCat("tpu-v3-", experts)));
  *options.machine.family.mutable_core() = core;
  ASSIGN_OR_RETURN(const Simulation simulation, Simulate(*partitioned.module, options));
  const auto add = [&](int bar, double executions, int64_t picoseconds) {
    double& sum = bar == kOther ? figure->other_us[column] : figure->bars[bar].our_us[column];
    sum += executions * static_cast<double>(picoseconds) * 1e-6;
  };
  for (const PredictedGroup& group : simulation.prediction.groups) {
    if (group.parts.empty()) add(BarOf(group.op_name), group.executions, group.picoseconds);
    for (const PredictedGroup::Part& part : group.parts)
      add(BarOf(part.op_name), group.executions, part.picoseconds);
  }
  for (const PredictedCollective& row : simulation.prediction.collectives) {
    add(row.kind == "all-to-all" ? kAllToAll : kOther, row.executions, row.picoseconds);
  }
  return absl::OkStatus();
}

}  // namespace

double Figure8::PaperTotal(int column) const {
  double sum = 0;
  for (const Figure8Bar& bar : bars) sum += bar.paper_us[column];
  return sum;
}

double Figure8::OurTotal(int column) const {
  double sum = 0;
  for (const Figure8Bar& bar : bars) sum += bar.our_us[column];
  return sum;
}

double Figure8::MeanError() const {
  double sum = 0;
  for (const Figure8Bar& bar : bars) {
    for (int c = 0; c < 3; ++c) sum += std::abs(bar.Error(c));
  }
  return sum / static_cast<double>(3 * bars.size());
}

double Figure8::PaperShare(absl::string_view name, int column) const {
  double part = 0;
  for (const Figure8Bar& bar : bars) part += bar.name == name ? bar.paper_us[column] : 0;
  return part / PaperTotal(column);
}

double Figure8::OurShare(absl::string_view name, int column) const {
  double part = 0;
  for (const Figure8Bar& bar : bars) part += bar.name == name ? bar.our_us[column] : 0;
  return part / OurTotal(column);
}

absl::StatusOr<std::unique_ptr<Module>> Figure8Program(int64_t experts, const Figure8Unknowns& unknowns) {
  MoeTransformerConfig config = PaperConfig(experts, 2);
  config.sequences = config.tokens_per_group() / unknowns.sequence_length;
  config.sequence_length = unknowns.sequence_length;
  config.cumulative_sums_by_products = unknowns.cumulative_sums_by_products;
  return BuildLayerPair(config);
}

absl::StatusOr<Figure8> SimulateFigure8(const Figure8Unknowns& unknowns, const CoreSpec& core) {
  Figure8 figure = Published();
  for (int c = 0; c < 3; ++c) RETURN_IF_ERROR(AddColumn(c, unknowns, core, &figure));
  return figure;
}

}  // namespace toroid
