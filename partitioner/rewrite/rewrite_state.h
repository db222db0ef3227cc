// The state that the rewriters of one program share: their inputs and their output.
#pragma once

#include "partitioner/plan/plan.h"
#include "partitioner/prepare/prepared_program.h"
#include "partitioner/provenance/program_names.h"
#include "partitioner/provenance/replication_log.h"
#include "partitioner/rewrite/sharded_values.h"
#include "partitioner/spmd/local_value_hook.h"
#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

struct RewriteState {
  RewriteState(const PreparedProgram& program, const Plan& plan, LocalValueHook hook, Module* out);
  RewriteState(const RewriteState&) = delete;  // Its parts refer to each other.

  // The prepared global program, its plan, and the shardings that the plan has for its tensors.
  const PreparedProgram& program;
  const Module& module;
  const FlowGraph& graph;
  const Annotations& annotations;
  const Mesh& mesh;
  const Plan& decided;
  const ShardingPlan& plan;
  const ProgramNames names;

  // The program of one partition.
  Module* out;
  SpmdModule spmd;

  ReplicationLog replications;
  ShardedValues values;
};

}  // namespace toroid
