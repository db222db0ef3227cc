#include "simulator/chip/running_fold.h"

#include <memory>
#include <string>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "simulator/machines/tpu_v3_core.h"
#include "tests/status_matchers.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

// The windows of one-hot masks of so many tokens and experts, which a second vector weighs or not.
double MaskCycles(int tokens, int experts, bool is_weighed) {
  const std::string text = absl::Substitute(
      R"(HloModule m
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY main {
  expert = s32[$0] parameter(0)
  weight = f32[$0] parameter(1)
  of = s32[$0,$1] broadcast(expert), dimensions={0}
  number = s32[$1] iota(), iota_dimension=0
  each = s32[$0,$1] broadcast(number), dimensions={1}
  chosen = pred[$0,$1] compare(of, each), direction=EQ
  one = f32[$0,$1] convert(chosen)
  weights = f32[$0,$1] broadcast(weight), dimensions={0}
  weighed = f32[$0,$1] multiply(one, weights)
  blocks = f32[$2,128,$1] reshape($3)
  zero = f32[] constant(0)
  ROOT sums = f32[$2,128,$1]{2,0,1} reduce-window(blocks, zero), window={size=1x128x1 pad=0_0x127_0x0_0}, to_apply=sum
})",
      tokens, experts, tokens / 128, is_weighed ? "weighed" : "one");
  auto module = ParseModule(text);
  EXPECT_OK(module.status());
  const CoreSpec core = TpuV3Core();
  return RunningFoldCycles(*(*module)->entry()->root(), /*is_alone=*/false, core) + core.group_cycles();
}

TEST(RunningFoldTest, WindowsOfMasksTakeAsLongAsInTheCompiler) {
  // A group takes some 700 cycles more in the compiler, which is most of the error of the smallest ones.
  const struct {
    int tokens, experts;
    double one, weighed;  // Cycles.
    double share;
  } cases[] = {{1024, 128, 7081, 9249, kTwentyPercent},  {2048, 128, 12564, 16899, kTenPercent},
               {4096, 128, 23530, 32200, kFivePercent},  {2048, 256, 15370, 19960, kTenPercent},
               {2048, 384, 18176, 23021, kTenPercent},   {2048, 512, 20982, 34274, kFivePercent},
               {2048, 1024, 43774, 62653, kFivePercent}, {2048, 2048, 81021, 117741, kFivePercent}};
  for (const auto& c : cases) {
    SCOPED_TRACE(absl::Substitute("$0 tokens, $1 experts", c.tokens, c.experts));
    EXPECT_THAT(MaskCycles(c.tokens, c.experts, false), IsWithin(c.share, c.one));
    EXPECT_THAT(MaskCycles(c.tokens, c.experts, true), IsWithin(c.share, c.weighed));
  }
}

TEST(RunningFoldTest, WindowsOfArraysTakeAsLongAsInTheCompiler) {
  // One window, or several that are cut from rows of tiles, or one for each array.
  const struct {
    const char* blocks;
    const char* order;
    const char* window;
    double compiler;  // Cycles.
    double share;
  } cases[] = {{"8,128,128", "2,0,1", "1x128x1 pad=0_0x127_0x0_0", 5904, kTwentyPercent},
               {"16,128,256", "2,0,1", "1x128x1 pad=0_0x127_0x0_0", 18145, kTenPercent},
               {"8,128,512", "2,0,1", "1x128x1 pad=0_0x127_0x0_0", 18145, kTenPercent},
               {"16,128,384", "2,0,1", "1x128x1 pad=0_0x127_0x0_0", 37047, kFivePercent},
               {"16,128,2048", "2,0,1", "1x128x1 pad=0_0x127_0x0_0", 186105, kTwoPercent},
               {"8,4,128,256", "3,0,1,2", "1x1x128x1 pad=0_0x0_0x127_0x0_0", 31989, kTenPercent}};
  const CoreSpec core = TpuV3Core();
  for (const auto& c : cases) {
    SCOPED_TRACE(c.blocks);
    ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(absl::Substitute(R"(HloModule m
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[$0] parameter(0)
  zero = f32[] constant(0)
  ROOT sums = f32[$0]{$1} reduce-window(x, zero), window={size=$2}, to_apply=sum
})",
                                                                         c.blocks, c.order, c.window)));
    EXPECT_THAT(RunningFoldCycles(*module->entry()->root(), /*is_alone=*/true, core) + core.group_cycles(),
                IsWithin(c.share, c.compiler));
  }
}

TEST(RunningFoldTest, AsManyTokensAsExpertsAreStillSpreadOverLanes) {
  // Sizes do not tell which of two dimensions a vector goes along.
  EXPECT_THAT(MaskCycles(2048, 2048, true) / MaskCycles(2048, 2048, false),
              IsWithin(kFivePercent, 117741.0 / 81021));
}

TEST(RunningFoldTest, WideRowsTakeTheirShareOfWindows) {
  // A row has 999,983 tiles, a prime number, so every window has one tile. A window takes 552 cycles to begin, 8 for the mask
  // and 8 for the vector in each of 255 rows, and 2 to load and store each of 128 registers.
  EXPECT_THAT(MaskCycles(1024, 999983 * 128, false),
              IsWithin(kTwoPercent, 999983 * (552 + 255 * 16 + 128 * 2.0)));
}

}  // namespace
}  // namespace toroid
