#include "benchmarks/training_model.h"

#include <memory>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "examples/moe/fit_on_machine.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/io/hlo_text_names.h"
#include "hlo/opcode.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/chip/op_class.h"
#include "simulator/cost/machine_cost_model.h"
#include "simulator/machines/machine.h"
#include "simulator/rules/rule.h"
#include "simulator/stages/simulate.h"

namespace toroid {
namespace {

// xla_jf_rematerialization_percent_shared_memory_limit.
constexpr double kShareOf2020 = 0.95;

bool IsOfRecomputedLayer(absl::string_view op_name) { return absl::StartsWith(op_name, "recomputed/"); }

// The simulated compiler does not rematerialize values that are communicated.
bool IsRematerialized(const PredictedGroup& group) {
  return absl::c_linear_search(group.rules, RowOf(Rule::kRematerialization).name);
}
bool IsRematerialized(const PredictedCollective&) { return false; }

// The value that a collective sends, before copies made for sending. The collective's own name may be that of
// the op in the backward pass that needs the value.
const Instruction& Sent(const Instruction& collective) {
  const Instruction* value = collective.operand(0);
  const auto is_same = [](Opcode opcode) {
    return opcode == Opcode::kBitcast || opcode == Opcode::kReshape || opcode == Opcode::kTranspose ||
           opcode == Opcode::kCopy || opcode == Opcode::kConvert;
  };
  while (is_same(value->opcode())) value = value->operand(0);
  return *value;
}

// Names, as in a prediction, of the collectives that send recomputed values.
absl::flat_hash_set<std::string> CollectivesOfRecomputed(const Module& lowered) {
  const TextNames name_of(lowered);
  absl::flat_hash_set<std::string> names;
  for (const auto& computation : lowered.computations()) {
    for (const auto& op : computation->instructions()) {
      if (!IsCollective(op->opcode()) || op->num_operands() == 0) continue;
      const Instruction& sent = Sent(*op);
      const xla::OpMetadata* metadata = MainOpOf(sent).metadata();
      if (metadata == nullptr || !IsOfRecomputedLayer(metadata->op_name())) continue;
      names.insert(absl::StrCat(name_of(*computation), "/", name_of(*op)));
    }
  }
  return names;
}

double RecomputedShare(const Simulation& simulation) {
  const Prediction& prediction = simulation.prediction;
  const absl::flat_hash_set<std::string> of_recomputed = CollectivesOfRecomputed(*simulation.lowered);
  double again = 0;
  const auto add = [&](const auto& rows) {
    for (const auto& row : rows) {
      if (!IsOfRecomputedLayer(row.op_name) && !IsRematerialized(row) &&
          !of_recomputed.contains(row.instruction))
        continue;
      again += static_cast<double>(row.picoseconds) * row.executions;
    }
  };
  add(prediction.groups);
  add(prediction.collectives);
  return again / static_cast<double>(prediction.step_ps);
}

void CountWeights(const TrainingStep& training, SimulatedTraining* result) {
  for (const StateArray& array : training.state) {
    if (array.kind != StateArray::Kind::kWeight) continue;
    const double elements = static_cast<double>(array.shape.NumElements());
    result->weights += elements;
    if (absl::EndsWith(array.name, ".moe.wi") || absl::EndsWith(array.name, ".moe.wo"))
      result->expert_weights += elements;
  }
}

// `state`: number of the state's arrays, which are the program's first parameters.
void MeasureMemory(const Module& lowered, size_t state, SimulatedTraining* result) {
  absl::flat_hash_set<std::string> shapes_of_state;
  absl::flat_hash_set<const Instruction*> given;
  const Computation& entry = *lowered.entry();
  for (int64_t i = 0; i < entry.num_parameters(); ++i) {
    const Instruction* parameter = entry.parameter(i);
    given.insert(parameter);
    if (i < static_cast<int64_t>(state)) shapes_of_state.insert(parameter->shape().ToString());
  }
  for (const PeakMemory::Value& value : ComputePeakMemory(lowered).live) {
    if (given.contains(value.maker)) continue;
    const Shape& shape = value.maker->shape();
    const Shape& array = shape.IsTuple() ? shape.tuple_shape(value.leaf) : shape;
    const bool is_like_state = shapes_of_state.contains(array.ToString());
    (is_like_state ? result->gradient_bytes : result->activation_bytes) += static_cast<double>(value.bytes);
  }
}

// Bytes per core of the first `arrays` arguments.
double StateBytes(const Module& partitioned, size_t arrays) {
  double bytes = 0;
  for (size_t i = 0; i < arrays; ++i)
    bytes += static_cast<double>(partitioned.entry()->parameter(static_cast<int64_t>(i))->shape().ByteSize());
  return bytes;
}

absl::StatusOr<SimulatedTraining> SimulateWith(const TrainingProgram& program, Remat remat) {
  SimulatedTraining result;
  result.remat = remat;
  MoeTransformerConfig& config = result.config;
  if (program.experts == 0) {
    ASSIGN_OR_RETURN(config, PaperConfig("t_96l"));
  } else {
    config = PaperConfig(program.experts, program.layers);
  }
  config.sequence_length = program.sequence_length;
  config.sequences = 2048 / config.sequence_length;
  config.groups = config.devices * (program.tokens_per_core / config.tokens_per_group());
  TrainingOptions options;
  MakeAsPublished(&config, &options);
  options.adafactor.replicated_slots = program.replicated_slots;
  options.remat = remat;
  SimulationOptions simulation_options;
  ASSIGN_OR_RETURN(simulation_options.machine,
                   LoadMachine(absl::StrCat("tpu-v3-", config.devices), Rates::kMeasured));
  ASSIGN_OR_RETURN(const auto costs, MachineCostModel::Create(simulation_options.machine));
  options.memory_fit = FitOnMachine(simulation_options.machine, *costs);
  const Stopwatch watch;
  ASSIGN_OR_RETURN(const TrainingStep training, BuildTrainingStep(config, options));
  PartitionOptions partition_options;
  partition_options.strategies = NoSearch();  // As GShard partitions: op by op.
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*training.module, partition_options));
  result.state_bytes = StateBytes(*partitioned.module, training.state.size());
  if (program.by_compiler_alone) {
    CoreSpec& core = *simulation_options.machine.family.mutable_core();
    core.set_program_memory_share(kShareOf2020 -
                                  result.state_bytes / static_cast<double>(core.memory_bytes()));
    core.set_least_repeated_bytes(0);
  }
  ASSIGN_OR_RETURN(const Simulation simulation, Simulate(*partitioned.module, simulation_options));
  result.seconds_to_predict = watch.Seconds();
  const Prediction& prediction = simulation.prediction;
  CountWeights(training, &result);
  MeasureMemory(*simulation.lowered, training.state.size(), &result);
  result.step_seconds = static_cast<double>(prediction.step_ps) * 1e-12;
  result.communication_share = prediction.communication_share;
  result.recomputed_share = RecomputedShare(simulation);
  result.peak_bytes = static_cast<double>(prediction.memory.allocated);
  result.fits = prediction.memory.allocated <= prediction.memory.capacity;
  for (const PredictedCollective& collective : prediction.collectives) {
    if (collective.kind == "all-to-all") ++result.all_to_alls;
    if (collective.kind == "all-reduce") ++result.all_reduces;
  }
  return result;
}

}  // namespace

absl::StatusOr<SimulatedTraining> SimulateTraining(const TrainingProgram& program) {
  if (program.by_compiler_alone) return SimulateWith(program, Remat::kNone);
  if (program.remat.has_value()) return SimulateWith(program, *program.remat);
  ASSIGN_OR_RETURN(SimulatedTraining result, SimulateWith(program, Remat::kNone));
  // The simulated compiler rematerializes values if a program would not fit otherwise.
  if (result.fits && result.recomputed_share == 0) return result;
  // A pipeline's stages can only be recomputed as a whole.
  if (result.config.stages > 1) return SimulateWith(program, Remat::kLayers);
  absl::StatusOr<SimulatedTraining> fitted = SimulateWith(program, Remat::kFit);
  if (!absl::IsResourceExhausted(fitted.status())) return fitted;
  return SimulateWith(program, Remat::kLayers);
}

}  // namespace toroid
