// first_program: two products over 8 devices: built, partitioned, executed, compared, predicted.
#include <cstdio>

#include "explain/explain_table.h"
#include "hlo/base/status.h"
#include "hlo/builder/builder.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "runtime/arguments/random_arguments.h"
#include "runtime/numerics/compare.h"
#include "runtime/partitioned/run_partitioned.h"
#include "simulator/stages/simulate.h"

absl::Status Run() {
  using namespace toroid;
  Builder b("layer", /*num_devices=*/8);
  const Shape dx(xla::F32, {64, 128}), d1(xla::F32, {128, 512}), d2(xla::F32, {512, 128});
  Value x = b.Parameter(dx, "x"), w1 = b.Parameter(d1, "w1"), w2 = b.Parameter(d2, "w2");
  Value h = b.Einsum("bi,ih->bh", x, b.Split(w1, 1, 8));
  Value y = b.Einsum("bh,ho->bo", b.Tanh(h), w2);
  ASSIGN_OR_RETURN(const auto module, b.Build(b.Replicate(y)));
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*module, PartitionOptions()));
  std::fputs(ExplainTable(Explain({ListCollectives(*partitioned.module)})).c_str(), stdout);

  const std::vector<Literal> arguments = RandomLiterals({dx, d1, d2}, 8, /*seed=*/1);
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
