// The target of the partitioner is the machine that its textproto describes.
#include "hlo/cost/target.h"

#include "gmock/gmock.h"
#include "simulator/machines/machine.h"
#include "tests/status_matchers.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

TEST(TargetTest, ItsRatesAreThoseOfTpuV3) {
  ASSERT_OK_AND_ASSIGN(const Machine machine, LoadMachine("tpu-v3-8"));
  const CoreSpec& core = machine.family.core();
  const NetworkSpec& network = machine.family.network();
  EXPECT_EQ(kTarget.memory_bytes, core.memory_bytes());
  EXPECT_EQ(kTarget.memory_bytes_per_second, core.memory().bytes_per_second());
  EXPECT_EQ(kTarget.collective_seconds, network.collective_cost_seconds());
  const double tile = static_cast<double>(core.matrix().tile());
  EXPECT_THAT(kTarget.matrix_flops_per_second,
              IsWithin(kTwoPercent, 2.0 * core.matrix().units() * tile * tile * core.clock_hertz()));
  // A collective gets less than the rate of the link.
  EXPECT_LT(kTarget.link_bytes_per_second, network.link_bytes_per_second());
  EXPECT_THAT(kTarget.link_bytes_per_second, IsWithin(kTwentyPercent, network.link_bytes_per_second()));
}

}  // namespace
}  // namespace toroid
