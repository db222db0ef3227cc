#include "hlo/passes/unit_dimensions_pass.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "tests/hlo/passes/same_after_pass.h"
#include "tests/partitioner/equivalence.h"
#include "tests/runtime/evaluate.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kDevices = 3;

// $all: groups of all three devices.
std::string After(const std::string& body, bool changes = true, const std::string& computations = "") {
  UnitDimensionsPass pass;
  return SameAfterPass(
      &pass,
      absl::StrReplaceAll(body,
                          {{"$all", "replica_groups={{0,1,2}}, channel_id=1, use_global_device_ids=true"}}),
      computations + ReducerText("add", "f32", "add") + ReducerText("max", "f32", "maximum") + R"(
argmax {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  is_more = pred[] compare(a, b), direction=GE
  m = f32[] select(is_more, a, b)
  k = s32[] select(is_more, i, j)
  ROOT r = (f32[], s32[]) tuple(m, k)
})",
      kDevices, changes);
}

TEST(UnitDimensionsPassTest, ProductsAndWhatFollowsThem) {
  EXPECT_THAT(After(R"(
  x = f32[1,4,6,3] parameter(0)
  y = f32[1,3,5] parameter(1)
  b = f32[1,4,6,5] parameter(2)
  d = f32[1,4,6,5] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={3}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  s = f32[1,4,6,5] add(d, b)
  ROOT t = f32[1,4,6,5] tanh(s)
)"),
              AllOf(HasSubstr("f32[4,6,5]{2,1,0} dot("),
                    HasSubstr("lhs_contracting_dims={2}, rhs_contracting_dims={0}"),
                    HasSubstr("f32[4,6,5]{2,1,0} add("), HasSubstr("f32[4,6,5]{2,1,0} tanh("),
                    HasSubstr("f32[1,4,6,5]{3,2,1,0} reshape(")));
  // A unit dimension is contracted together with another one.
  EXPECT_THAT(After(R"(
  x = f32[2,1,6,1] parameter(0)
  y = f32[1,6,1,2] parameter(1)
  ROOT d = f32[2,1,1] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={1,2}, rhs_batch_dims={3}, rhs_contracting_dims={0,1}
)"),
              HasSubstr("f32[2]{0} dot("));
  After(R"(
  x = f32[4,1] parameter(0)
  y = f32[1,5] parameter(1)
  ROOT d = f32[4,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)",
        /*changes=*/false);
}

TEST(UnitDimensionsPassTest, ElementByElement) {
  const std::string text = After(R"(
  x = f32[1,5,1] parameter(0)
  low = f32[] parameter(1)
  y = f32[1,5,1] parameter(2)
  which = pred[] parameter(3)
  c = f32[1,5,1] clamp(low, x, y)
  p = pred[1,5,1] compare(c, y), direction=LT
  s = f32[1,5,1] select(p, x, c)
  w = f32[1,5,1] select(which, s, y)
  i = s32[1,5,1] convert(w)
  k = s32[1,5,1] copy(i)
  ROOT t = (s32[1,5,1], f32[1,5,1]) tuple(k, s)
)");
  EXPECT_EQ(CountOf(text, "[1,5,1]{2,1,0} reshape("), 2);
  EXPECT_EQ(CountOf(text, "[5]{0} reshape("), 2);
  EXPECT_THAT(text, Not(HasSubstr("[1,5,1]{2,1,0} select(")));
}

TEST(UnitDimensionsPassTest, MovesThatMoveNothingAreGone) {
  const std::string text = After(R"(
  x = f32[4,1,3] parameter(0)
  a = f32[1,4,3] transpose(x), dimensions={1,0,2}
  b = f32[1,4,3,1] broadcast(a), dimensions={0,1,2}
  c = f32[1,4,3,1] reverse(b), dimensions={0,3}
  d = f32[4,1,1,3] reshape(c)
  e = f32[4,1,1,3] slice(d), slice={[0:4], [0:1], [0:1], [0:3]}
  f = f32[4,1,1,3] exponential(e)
  ROOT g = f32[4,3] reshape(f)
)");
  for (const char* op : {" transpose(", " broadcast(", " reverse(", " slice("})
    EXPECT_EQ(CountOf(text, op), 0) << op;
  EXPECT_EQ(CountOf(text, " reshape("), 1);
}

TEST(UnitDimensionsPassTest, MovesThatMoveSomething) {
  const std::string text = After(R"(
  x = f32[1,6,2] parameter(0)
  a = f32[2,1,6] transpose(x), dimensions={2,0,1}
  b = f32[1,4,3,1] reshape(a)
  c = f32[1,4,3,1] reverse(b), dimensions={0,2}
  s = f32[1,3] parameter(1)
  e = f32[5,1,1,3] broadcast(s), dimensions={2,3}
  f = f32[1,4,3] parameter(2)
  h = f32[1,3,4,1] broadcast(f), dimensions={0,2,1}
  ROOT t = (f32[1,4,3,1], f32[5,1,1,3], f32[1,3,4,1]) tuple(c, e, h)
)");
  EXPECT_THAT(text, HasSubstr("f32[2,6]{1,0} transpose("));
  EXPECT_THAT(text, HasSubstr("f32[4,3]{1,0} reverse("));
  EXPECT_THAT(text, HasSubstr("f32[5,3]{1,0} broadcast("));
  EXPECT_THAT(text, HasSubstr("f32[3,4]{1,0} broadcast("));
}

TEST(UnitDimensionsPassTest, MovesThatRound) {
  EXPECT_THAT(After(R"(
  x = f32[1,6] parameter(0)
  a = bf16[6,1] transpose(x), dimensions={1,0}
  b = bf16[6,1] negate(a)
  ROOT c = f32[6,1] convert(b)
)"),
              HasSubstr("bf16[6]{0} transpose("));
}

TEST(UnitDimensionsPassTest, DimensionsThatAnOpNamesStay) {
  const std::string text = After(R"(
  x = f32[1,4,1] parameter(0)
  y = f32[1,4,1] parameter(1)
  c = f32[1,4,2] concatenate(x, y), dimensions={2}
  one = f32[1,4,1] concatenate(x), dimensions={0}
  i = s32[1,1,7] iota(), iota_dimension=2
  j = s32[1,1,7] iota(), iota_dimension=1
  s = f32[1,1,2] slice(c), slice={[0:1], [2:3], [0:2]}
  ROOT t = (f32[1,4,2], f32[1,4,1], s32[1,1,7], s32[1,1,7], f32[1,1,2]) tuple(c, one, i, j, s)
)");
  EXPECT_THAT(text, HasSubstr("f32[4,2]{1,0} concatenate("));
  EXPECT_THAT(text, HasSubstr("f32[1,4]{1,0} concatenate("));
  EXPECT_THAT(text, HasSubstr("s32[7]{0} iota(), iota_dimension=0"));
  EXPECT_THAT(text, HasSubstr("s32[1,7]{1,0} iota(), iota_dimension=0"));
  EXPECT_THAT(text, HasSubstr("f32[1,2]{1,0} slice("));
}

TEST(UnitDimensionsPassTest, DynamicSlices) {
  const std::string text = After(R"(
  x = f32[1,8,1,5] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  a = f32[1,3,1,5] dynamic-slice(x, j, i, j, j), dynamic_slice_sizes={1,3,1,5}
  b = f32[1,8,1,5] dynamic-slice(x, i, j, j, i), dynamic_slice_sizes={1,8,1,5}
  n = f32[1,8,1,5] negate(b)
  u = f32[1,1,1,5] parameter(3)
  w = f32[1,8,1,5] dynamic-update-slice(n, u, j, i, j, j)
  ROOT t = (f32[1,3,1,5], f32[1,8,1,5]) tuple(a, w)
)");
  EXPECT_THAT(text, HasSubstr("dynamic_slice_sizes={3,5}"));
  EXPECT_EQ(CountOf(text, " dynamic-slice("), 1);
  EXPECT_THAT(text, HasSubstr("f32[1,8,1,5]{3,2,1,0} dynamic-update-slice("));
}

TEST(UnitDimensionsPassTest, PaddingThatTakesThePlaceOfTheOneElementStays) {
  EXPECT_THAT(After(R"(
  x = f32[1,4] parameter(0)
  v = f32[] parameter(1)
  ROOT p = f32[1,7] pad(x, v), padding=0_0x2_1
)"),
              HasSubstr("padding=2_1"));
  After(R"(
  x = f32[1,4] parameter(0)
  v = f32[] parameter(1)
  ROOT p = f32[1,7] pad(x, v), padding=1_-1x2_1
)",
        /*changes=*/false);
  After(R"(
  x = f32[1,4] parameter(0)
  v = f32[] parameter(1)
  ROOT p = f32[3,4] pad(x, v), padding=1_1x0_0
)",
        /*changes=*/false);
}

TEST(UnitDimensionsPassTest, Reductions) {
  const std::string text = After(R"(
  x = f32[1,4,1,6] parameter(0)
  v = f32[] parameter(1)
  a = f32[4,1] reduce(x, v), dimensions={0,3}, to_apply=add
  b = f32[1] reduce(x, v), dimensions={0,1,3}, to_apply=max
  c = f32[1,4,6] reduce(x, v), dimensions={2}, to_apply=add
  ROOT t = (f32[4,1], f32[1], f32[1,4,6]) tuple(a, b, c)
)");
  EXPECT_THAT(text, HasSubstr("f32[4]{0} reduce("));
  EXPECT_THAT(text, HasSubstr("f32[] reduce("));
  // Only unit dimensions are reduced: initial values that are not neutral count.
  EXPECT_THAT(text, HasSubstr("f32[1,4,6]{2,1,0} reduce(x, v), dimensions={2}"));
}

TEST(UnitDimensionsPassTest, ReductionsOfSeveralArraysWithTheirElements) {
  const std::string body = R"(
  x = f32[1,4,7] parameter(0)
  v = f32[] parameter(1)
  z = s32[] constant(0)
  i = s32[1,4,7] iota(), iota_dimension=2
  r = (f32[1,4], s32[1,4]) reduce(x, i, v, z), dimensions={2}, to_apply=argmax
  a = f32[1,4] get-tuple-element(r), index=0
  b = s32[1,4] get-tuple-element(r), index=1$kept
  ROOT t = (f32[1,4], s32[1,4]$more) tuple(a, b$whole)
)";
  EXPECT_THAT(After(absl::StrReplaceAll(body, {{"$kept", ""}, {"$more", ""}, {"$whole", ""}})),
              HasSubstr("(f32[4]{0}, s32[4]{0}) reduce("));
  // An op uses the whole tuple, or an element has a sharding.
  EXPECT_THAT(After(absl::StrReplaceAll(
                  body, {{"$kept", ""}, {"$more", ", (f32[1,4], s32[1,4])"}, {"$whole", ", r"}})),
              HasSubstr("(f32[1,4]{1,0}, s32[1,4]{1,0}) reduce("));
  EXPECT_THAT(
      After(absl::StrReplaceAll(body, {{"$kept", ", sharding={replicated}"}, {"$more", ""}, {"$whole", ""}})),
      HasSubstr("(f32[1,4]{1,0}, s32[1,4]{1,0}) reduce("));
  EXPECT_THAT(After(absl::StrReplaceAll(
                  body, {{"$kept", ", control-predecessors={a}"}, {"$more", ""}, {"$whole", ""}})),
              HasSubstr("(f32[1,4]{1,0}, s32[1,4]{1,0}) reduce("));
}

TEST(UnitDimensionsPassTest, Windows) {
  const std::string text = After(R"(
  x = f32[1,8,1,3] parameter(0)
  v = f32[] parameter(1)
  a = f32[1,8,1,3] reduce-window(x, v), window={size=1x3x1x1 pad=0_0x1_1x0_0x0_0}, to_apply=add
  b = f32[1,8,2,3] reduce-window(x, v), window={size=1x1x2x1 pad=0_0x0_0x1_1x0_0}, to_apply=add
  ROOT t = (f32[1,8,1,3], f32[1,8,2,3]) tuple(a, b)
)");
  EXPECT_THAT(text, HasSubstr("window={size=3x1 pad=1_1x0_0}"));
  EXPECT_THAT(text, HasSubstr("f32[8,2,3]{2,1,0} reduce-window("));
}

TEST(UnitDimensionsPassTest, Gathers) {
  // One element of each row.
  EXPECT_THAT(After(R"(
  x = f32[1,4,9] parameter(0)
  i = s32[1,4,1,1] parameter(1)
  ROOT g = f32[1,4,1] gather(x, i), offset_dims={}, collapsed_slice_dims={2}, start_index_map={2}, operand_batching_dims={0,1}, start_indices_batching_dims={0,1}, index_vector_dim=3, slice_sizes={1,1,1}
)"),
              AllOf(HasSubstr("f32[4,1]{1,0} gather("), HasSubstr("slice_sizes={1,1}")));
  // Rows of a table: indices count along one dimension, one is a window dimension, one is collapsed.
  EXPECT_THAT(After(R"(
  x = f32[7,1,5,1] parameter(0)
  i = s32[1,3] parameter(1)
  ROOT g = f32[1,3,1,5] gather(x, i), offset_dims={2,3}, collapsed_slice_dims={0,3}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,1,5,1}
)"),
              AllOf(HasSubstr("f32[1,3,5]{2,1,0} gather("), HasSubstr("slice_sizes={1,5}"),
                    HasSubstr("collapsed_slice_dims={0}")));
  // The index along a unit dimension is clamped.
  After(R"(
  x = f32[1,5] parameter(0)
  i = s32[3,1] parameter(1)
  ROOT g = f32[3,5] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}
)",
        /*changes=*/false);
}

TEST(UnitDimensionsPassTest, Scatters) {
  EXPECT_THAT(After(R"(
  x = f32[1,4,9] parameter(0)
  i = s32[1,4,1,1] parameter(1)
  u = f32[1,4,1] parameter(2)
  ROOT s = f32[1,4,9] scatter(x, i, u), update_window_dims={}, inserted_window_dims={2}, scatter_dims_to_operand_dims={2}, input_batching_dims={0,1}, scatter_indices_batching_dims={0,1}, index_vector_dim=3, to_apply=add
)"),
              HasSubstr("f32[4,9]{1,0} scatter("));
  EXPECT_THAT(After(R"(
  x = f32[7,1,5,1] parameter(0)
  i = s32[1,3] parameter(1)
  u = f32[1,3,1,5] parameter(2)
  ROOT s = f32[7,1,5,1] scatter(x, i, u), update_window_dims={2,3}, inserted_window_dims={0,3}, scatter_dims_to_operand_dims={0}, index_vector_dim=2, to_apply=add
)"),
              HasSubstr("f32[7,5]{1,0} scatter("));
  // A window without elements writes nothing.
  After(R"(
  x = f32[1,5] parameter(0)
  i = s32[3,1] parameter(1)
  u = f32[3,0,1] parameter(2)
  ROOT s = f32[1,5] scatter(x, i, u), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=add
)",
        /*changes=*/false);
}

TEST(UnitDimensionsPassTest, CollectivesSendWhatTheyDid) {
  const std::string text = After(R"(
  x = f32[1,3,4] parameter(0)
  a = f32[1,3,4] all-reduce(x), $all, to_apply=add
  g = f32[1,9,4] all-gather(x), $all, dimensions={1}
  h = f32[3,3,4] all-gather(x), $all, dimensions={0}
  s = f32[1,1,4] reduce-scatter(x), $all, dimensions={1}, to_apply=add
  p = f32[1,3,4] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,2}}
  e = f32[1,3,4] all-to-all(x), replica_groups={{0,1,2}}, channel_id=1, dimensions={1}
  ROOT t = (f32[1,3,4], f32[1,9,4], f32[3,3,4], f32[1,1,4], f32[1,3,4], f32[1,3,4]) tuple(a, g, h, s, p, e)
)");
  EXPECT_THAT(text, HasSubstr("f32[3,4]{1,0} all-reduce("));
  EXPECT_THAT(text, HasSubstr("f32[9,4]{1,0} all-gather("));
  EXPECT_THAT(text, HasSubstr("f32[3,3,4]{2,1,0} all-gather(x)"));
  EXPECT_THAT(text, HasSubstr("f32[1,4]{1,0} reduce-scatter("));
  EXPECT_THAT(text, HasSubstr("f32[3,4]{1,0} collective-permute("));
  EXPECT_THAT(text, HasSubstr("f32[1,3,4]{2,1,0} all-to-all(x)"));
}

TEST(UnitDimensionsPassTest, LoopsAndBranchesHandOnWhatTheyDid) {
  const std::string text = After(R"(
  x = f32[1,4] parameter(0)
  n = f32[1,4] negate(x)
  z = s32[] constant(0)
  t = (s32[], f32[1,4]) tuple(z, n)
  w = (s32[], f32[1,4]) while(t), condition=condition, body=body
  y = f32[1,4] get-tuple-element(w), index=1
  b = f32[1,4] opt-barrier(y)
  s = f32[1,4] sine(b)
  p = pred[] parameter(1)
  ROOT c = f32[1,4] conditional(p, s, s), true_computation=double, false_computation=same
)",
                                 /*changes=*/true, R"(
condition {
  state = (s32[], f32[1,4]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  three = s32[] constant(3)
  ROOT more = pred[] compare(i, three), direction=LT
}
body {
  state = (s32[], f32[1,4]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[1,4] get-tuple-element(state), index=1
  y = f32[1,4] add(x, x)
  ROOT t = (s32[], f32[1,4]) tuple(next, y)
}
double {
  x = f32[1,4] parameter(0)
  ROOT y = f32[1,4] add(x, x)
}
same {
  ROOT x = f32[1,4] parameter(0)
}
)");
  EXPECT_EQ(CountOf(text, "f32[4]{0} add("), 2);
  EXPECT_THAT(text, HasSubstr("f32[1,4]{1,0} opt-barrier("));
}

TEST(UnitDimensionsPassTest, WhatIsPinnedStays) {
  After(R"(
  x = f32[1,4] parameter(0)
  a = f32[1,4] negate(x), sharding={replicated}
  b = f32[1,4] sine(x), control-predecessors={a}
  c = f32[1,4] cosine(x), control-predecessors={b}
  ROOT t = (f32[1,4], f32[1,4], f32[1,4]) tuple(a, b, c)
)",
        /*changes=*/false);
  After(R"(
  x = f32[1,4]{0,1} parameter(0)
  ROOT a = f32[1,4]{0,1} negate(x)
)",
        /*changes=*/false);
}

TEST(UnitDimensionsPassTest, NamesAndWhereOpsComeFromStay) {
  EXPECT_THAT(
      After(R"(
  x = f32[1,4] parameter(0)
  mine = f32[1,4] negate(x), metadata={op_name="a/b"}
  ROOT t = (f32[1,4]) tuple(mine)
)"),
      AllOf(HasSubstr("mine = f32[4]{0} negate("), HasSubstr("reshape(mine), metadata={op_name=\"a/b\"")));
}

// Chains of ops over arrays with many unit dimensions.
TEST(UnitDimensionsPassTest, RandomPrograms) {
  std::mt19937 random(11);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  for (int trial = 0; trial < 150; ++trial) {
    std::vector<std::vector<int64_t>> dims = {{1, 4, 1, 6}, {6, 1, 4}};
    std::string body =
        "x0 = s32[1,4,1,6] parameter(0)\nx1 = s32[6,1,4] parameter(1)\nv = s32[] parameter(2)\ni = s32[] parameter(3)\n";
    const int last = 13;
    for (int k = 2; k <= last; ++k) {
      const int64_t from = k - 1 - below(2);
      const std::vector<int64_t>& old = dims[from];
      const int64_t rank = static_cast<int64_t>(old.size());
      const std::string x = absl::StrCat("x", from);
      std::vector<int64_t> now = old, list(rank);
      for (int64_t d = 0; d < rank; ++d) list[d] = d;
      std::string op;
      switch (below(9)) {
        case 0:
          std::shuffle(list.begin(), list.end(), random);
          for (int64_t d = 0; d < rank; ++d) now[d] = old[list[d]];
          op = absl::StrCat("transpose(", x, "), dimensions={", absl::StrJoin(list, ","), "}");
          break;
        case 1: {
          now.insert(now.begin() + below(rank + 1), 1);
          op = absl::StrCat("reshape(", x, ")");
          break;
        }
        case 2: {
          const int64_t at = below(rank + 1), size = 1 + below(2);
          now.insert(now.begin() + at, size);
          for (int64_t& d : list) d += d >= at;
          op = absl::StrCat("broadcast(", x, "), dimensions={", absl::StrJoin(list, ","), "}");
          break;
        }
        case 3: {
          const int64_t d = below(rank);
          now.erase(now.begin() + d);
          op = absl::StrCat("reduce(", x, ", v), dimensions={", d, "}, to_apply=add");
          break;
        }
        case 4: {
          std::vector<std::string> bounds;
          for (int64_t d = 0; d < rank; ++d) {
            const int64_t start = below(old[d]);
            now[d] = 1 + below(old[d] - start);
            bounds.push_back(absl::StrCat("[", start, ":", start + now[d], "]"));
          }
          op = absl::StrCat("slice(", x, "), slice={", absl::StrJoin(bounds, ", "), "}");
          break;
        }
        case 5: {
          std::vector<std::string> edges;
          for (int64_t d = 0; d < rank; ++d) {
            const int64_t low = below(3) == 0 ? 1 : 0, high = below(3) == 0 ? -low : below(4) == 0;
            now[d] += low + high;
            edges.push_back(absl::StrCat(low, "_", high));
          }
          op = absl::StrCat("pad(", x, ", v), padding=", absl::StrJoin(edges, "x"));
          break;
        }
        case 6: {
          std::string starts;
          for (int64_t d = 0; d < rank; ++d) {
            now[d] = 1 + below(old[d]);
            absl::StrAppend(&starts, ", i");
          }
          op = absl::StrCat("dynamic-slice(", x, starts, "), dynamic_slice_sizes={", absl::StrJoin(now, ","),
                            "}");
          break;
        }
        case 7:
          op = absl::StrCat("add(", x, ", ", x, ")");
          break;
        default: {
          const int64_t d = below(rank);
          now[d] *= 2;
          op = absl::StrCat("concatenate(", x, ", ", x, "), dimensions={", d, "}");
          break;
        }
      }
      if (now.empty() || now.size() > 7 || absl::c_accumulate(now, int64_t{1}, std::multiplies<>()) > 3000) {
        --k;
        continue;
      }
      absl::StrAppend(&body, k == last ? "ROOT " : "", "x", k, " = s32[", absl::StrJoin(now, ","), "] ", op,
                      "\n");
      dims.push_back(now);
    }
    SCOPED_TRACE(body);
    const std::string add = ReducerText("add", "s32", "add");
    std::unique_ptr<Module> module = MakeModule(body, add);
    UnitDimensionsPass pass;
    SameAfterPass(&pass, body, add, 1, /*changes=*/*pass.Run(&module));
  }
}

// Experts and groups; a device has one of each if there are as many devices.
TEST(UnitDimensionsPassTest, PartitionsOfExpertsAgree) {
  for (const int64_t n : {6, 16}) {
    ExpectEquivalent(absl::StrReplaceAll(R"(
ENTRY main {
  x = f32[$e,3,4] parameter(0), sharding={devices=[$n,1,1]<=[$n]}
  m = f32[$e,3,$e,2] parameter(1), sharding={devices=[$n,1,1,1]<=[$n]}
  w = f32[$e,4,5] parameter(2), sharding={devices=[$n,1,1]<=[$n]}
  d = f32[$e,4,$e,2] dot(x, m), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  t = f32[$e,$e,2,4] transpose(d), dimensions={2,0,3,1}
  e = f32[$e,$e,2,4] custom-call(t), custom_call_target="Sharding", sharding={devices=[$n,1,1,1]<=[$n]}
  h = f32[$e,$e,2,5] dot(e, w), lhs_batch_dims={0}, lhs_contracting_dims={3}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  z = f32[$e,$e,2,5] negate(h)
  b = f32[$e,$e,2,5] custom-call(z), custom_call_target="Sharding", sharding={devices=[1,$n,1,1]<=[$n]}
  o = f32[$e,3,5] dot(m, b), lhs_batch_dims={0}, lhs_contracting_dims={2,3}, rhs_batch_dims={1}, rhs_contracting_dims={0,2}
  ROOT r = f32[$e,3,5] add(o, o), sharding={devices=[$n,1,1]<=[$n]}
})",
                                         {{"$e", absl::StrCat(n)}}));
  }
}

// The log-probability of one of nine words for each token, and the scatter of its gradient.
TEST(UnitDimensionsPassTest, PartitionsOfChosenElementsAgree) {
  ExpectEquivalent(R"(
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  x = f32[7,4,9] parameter(0), sharding={devices=[$n,1,1]<=[$n]}
  i = s32[7,4,1,1] parameter(1), sharding={devices=[$n,1,1,1]<=[$n]}
  g = f32[7,4,1] gather(x, i), offset_dims={}, collapsed_slice_dims={2}, start_index_map={2}, operand_batching_dims={0,1}, start_indices_batching_dims={0,1}, index_vector_dim=3, slice_sizes={1,1,1}
  n = f32[7,4,1] negate(g)
  ROOT s = f32[7,4,9] scatter(x, i, n), update_window_dims={}, inserted_window_dims={2}, scatter_dims_to_operand_dims={2}, input_batching_dims={0,1}, scatter_indices_batching_dims={0,1}, index_vector_dim=3, to_apply=add, sharding={devices=[$n,1,1]<=[$n]}
})");
}

}  // namespace
}  // namespace toroid
