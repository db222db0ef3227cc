// Items of cost that stand for each other, and rows for those that do not.
#include "explain/diff/cost_diff.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

CostItem Item(const std::string& kind, const std::string& name, const std::string& line, int64_t cost,
              int64_t times = 1) {
  return {
      .kind = kind, .what = kind, .name = name, .source = line, .place = line, .cost = cost, .times = times};
}

// Items without instructions, as if nothing were matched.
CostDiff Diff(const std::vector<CostItem>& a, const std::vector<CostItem>& b) {
  const auto module = ParseModule("HloModule m\nENTRY e { ROOT x = f32[8] parameter(0) }");
  EXPECT_OK(module);
  SourceFrames frames(**module);
  return DiffCosts(a, b, ModuleMatch(**module, **module, &frames, &frames), LineMap(), Elsewhere::kYes);
}

void ExpectExplained(const CostDiff& diff) {
  int64_t a = diff.same, b = diff.same;
  for (const CostRow& row : diff.rows) {
    a += row.cost_a;
    b += row.cost_b;
  }
  EXPECT_EQ(a, diff.total_a);
  EXPECT_EQ(b, diff.total_b);
}

double SecondsOf(const std::vector<CostItem>& items) {
  double seconds = 0;
  for (const CostItem& item : items) seconds += item.times == 0 ? 0 : item.seconds;
  return seconds;
}

double SecondsOfRows(const CostDiff& diff) {
  double seconds = 0;
  for (const CostRow& row : diff.rows) seconds += row.time_difference();
  return seconds;
}

TEST(CostDiffTest, OneLineIsOneRow) {
  const CostDiff diff = Diff(
      {Item("all-gather over 8", "mlp/dot", "m.py:7", 4000, 2),
       Item("all-reduce over 8", "loss", "m.py:9", 8)},
      {Item("all-gather over 8", "mlp/dot", "m.py:7", 4000),
       Item("all-reduce over 4", "mlp/dot", "m.py:7", 2000), Item("all-reduce over 8", "loss", "m.py:9", 8)});
  ExpectExplained(diff);
  EXPECT_EQ(diff.same, 4008);
  EXPECT_EQ(diff.same_times, 2);
  ASSERT_THAT(diff.rows, SizeIs(1));
  const CostRow& row = diff.rows[0];
  EXPECT_EQ(row.kind, CostRowKind::kChanged);
  EXPECT_EQ(row.place, "m.py:7");
  EXPECT_EQ(row.difference(), -2000);
  ASSERT_THAT(row.a, SizeIs(1));
  EXPECT_EQ(row.a[0].times, 1);
  ASSERT_THAT(row.b, SizeIs(1));
  EXPECT_EQ(row.b[0].what, "all-reduce over 4");
}

TEST(CostDiffTest, ALoopIsItsUnrolledForm) {
  std::vector<CostItem> unrolled;
  for (int i = 0; i < 12; ++i)
    unrolled.push_back(Item("all-gather over 8", absl::StrCat("layers_", i, "/dot"), "m.py:7", 100));
  const CostDiff diff = Diff({Item("all-gather over 8", "layers/dot", "m.py:7", 100, 12)}, unrolled);
  EXPECT_TRUE(diff.rows.empty());
  EXPECT_EQ(diff.same, 1200);
}

TEST(CostDiffTest, LayersAreOneNameInARow) {
  std::vector<CostItem> b;
  for (int i = 0; i < 3; ++i)
    b.push_back(Item("all-gather over 8", absl::StrCat("layers_", i, "/dot"), "m.py:7", 100));
  const CostDiff diff = Diff({}, b);
  ASSERT_THAT(diff.rows, SizeIs(1));
  EXPECT_EQ(diff.rows[0].kind, CostRowKind::kOnlyB);
  EXPECT_EQ(diff.rows[0].name, "layers_0..2/dot");
  EXPECT_EQ(diff.rows[0].b[0].times, 3);
}

TEST(CostDiffTest, TheSameAtAnotherLineIsARowWithoutDifference) {
  const CostDiff diff =
      Diff({Item("all-gather over 8", "a", "m.py:1", 100)}, {Item("all-gather over 8", "b", "m.py:2", 100)});
  ExpectExplained(diff);
  ASSERT_THAT(diff.rows, SizeIs(1));
  EXPECT_EQ(diff.rows[0].kind, CostRowKind::kElsewhere);
  EXPECT_EQ(diff.rows[0].difference(), 0);
  EXPECT_EQ(diff.rows[0].place, "m.py:2");
  EXPECT_EQ(diff.rows[0].place_in_a, "m.py:1");
}

TEST(CostDiffTest, NamesStandForLinesWhereThereAreNone) {
  const CostDiff diff = Diff({Item("all-gather over 8", "layers_1/dot.3", "", 100)},
                             {Item("all-gather over 8", "layers_2/dot.9", "", 150)});
  ExpectExplained(diff);
  ASSERT_THAT(diff.rows, SizeIs(1));
  EXPECT_EQ(diff.rows[0].kind, CostRowKind::kChanged);
  EXPECT_EQ(diff.rows[0].difference(), 50);
}

TEST(CostDiffTest, TheSameInAnotherTimeIsARow) {
  std::vector<CostItem> a = {Item("x", "n", "m.py:1", 100), Item("x", "n", "m.py:2", 50)}, b = a;
  a[0].seconds = 1e-6;
  b[0].seconds = 3e-6;
  const CostDiff diff = Diff(a, b);
  ExpectExplained(diff);
  EXPECT_EQ(diff.same, 50);
  EXPECT_EQ(diff.same_times, 2);
  ASSERT_THAT(diff.rows, SizeIs(1));
  EXPECT_EQ(diff.rows[0].kind, CostRowKind::kOtherTime);
  EXPECT_EQ(diff.rows[0].place, "m.py:1");
  EXPECT_EQ(diff.rows[0].difference(), 0);
  EXPECT_DOUBLE_EQ(diff.rows[0].time_difference(), 2e-6);
  b[0].seconds = 1.0000001e-6;  // Less than the simulator's unit.
  EXPECT_TRUE(Diff(a, b).rows.empty());
}

TEST(CostDiffTest, EveryByteAndSecondIsInARow) {
  std::mt19937_64 random(1);
  const auto items = [&] {
    std::vector<CostItem> some;
    for (uint64_t i = random() % 40; i > 0; --i) {
      some.push_back(Item(random() % 2 == 0 ? "x" : "y",
                          absl::StrCat("n", random() % 3, random() % 2 == 0 ? "/a" : "/b"),
                          random() % 4 == 0 ? "" : absl::StrCat("m.py:", random() % 5),
                          static_cast<int64_t>(random() % 4), static_cast<int64_t>(random() % 5)));
      some.back().seconds = static_cast<double>(random() % 3) * 1e-6;
    }
    return some;
  };
  for (int i = 0; i < 300; ++i) {
    const std::vector<CostItem> a = items(), b = items();
    const CostDiff diff = Diff(a, b);
    ExpectExplained(diff);
    EXPECT_NEAR(SecondsOfRows(diff), SecondsOf(b) - SecondsOf(a), 1e-12);
    const CostDiff back = Diff(b, a);
    EXPECT_NEAR(SecondsOfRows(back), -SecondsOfRows(diff), 1e-12);
    EXPECT_TRUE(Diff(a, a).rows.empty());
  }
}

TEST(CostDiffTest, SumsSaturate) {
  const CostDiff diff = Diff({Item("x", "a", "m.py:1", INT64_MAX / 2, 3)}, {});
  EXPECT_EQ(diff.total_a, INT64_MAX);
  EXPECT_EQ(diff.rows[0].cost_a, INT64_MAX);
}

}  // namespace
}  // namespace toroid
