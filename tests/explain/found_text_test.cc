// BUILD: size = "small"
// What a search of shardings prints and writes.
#include "explain/found_text.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

FoundShardings Found() {
  FoundShardings found;
  found.annotations = {
      {{"x"}, R"([{"data"}, {}])", "{devices=[2,1,2]<=[4] last_tile_dim_replicate}", true},
      {{"params['w']", "params['v']", "params['u']"},
       R"([{}, {"data", "model"}])",
       "{devices=[1,4]<=[4]}",
       true},
      {{"h"}, R"([{}, {"model"}])", "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}", false},
      {{"output{0}", "output{1}"}, R"([{}, {}])", "{replicated}", false}};
  found.priced_seconds = 2e-3;
  found.bound_seconds = 1.5e-3;
  found.nodes = 12;
  found.costs = 1'500'000;
  found.rounds = 1;
  return found;
}

TEST(FoundTextTest, APartitionSpecIsSpelledAsJaxSpellsIt) {
  EXPECT_EQ(PartitionSpecText(R"([{"data", "model"}, {}])"), "P(('data', 'model'))");
  EXPECT_EQ(PartitionSpecText(R"([{}, {"model"}, {}])"), "P(None, 'model')");
  EXPECT_EQ(PartitionSpecText(R"([{"a"},{"b"}])"), "P('a', 'b')");
  EXPECT_EQ(PartitionSpecText("[{}, {}]"), "P()");
  EXPECT_EQ(PartitionSpecText("[]"), "P()");
  EXPECT_EQ(PartitionSpecText(""), "P()");
  EXPECT_EQ(PartitionSpecText("[{\"a\""), "P()") << "no brace ends it";
}

TEST(FoundTextTest, AnnotationsAreNamedAndResultsAreNot) {
  const std::string text = FoundText(Found(), {}, ProgramFigures(), std::nullopt, 1.25);
  EXPECT_THAT(text,
              AllOf(HasSubstr("search of 12 choices, 1.5 million costs: 1 round, 1.2 s; by prices at most "
                              "25.00 % above the best\n"),
                    HasSubstr("found: 3 annotations"), HasSubstr("params['w'] and 2 more"),
                    HasSubstr("P(None, ('data', 'model'))"), HasSubstr("   inside\n"),
                    Not(HasSubstr("output{0}")), Not(HasSubstr("--mesh="))));
}

TEST(FoundTextTest, AMeshThatWasChosenIsPrinted) {
  EXPECT_THAT(FoundText(Found(), {{"x", 2}, {"y", 4}}, ProgramFigures(), std::nullopt, 0),
              HasSubstr("mesh: --mesh=x=2,y=4\n"));
}

TEST(FoundTextTest, WithoutAnnotationsItSaysWhy) {
  FoundShardings found = Found();
  found.annotations.clear();
  EXPECT_THAT(
      FoundText(found, {}, ProgramFigures(), std::nullopt, 0),
      HasSubstr(
          "found: no annotation; of the cuts that were tried none takes less time than whole arrays\n"));
  found.is_given = true;
  EXPECT_THAT(FoundText(found, {}, ProgramFigures(), ProgramFigures(), 0),
              AllOf(HasSubstr("found: nothing better than the shardings that the module states\n"),
                    HasSubstr("before")));
}

TEST(FoundTextTest, LinesNameEachArrayBehindACommentOfItsAxes) {
  EXPECT_EQ(AnnotationLines(Found(), {{"x", 4}}),
            R"(# to be given with --mesh=x=4
# [{"data"}, {}]  P('data')
x={devices=[2,1,2]<=[4] last_tile_dim_replicate}
# [{}, {"data", "model"}]  P(None, ('data', 'model'))
params['w']={devices=[1,4]<=[4]}
params['v']={devices=[1,4]<=[4]}
params['u']={devices=[1,4]<=[4]}
# [{}, {"model"}]  P(None, 'model')
h={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
# [{}, {}]  P()
output{0}={replicated}
output{1}={replicated}
)");
}

}  // namespace
}  // namespace toroid
