// How often loops run, as far as the program shows.
#include "hlo/analysis/trip_count.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"

namespace toroid {
namespace {

// A loop over (counter, bound, step, x) with this condition and body.
std::unique_ptr<Module> Loop(absl::string_view compare, absl::string_view step, int64_t first, int64_t bound,
                             absl::string_view type = "s32") {
  return ParseModule(absl::Substitute(R"(HloModule m
cond {
  p = ($0[], $0[], f32[2]) parameter(0)
  i = $0[] get-tuple-element(p), index=0
  n = $0[] get-tuple-element(p), index=1
  ROOT c = pred[] $1
}
body {
  p = ($0[], $0[], f32[2]) parameter(0)
  i = $0[] get-tuple-element(p), index=0
  n = $0[] get-tuple-element(p), index=1
  x = f32[2] get-tuple-element(p), index=2
  one = $0[] constant(1)
  three = $0[] constant(3)
  next = $0[] $2
  y = f32[2] negate(x)
  ROOT t = ($0[], $0[], f32[2]) tuple(next, n, y)
}
ENTRY e {
  first = $0[] constant($3)
  bound = $0[] constant($4)
  x = f32[2] parameter(0)
  t = ($0[], $0[], f32[2]) tuple(first, bound, x)
  ROOT w = ($0[], $0[], f32[2]) while(t), condition=cond, body=body
})",
                                      type, compare, step, first, bound))
      .value();
}

std::optional<int64_t> Trips(absl::string_view compare, absl::string_view step, int64_t first, int64_t bound,
                             absl::string_view type = "s32") {
  return TripCount(*Loop(compare, step, first, bound, type)->entry()->root());
}

TEST(TripCountTest, CountsTheTripsOfEveryDirection) {
  EXPECT_EQ(Trips("compare(i, n), direction=LT", "add(i, one)", 0, 12), 12);
  EXPECT_EQ(Trips("compare(i, n), direction=LE", "add(i, one)", 0, 12), 13);
  EXPECT_EQ(Trips("compare(i, n), direction=LT", "add(three, i)", 1, 12), 4);
  EXPECT_EQ(Trips("compare(i, n), direction=GT", "subtract(i, one)", 7, 0), 7);
  EXPECT_EQ(Trips("compare(i, n), direction=GE", "subtract(i, three)", 7, 0), 3);
  EXPECT_EQ(Trips("compare(n, i), direction=GT", "add(i, one)", 2, 12), 10);
  EXPECT_EQ(Trips("compare(i, n), direction=NE", "add(i, three)", 0, 12), 4);
  EXPECT_EQ(Trips("compare(i, n), direction=LT", "add(i, one)", 12, 12), 0);
  EXPECT_EQ(Trips("compare(i, n), direction=LT", "add(i, one)", 0, 12, "u8"), 12);
}

TEST(TripCountTest, DoesNotGuessWhereLoopsNeverEndOrAreNotSeenToCount) {
  EXPECT_EQ(Trips("compare(i, n), direction=LT", "subtract(i, one)", 0, 12), std::nullopt);
  EXPECT_EQ(Trips("compare(i, n), direction=NE", "add(i, three)", 0, 10), std::nullopt);
  EXPECT_EQ(Trips("compare(i, n), direction=LT", "multiply(i, three)", 1, 12), std::nullopt);
  EXPECT_EQ(Trips("compare(i, n), direction=LT", "add(i, i)", 1, 12), std::nullopt);
  EXPECT_EQ(Trips("compare(n, n), direction=LT", "add(i, one)", 1, 12), std::nullopt);
  // The counter wraps around.
  EXPECT_EQ(Trips("compare(i, n), direction=LE", "add(i, one)", 0, 127, "s8"), std::nullopt);
  EXPECT_EQ(Trips("compare(i, n), direction=GE", "subtract(i, one)", 5, 0, "u32"), std::nullopt);
}

TEST(TripCountTest, AStatedTripCountIsBelieved) {
  const auto module = ParseModule(R"(HloModule m
cond { p = f32[] parameter(0) z = f32[] constant(0) ROOT c = pred[] compare(p, z), direction=GT }
body { p = f32[] parameter(0) ROOT n = f32[] negate(p) }
ENTRY e { x = f32[] parameter(0)
  ROOT w = f32[] while(x), condition=cond, body=body, backend_config={"known_trip_count":{"n":"5"},"x":{}} })");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(TripCount(*(*module)->entry()->root()), 5);
}

TEST(TripCountTest, NestedLoopsMultiplyAndUnknownOnesCountOnce) {
  const auto module = ParseModule(R"(HloModule m
inner_cond { i = s32[] parameter(0) n = s32[] constant(4) ROOT c = pred[] compare(i, n), direction=LT }
inner { i = s32[] parameter(0) k = s32[] constant(1) ROOT n = s32[] add(i, k) }
cond { i = s32[] parameter(0) n = s32[] constant(3) ROOT c = pred[] compare(i, n), direction=LT }
body { i = s32[] parameter(0) z = s32[] constant(0) w = s32[] while(z), condition=inner_cond, body=inner
  k = s32[] constant(1) ROOT n = s32[] add(i, k) }
free_cond { i = s32[] parameter(0) n = s32[] constant(3) ROOT c = pred[] compare(i, n), direction=LT }
free { i = s32[] parameter(0) ROOT n = s32[] multiply(i, i) }
ENTRY e { z = s32[] constant(0) a = s32[] while(z), condition=cond, body=body
  ROOT b = s32[] while(a), condition=free_cond, body=free })");
  ASSERT_TRUE(module.ok()) << module.status();
  const std::vector<Executions> executions = CountExecutions(**module);
  const auto of = [&](absl::string_view name) {
    for (const auto& computation : (*module)->computations()) {
      if (computation->name() == name) return executions[computation->index()];
    }
    return Executions();
  };
  EXPECT_EQ(of("e").times, 1);
  EXPECT_FALSE(of("e").in_loop);
  EXPECT_EQ(of("body").times, 3);
  EXPECT_EQ(of("cond").times, 4);
  EXPECT_EQ(of("inner").times, 12);
  EXPECT_TRUE(of("inner").in_loop && of("inner").known);
  EXPECT_EQ(of("free").times, 1);
  EXPECT_TRUE(of("free").in_loop);
  EXPECT_FALSE(of("free").known);
}

}  // namespace
}  // namespace toroid
