// The values of the global program while it is rewritten, each in every sharding in which it was needed.
//
// A value is a tensor of the flow graph. Where it is computed it is added in the sharding it has there; whoever needs
// it in another one fetches it, by the cheapest plan from any of its versions, and finds it there the next time.
// Constants, iotas, broadcasts of what every device has, and what is computed of these alone (free_values.h) are rematerialized in
// each sharding that is wanted, without communication.
//
// Example: h is added in [{a}, {}]. Two users fetch it in [{}, {}]: the first all-gathers it, the second takes the
// version that is there then.
#ifndef TOROID_PARTITIONER_REWRITE_SHARDED_VALUES_H_
#define TOROID_PARTITIONER_REWRITE_SHARDED_VALUES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "partitioner/prepare/prepared_program.h"
#include "partitioner/provenance/program_names.h"
#include "partitioner/provenance/replication_log.h"
#include "partitioner/spmd/local_value_hook.h"
#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

class ShardedValues {
 public:
  // A value in one sharding.
  struct Version {
    Sharding sharding;
    Instruction* local;
  };
  // The result of a fetch: the local value, and the axes over which an array had to be gathered to replicate it.
  struct Fetched {
    Instruction* local = nullptr;
    AxisSet gathered = 0;
  };

  // The copy of a computation of the global program in the output module.
  using CopyComputation = std::function<Computation*(const Computation*)>;

  // All but the functions, of which `hook` may be empty, are to outlive this. `log` takes reshardings that exceed the memory of
  // their ends.
  ShardedValues(const PreparedProgram& program, const ShardingPlan& plan, const ProgramNames& names,
                LocalValueHook hook, CopyComputation copy_computation, ReplicationLog* log);

  // The tensor on every device, and as the plan has it; manual axes included.
  Sharding Replicated(int tensor) const;
  Sharding Planned(int tensor) const;

  // A value that is there as it stands.
  void Add(int tensor, const Sharding& sharding, Instruction* local);
  // An array that was just made with `b`: the hook sees it first.
  Instruction* AddMade(SpmdBuilder& b, int tensor, const Sharding& sharding, Instruction* local);
  // `producer`, of the global program, is to be rematerialized wherever the tensor is wanted.
  void AddRematerializable(int tensor, const Instruction* producer);
  // `to` is what `from` is.
  void Alias(int from, int to);
  // `to` can be rematerialized if `from` can.
  void TakeProducer(int from, int to);
  // Drops what is known of a tensor: it is defined anew, in another computation.
  void Forget(int tensor);

  absl::Span<const Version> versions(int tensor) const { return values_[tensor].versions; }
  bool IsRematerializable(int tensor) const { return values_[tensor].producer != nullptr; }
  // True if no version is complete: all are sums, maxima, ... over devices still to be reduced.
  bool IsPartial(int tensor) const;

  // The tensor in a sharding, for `consumer` of the global program; `name` is what reports call that, if its own name
  // is not it. Requires that it was added or can be rematerialized, and that `wanted` is partial only over axes over
  // which some version is.
  Fetched Fetch(SpmdBuilder& b, int tensor, const Sharding& wanted, const Instruction& consumer,
                const std::string& name = "");
  Instruction* Get(SpmdBuilder& b, int tensor, const Sharding& wanted, const Instruction& consumer,
                   const std::string& name = "") {
    return Fetch(b, tensor, wanted, consumer, name).local;
  }

 private:
  struct Value {
    absl::InlinedVector<Version, 2> versions;
    const Instruction* producer = nullptr;  // If it can be rematerialized.
  };

  // Null if it cannot be made so: a constant of different elements, cut.
  Instruction* Rematerialize(SpmdBuilder& b, int tensor, const Sharding& wanted, AxisSet* gathered);
  // The op in the sharding of its result, none of its reductions cut; null if that cuts what the op cannot.
  Instruction* ComputeAnew(SpmdBuilder& b, const FlowOp& op, const Sharding& wanted, AxisSet* gathered);
  // Reshards the version from which that is cheapest to `wanted`.
  Fetched Reshard(SpmdBuilder& b, int tensor, const Sharding& wanted, const Instruction& consumer,
                  const std::string& name);

  const PreparedProgram& program_;
  const FlowGraph& graph_;
  const ShardingPlan& plan_;
  const ProgramNames& names_;
  const LocalValueHook hook_;
  const CopyComputation copy_computation_;
  ReplicationLog* log_;
  std::vector<Value> values_;  // By tensor.
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REWRITE_SHARDED_VALUES_H_
