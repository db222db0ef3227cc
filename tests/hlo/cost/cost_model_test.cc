// BUILD: size = "small"
// Costs, in the time in which a link carries a byte.
#include "hlo/cost/cost_model.h"

#include "gmock/gmock.h"

namespace toroid {
namespace {

TEST(CostModelTest, CollectivesCostWhatTheySend) {
  const Mesh mesh(8, {2}, DeviceOrder(8));  // Axes of 2, 2, 2.
  const auto time = [&](CollectiveKind kind) {
    return DefaultCostModel().CollectiveTime(kind, 32, mesh, AxisList{0, 2});
  };
  EXPECT_EQ(time(CollectiveKind::kAllGather), 96);
  EXPECT_EQ(time(CollectiveKind::kAllReduce), 48);
  EXPECT_EQ(time(CollectiveKind::kReduceScatter), 24);
  EXPECT_EQ(time(CollectiveKind::kAllToAll), 24);
  EXPECT_EQ(time(CollectiveKind::kPermute), 32);
  EXPECT_EQ(SentBytes(CollectiveKind::kAllReduce, int64_t{1} << 62, 4), INT64_MAX / 4) << "saturates";
}

TEST(CostModelTest, AnOpTakesAsLongAsItsBusiestUnit) {
  const CostModel& cost = DefaultCostModel();
  Work work;
  work.bytes_read = 300;
  work.bytes_written = 150;
  EXPECT_DOUBLE_EQ(cost.OpTime(work), cost.MemoryTime(450));
  EXPECT_NEAR(cost.MemoryTime(450), 70, 1e-9);
  work.matrix_flops = 61'500'000'000'000;
  EXPECT_NEAR(cost.OpTime(work) * cost.SecondsPerLinkByte(), 1, 1e-9);
}

TEST(CostModelTest, FewPermutesAreFree) {
  EXPECT_EQ(DefaultCostModel().PermuteDelay(8), 0);
  EXPECT_EQ(DefaultCostModel().PermuteDelay(10), 2 * 65536);
}

}  // namespace
}  // namespace toroid
