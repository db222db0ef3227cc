#include "partitioner/stages/record_partitioning.h"

#include "absl/strings/match.h"

namespace toroid {
namespace {

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

}  // namespace

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

}  // namespace toroid
