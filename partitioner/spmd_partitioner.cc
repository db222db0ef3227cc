#include "partitioner/spmd_partitioner.h"

#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/ir/spmd_record.h"
#include "hlo/passes/dce_pass.h"
#include "hlo/passes/pass.h"
#include "partitioner/computation_partitioner.h"
#include "partitioner/given_shardings.h"
#include "partitioner/prepared_program.h"
#include "partitioner/statistics.h"

namespace toroid {
namespace {

// The record of how arguments are cut and results put together, and the shapes of the local program.
void Finish(const Module& global, const FlowGraph& graph, const Annotations& annotations,
            const std::vector<Sharding>& targets, Module* local) {
  xla::HloModuleProto* proto = local->mutable_proto();
  const xla::HloModuleProto& source = global.proto();
  if (source.has_stack_frame_index()) *proto->mutable_stack_frame_index() = source.stack_frame_index();
  if (source.has_buffer_donor()) *proto->mutable_buffer_donor() = source.buffer_donor();
  for (const auto& [key, value] : source.frontend_attributes().map()) {
    if (!absl::StartsWith(key, "xla.sdy."))
      (*proto->mutable_frontend_attributes()->mutable_map())[key] = value;
  }
  const int64_t n = annotations.mesh.num_devices();
  local->config().num_partitions = n;
  auto* assignment = proto->mutable_device_assignment();
  assignment->set_replica_count(1);
  assignment->set_computation_count(static_cast<int32_t>(n));
  local->config().identity_device_assignment = true;

  const auto sharding_of = [&](int tensor, xla::OpSharding* out) {
    if (annotations.tensor[tensor] && annotations.tensor[tensor]->foreign) {
      annotations.tensor[tensor]->foreign->ToProto(out);
    } else {
      annotations.mesh.ToHlo(targets[tensor]).ToProto(out);
    }
  };
  auto* program = proto->mutable_host_program_shape();
  for (int i = 0; i < local->entry()->num_parameters(); ++i) {
    Instruction* parameter = local->entry()->parameter(i);
    parameter->shape().ToProto(program->add_parameters());
    program->add_parameter_names(parameter->name());
    xla::OpSharding* recorded = proto->add_spmd_parameters_shardings();
    const Instruction& given = *global.entry()->parameter(i);
    if (given.shape().IsTuple()) recorded->set_type(xla::OpSharding::TUPLE);
    for (const int leaf : graph.Leaves(given)) {
      sharding_of(leaf, given.shape().IsTuple() ? recorded->add_tuple_shardings() : recorded);
    }
    parameter->set_sharding(local->New(proto->spmd_parameters_shardings(i)));
    if (parameter->frontend_attributes() != nullptr) {
      xla::FrontendAttributes kept;
      for (const auto& [key, value] : parameter->frontend_attributes()->map()) {
        if (!absl::StartsWith(key, "xla.sdy.") && key != kGivenSharding) (*kept.mutable_map())[key] = value;
      }
      parameter->set_frontend_attributes(local->New(kept));
    }
  }
  local->entry()->root()->shape().ToProto(program->mutable_result());
  // A result shares its argument's memory where they are still alike.
  for (const auto& entry : source.input_output_alias().entries()) {
    const Shape* result = &local->entry()->root()->shape();
    for (const int64_t index : entry.output_shape_index()) {
      const bool inside = index >= 0 && index < static_cast<int64_t>(result->tuple_shapes().size());
      result = inside ? &result->tuple_shape(index) : nullptr;
      if (result == nullptr) break;
    }
    const int64_t number = entry.parameter_number();
    if (result == nullptr || number < 0 || number >= local->entry()->num_parameters()) continue;
    if (!result->Compatible(local->entry()->parameter(number)->shape())) continue;
    *proto->mutable_input_output_alias()->add_entries() = entry;
  }
  if (global.entry()->root()->shape().IsTuple()) {
    proto->mutable_spmd_output_sharding()->set_type(xla::OpSharding::TUPLE);
    for (const int output : graph.outputs()) {
      sharding_of(output, proto->mutable_spmd_output_sharding()->add_tuple_shardings());
    }
  } else {
    sharding_of(graph.outputs()[0], proto->mutable_spmd_output_sharding());
  }
}

// Puts the sharding of every array on its instruction, for looking at.
void ShowShardings(const FlowGraph& graph, const Mesh& mesh, const std::vector<Sharding>& targets,
                   Module* module) {
  for (const auto& computation : module->computations()) {
    for (const auto& instruction : computation->instructions()) {
      const auto leaves = graph.Leaves(*instruction);
      if (leaves.size() != 1 || !instruction->shape().IsArray()) continue;
      auto* sharding = module->New<xla::OpSharding>();
      mesh.ToHlo(targets[leaves[0]]).ToProto(sharding);
      instruction->set_sharding(sharding);
    }
  }
}

// Collectives carry why they are there as a frontend attribute.
class CausesPass : public Pass {
 public:
  absl::string_view name() const override { return "causes"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override {
    bool changed = false;
    for (const auto& computation : (*module)->computations()) {
      for (const auto& instruction : computation->instructions()) {
        if (instruction->cause() == 0) continue;
        auto* attributes = (*module)->New<xla::FrontendAttributes>();
        (*attributes->mutable_map())[kCauseAttribute] = (*module)->causes()[instruction->cause()];
        instruction->set_frontend_attributes(attributes);
        changed = true;
      }
    }
    return changed;
  }
};

// Tensors of the entry's parameters.
std::vector<int> ParameterLeaves(const Module& module, const FlowGraph& graph) {
  std::vector<int> leaves;
  for (const Instruction* parameter : module.entry()->parameters()) {
    for (const int leaf : graph.Leaves(*parameter)) leaves.push_back(leaf);
  }
  return leaves;
}

// Tensors that the caller sees: parameters and outputs.
std::vector<int> BoundaryTensors(const Module& module, const FlowGraph& graph) {
  std::vector<int> tensors = ParameterLeaves(module, graph);
  tensors.insert(tensors.end(), graph.outputs().begin(), graph.outputs().end());
  return tensors;
}

// Propagation and the phases behind it. `propagated`, if given, takes the shardings found.
absl::StatusOr<Partitioned> Rewrite(const PreparedProgram& program, const PartitionOptions& options,
                                    ShardingPlan* propagated) {
  Module* flat = program.flat.get();
  const FlowGraph& graph = *program.graph;
  const Annotations& annotations = program.annotations;
  Partitioned result;
  const Stopwatch start;
  const auto report = [&](absl::string_view phase, const Module& after) {
    return options.after_phase ? options.after_phase(phase, after) : absl::OkStatus();
  };
  ShardingPlan targets = ProposeShardings(program);
  if (options.replicate_everything) {
    std::vector<bool> keep(graph.num_tensors(), false);
    for (const int t : BoundaryTensors(*flat, graph)) keep[t] = true;
    for (int t = 0; t < graph.num_tensors(); ++t) {
      if (!keep[t]) targets[t] = Sharding::Replicated(graph.shape(t).rank());
    }
  }
  result.propagate_seconds = start.Seconds();
  if (options.after_phase) {
    ShowShardings(graph, annotations.mesh, targets, flat);
    RETURN_IF_ERROR(report("propagate", *flat));
  }

  const Stopwatch middle;
  result.module = std::make_unique<Module>(flat->name(), *flat);
  ComputationPartitioner partitioner(*flat, graph, annotations, targets, annotations.mesh, options,
                                     program.planner.get(), result.module.get());
  RETURN_IF_ERROR(partitioner.Run());
  result.module->RemoveUnreachableComputations();  // Puts callees before their callers.
  Finish(*flat, graph, annotations, targets, result.module.get());
  result.num_partitions = annotations.mesh.num_devices();
  result.full_replications = partitioner.full_replications();
  result.made_up_axes = partitioner.names().MadeUpAxes();
  result.partition_seconds = middle.Seconds();
  RETURN_IF_ERROR(report("partition", *result.module));

  const Stopwatch end;
  PassPipeline pipeline;
  pipeline.Add<DcePass>().Add<CausesPass>();
  RETURN_IF_ERROR(pipeline.Run(&result.module).status());
  result.optimize_seconds = end.Seconds();
  RETURN_IF_ERROR(report("optimize", *result.module));
  if (propagated != nullptr) *propagated = std::move(targets);
  return result;
}

// Parameters and outputs of which nobody said how they lie, and that propagation cuts into unequal parts.
std::vector<int> UnevenByChance(const Module& flat, const FlowGraph& graph, const Annotations& annotations,
                                const std::vector<Sharding>& targets) {
  std::vector<int> uneven;
  for (const int t : BoundaryTensors(flat, graph)) {
    const Shape& shape = graph.shape(t);
    const std::optional<Annotation>& asked = annotations.tensor[t];
    for (int d = 0; d < shape.rank(); ++d) {
      if (shape.dim(d) % annotations.mesh.Product(targets[t].dims[d]) == 0) continue;
      if (asked && asked->sharding.dims[d] == targets[t].dims[d]) continue;
      uneven.push_back(t);
      break;
    }
  }
  return uneven;
}

// True if `a` neither sends nor computes more than `b` on a device.
bool CostsNoMore(const Partitioned& a, const Partitioned& b) {
  const auto sent = [](const ProgramStatistics& statistics) {
    int64_t bytes = 0;
    for (const auto& [opcode, totals] : statistics.collectives) bytes += totals.sent_bytes;
    return bytes;
  };
  const ProgramStatistics x = ComputeStatistics(*a.module), y = ComputeStatistics(*b.module);
  return x.flops <= y.flops && sent(x) <= sent(y);
}

// Callers cannot always take arrays in unequal parts: where propagation would cut one so that nobody asked to
// cut, the program is partitioned again with even cuts alone there, and that one counts if it costs no more: for
// all such arrays, or else for outputs or parameters alone.
absl::StatusOr<Partitioned> RewriteEvenly(const PartitionOptions& options, PreparedProgram* program) {
  Module* flat = program->flat.get();
  const FlowGraph& graph = *program->graph;
  Annotations* annotations = &program->annotations;
  const Stopwatch start;
  PartitionOptions silent = options;
  silent.after_phase = nullptr;
  ShardingPlan targets;
  ASSIGN_OR_RETURN(Partitioned result, Rewrite(*program, silent, &targets));
  const std::vector<int> uneven = UnevenByChance(*flat, graph, *annotations, targets);
  if (!uneven.empty() && !options.replicate_everything) {
    const absl::flat_hash_set<int> outputs(graph.outputs().begin(), graph.outputs().end());
    const auto is_output = [&](int t) { return outputs.contains(t); };
    enum Which { kAll, kOutputs, kParameters, kNone };
    for (const Which which : {kAll, kOutputs, kParameters, kNone}) {
      annotations->even.assign(graph.num_tensors(), false);
      bool any = false;
      for (const int t : uneven) {
        const bool chosen = which == kAll || (which == kOutputs && is_output(t)) ||
                            (which == kParameters && !is_output(t));
        annotations->even[t] = chosen;
        any |= chosen;
      }
      if (!any) continue;
      ASSIGN_OR_RETURN(Partitioned even, Rewrite(*program, silent, nullptr));
      if (!CostsNoMore(even, result)) continue;
      result = std::move(even);
      break;
    }
  }
  if (options.after_phase) {
    ASSIGN_OR_RETURN(result, Rewrite(*program, options, nullptr));
  }
  // What was tried and not taken took time as well.
  result.partition_seconds += start.Seconds() - result.propagate_seconds - result.partition_seconds -
                              result.optimize_seconds;
  return result;
}

}  // namespace

absl::StatusOr<Partitioned> PartitionModule(const Module& module, const PartitionOptions& options) {
  const Stopwatch start;
  ASSIGN_OR_RETURN(const std::unique_ptr<PreparedProgram> program, PrepareProgram(module, options));
  const double before = start.Seconds();
  ASSIGN_OR_RETURN(Partitioned result, RewriteEvenly(options, program.get()));
  result.propagate_seconds += before;
  return result;
}

}  // namespace toroid
