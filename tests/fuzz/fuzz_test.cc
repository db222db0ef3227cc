// A short run of every fuzz target; long ones are run by hand (README.md).
// BUILD: data = ["//tests/corpus:forms", "//tests/corpus:hlo_text", "//tests/corpus:jax"]
#include "gtest/gtest.h"
#include "tests/fuzz/fuzz_targets.h"

namespace toroid {
namespace {

class FuzzTest : public testing::TestWithParam<int> {};

TEST_P(FuzzTest, InputsAreReadOrRefused) {
  const NamedFuzzTarget& named = FuzzTargets()[GetParam()];
  const std::unique_ptr<FuzzTarget> target = named.make();
  const std::vector<std::string> seeds = target->Seeds();
  const absl::Span<const std::string> choices = absl::MakeConstSpan(seeds);
  int accepted = 0;
  for (int i = 0; i < 1000; ++i) {
    RandomSource random(i);
    const std::string& seed = random.Of(choices);
    const std::string input = target->Mutate(seed, random.Of(choices), &random);
    const absl::Status status = target->Execute(input);
    ASSERT_NE(status.code(), absl::StatusCode::kInternal) << status << "\n" << input;
    accepted += status.ok();
  }
  // A mutation that always breaks the input would test nothing.
  EXPECT_GT(accepted, 10);
  EXPECT_LT(accepted, 1000);
}

TEST_P(FuzzTest, SeedsAreRead) {
  const std::unique_ptr<FuzzTarget> target = FuzzTargets()[GetParam()].make();
  for (const std::string& seed : target->Seeds()) {
    const absl::Status status = target->Execute(seed);
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kUnimplemented ||
                status.code() == absl::StatusCode::kResourceExhausted)
        << status << "\n"
        << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzTest, testing::Range(0, static_cast<int>(FuzzTargets().size())),
                         [](const auto& info) { return std::string(FuzzTargets()[info.param].name); });

}  // namespace
}  // namespace toroid
