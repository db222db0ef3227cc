#include "partitioner/stages/emit_plan.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/ir/edit.h"
#include "partitioner/rewrite/program_rewriter.h"
#include "partitioner/stages/local_passes.h"

namespace toroid {
namespace {

// A copy of the prepared module with the sharding of every array on its instruction, for dumps.
std::unique_ptr<Module> WithShardings(const PreparedProgram& program, const ShardingPlan& shardings) {
  std::unique_ptr<Module> shown = CloneModule(*program.flat);
  for (const auto& computation : program.flat->computations()) {
    for (const auto& instruction : computation->instructions()) {
      const auto leaves = program.graph->Leaves(*instruction);
      if (leaves.size() != 1 || !instruction->shape().IsArray()) continue;
      auto* sharding = shown->New<xla::OpSharding>();
      program.annotations.mesh.ToHlo(shardings[leaves[0]]).ToProto(sharding);
      shown->computations()[computation->index()]->instruction(instruction->index())->set_sharding(sharding);
    }
  }
  return shown;
}

bool IsOfShardy(absl::string_view attribute) { return absl::StartsWith(attribute, "xla.sdy."); }

void KeepModuleFields(const xla::HloModuleProto& global, xla::HloModuleProto* local) {
  if (global.has_stack_frame_index()) *local->mutable_stack_frame_index() = global.stack_frame_index();
  if (global.has_buffer_donor()) *local->mutable_buffer_donor() = global.buffer_donor();
  for (const auto& [key, value] : global.frontend_attributes().map()) {
    if (!IsOfShardy(key)) (*local->mutable_frontend_attributes()->mutable_map())[key] = value;
  }
}

void RecordDevices(int64_t n, Module* local) {
  local->config().num_partitions = n;
  local->config().identity_device_assignment = true;
  auto* assignment = local->mutable_proto()->mutable_device_assignment();
  assignment->set_replica_count(static_cast<int32_t>(local->config().replica_count));
  assignment->set_computation_count(static_cast<int32_t>(n));
}

// The sharding of a tensor in the caller's device order.
void RecordSharding(const PreparedProgram& program, const ShardingPlan& plan, int tensor,
                    xla::OpSharding* out) {
  const std::optional<Annotation>& annotation = program.annotations.tensor[tensor];
  if (annotation && annotation->foreign) {
    annotation->foreign->ToProto(out);
  } else {
    program.annotations.mesh.ToHlo(plan[tensor]).ToProto(out);
  }
}

// One sharding for an array, one per leaf for a tuple.
void RecordShardings(const PreparedProgram& program, const ShardingPlan& plan, const Shape& shape,
                     absl::Span<const int> leaves, xla::OpSharding* out) {
  if (!shape.IsTuple()) {
    RecordSharding(program, plan, leaves[0], out);
    return;
  }
  out->set_type(xla::OpSharding::TUPLE);
  for (const int leaf : leaves) RecordSharding(program, plan, leaf, out->add_tuple_shardings());
}

void DropShardyAttributes(Module* module, Instruction* parameter) {
  if (parameter->frontend_attributes() == nullptr) return;
  xla::FrontendAttributes kept;
  for (const auto& [key, value] : parameter->frontend_attributes()->map()) {
    if (!IsOfShardy(key)) (*kept.mutable_map())[key] = value;
  }
  parameter->set_frontend_attributes(module->New(kept));
}

// Keeps the aliases whose result and argument still have compatible shapes.
void KeepAliases(const xla::HloModuleProto& global, Module* local) {
  for (const auto& entry : global.input_output_alias().entries()) {
    const Shape* result = &local->entry()->root()->shape();
    for (const int64_t index : entry.output_shape_index()) {
      const bool inside = index >= 0 && index < static_cast<int64_t>(result->tuple_shapes().size());
      result = inside ? &result->tuple_shape(index) : nullptr;
      if (result == nullptr) break;
    }
    const int64_t number = entry.parameter_number();
    if (result == nullptr || number < 0 || number >= local->entry()->num_parameters()) continue;
    if (!result->Compatible(local->entry()->parameter(number)->shape())) continue;
    *local->mutable_proto()->mutable_input_output_alias()->add_entries() = entry;
  }
}

// The record that tells callers of a partitioned program how to cut arguments and put results together.
// Writes the shardings of parameters and outputs (hlo/devices/spmd_record.h), the number of partitions, the local
// program's shapes, and the aliases of the global module whose result and argument still have compatible
// local shapes. Also copies the stack frames, buffer donors and frontend attributes of the global module,
// except attributes of Shardy, which do not apply to the local program.
void RecordPartitioning(const PreparedProgram& program, const ShardingPlan& plan, Module* local) {
  const Module& global = *program.flat;
  xla::HloModuleProto* proto = local->mutable_proto();
  KeepModuleFields(global.proto(), proto);
  RecordDevices(program.annotations.mesh.num_devices(), local);
  auto* shapes = proto->mutable_host_program_shape();
  for (int i = 0; i < local->entry()->num_parameters(); ++i) {
    Instruction* parameter = local->entry()->parameter(i);
    parameter->shape().ToProto(shapes->add_parameters());
    shapes->add_parameter_names(parameter->name());
    const Instruction& given = *global.entry()->parameter(i);
    xla::OpSharding* recorded = proto->add_spmd_parameters_shardings();
    RecordShardings(program, plan, given.shape(), program.graph->Leaves(given), recorded);
    parameter->set_sharding(local->New(*recorded));
    DropShardyAttributes(local, parameter);
  }
  local->entry()->root()->shape().ToProto(shapes->mutable_result());
  KeepAliases(global.proto(), local);
  RecordShardings(program, plan, global.entry()->root()->shape(), program.graph->outputs(),
                  proto->mutable_spmd_output_sharding());
}

}  // namespace

absl::StatusOr<Partitioned> EmitPlan(const PreparedProgram& program, const Plan& plan,
                                     const PartitionOptions& options) {
  if (options.observer.see) {
    RETURN_IF_ERROR(options.observer.After("propagate", *WithShardings(program, plan.shardings)));
  }
  const Stopwatch middle;
  Partitioned result;
  ASSIGN_OR_RETURN(RewrittenProgram rewritten, RewriteProgram(program, plan, options.on_local_value));
  result.module = std::move(rewritten.module);
  RecordPartitioning(program, plan.shardings, result.module.get());
  result.num_partitions = program.annotations.mesh.num_devices();
  result.cuts = std::move(rewritten.cuts);
  result.full_replications = std::move(rewritten.full_replications);
  result.made_up_axes = std::move(rewritten.made_up_axes);
  result.partition_seconds = middle.Seconds();
  RETURN_IF_ERROR(options.observer.After("partition", *result.module));

  const Stopwatch end;
  ASSIGN_OR_RETURN(PassPipeline passes, MakePipeline(options.passes, LocalPasses()));
  ASSIGN_OR_RETURN(const std::vector<PassReport> reports, passes.Run(&result.module, options.observer));
  result.passes = program.passes;
  result.passes.insert(result.passes.end(), reports.begin(), reports.end());
  result.optimize_seconds = end.Seconds();
  return result;
}

}  // namespace toroid
