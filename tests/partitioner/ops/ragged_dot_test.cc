// Ragged dots, with any dimension cut.
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "tests/partitioner/equivalence.h"

namespace toroid {
namespace {

Literal Sizes(std::vector<int32_t> values) {
  Literal sizes(Shape(xla::S32, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) sizes.mutable_data<int32_t>()[i] = values[i];
  return sizes;
}

// lhs [11,6], rhs [5,6,7], sizes [5]; the arguments are the sharding attributes of lhs, rhs and result.
std::string Free(const char* lhs, const char* rhs, const char* result) {
  return absl::Substitute(R"(
ENTRY main {
  x = f32[11,6] parameter(0)$0
  w = f32[5,6,7] parameter(1)$1
  s = s32[5] parameter(2)
  ROOT y = f32[11,7] ragged-dot(x, w, s), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}$2
})",
                          lhs, rhs, result);
}

constexpr char kSplit0[] = ", sharding={devices=[$$n,1]<=[$$n]}";
constexpr char kSplit1[] = ", sharding={devices=[1,$$n]<=[$$n]}";
constexpr char kWeights[3][48] = {", sharding={devices=[$$n,1,1]<=[$$n]}",
                                  ", sharding={devices=[1,$$n,1]<=[$$n]}",
                                  ", sharding={devices=[1,1,$$n]<=[$$n]}"};

std::string Text(std::string text) { return absl::Substitute(text); }

std::vector<Literal> Arguments(const Module& module, const std::vector<int32_t>& sizes) {
  std::vector<Literal> arguments = IntegerArguments(module);
  arguments[2] = Sizes(sizes);
  return arguments;
}

TEST(RaggedDotTest, RowsGroupsAndColumnsMayBeCut) {
  const std::vector<std::vector<int32_t>> all_sizes = {
      {3, 0, 4, 1, 3}, {2, 2, 0, 0, 1}, {0, 0, 0, 0, 0}, {20, 1, 1, 1, 1}, {0, 5, -3, 6, 9}};
  for (const char* lhs : {"", kSplit0, kSplit1}) {
    for (const char* rhs : {"", kWeights[0], kWeights[1], kWeights[2]}) {
      for (const char* result : {"", kSplit0, kSplit1}) {
        const std::string text = Free(lhs, rhs, result);
        for (const std::vector<int32_t>& sizes : all_sizes) {
          SCOPED_TRACE(text);
          const std::string program = Text(text);
          ExpectEquivalent(program, Arguments(*ProgramFor(program, 2), sizes), {2, 3, 8});
        }
      }
    }
  }
}

TEST(RaggedDotTest, RaggedContractionMayBeCut) {
  for (const char* lhs : {"", kSplit0, kSplit1}) {
    for (const char* rhs : {"", kSplit0, kSplit1}) {
      for (const char* result : {"", kWeights[0], kWeights[1]}) {
        const std::string program = Text(absl::Substitute(R"(
ENTRY main {
  x = f32[11,6] parameter(0)$0
  g = f32[11,7] parameter(1)$1
  s = s32[5] parameter(2)
  ROOT y = f32[5,6,7] ragged-dot(x, g, s), lhs_contracting_dims={0}, rhs_contracting_dims={0}, lhs_ragged_dims={0}$2
})",
                                                          lhs, rhs, result));
        SCOPED_TRACE(program);
        for (const std::vector<int32_t>& sizes :
             std::vector<std::vector<int32_t>>{{3, 0, 4, 1, 3}, {2, 2, 0, 0, 1}, {20, 1, 1, 1, 1}}) {
          ExpectEquivalent(program, Arguments(*ProgramFor(program, 2), sizes), {2, 3, 8});
        }
      }
    }
  }
}

TEST(RaggedDotTest, SizesThatDifferByBatch) {
  for (const char* cut : {"$n,1,1", "1,$n,1", "1,1,$n"}) {
    const std::string program = absl::StrCat(R"(
ENTRY main {
  x = f32[6,4,5] parameter(0), sharding={devices=[)",
                                             cut, R"(]<=[$n]}
  w = f32[3,6,5,2] parameter(1)
  s = s32[6,3] parameter(2)
  ROOT y = f32[6,4,2] ragged-dot(x, w, s), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={0}
})");
    std::vector<Literal> arguments = IntegerArguments(*ProgramFor(program, 2));
    arguments[2] = Integers(Shape(xla::S32, {6, 3}), 3, 0, 3);
    ExpectEquivalent(program, arguments, {2, 3});
  }
}

// Experts stay on their devices; the partial results are summed.
TEST(RaggedDotTest, CutExpertsAreNotGathered) {
  const std::string program = Text(R"(
ENTRY main {
  x = f32[16,8] parameter(0)
  w = f32[64,8,32] parameter(1), sharding={devices=[$$n,1,1]<=[$$n]}
  s = s32[64] parameter(2)
  ROOT y = f32[16,32] ragged-dot(x, w, s), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}, sharding={replicated}
})");
  EXPECT_THAT(Collectives(program, 8), ::testing::ElementsAre("all-reduce 2048"));
}

// Each device has all rows and weights that its part needs.
TEST(RaggedDotTest, CutRowsSendNothing) {
  const std::string program = Text(R"(
ENTRY main {
  x = f32[16,8] parameter(0), sharding={devices=[$$n,1]<=[$$n]}
  w = f32[4,8,32] parameter(1)
  s = s32[4] parameter(2)
  ROOT y = f32[16,32] ragged-dot(x, w, s), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
})");
  EXPECT_THAT(Collectives(program, 8), ::testing::IsEmpty());
}

TEST(ScaledDotTest, BlocksAreCutWithTheirScales) {
  for (const char* lhs : {"", kSplit0, kSplit1}) {
    for (const char* rhs : {"", kSplit0, kSplit1}) {
      for (const char* scale : {"4,1", "4,6", "2,3", "1,12", "4,2"}) {
        for (const char* other : {"f32[12,5]", "f32[3,5]", "f32[2,1]", "f32[4,1]", "f32[]"}) {
          const std::string program = Text(absl::Substitute(R"(
ENTRY main {
  x = f32[4,12] parameter(0)$0
  w = f32[12,5] parameter(1)$1
  a = f32[$2] parameter(2)
  b = $3 parameter(3)
  ROOT y = f32[4,5] scaled-dot(x, w, a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
                                                            lhs, rhs, scale, other));
          SCOPED_TRACE(program);
          ExpectEquivalent(program, {}, {2, 3, 8});
        }
      }
    }
  }
}

}  // namespace
}  // namespace toroid
