// The values of the global program during rewriting, each in every sharding in which it was needed.
//
// A value is a tensor of the flow graph. Its producer adds it in the sharding it was computed in. A user that
// needs another sharding fetches it: the cheapest plan from any of its versions makes a new version, which
// later users share. Constants, iotas, broadcasts of replicated values, and values computed from these alone
// (IsMadeAnywhere) are rematerialized in each sharding that is needed, without communication.
//
// Example: h is added in [{a}, {}]. Two users fetch it in [{}, {}]: the first fetch all-gathers it, the
// second takes the version that the first one made.
#pragma once

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
  // The result of a fetch: the local value, and the axes over which an array was all-gathered if that
  // replicated it.
  struct Fetched {
    Instruction* local = nullptr;
    AxisSet gathered = 0;
  };

  // The arguments must outlive this object, except `hook`, which may be empty. `log` gets the reshardings
  // that exceed the memory bound.
  ShardedValues(const PreparedProgram& program, const ShardingPlan& plan, const ProgramNames& names,
                LocalValueHook hook, ReplicationLog* log);

  // The sharding that replicates the tensor, and the plan's sharding of it; both with its manual axes.
  Sharding Replicated(int tensor) const;
  Sharding Planned(int tensor) const;

  // Adds a version, without calling the hook.
  void Add(int tensor, const Sharding& sharding, Instruction* local);
  // Adds a version that was just computed with `b`; calls the hook first. Returns the local value to use.
  Instruction* AddMade(SpmdBuilder& b, int tensor, const Sharding& sharding, Instruction* local);
  // Makes the tensor one that is rematerialized, by `producer` of the global program, in each sharding that
  // is needed.
  void AddRematerializable(int tensor, const Instruction* producer);
  // Gives `to` the versions and the producer of `from`.
  void Alias(int from, int to);
  // If `from` can be rematerialized, `to` can be too, by the same producer.
  void TakeProducer(int from, int to);
  // Drops the versions and the producer of a tensor, since another computation defines it anew.
  void Forget(int tensor);

  absl::Span<const Version> versions(int tensor) const { return values_[tensor].versions; }
  bool IsRematerializable(int tensor) const { return values_[tensor].producer != nullptr; }
  // True if the tensor exists and only as partial sums, maxima, ...: still to be reduced over devices.
  bool IsPartial(int tensor) const;

  // The tensor in the sharding `wanted`, for `consumer` of the global program. `name`, if not empty, is the
  // consumer's name in causes. Requires: the tensor was added or can be rematerialized, and some version is
  // partial over all axes over which `wanted` is.
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

  // Computes the tensor in the sharding `wanted`; null if its producer cannot: a constant whose elements
  // differ has no shards.
  Instruction* Rematerialize(SpmdBuilder& b, int tensor, const Sharding& wanted, AxisSet* gathered);
  // Computes the op with its result in the sharding `wanted`, cutting no reduction; null if the op cannot be
  // cut so.
  Instruction* ComputeAnew(SpmdBuilder& b, const FlowOp& op, const Sharding& wanted, AxisSet* gathered);
  // Reshards a version to `wanted`: the one with the cheapest plan.
  Fetched Reshard(SpmdBuilder& b, int tensor, const Sharding& wanted, const Instruction& consumer,
                  const std::string& name);

  const PreparedProgram& program_;
  const FlowGraph& graph_;
  const ShardingPlan& plan_;
  const ProgramNames& names_;
  const LocalValueHook hook_;
  ReplicationLog* log_;
  std::vector<Value> values_;  // By tensor.
};

}  // namespace toroid
