// Steps that run again so that less is alive: order and values stay right, on programs drawn at random.
#include "simulator/compiler/memory/repeated_steps.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace toroid {
namespace {

constexpr int64_t kMiB = 1 << 20;

// Adds a step that reads values and makes others of so many bytes.
int AddStep(std::vector<int> reads, const std::vector<int64_t>& bytes, StepProgram* program,
            bool may_repeat = true) {
  const int step = static_cast<int>(program->steps.size());
  Step added = {.may_repeat = may_repeat};
  for (const int64_t b : bytes) {
    const int v = static_cast<int>(program->values.size());
    program->values.push_back({.maker = step, .bytes = b, .origin = v});
    added.makes.push_back(v);
  }
  for (const int v : reads) program->values[v].readers.push_back(step);
  added.reads = std::move(reads);
  program->steps.push_back(std::move(added));
  return step;
}

// Each step reads values, or repetitions of them, that were made before it, and none is lost.
void ExpectComputesTheSame(const StepProgram& before, const StepProgram& after,
                           const std::vector<int>& order) {
  std::vector<bool> is_made(after.values.size(), false);
  for (size_t v = 0; v < after.values.size(); ++v) is_made[v] = after.values[v].maker < 0;
  std::vector<bool> has_run(before.steps.size(), false);
  for (const int s : order) {
    const Step& step = after.steps[s];
    const int original = step.repeats >= 0 ? step.repeats : s;
    ASSERT_LT(original, static_cast<int>(before.steps.size()));
    has_run[original] = true;
    const Step& was = before.steps[original];
    ASSERT_EQ(step.reads.size(), was.reads.size());
    for (size_t k = 0; k < step.reads.size(); ++k) {
      EXPECT_TRUE(is_made[step.reads[k]]) << "step " << s << " reads value " << step.reads[k];
      EXPECT_EQ(after.values[step.reads[k]].origin, was.reads[k]);
    }
    for (const int v : step.makes) is_made[v] = true;
  }
  for (size_t s = 0; s < has_run.size(); ++s) EXPECT_TRUE(has_run[s]) << "step " << s;
}

StepProgram RandomProgram(std::mt19937_64* random) {
  StepProgram program;
  program.values.push_back({.origin = 0});
  program.values.push_back({.is_overwritten = true, .origin = 1});
  const int steps = 5 + static_cast<int>((*random)() % 60);
  for (int s = 0; s < steps; ++s) {
    std::vector<int> reads;
    for (uint64_t k = (*random)() % 4; k > 0; --k) {
      const int v = static_cast<int>((*random)() % program.values.size());
      if (std::find(reads.begin(), reads.end(), v) == reads.end()) reads.push_back(v);
    }
    std::vector<int64_t> bytes;
    for (uint64_t k = 1 + (*random)() % 2; k > 0; --k)
      bytes.push_back(static_cast<int64_t>((*random)() % 9) * kMiB);
    AddStep(reads, bytes, &program, (*random)() % 5 != 0);
  }
  return program;
}

TEST(RepeatedStepsTest, RandomProgramsComputeWhatTheyDidInLessMemory) {
  std::mt19937_64 random(17);
  int changed = 0, smaller = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    SCOPED_TRACE(trial);
    const StepProgram before = RandomProgram(&random);
    StepProgram after = before;
    const int64_t alive = MostAlive(before);
    const std::vector<int> order = RepeatSteps(alive * static_cast<int64_t>(random() % 100) / 100, 0, &after);
    if (order.empty()) continue;
    ++changed;
    ExpectComputesTheSame(before, after, order);
    smaller += MostAlive(after, order) < alive;
  }
  EXPECT_GT(changed, 1500);
  EXPECT_GT(smaller, changed / 2);
}

// h, 64 MiB, lies idle while 100 MiB are there.
TEST(RepeatedStepsTest, TheLargestIdleValueIsMadeAgain) {
  StepProgram program;
  program.values.push_back({.origin = 0});
  AddStep({0}, {64 * kMiB}, &program);    // h: value 1
  AddStep({0}, {8 * kMiB}, &program);     // small: value 2
  AddStep({1, 2}, {8 * kMiB}, &program);  // value 3
  AddStep({3}, {100 * kMiB}, &program);   // value 4
  AddStep({4}, {8 * kMiB}, &program);     // value 5
  AddStep({1, 2, 5}, {8 * kMiB}, &program);
  EXPECT_EQ(MostAlive(program), 180 * kMiB);
  const std::vector<int> order = RepeatSteps(120 * kMiB, 0, &program);
  EXPECT_EQ(order, std::vector<int>({0, 1, 2, 3, 4, 6, 5}));
  EXPECT_EQ(program.steps[6].repeats, 0);
  EXPECT_EQ(MostAlive(program, order), 116 * kMiB);
}

TEST(RepeatedStepsTest, WhatIsOverwrittenIsNotReadLater) {
  StepProgram program;
  program.values.push_back({.is_overwritten = true, .origin = 0});
  AddStep({0}, {64 * kMiB}, &program);
  AddStep({0, 1}, {kMiB}, &program);  // The last to read value 0.
  AddStep({2}, {100 * kMiB}, &program);
  AddStep({1, 3}, {kMiB}, &program);
  EXPECT_TRUE(RepeatSteps(120 * kMiB, 0, &program).empty());
}

}  // namespace
}  // namespace toroid
