#include "simulator/stages/simulate.h"

#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "simulator/stages/place_devices.h"
#include "tests/status_matchers.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kHeader[] = "HloModule m, num_partitions=8\n";
constexpr char kLayer[] = R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[512,1024] parameter(0)
  w = f32[1024,1024] parameter(1)
  h = f32[512,1024] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[512,1024] all-reduce(h), channel_id=1, use_global_device_ids=true, replica_groups={{0,1,2,3,4,5,6,7}}, to_apply=add
  g = f32[512,1024] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  t = f32[512,1024] tanh(g)
  ROOT y = (f32[512,1024], f32[512,1024]) tuple(s, t) })";

std::unique_ptr<Module> Parsed(const std::string& text) {
  auto module = ParseModule(text);
  EXPECT_OK(module.status());
  return *std::move(module);
}

SimulationOptions On(const std::string& machine) {
  SimulationOptions options;
  auto loaded = LoadMachine(machine);
  EXPECT_OK(loaded.status());
  options.machine = *std::move(loaded);
  return options;
}

Prediction Predict(const std::string& text, const SimulationOptions& options) {
  auto simulation = Simulate(*Parsed(text), options);
  EXPECT_OK(simulation.status());
  EXPECT_OK(VerifyModule(*simulation->lowered));
  return simulation->prediction;
}

// Weighted values of 16 heads and their projection.
TEST(SimulateTest, ProductsOfOneGroupShareItsTime) {
  const Prediction prediction = Predict(R"(
ENTRY main {
  p = bf16[16,512,512] parameter(0)
  v = bf16[16,512,64] parameter(1)
  w = bf16[16,64,1024] parameter(2)
  h = bf16[16,512,64] dot(p, v), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1},
      metadata={op_name="values"}
  ROOT y = bf16[512,1024] dot(h, w), lhs_contracting_dims={0,2}, rhs_contracting_dims={0,1},
      metadata={op_name="projection"} })",
                                        On("tpu-v3-8"));
  ASSERT_EQ(prediction.groups.size(), 1);
  const PredictedGroup& group = prediction.groups[0];
  ASSERT_EQ(group.parts.size(), 2);
  EXPECT_EQ(group.parts[0].op_name, "projection");
  EXPECT_EQ(group.parts[1].op_name, "values");
  EXPECT_GT(group.parts[0].picoseconds, 0);
  EXPECT_GT(group.parts[1].picoseconds, 0);
  EXPECT_THAT(static_cast<double>(group.parts[0].picoseconds + group.parts[1].picoseconds),
              IsWithin(kRounding, static_cast<double>(group.picoseconds)));
}

TEST(SimulateTest, StepIsTheSumOfItsRowsAndOfItsBreakdown) {
  const Prediction prediction = Predict(std::string(kHeader) + kLayer, On("tpu-v3-8"));
  double rows = 0, classes = 0;
  for (const auto& group : prediction.groups)
    rows += group.executions * static_cast<double>(group.picoseconds);
  for (const auto& row : prediction.collectives)
    rows += row.executions * static_cast<double>(row.picoseconds);
  for (const auto& c : prediction.breakdown) classes += c.picoseconds;
  EXPECT_THAT(rows, IsWithin(kRounding, static_cast<double>(prediction.step_ps)));
  EXPECT_THAT(classes, IsWithin(kRounding, static_cast<double>(prediction.step_ps)));
  EXPECT_EQ(prediction.devices, 8);
  ASSERT_EQ(prediction.collectives.size(), 1);
  EXPECT_EQ(prediction.collectives[0].kind, "all-reduce");
  EXPECT_EQ(prediction.communication_share, static_cast<double>(prediction.collectives[0].picoseconds) /
                                                static_cast<double>(prediction.step_ps));
  EXPECT_GT(prediction.step_ps, prediction.roofline_ps);
  EXPECT_GT(prediction.network.max_utilization, 0);
  EXPECT_LE(prediction.network.max_utilization, 1);
}

TEST(SimulateTest, OverlapHidesComputationBehindTheCollective) {
  SimulationOptions options = On("tpu-v3-8");
  const Prediction one_by_one = Predict(std::string(kHeader) + kLayer, options);
  options.schedule.overlap = true;
  const Prediction overlapped = Predict(std::string(kHeader) + kLayer, options);
  EXPECT_LT(overlapped.step_ps, one_by_one.step_ps);
  EXPECT_GE(overlapped.step_ps, one_by_one.collectives[0].picoseconds);
}

TEST(SimulateTest, ASlowChipSlowsComputationAndNotTheLinks) {
  SimulationOptions options = On("tpu-v3-8");
  const Prediction before = Predict(std::string(kHeader) + kLayer, options);
  SlowChip* slow = options.machine.slice.add_slow_chips();
  slow->set_chip(3);
  slow->set_speed(0.5);
  const Prediction after = Predict(std::string(kHeader) + kLayer, options);
  EXPECT_EQ(after.collectives[0].picoseconds, before.collectives[0].picoseconds);
  EXPECT_THAT(
      static_cast<double>(after.step_ps - after.collectives[0].picoseconds),
      IsWithin(kRounding, 2 * static_cast<double>(before.step_ps - before.collectives[0].picoseconds)));
}

TEST(SimulateTest, ASlowChipThatRunsNothingSlowsNothing) {
  SimulationOptions options = On("tpu-v3-16");
  const Prediction before = Predict(std::string(kHeader) + kLayer, options);
  SlowChip* slow = options.machine.slice.add_slow_chips();
  slow->set_chip(7);
  slow->set_speed(0.5);
  EXPECT_EQ(Predict(std::string(kHeader) + kLayer, options).step_ps, before.step_ps);
}

TEST(SimulateTest, TimelineCoversTheStepWithoutGaps) {
  SimulationOptions options = On("tpu-v3-8");
  options.keep_timeline = true;
  const Prediction prediction = Predict(std::string(kHeader) + kLayer, options);
  int64_t at = 0;
  for (const PredictedEvent& event : prediction.events) {
    EXPECT_EQ(event.start_ps, at);
    at += event.picoseconds;
  }
  EXPECT_EQ(at, prediction.step_ps);
  ASSERT_EQ(prediction.network.link_loads.size(), 1);
  EXPECT_EQ(prediction.collectives[0].link_load, 0);
}

TEST(SimulateTest, ALoopTakesItsTripsTimesItsBody) {
  const std::string loop = R"(HloModule m
condition { s = (s32[], f32[1024,1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)
  ROOT more = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[1024,1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[1024,1024] get-tuple-element(s), index=1
  y = f32[1024,1024] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[1024,1024]) tuple(next, y) }
ENTRY main {
  x = f32[1024,1024] parameter(0)
  start = s32[] constant(0)
  s = (s32[], f32[1024,1024]) tuple(start, x)
  l = (s32[], f32[1024,1024]) while(s), condition=condition, body=body
  ROOT r = f32[1024,1024] get-tuple-element(l), index=1 })";
  const Prediction prediction = Predict(loop, On("tpu-v3-8"));
  double dots = 0;
  for (const auto& group : prediction.groups) {
    if (group.op_class == "dot") dots += group.executions;
  }
  EXPECT_EQ(dots, 10);
}

constexpr char kTwoSums[] = R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[512,1024] parameter(0)
  y = f32[256,1024] parameter(1)
  w = f32[1024,1024] parameter(2)
  tx = f32[512,1024] tanh(x)
  ty = f32[256,1024] tanh(y)
  hx = f32[512,1024] dot(tx, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  hy = f32[256,1024] dot(ty, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sx = f32[512,1024] all-reduce(hx), channel_id=1, use_global_device_ids=true, replica_groups={{0,1,2,3,4,5,6,7}}, to_apply=add
  sy = f32[256,1024] all-reduce(hy), channel_id=2, use_global_device_ids=true, replica_groups={{0,1,2,3,4,5,6,7}}, to_apply=add
  ROOT r = (f32[512,1024], f32[256,1024]) tuple(sx, sy) })";

TEST(SimulateTest, RowsHaveTheNamesOfThePrintedModuleAndNoneTwice) {
  ASSERT_OK_AND_ASSIGN(const Simulation simulation,
                       Simulate(*Parsed(std::string(kHeader) + kTwoSums), On("tpu-v3-8")));
  const std::string printed = PrintModule(*simulation.lowered);
  std::set<std::string> names;
  ASSERT_GE(simulation.prediction.groups.size(), 2u);
  for (const PredictedGroup& group : simulation.prediction.groups) {
    EXPECT_TRUE(names.insert(group.instruction).second) << group.instruction;
    const std::string name = group.instruction.substr(group.instruction.find('/') + 1);
    EXPECT_THAT(printed, HasSubstr("  " + name + " = "));
  }
}

TEST(SimulateTest, AValueInATupleIsNamedWithItsPlaceAndItsOwnShape) {
  const Prediction prediction = Predict(std::string(kHeader) + kTwoSums, On("tpu-v3-8"));
  ASSERT_EQ(prediction.collectives.size(), 1u) << "both sums are one all-reduce";
  std::map<std::string, std::string> shapes;
  for (const PredictedMemory::Value& value : prediction.memory.largest)
    shapes[value.instruction] = value.shape;
  EXPECT_EQ(shapes[prediction.collectives[0].instruction + "{0}"], "f32[512,1024]");
  EXPECT_EQ(shapes[prediction.collectives[0].instruction + "{1}"], "f32[256,1024]");
}

// A product behind which 80 arrays are added, one after the other: more than any search looks at.
TEST(SimulateTest, SearchesThatWereCutShortAreNotedInTheOrderInWhichTheyWere) {
  std::string text =
      "ENTRY main { x = f32[64,1024] parameter(0) w = f32[1024,1024] parameter(1) "
      "sum0 = f32[64,1024] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} ";
  for (int i = 1; i <= 80; ++i) {
    absl::StrAppend(&text, "p", i, " = f32[64,1024] parameter(", i + 1, ") ");
    absl::StrAppend(&text, "sum", i, " = f32[64,1024] add(sum", i - 1, ", p", i, ") ");
  }
  absl::StrAppend(&text, "ROOT t = f32[1024,64] transpose(sum80), dimensions={1,0} }");
  const Prediction prediction = Predict(absl::StrCat("HloModule m ", text), On("tpu-v3-8"));
  EXPECT_THAT(prediction.notes,
              ElementsAre("the search of readers that are cut into steps was cut short 1 time",
                          "the search of readers on the way to a convolution was cut short 1 time",
                          "the search of readers that want an order was cut short 1 time"));
}

TEST(SimulateTest, MoreDevicesThanCoresAreRefused) {
  EXPECT_THAT(
      Simulate(*Parsed("HloModule m, num_partitions=64\nENTRY e { ROOT x = f32[] parameter(0) }"),
               On("tpu-v3-8"))
          .status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("64 devices, and tpu-v3-8 has 8 cores")));
}

TEST(SimulateTest, AnEmptyProgramTakesNoTime) {
  const Prediction prediction =
      Predict("HloModule m\nENTRY e { x = f32[4] parameter(0) ROOT t = () tuple() }", On("tpu-v3-8"));
  EXPECT_EQ(prediction.step_ps, 0);
  EXPECT_TRUE(prediction.groups.empty());
}

TEST(PlaceDevicesTest, TopologyIsNoSlowerThanRowMajorAndBestThanBoth) {
  const std::string columns = std::string("HloModule m, num_partitions=16\n") + R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[1024,1024] parameter(0)
  ROOT s = f32[1024,1024] all-reduce(x), channel_id=1, use_global_device_ids=true, replica_groups={{0,4,8,12},{1,5,9,13},{2,6,10,14},{3,7,11,15}}, to_apply=add })";
  // Along rows: the cores of a chip serve four devices beside each other better than a line of chips does.
  const std::string rows =
      absl::StrReplaceAll(columns, {{"{{0,4,8,12},{1,5,9,13},{2,6,10,14},{3,7,11,15}}",
                                     "{{0,1,2,3},{4,5,6,7},{8,9,10,11},{12,13,14,15}}"}});
  for (const std::string& text : {columns, rows}) {
    std::map<std::string, int64_t> steps;
    for (const std::string method : {"row-major", "topology", "best"}) {
      SimulationOptions options = On("tpu-v3-16");
      ASSERT_OK_AND_ASSIGN(options.core_of_device, PlaceDevices(method, *Parsed(text), options.machine));
      steps[method] = Predict(text, options).step_ps;
    }
    EXPECT_LE(steps["topology"], steps["row-major"]);
    EXPECT_LE(steps["best"], steps["topology"]);
  }
}

// The copies of an array that lies in the host's memory take time where the machine says how long, and are refused where it
// does not.
TEST(SimulateTest, CopiesFromTheHostNeedItsRate) {
  constexpr char kOffloaded[] = R"(
ENTRY main {
  w = f32[1024,1024]{1,0:S(5)} parameter(0)
  d = f32[1024,1024]{1,0} copy(w)
  ROOT y = f32[1024,1024] tanh(d) })";
  const Prediction prediction = Predict(std::string("HloModule m\n") + kOffloaded, On("tpu-v3-8"));
  EXPECT_GT(prediction.step_ps, 0);
  const auto refused = Simulate(*Parsed(std::string("HloModule m\n") + kOffloaded), On("islands-2x8"));
  EXPECT_THAT(refused.status().message(), HasSubstr("has no rate for them"));
}

}  // namespace
}  // namespace toroid
