// Random op, shape, sharding of every operand and result, device count, device order, uneven sizes and
// poison, with fixed seeds: the partitioned program equals the unpartitioned one, exactly.
// BUILD: size = "medium"
// BUILD: shard_count = 4
#include "gtest/gtest.h"
#include "tests/random/check_program.h"
#include "tests/random/random_program.h"

namespace toroid {
namespace {

constexpr uint64_t kCases = 10000;

class RandomPartitionTest : public testing::TestWithParam<std::string> {};

TEST_P(RandomPartitionTest, PartitionedEqualsUnpartitioned) {
  const uint64_t cases = kCases / RandomProgramKinds().size() + 1;
  int failures = 0;
  for (uint64_t seed = 0; seed < cases && failures < 3; ++seed) {
    const std::string failure = CheckRandomProgram(MakeRandomProgram(seed, GetParam()));
    if (failure.empty()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << failure;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, RandomPartitionTest, testing::ValuesIn(RandomProgramKinds()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace toroid
