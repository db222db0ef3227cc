// BUILD: size = "small"
// The partitioner's choices if it compares times on a machine.
#include "simulator/cost/machine_cost_model.h"

#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/collectives/collective_simulator.h"
#include "simulator/cost/predict_times.h"
#include "simulator/machines/router_tables.h"
#include "tests/status_matchers.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;

Machine Slice(const std::string& name) {
  auto machine = LoadMachine(name);
  EXPECT_OK(machine);
  return *std::move(machine);
}

std::unique_ptr<MachineCostModel> ModelOf(const Machine& machine) {
  auto model = MachineCostModel::Create(machine);
  EXPECT_OK(model);
  return *std::move(model);
}

std::unique_ptr<Module> Parsed(const std::string& text) {
  auto module = ParseModule(text);
  EXPECT_OK(module);
  return *std::move(module);
}

const Instruction* Named(const Module& module, const std::string& name) {
  for (const auto& op : module.entry()->instructions()) {
    if (op->name() == name) return op.get();
  }
  return nullptr;
}

TEST(MachineCostModelTest, ACollectiveTakesWhatTheSimulatorSays) {
  const auto model = ModelOf(Slice("tpu-v3-32"));
  const Mesh mesh(32, {4}, DeviceOrder(32));
  const double seconds =
      model->SecondsPerLinkByte() *
      model->CollectiveTime(CollectiveKind::kAllReduce, 8 * kMiB, mesh, mesh.InOrder(mesh.AllAxes()));
  const std::unique_ptr<Module> program = Parsed(R"(HloModule m, num_partitions=32
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[2097152] parameter(0)
  ROOT r = f32[2097152] all-reduce(x), channel_id=1, replica_groups=[1,32]<=[32], use_global_device_ids=true, to_apply=add
})");
  ASSERT_OK_AND_ASSIGN(const PredictedTimes times, PredictTimes(*program, Slice("tpu-v3-32")));
  EXPECT_THAT(seconds, IsWithin(kRounding, times.of_collective.at(Named(*program, "r"))));
}

TEST(MachineCostModelTest, NeighboursExchangeFasterThanDevicesFarApart) {
  const auto model = ModelOf(Slice("tpu-v3-128"));
  const Mesh mesh(128, {2}, DeviceOrder(128));  // Axes of two, the last one within a chip.
  const auto time = [&](const AxisList& axes) {
    return model->CollectiveTime(CollectiveKind::kAllGather, kMiB, mesh, axes);
  };
  EXPECT_LT(time(AxisList{6}), time(AxisList{0}));
  EXPECT_LT(time(AxisList{5, 6}), time(AxisList{0, 1}));
}

// The model works a collective out once for all orders in which its axes may be listed.
TEST(MachineCostModelTest, TheOrderOfAxesDoesNotCount) {
  for (const char* slice : {"tpu-v3-32", "tpu-v4-32", "tpu-v5e-32"}) {
    const Machine machine = Slice(slice);
    const int64_t cores = machine.cores();
    const Mesh mesh(cores, {2}, DeviceOrder(cores));
    const auto simulator =
        CollectiveSimulator::Create(machine.family.network(), machine.slice, machine.family.cores_per_chip(),
                                    RouterTableOf(machine.family.network()), [&] {
                                      std::vector<int64_t> all(cores);
                                      std::iota(all.begin(), all.end(), int64_t{0});
                                      return all;
                                    }());
    ASSERT_OK(simulator.status());
    const auto groups = [&](const AxisList& axes) {
      DeviceGroups found;
      const std::vector<int64_t> members = mesh.Positions(axes);
      for (const int64_t first : mesh.Positions(mesh.InOrder(mesh.AllAxes() & ~axes.Set()))) {
        std::vector<int64_t> devices;
        for (const int64_t member : members) devices.push_back(first + member);
        found.Append(devices);
      }
      return found;
    };
    for (int a = 0; a < mesh.num_axes(); ++a) {
      for (int b = a + 1; b < mesh.num_axes(); ++b) {
        AxisList there, back;
        there.push_back(a), there.push_back(b);
        back.push_back(b), back.push_back(a);
        for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                          CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll}) {
          const auto one = (*simulator)->Estimate(kind, kMiB, groups(there));
          const auto other = (*simulator)->Estimate(kind, kMiB, groups(back));
          ASSERT_OK(one.status());
          ASSERT_OK(other.status());
          EXPECT_EQ(one->time, other->time) << slice << " " << CollectiveKindName(kind) << " " << a << b;
        }
      }
    }
  }
}

TEST(MachineCostModelTest, TheOrderOfDevicesCounts) {
  const auto model = ModelOf(Slice("tpu-v3-128"));
  ASSERT_OK_AND_ASSIGN(const DeviceOrder order, DeviceOrder::Iota({2, 64}, {1, 0}));
  const Mesh turned(128, {2}, order);  // The last axis spans the slice, the one before lies within a chip.
  EXPECT_GT(model->CollectiveTime(CollectiveKind::kAllGather, kMiB, turned, AxisList{6}),
            model->CollectiveTime(CollectiveKind::kAllGather, kMiB, turned, AxisList{5}));
}

TEST(MachineCostModelTest, FixedCostsCount) {
  const auto model = ModelOf(Slice("tpu-v3-128"));
  const Mesh mesh(128, {2}, DeviceOrder(128));
  const double few = model->CollectiveTime(CollectiveKind::kAllReduce, 4, mesh, AxisList{0, 1});
  // 18 us for the collective and 0.82 us for each of four steps.
  EXPECT_THAT(few * model->SecondsPerLinkByte(), IsWithin(kTwoPercent, 18e-6 + 4 * 0.82e-6));
  EXPECT_THAT(model->CollectiveTime(CollectiveKind::kAllReduce, 8, mesh, AxisList{0, 1}),
              IsWithin(kTwoPercent, few));
  EXPECT_EQ(model->CollectiveTime(CollectiveKind::kAllReduce, 4, mesh, AxisList()), 0);
  EXPECT_EQ(model->PermuteDelay(1), 0);
  EXPECT_THAT(model->PermuteDelay(2) * model->SecondsPerLinkByte(), IsWithin(kRounding, 18e-6));
}

TEST(MachineCostModelTest, ProgramsTooLargeForTheSliceCostWhatTheySend) {
  const auto model = ModelOf(Slice("tpu-v3-16"));
  const Mesh mesh(32, {2}, DeviceOrder(32));
  EXPECT_EQ(model->CollectiveTime(CollectiveKind::kAllGather, 100, mesh, AxisList{0, 1}), 300);
}

struct Outcome {
  double step_seconds = 0;
  size_t collectives = 0;
};

// Partitions a product of 16 x 16 x 16 over 8 cores: x and y are cut along columns, and `w` is the sharding of w.
Outcome SmallProduct(const std::string& w, const CostModel& cost, const Machine& machine) {
  const std::unique_ptr<Module> module = Parsed(R"(ENTRY main {
  x = f32[16,16] parameter(0), sharding={devices=[1,8]<=[8]}
  w = f32[16,16] parameter(1), sharding=)" + w + R"(
  ROOT y = f32[16,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={devices=[1,8]<=[8]} })");
  PartitionOptions options;
  options.cost = &cost;
  const auto partitioned = PartitionModule(*module, options);
  EXPECT_OK(partitioned);
  const auto times = PredictTimes(*partitioned->module, machine);
  EXPECT_OK(times);
  return {times->step_seconds, ListCollectives(*partitioned->module).size()};
}

TEST(MachineCostModelTest, ASmallArrayIsGatheredAtOnceRatherThanPassedRound) {
  const Machine machine = Slice("tpu-v3-16");
  const auto model = ModelOf(machine);
  const Outcome by_bytes = SmallProduct("{devices=[1,8]<=[8]}", DefaultCostModel(), machine),
                by_time = SmallProduct("{devices=[1,8]<=[8]}", *model, machine);
  EXPECT_GT(by_bytes.collectives, 1);
  EXPECT_EQ(by_time.collectives, 1);
  EXPECT_LT(by_time.step_seconds, by_bytes.step_seconds / 2);
}

TEST(MachineCostModelTest, ASmallProductIsNotRepeatedWhereRowsAndColumnsAreExchanged) {
  const Machine machine = Slice("tpu-v3-16");
  const auto model = ModelOf(machine);
  // An exception: x gathered at once, and a product on all of it, take 23.8 us. The step exchanges rows and columns before and
  // behind the product (48.3 us), since the way behind it is not weighed with the one before.
  const Outcome by_time = SmallProduct("{replicated}", *model, machine);
  EXPECT_EQ(by_time.collectives, 2);
  EXPECT_THAT(by_time.step_seconds, IsWithin(1.05, 23.8e-6));
}

TEST(PredictTimesTest, CombinedAllReducesShareTheirTimeByBytes) {
  const std::unique_ptr<Module> program = Parsed(R"(HloModule m, num_partitions=8
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[3000] parameter(0)
  y = f32[1000] parameter(1)
  r = f32[3000] all-reduce(x), channel_id=1, replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=add
  s = f32[1000] all-reduce(y), channel_id=2, replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=add
  ROOT t = (f32[3000], f32[1000]) tuple(r, s)
})");
  ASSERT_OK_AND_ASSIGN(const PredictedTimes times, PredictTimes(*program, Slice("tpu-v3-16")));
  ASSERT_EQ(times.of_collective.size(), 2);
  EXPECT_DOUBLE_EQ(times.of_collective.at(Named(*program, "r")),
                   3 * times.of_collective.at(Named(*program, "s")));
  EXPECT_DOUBLE_EQ(
      times.of_collective.at(Named(*program, "r")) + times.of_collective.at(Named(*program, "s")),
      times.collective_seconds);
  EXPECT_EQ(times.step_seconds, times.collective_seconds);
}

TEST(PredictTimesTest, CopiesToTheHostAreNoCommunication) {
  const std::unique_ptr<Module> program = Parsed(R"(HloModule m, num_partitions=4
ENTRY main {
  x = f32[4096,4096] parameter(0)
  kept = f32[4096,4096] custom-call(x), custom_call_target="MoveToHost"
  back = f32[4096,4096] custom-call(kept), custom_call_target="MoveToDevice"
  g = f32[16384,4096] all-gather(x), channel_id=1, replica_groups=[1,4]<=[4], use_global_device_ids=true, dimensions={0}
  ROOT t = (f32[4096,4096], f32[16384,4096]) tuple(back, g)
})");
  PredictedTimes times;
  ASSERT_OK_AND_ASSIGN(times, PredictTimes(*program, Slice("tpu-v6e-4")));
  ASSERT_EQ(times.of_collective.size(), 1);
  EXPECT_GT(times.collective_seconds, 0);
  EXPECT_EQ(times.of_collective.at(Named(*program, "g")), times.collective_seconds);
  // The core has nothing to do meanwhile.
  ASSERT_OK(AddHiddenTimes(*program, Slice("tpu-v6e-4"), &times));
  EXPECT_EQ(times.hidden.at(Named(*program, "g")), 0);
}

TEST(PredictTimesTest, CollectivesWithoutNamesHaveTheirTimes) {
  // Instructions that the partitioner makes have no names. Here they are four sums, which are merged.
  const std::unique_ptr<Module> module = Parsed(R"(add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[64,512] parameter(0), sharding={devices=[8,1]<=[8]}
  y = f32[64,8] parameter(1), sharding={devices=[8,1]<=[8]}
  zero = f32[] constant(0)
  p = f32[512] reduce(x, zero), dimensions={0}, to_apply=add
  q = f32[8] reduce(y, zero), dimensions={0}, to_apply=add
  g = f32[512,512] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  h = f32[512,8] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT t = (f32[512], f32[8], f32[512,512], f32[512,8]) tuple(p, q, g, h),
      sharding={{replicated}, {replicated}, {replicated}, {replicated}}
})");
  PartitionOptions options;
  options.strategies = NoSearch();
  const auto partitioned = PartitionModule(*module, options);
  ASSERT_OK(partitioned);
  ASSERT_OK_AND_ASSIGN(const PredictedTimes times, PredictTimes(*partitioned->module, Slice("tpu-v3-16")));
  const std::vector<CollectiveRecord> records = ListCollectives(*partitioned->module);
  ASSERT_EQ(records.size(), 4);
  double sum = 0, per_byte = 0;
  for (const CollectiveRecord& record : records) {
    const double seconds = times.of_collective.at(record.op) * record.share;
    sum += seconds;
    if (per_byte == 0) per_byte = seconds / static_cast<double>(record.operand_bytes);
    EXPECT_DOUBLE_EQ(seconds, per_byte * static_cast<double>(record.operand_bytes));
  }
  EXPECT_GT(sum, 0);
  EXPECT_DOUBLE_EQ(sum, times.collective_seconds);
}

TEST(PredictTimesTest, TooManyDevicesAreRefused) {
  const std::unique_ptr<Module> program =
      Parsed("HloModule m, num_partitions=64\nENTRY main { ROOT x = f32[4] parameter(0) }");
  EXPECT_THAT(PredictTimes(*program, Slice("tpu-v3-16")).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("64")));
}

}  // namespace
}  // namespace toroid
