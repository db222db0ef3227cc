#include "simulator/schedule/schedule.h"

#include <algorithm>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/status.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

constexpr int64_t kMicrosecond = 1000000;

// A dot takes 10 us, an all-reduce 30, sine 20, cosine 5; everything else nothing.
absl::StatusOr<OpTime> TimeOf(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kDot:
      return OpTime{10 * kMicrosecond, false};
    case Opcode::kAllReduce:
      return OpTime{30 * kMicrosecond, true};
    case Opcode::kSin:
      return OpTime{20 * kMicrosecond, false};
    case Opcode::kCos:
      return OpTime{5 * kMicrosecond, false};
    default:
      return OpTime{};
  }
}

double Microseconds(const std::string& text, const ScheduleOptions& options = {}) {
  const auto module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  const auto schedule = ComputeSchedule(**module, TimeOf, options);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return static_cast<double>(schedule->step_ps) / kMicrosecond;
}

constexpr char kDotAndReduce[] = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[8,8] parameter(0)
  a = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[8,8] all-reduce(a), to_apply=add
  c = f32[8,8] sine(x)
  ROOT t = (f32[8,8], f32[8,8]) tuple(b, c) })";

TEST(ScheduleTest, OneThingAtATimeIsTheSumAndOverlapHidesCollectives) {
  EXPECT_EQ(Microseconds(kDotAndReduce), 60);
  EXPECT_EQ(Microseconds(kDotAndReduce, {.overlap = true}), 40);
}

TEST(ScheduleTest, AnAsynchronousCollectiveRunsBesideOtherOpsWithoutOverlap) {
  const auto module = ParseModule(kDotAndReduce);
  ASSERT_OK(module.status());
  const auto times = [](const Instruction& op) -> absl::StatusOr<OpTime> {
    ASSIGN_OR_RETURN(OpTime time, TimeOf(op));
    time.is_asynchronous = time.is_communication;
    return time;
  };
  ASSERT_OK_AND_ASSIGN(const Schedule schedule, ComputeSchedule(**module, times, {}));
  EXPECT_EQ(schedule.step_ps, 40 * kMicrosecond);
}

// A loop of 10 trips: 20 us of a product, and the sine stands for a copy from the host, the cosine for one to it.
TEST(ScheduleTest, CopiesOfALoopsStateLastIntoItsOtherTrips) {
  const auto module = ParseModule(R"(HloModule m
condition { s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)
  ROOT c = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[8,8] get-tuple-element(s), index=1
  in = f32[8,8] sine(x)
  y = f32[8,8] dot(in, in), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  out = f32[8,8] cosine(y)
  ROOT t = (s32[], f32[8,8]) tuple(j, out) }
ENTRY main { zero = s32[] constant(0)
  x = f32[8,8] parameter(0)
  s = (s32[], f32[8,8]) tuple(zero, x)
  ROOT w = (s32[], f32[8,8]) while(s), condition=condition, body=body })");
  ASSERT_OK(module.status());
  for (const int64_t copy : {5, 15, 30}) {
    SCOPED_TRACE(copy);
    const auto times = [&](const Instruction& op) -> absl::StatusOr<OpTime> {
      OpTime time;
      if (op.opcode() == Opcode::kDot) time.picoseconds = 20 * kMicrosecond;
      if (op.opcode() == Opcode::kSin) time.host_copy = HostCopy::kToDevice;
      if (op.opcode() == Opcode::kCos) time.host_copy = HostCopy::kToHost;
      if (time.host_copy != HostCopy::kNone) time.picoseconds = copy * kMicrosecond;
      return time;
    };
    ASSERT_OK_AND_ASSIGN(const Schedule schedule, ComputeSchedule(**module, times, {}));
    EXPECT_EQ(schedule.step_ps, 10 * std::max<int64_t>(20, copy) * kMicrosecond);
  }
}

TEST(ScheduleTest, OverlapWaitsForOperands) {
  const std::string chain = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[8,8] parameter(0)
  a = f32[8,8] sine(x)
  b = f32[8,8] all-reduce(a), to_apply=add
  ROOT c = f32[8,8] sine(b) })";
  EXPECT_EQ(Microseconds(chain, {.overlap = true}), 70);
}

constexpr char kLoop[] = R"(HloModule m
condition { s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT more = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[8] get-tuple-element(s), index=1
  y = f32[8] sine(x)
  ROOT t = (s32[], f32[8]) tuple(next, y) }
ENTRY main {
  x = f32[8] parameter(0)
  start = s32[] START
  s = (s32[], f32[8]) tuple(start, x)
  l = (s32[], f32[8]) while(s), condition=condition, body=body
  r = f32[8] get-tuple-element(l), index=1
  ROOT c = f32[8] cosine(r) })";

std::string Loop(const std::string& start) {
  std::string text = kLoop;
  return text.replace(text.find("START"), 5, start);
}

TEST(ScheduleTest, LoopRunsAsOftenAsItCounts) {
  EXPECT_EQ(Microseconds(Loop("constant(0)")), 7 * 20 + 5);
  EXPECT_EQ(Microseconds(Loop("constant(7)")), 5);
}

TEST(ScheduleTest, UnknownLoopRunsAsOftenAsTheOptionSaysAndIsReported) {
  const std::string text = Loop("parameter(1)");
  EXPECT_EQ(Microseconds(text), 25);
  EXPECT_EQ(Microseconds(text, {.unknown_trip_count = 100}), 2005);
  const auto module = ParseModule(text);
  const auto schedule = ComputeSchedule(**module, TimeOf, {});
  ASSERT_EQ(schedule->unknown_loops.size(), 1);
  EXPECT_EQ(schedule->unknown_loops[0]->name(), "l");
}

TEST(ScheduleTest, ConditionalTakesItsCostliestBranchOrAMean) {
  const std::string text = R"(HloModule m
quick { x = f32[8] parameter(0)
  ROOT y = f32[8] cosine(x) }
slow { x = f32[8] parameter(0)
  ROOT y = f32[8] sine(x) }
ENTRY main {
  p = pred[] parameter(0)
  x = f32[8] parameter(1)
  ROOT y = f32[8] conditional(p, x, x), true_computation=quick, false_computation=slow })";
  EXPECT_EQ(Microseconds(text), 20);
  EXPECT_EQ(Microseconds(text, {.costliest_branch_probability = 0.2}), 0.2 * 20 + 0.8 * 5);
  const auto module = ParseModule(text);
  const auto schedule = ComputeSchedule(**module, TimeOf, {.costliest_branch_probability = 0.2});
  double executions = 0;
  for (const auto& computation : schedule->computations) executions += computation.executions;
  EXPECT_DOUBLE_EQ(executions, 2.0);  // The entry, and both branches together once.
}

TEST(ScheduleTest, TimeBeyondTheRangeIsAnError) {
  const auto module = ParseModule(Loop("parameter(1)"));
  const auto schedule = ComputeSchedule(**module, TimeOf, {.unknown_trip_count = INT64_MAX});
  EXPECT_THAT(schedule.status(),
              StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("106 days")));
}

}  // namespace
}  // namespace toroid
