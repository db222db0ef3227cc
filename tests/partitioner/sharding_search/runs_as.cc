// BUILD: deps += "//runtime/kernels/linear_algebra"
#include "tests/partitioner/sharding_search/runs_as.h"

#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "runtime/partitioned/run_partitioned.h"
#include "tests/partitioner/equivalence.h"

namespace toroid {

void ExpectRunsAs(const Module& module, const Module& partitioned, std::vector<Literal> arguments,
                  std::optional<double> tolerance) {
  if (arguments.empty()) arguments = IntegerArguments(module);
  const absl::StatusOr<Literal> expected = RunSingle(module, arguments);
  ASSERT_TRUE(expected.ok()) << expected.status().ToString();
  AssembleOptions assemble;
  assemble.check_replicas = true;
  const absl::StatusOr<Literal> actual =
      RunPartitioned(partitioned, arguments, module.entry()->root()->shape(), assemble);
  ASSERT_TRUE(actual.ok()) << actual.status().ToString();
  const Comparison comparison = Compare(*actual, *expected, tolerance);
  EXPECT_TRUE(comparison.equal) << (comparison.outputs.empty() ? "" : comparison.outputs[0].difference);
}

}  // namespace toroid
