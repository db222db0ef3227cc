// What a schedule hides of a program's collectives.
#include "simulator/cost/predict_times.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// An all-reduce and a product of `operand`, by the name of the array that the product takes.
struct Timed {
  std::unique_ptr<Module> module;
  PredictedTimes times;
  const Instruction* all_reduce = nullptr;
};

Timed Time(const std::string& operand) {
  auto module = ParseModule(absl::StrCat(R"(HloModule m, num_partitions=8
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[4096,4096] parameter(0)
  y = f32[4096,4096] parameter(1)
  r = f32[4096,4096] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, to_apply=add
  d = f32[4096,4096] dot()",
                                         operand, R"(, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[4096,4096], f32[4096,4096]) tuple(r, d)
})"));
  EXPECT_OK(module);
  Timed timed;
  timed.module = *std::move(module);
  const auto machine = LoadMachine("tpu-v3-8");
  EXPECT_OK(machine);
  auto times = PredictTimes(*timed.module, *machine);
  EXPECT_OK(times);
  timed.times = *std::move(times);
  EXPECT_OK(AddHiddenTimes(*timed.module, *machine, &timed.times));
  for (const auto& op : timed.module->entry()->instructions()) {
    if (op->opcode() == Opcode::kAllReduce) timed.all_reduce = op.get();
  }
  return timed;
}

TEST(PredictTimesTest, AProductThatDoesNotNeedTheSumHidesIt) {
  const Timed timed = Time("y");
  const double seconds = timed.times.of_collective.at(timed.all_reduce);
  EXPECT_GT(seconds, 0);
  EXPECT_GT(timed.times.hidden.at(timed.all_reduce), 0.1 * seconds);
  EXPECT_LE(timed.times.hidden.at(timed.all_reduce), seconds * 1.0001);
  EXPECT_LT(timed.times.overlapped_step_seconds, timed.times.step_seconds);
}

TEST(PredictTimesTest, AProductOfTheSumHidesNothing) {
  const Timed timed = Time("r");
  EXPECT_GT(timed.times.of_collective.at(timed.all_reduce), 0);
  EXPECT_EQ(timed.times.hidden.at(timed.all_reduce), 0);
  EXPECT_NEAR(timed.times.overlapped_step_seconds, timed.times.step_seconds, 1e-3 * timed.times.step_seconds);
}

}  // namespace
}  // namespace toroid
