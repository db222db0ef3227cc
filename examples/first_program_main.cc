// first_program: two products over 8 devices: built, partitioned, executed, compared, predicted.
#include <cstdio>

#include "hlo/base/status.h"
#include "hlo/builder/builder.h"
#include "partitioner/report/explain_table.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "runtime/arguments/random_arguments.h"
#include "runtime/numerics/compare.h"
#include "runtime/partitioned/run_partitioned.h"
#include "simulator/stages/simulate.h"

absl::Status Run() {
  using namespace toroid;
  Builder b("layer", /*num_devices=*/8);
  const Shape x(xla::F32, {64, 128}), w1(xla::F32, {128, 512}), w2(xla::F32, {512, 128});
  Value h = b.Einsum("bi,ih->bh", b.Parameter(x, "x"), b.Split(b.Parameter(w1, "w1"), 1, 8));
  Value y = b.Einsum("bh,ho->bo", b.Tanh(h), b.Parameter(w2, "w2"));
  ASSIGN_OR_RETURN(const auto module, b.Build(b.Replicate(y)));

  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*module, PartitionOptions()));
  std::fputs(ExplainTable(ListCollectives(*partitioned.module), {}, ExplainOptions()).c_str(), stdout);

  const std::vector<Literal> arguments = RandomLiterals({x, w1, w2}, /*int_bound=*/8, /*seed=*/1);
  ASSIGN_OR_RETURN(const Literal whole, RunSingle(*module, arguments));
  ASSIGN_OR_RETURN(const Literal cut, RunPartitioned(*partitioned.module, arguments, whole.shape()));
  std::printf("equal: %s\n", Compare(cut, whole).equal ? "yes" : "no");

  SimulationOptions pod;
  ASSIGN_OR_RETURN(pod.machine, LoadMachine("tpu-v3-16"));
  ASSIGN_OR_RETURN(const Simulation simulation, Simulate(*partitioned.module, pod));
  std::printf("on TPU v3: %.1f us\n", static_cast<double>(simulation.prediction.step_ps) * 1e-6);
  return absl::OkStatus();
}

int main() {
  const absl::Status status = Run();
  if (!status.ok()) std::printf("%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
