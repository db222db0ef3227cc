// A prepared program and the state of rewriting it, for tests that take the place of the rewriter.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "partitioner/rewrite/rewriters.h"
#include "partitioner/search/strategies.h"
#include "tests/partitioner/equivalence.h"

namespace toroid {

struct RewriteFixture {
  // `text`: as for ProgramFor. The plan is the one that propagation proposes.
  explicit RewriteFixture(const std::string& text, int64_t n, LocalValueHook hook = nullptr)
      : program(PrepareProgram(*ProgramFor(text, n), For(n)).value()),
        plan(PlanOf(*program)),
        out(std::make_unique<Module>("out", *program->flat)),
        state(*program, plan, std::move(hook), out.get()),
        b(&state.spmd, out->AddComputation("main")) {}

  const Instruction& Get(absl::string_view name) const {
    for (const auto& instruction : program->flat->entry()->instructions()) {
      if (instruction->name() == name) return *instruction;
    }
    TOROID_CHECK(false, name);
    return *program->flat->entry()->root();
  }
  int Tensor(absl::string_view name) const { return program->graph->Leaves(Get(name))[0]; }

  // Adds a local value for a tensor, as if it had been computed in `sharding`.
  Instruction* AddValue(absl::string_view name, const Sharding& sharding) {
    const int t = Tensor(name);
    Instruction* local =
        b.computation()->AddParameter(b.ShardShape(program->graph->shape(t), sharding), std::string(name));
    state.values.Add(t, sharding, local);
    return local;
  }
  // The number of instructions of an opcode in the local program.
  int Count(Opcode opcode) const {
    int count = 0;
    for (const auto& instruction : b.computation()->instructions()) count += instruction->opcode() == opcode;
    return count;
  }

  static Plan PlanOf(const PreparedProgram& program) {
    PlanMemo memo(program);
    return Propagated(CheapestAssignments(), &memo)->plan;
  }
  static PartitionOptions For(int64_t n) {
    PartitionOptions options;
    options.num_partitions = n;
    return options;
  }

  std::unique_ptr<PreparedProgram> program;
  Plan plan;
  std::unique_ptr<Module> out;
  RewriteState state;
  SpmdBuilder b;
};

// The sharding that cuts dimension `dim` over all axes of the mesh.
inline Sharding CutAlong(const RewriteFixture& fixture, int rank, int dim) {
  Sharding sharding = Sharding::Replicated(rank);
  sharding.dims[dim] = fixture.state.mesh.InOrder(fixture.state.mesh.AllAxes());
  return sharding;
}

// The sharding of a sum that is partial over all devices.
inline Sharding PartialOverAll(const RewriteFixture& fixture, int rank) {
  Sharding sharding = Sharding::Replicated(rank);
  sharding.partial = fixture.state.mesh.AllAxes();
  return sharding;
}

}  // namespace toroid
