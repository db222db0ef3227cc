#include "simulator/chip/running_fold.h"

#include <memory>
#include <string>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "simulator/machines/tpu_v3_core.h"
#include "tests/status_matchers.h"

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
  const struct {
    int tokens, experts;
    double one, weighed;  // Cycles.
  } cases[] = {{1024, 128, 7081, 9249},    {2048, 128, 12564, 16899},  {4096, 128, 23530, 32200},
               {2048, 256, 15370, 19960},  {2048, 384, 18176, 23021},  {2048, 512, 20982, 34274},
               {2048, 1024, 43774, 62653}, {2048, 2048, 81021, 117741}};
  for (const auto& c : cases) {
    SCOPED_TRACE(absl::Substitute("$0 tokens, $1 experts", c.tokens, c.experts));
    EXPECT_NEAR(MaskCycles(c.tokens, c.experts, false) / c.one, 1, 0.12);
    EXPECT_NEAR(MaskCycles(c.tokens, c.experts, true) / c.weighed, 1, 0.12);
  }
}

TEST(RunningFoldTest, WindowsOfArraysTakeAsLongAsInTheCompiler) {
  // One window, or several that are cut from rows of tiles, or one for each array.
  const struct {
    const char* blocks;
    const char* order;
    const char* window;
    double compiler;  // Cycles.
  } cases[] = {{"8,128,128", "2,0,1", "1x128x1 pad=0_0x127_0x0_0", 5904},
               {"16,128,256", "2,0,1", "1x128x1 pad=0_0x127_0x0_0", 18145},
               {"8,128,512", "2,0,1", "1x128x1 pad=0_0x127_0x0_0", 18145},
               {"16,128,384", "2,0,1", "1x128x1 pad=0_0x127_0x0_0", 37047},
               {"16,128,2048", "2,0,1", "1x128x1 pad=0_0x127_0x0_0", 186105},
               {"8,4,128,256", "3,0,1,2", "1x1x128x1 pad=0_0x0_0x127_0x0_0", 31989}};
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
    EXPECT_NEAR((RunningFoldCycles(*module->entry()->root(), /*is_alone=*/true, core) + core.group_cycles()) /
                    c.compiler,
                1, 0.18);
  }
}

TEST(RunningFoldTest, AsManyTokensAsExpertsAreStillSpreadOverLanes) {
  // Sizes do not tell which of two dimensions a vector goes along.
  EXPECT_GT(MaskCycles(2048, 2048, true), 1.3 * MaskCycles(2048, 2048, false));
}

TEST(RunningFoldTest, WideRowsTakeTheirShareOfWindows) {
  // 999,983 lanes' tiles are a prime number: no share is even but single tiles.
  EXPECT_GT(MaskCycles(1024, 999983 * 128, false), 100 * MaskCycles(1024, 1024, false));
}

}  // namespace
}  // namespace toroid
