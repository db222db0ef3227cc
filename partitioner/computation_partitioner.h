// Rewrites the computations of a module for one partition; see spmd_partitioner.h.
//
// Instructions are taken in order. Each is assigned axes for its factors, its operands are brought where
// those say, its local program is written, and its results stay where they were computed. A value is kept in
// every sharding it was once brought to. Bodies, conditions and branches are entered from one place each, and
// rewritten when met.
// Errors: kInvalidArgument and kUnimplemented "computation/instruction: ..." for what has no partitioned
// form.
#ifndef TOROID_PARTITIONER_COMPUTATION_PARTITIONER_H_
#define TOROID_PARTITIONER_COMPUTATION_PARTITIONER_H_

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "partitioner/assignment.h"
#include "partitioner/ops/local_program.h"
#include "partitioner/partition_options.h"
#include "partitioner/program_names.h"
#include "partitioner/propagation/annotations.h"
#include "partitioner/propagation/flow_graph.h"

// BUILD: srcs += "computation_control_flow.cc", "computation_reports.cc"
// BUILD: srcs += "computation_side_effects.cc", "computation_values.cc"

namespace toroid {

class ComputationPartitioner {
 public:
  // `targets`: the propagated sharding of every tensor. `mesh` has the axes of annotations.mesh, perhaps in
  // another device order.
  ComputationPartitioner(const Module& module, const FlowGraph& graph, const Annotations& annotations,
                         const std::vector<Sharding>& targets, const Mesh& mesh,
                         const PartitionOptions& options, ReshardPlanner* planner, Module* out);

  // Rewrites the entry and all it reaches. Outputs end in the shardings of the graph's output tensors.
  absl::Status Run();

  const std::vector<FullReplication>& full_replications() const { return full_replications_; }
  const ProgramNames& names() const { return names_; }

 private:
  // A value in one sharding.
  struct Version {
    Sharding sharding;
    Instruction* local;
  };
  struct Value {
    absl::InlinedVector<Version, 2> versions;
    const Instruction* producer = nullptr;  // Of the global program, if it can be made anew in any sharding.
  };
  // How an op is computed, and which of its operands stay partial.
  struct Decision {
    Assignment assignment;
    uint32_t passed_on = 0;  // Bit i: operand i enters partial over the axes of `partial`.
    Sharding partial;
  };

  absl::StatusOr<Computation*> PartitionComputation(const Computation& computation, bool is_entry);
  // A body, condition or branch, which ends in the shardings `results`, one per leaf.
  absl::StatusOr<Computation*> PartitionCallee(const Computation& callee, absl::Span<const Sharding> results);
  absl::Status PartitionInstruction(const Instruction& instruction);
  absl::Status PartitionOp(const Instruction& instruction, const FlowOp& op);
  // An op that hands its operand's leaves on: each in the sharding that suits it, all by one op.
  absl::Status PartitionLeaves(const Instruction& instruction);
  absl::Status PartitionWhole(const Instruction& instruction);
  // An op with a side effect that belongs to one device.
  absl::Status PartitionOnDevice(const Instruction& instruction, int64_t device);
  // An outfeed whose data lie in the shardings `data`, one per leaf.
  absl::Status PartitionOutfeed(const Instruction& instruction, absl::Span<const Sharding> data);
  // The instruction on whole operands; its result leaf by leaf.
  std::vector<Instruction*> CloneWhole(const Instruction& instruction,
                                       absl::Span<Instruction* const> operands);
  absl::Status PartitionWhile(const Instruction& instruction);
  absl::Status PartitionConditional(const Instruction& instruction);
  absl::Status PartitionBoundary(const Instruction& instruction, const ManualBoundary& boundary);
  bool PassThroughAnnotation(const Instruction& instruction);
  absl::Status EntryParameters(const Computation& computation);
  absl::Status EntryOutputs(const Computation& computation);
  // The shape of a value whose leaves lie in the shardings of the tensors `leaves`, in the layouts of `shape`.
  Shape LocalShape(const Shape& shape, absl::Span<const int> leaves) const;

  // Which operands to leave partial: those of the first linearity whose operands are partial alike; 0 for
  // none.
  uint32_t PartialToPassOn(const Instruction& instruction, const FlowOp& op, Sharding* partial);
  Assignment Assign(const Instruction& instruction, const FlowOp& op, uint32_t passed_on,
                    const Sharding& partial);
  Decision Decide(const Instruction& instruction, const FlowOp& op);
  // Where an op so computed needs an operand.
  Sharding OperandSharding(const FlowOp& op, size_t operand, const Decision& decision) const;
  absl::Status Emit(const Instruction& instruction, const FlowOp& op, const Decision& decision);

  void Define(int tensor, const Sharding& sharding, Instruction* local);
  // The tensor in a sharding, brought there if need be; `name`: of the consumer, in reports.
  Instruction* Get(int tensor, const Sharding& wanted, const Instruction& consumer, const std::string& name = "");
  // Constants, iotas and broadcasts of what every device has: made in any sharding without communication.
  bool IsFree(int tensor) const;
  Instruction* Materialize(int tensor, const Sharding& wanted);
  bool OnlyPartial(int tensor) const;
  Sharding Whole(int tensor) const;
  // Where propagation wants it.
  Sharding Target(int tensor) const;
  Instruction* Poison(Instruction* x, absl::Span<const int64_t> dims, const Sharding& sharding);
  Computation* CopyComputation(const Computation* computation);
  std::string StepText(const Sharding& from, const Sharding& to) const;
  void ReportGather(const Instruction& instruction, const FlowOp& op, int operand,
                    const Assignment& assignment);
  // Cuts that were asked for of arrays whose size is known only when running.
  void ReportOverruled();
  void ReportReplication(const Instruction& instruction, const FlowOp& op, const Assignment& assignment);

  const Module& module_;
  const FlowGraph& graph_;
  const Annotations& annotations_;
  const std::vector<Sharding>& targets_;
  const Mesh& mesh_;
  const PartitionOptions& options_;
  ReshardPlanner* planner_;
  Module* out_;
  const ProgramNames names_;
  SpmdModule shared_;
  std::vector<Value> values_;            // By tensor.
  std::vector<bool> must_reduce_;        // By tensor; see reduction_points.h.
  SpmdBuilder* b_ = nullptr;             // Of the computation being written.
  absl::flat_hash_map<const Computation*, Computation*> copied_;
  std::vector<FullReplication> full_replications_;
  AxisSet gathered_whole_ = 0;  // Axes over which Get() gathered a whole array since this was last cleared.
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_COMPUTATION_PARTITIONER_H_
