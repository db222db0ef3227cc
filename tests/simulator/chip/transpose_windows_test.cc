#include "simulator/chip/transpose_windows.h"

#include <utility>

#include "gtest/gtest.h"
#include "simulator/machines/tpu_v3_core.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

struct Case {
  Dims dims, before, after;
  double compiler_cycles;
};

// Cycles of Google's compiler, of copies and transposes in layers of models: lanes and rows change places, rows become lanes,
// lanes become rows, neither; windows of whole arrays, of a part of the lanes of one side and of both.
const Case kCases[] = {
    {{1024, 1024}, {0, 1}, {1, 0}, 22400},
    {{512, 512}, {0, 1}, {1, 0}, 5140},
    {{1152, 1152}, {1, 0}, {0, 1}, 32440},
    {{64, 256, 144}, {2, 1, 0}, {1, 2, 0}, 65208},
    {{4096, 512}, {0, 1}, {1, 0}, 42960},
    {{32, 96, 512}, {2, 1, 0}, {1, 2, 0}, 36528},
    {{2, 1024, 1024}, {2, 1, 0}, {1, 2, 0}, 44800},
    {{160, 64, 256}, {1, 2, 0}, {2, 0, 1}, 77290},
    {{64, 32, 64}, {0, 2, 1}, {2, 1, 0}, 5140},
    {{4, 4, 128, 8, 64}, {2, 4, 3, 1, 0}, {4, 3, 2, 1, 0}, 29740},
    {{12, 256, 256}, {1, 2, 0}, {2, 0, 1}, 26324},
    {{128, 200, 50}, {0, 1, 2}, {1, 2, 0}, 37282},
    {{128, 40, 64}, {2, 1, 0}, {0, 2, 1}, 13620},
    {{8, 256, 512}, {1, 0, 2}, {2, 1, 0}, 26068},
    {{128, 8, 18, 64}, {3, 1, 2, 0}, {0, 3, 2, 1}, 40110},
    {{8, 16, 128, 128}, {3, 0, 2, 1}, {2, 3, 0, 1}, 41120},
    {{8, 3, 128, 128}, {3, 2, 1, 0}, {0, 1, 3, 2}, 161184},
    {{256, 64, 4, 48}, {0, 3, 2, 1}, {1, 3, 2, 0}, 110040},
    {{16, 64, 64, 96}, {3, 2, 1, 0}, {1, 2, 0, 3}, 223680},
    {{8, 64, 64, 64}, {1, 0, 3, 2}, {3, 2, 1, 0}, 99872},
};

TEST(TransposeWindowsTest, WindowsTakeAsLongAsInTheCompiler) {
  const CoreSpec core = TpuV3Core();
  for (const Case& c : kCases) {
    const double cycles = CyclesOfTransposeWindows({c.dims, c.before, c.after}, core);
    EXPECT_THAT(cycles, IsWithin(kTwoPercent, c.compiler_cycles));
  }
}

TEST(TransposeWindowsTest, RowsThatStandAloneHaveATileEach) {
  // f32[96,128,1]{0,1,2} to {1,2,0}: each row of 128 is written as a tile.
  const std::pair<Dims, double> cases[] = {{{96, 128}, 1562},  {{64, 256}, 1985},    {{256, 128}, 3132},
                                           {{200, 300}, 6610}, {{1024, 512}, 48464}, {{96, 40}, 1460},
                                           {{2048, 64}, 21824}};
  const CoreSpec core = TpuV3Core();
  for (const auto& [dims, compiler_cycles] : cases) {
    const double alone = CyclesOfTransposeWindows({dims, {0, 1}, {1, 0}, true}, core);
    EXPECT_GT(alone, CyclesOfTransposeWindows({dims, {0, 1}, {1, 0}}, core));
    EXPECT_THAT(alone, IsWithin(kTwoPercent, compiler_cycles)) << dims[0] << " x " << dims[1];
  }
}

TEST(TransposeWindowsTest, ADimensionOfOneElementAlongLanesTakesATileForEachRows) {
  // f32[96,128,1]{1,0,2} to {2,0,1}: 8 elements are written as a tile.
  const Case cases[] = {
      {{96, 128, 1}, {1, 0, 2}, {2, 0, 1}, 17109},  {{96, 128, 1}, {1, 0, 2}, {2, 1, 0}, 15540},
      {{96, 128, 1}, {0, 1, 2}, {2, 1, 0}, 17764},  {{96, 128, 1}, {0, 1, 2}, {2, 0, 1}, 16128},
      {{64, 256, 1}, {1, 0, 2}, {2, 0, 1}, 22880},  {{64, 256, 1}, {1, 0, 2}, {2, 1, 0}, 20720},
      {{64, 256, 1}, {0, 1, 2}, {2, 1, 0}, 22032},  {{200, 300, 1}, {1, 0, 2}, {2, 0, 1}, 99645},
      {{200, 300, 1}, {1, 0, 2}, {2, 1, 0}, 78780}, {{200, 300, 1}, {0, 1, 2}, {2, 1, 0}, 99645},
      {{512, 64, 1}, {1, 0, 2}, {2, 0, 1}, 44064},  {{512, 64, 1}, {1, 0, 2}, {2, 1, 0}, 41720},
      {{512, 64, 1}, {0, 1, 2}, {2, 1, 0}, 45760},
  };
  const CoreSpec core = TpuV3Core();
  for (const Case& c : cases)
    EXPECT_THAT(CyclesOfTransposeWindows({c.dims, c.before, c.after}, core),
                IsWithin(kTwoPercent, c.compiler_cycles))
        << c.dims[0] << c.after[1];
}

TEST(TransposeWindowsTest, EmptyAndHugeArrays) {
  const CoreSpec core = TpuV3Core();
  EXPECT_EQ(CyclesOfTransposeWindows({{0, 128}, {0, 1}, {1, 0}}, core), 0);
  const double large = CyclesOfTransposeWindows({{int64_t{1} << 20, int64_t{1} << 20}, {0, 1}, {1, 0}}, core);
  EXPECT_THAT(large,
              IsWithin(kRounding, 2 * CyclesOfTransposeWindows(
                                          {{int64_t{1} << 19, int64_t{1} << 20}, {0, 1}, {1, 0}}, core)));
}

}  // namespace
}  // namespace toroid
