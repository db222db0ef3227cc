#include "examples/moe/fit_on_machine.h"

#include <memory>

#include "absl/status/statusor.h"
#include "hlo/base/status.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/compiler/lower.h"
#include "simulator/memory/temporaries.h"
#include "simulator/program/tiling.h"

namespace toroid {
namespace {

// The search ends once this share of the limit is used.
constexpr double kEnough = 0.97;
// A step up to this multiple of the limit is left to the compiler's rematerialization. It recomputes few
// results, which takes less time than to recompute everything that an op's result depends on.
constexpr double kLeftToCompiler = 1.05;

absl::StatusOr<int64_t> Needed(const Module& partitioned, const CoreSpec& core) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> lowered, Lower(partitioned, core));
  const ArraySize size = PaddedSize({core.vector().sublanes(), core.vector().lanes()});
  return ComputeMemoryNeeds(*lowered, &size).All();
}

}  // namespace

MemoryFit FitOnMachine(const Machine& machine, const CostModel& model) {
  MemoryFit fit;
  const CoreSpec core = machine.family.core();
  const double share = core.program_memory_share() > 0 ? core.program_memory_share() : 1;
  fit.limit_bytes = static_cast<int64_t>(share * static_cast<double>(core.memory_bytes()));
  fit.enough = kEnough;
  fit.seconds = OpSeconds(model);
  CoreSpec roomy = core;
  roomy.set_program_memory_share(0);  // No rematerialization.
  fit.peak_bytes = [core, roomy, limit = fit.limit_bytes](const Module& step) -> absl::StatusOr<int64_t> {
    PartitionOptions options;
    options.strategies = NoSearch();  // Of many programs, each is partitioned once.
    ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(step, options));
    ASSIGN_OR_RETURN(const int64_t peak, Needed(*partitioned.module, roomy));
    const double over = static_cast<double>(peak) / static_cast<double>(limit);
    return over > 1 && over <= kLeftToCompiler ? Needed(*partitioned.module, core) : peak;
  };
  return fit;
}

}  // namespace toroid
