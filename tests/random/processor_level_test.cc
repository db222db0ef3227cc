// BUILD: size = "medium"
// Random programs give the same bits with the loops of every level of x86-64 that this processor has; with numbers that are no
// integers, too, but for products of floats, which v2 rounds otherwise (runtime/loops/processor_level.h).
#include "runtime/loops/processor_level.h"

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/io/hlo_text.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "tests/random/random_program.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

constexpr uint64_t kCases = 4000;

class ProcessorLevelTest : public testing::TestWithParam<std::string> {
 protected:
  ~ProcessorLevelTest() override { EXPECT_OK(UseProcessorLevel(LevelsOfThisProcessor().back())); }
};

// Floats of f32 and f64 that are no integers.
void MakeUneven(std::vector<Literal>& arguments, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (Literal& argument : arguments) {
    if (argument.shape().IsTuple()) continue;
    if (argument.shape().element_type() == xla::F32) {
      for (float& x : argument.mutable_data<float>()) x += static_cast<float>(uniform(random));
    } else if (argument.shape().element_type() == xla::F64) {
      for (double& x : argument.mutable_data<double>()) x += uniform(random);
    }
  }
}

bool HasProducts(const std::string& text) {
  for (const char* op : {" dot(", " convolution(", " ragged-dot(", " scaled-dot("}) {
    if (absl::StrContains(text, op)) return true;
  }
  return false;
}

TEST_P(ProcessorLevelTest, GivesTheSameBits) {
  const uint64_t cases = kCases / RandomProgramKinds().size() + 1;
  for (uint64_t seed = 0; seed < cases; ++seed) {
    RandomProgram program = MakeRandomProgram(seed, GetParam());
    const bool uneven = seed % 2 != 0;
    if (uneven) MakeUneven(program.arguments, seed);
    const std::string& text = program.reference.empty() ? program.text : program.reference;
    SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", text));
    ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(text));
    RunOptions options;
    options.num_replicas = ReplicasOf(*module);
    std::optional<Literal> expected;
    for (const ProcessorLevel level : LevelsOfThisProcessor()) {
      if (level == ProcessorLevel::kV2 && uneven && HasProducts(text)) continue;
      ASSERT_OK(UseProcessorLevel(level));
      ASSERT_OK_AND_ASSIGN(Literal result, RunSingle(*module, program.arguments, options));
      if (expected.has_value()) {
        const Comparison comparison = Compare(result, *expected, 0.0);
        ASSERT_TRUE(comparison.equal) << NameOf(level) << ": " << comparison.outputs[0].difference;
      } else {
        expected = std::move(result);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ProcessorLevelTest, testing::ValuesIn(RandomProgramKinds()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace toroid
