#include "hlo/devices/permute_pattern.h"

#include <string>

#include "google/protobuf/text_format.h"
#include "hlo/io/hlo_text.h"
#include "hlo/io/module_proto.h"
#include "hlo/ir/module.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

xla::HloInstructionProto Attrs(const std::string& text) {
  xla::HloInstructionProto attrs;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &attrs)) << text;
  return attrs;
}

constexpr char kRowsStep[] =
    "permute_pattern { sizes: 4 source_strides: 2 target_strides: 2 shared_sizes: 2 shared_strides: 1 "
    "lines { count: 3 source_step: 1 target: 1 target_step: 1 } }";

TEST(PermutePatternTest, StandsForItsPairs) {
  const auto all = ElementsAre(Pair(0, 2), Pair(1, 3), Pair(2, 4), Pair(3, 5), Pair(4, 6), Pair(5, 7));
  xla::HloInstructionProto attrs = Attrs(kRowsStep);
  EXPECT_EQ(NumPairs(attrs), 6);
  EXPECT_THAT(SourceTargetPairs(attrs), all);
  SpellOutPairs(&attrs);
  EXPECT_FALSE(attrs.has_permute_pattern());
  EXPECT_EQ(attrs.source_target_pairs_size(), 6);
  EXPECT_THAT(SourceTargetPairs(attrs), all);
}

TEST(PermutePatternTest, SourcesAndTargetsMayCountAlongOtherAxes) {
  // Rows and columns of 2 x 3 become columns and rows: device 3 i + j gets what 2 j + i has.
  EXPECT_THAT(
      SourceTargetPairs(Attrs("permute_pattern { sizes: [3, 2] source_strides: [2, 1] target_strides: [1, 3] "
                              "lines { count: 6 source_step: 1 target_step: 1 } }")),
      ElementsAre(Pair(0, 0), Pair(1, 3), Pair(2, 1), Pair(3, 4), Pair(4, 2), Pair(5, 5)));
}

std::string Line(int count, int source, int source_step, int target, int target_step) {
  return "permute_pattern { sizes: 60 source_strides: 1 target_strides: 1 lines { count: " +
         std::to_string(count) + " source: " + std::to_string(source) +
         " source_step: " + std::to_string(source_step) + " target: " + std::to_string(target) +
         " target_step: " + std::to_string(target_step) + " } }";
}

// The results are those of the lists.
TEST(PermutePatternTest, LinesThatMeetAreFoundWithoutTheirPairs) {
  int met = 0;
  for (const int step : {-4, -3, 1, 2, 6}) {
    for (const int count : {1, 2, 5, 9}) {
      for (int first = 30; first < 38; ++first) {
        const xla::HloInstructionProto a = Attrs(Line(5, 25, 3, 0, 1)),
                                       b = Attrs(Line(count, first, step, 20, 1));
        xla::HloInstructionProto listed = b;
        SpellOutPairs(&listed);
        EXPECT_EQ(ArePairsApart(a, b), ArePairsApart(a, listed)) << first << " by " << step << ", " << count;
        met += !ArePairsApart(a, b);
        // Targets likewise.
        EXPECT_EQ(ArePairsApart(Attrs(Line(5, 0, 1, 25, 3)), Attrs(Line(count, 20, 1, first, step))),
                  ArePairsApart(a, b));
      }
    }
  }
  EXPECT_GT(met, 50);
}

TEST(PermutePatternTest, PairsOfSeveralAreAdded) {
  xla::HloInstructionProto sum = Attrs(Line(2, 0, 1, 1, 1));
  AppendPairs(Attrs(Line(1, 5, 1, 0, 1)), &sum);
  EXPECT_TRUE(sum.has_permute_pattern());
  EXPECT_THAT(SourceTargetPairs(sum), ElementsAre(Pair(0, 1), Pair(1, 2), Pair(5, 0)));
  AppendPairs(Attrs("source_target_pairs { source: 7 target: 8 }"), &sum);
  EXPECT_FALSE(sum.has_permute_pattern());
  EXPECT_THAT(SourceTargetPairs(sum), ElementsAre(Pair(0, 1), Pair(1, 2), Pair(5, 0), Pair(7, 8)));
}

TEST(PermutePatternTest, FilesHaveTheList) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(R"(HloModule m, num_partitions=8
ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] collective-permute(x), channel_id=1, source_target_pairs={{0,2},{1,3},{2,4},{3,5},{4,6},{5,7}}
})"));
  const std::string text = PrintModule(*module);
  std::string listed;
  AppendModuleProto(*module, &listed);
  xla::HloInstructionProto* attrs = module->entry()->root()->MutableAttrs();
  attrs->clear_source_target_pairs();
  attrs->MergeFrom(Attrs(kRowsStep));
  EXPECT_EQ(PrintModule(*module), text);
  std::string bytes;
  AppendModuleProto(*module, &bytes);
  xla::HloModuleProto expected, written;
  ASSERT_TRUE(expected.ParseFromString(listed) && written.ParseFromString(bytes));
  EXPECT_EQ(written.SerializeAsString(), expected.SerializeAsString());
  // A pattern in a file is ignored.
  auto* instruction = written.mutable_computations(0)->mutable_instructions(1);
  instruction->MergeFrom(Attrs(kRowsStep));
  ASSERT_OK_AND_ASSIGN(const auto again, ReadModuleProto(written.SerializeAsString()));
  EXPECT_FALSE(again->entry()->root()->attrs().has_permute_pattern());
  EXPECT_THAT(PrintModule(*again), HasSubstr("source_target_pairs={{0,2},{1,3},{2,4},{3,5},{4,6},{5,7}}"));
}

}  // namespace
}  // namespace toroid
