// Scatters of single elements write what they did, as scatters into a vector.
#include "simulator/compiler/rewrites/flat_scatter_pass.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "simulator/memory/temporaries.h"
#include "tests/simulator/compiler/lowered_programs.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

std::string Array(absl::string_view type, const std::vector<int64_t>& sizes) {
  return absl::StrCat(type, "[", absl::StrJoin(sizes, ","), "]");
}

int64_t Elements(const std::vector<int64_t>& sizes) {
  int64_t elements = 1;
  for (const int64_t size : sizes) elements *= size;
  return elements;
}

struct Case {
  std::vector<int64_t> operand, updates;  // Sizes.
  int64_t vector = 0;                     // Where the indices have their vectors.
  std::string type = "f32", index_type = "s32", combiner = "sum";
  std::vector<int64_t> to_operand = {};  // Which index is which dimension's; in order if not said.
};

// x = operand, u = updates; indices from -1 to beyond the end, each several times.
std::string Program(Case c) {
  if (c.to_operand.empty()) {
    for (size_t d = 0; d < c.operand.size(); ++d) c.to_operand.push_back(static_cast<int64_t>(d));
  }
  std::vector<int64_t> indices = c.updates;
  indices.insert(indices.begin() + c.vector, static_cast<int64_t>(c.operand.size()));
  std::vector<int64_t> inserted;
  for (size_t d = 0; d < c.operand.size(); ++d) inserted.push_back(static_cast<int64_t>(d));
  const std::string count = Array("s32", {Elements(indices)});
  return absl::StrCat(
      " p = ", Array("f32", c.operand), " parameter(0) q = ", Array("f32", c.updates),
      " parameter(1)\n x = ", Array(c.type, c.operand), " convert(p) u = ", Array(c.type, c.updates),
      " convert(q)\n", " step = s32[] constant(37) steps = ", count, " broadcast(step), dimensions={}\n",
      " end = s32[] constant(", *std::max_element(c.operand.begin(), c.operand.end()) + 3, ") ends = ", count,
      " broadcast(end), dimensions={}\n one = s32[] constant(1) ones = ", count,
      " broadcast(one), dimensions={}\n n = ", count, " iota(), iota_dimension=0\n m = ", count,
      " multiply(n, steps) r = ", count, " remainder(m, ends) i = ", count,
      " subtract(r, ones)\n w = ", Array("s32", indices), " reshape(i) v = ", Array(c.index_type, indices),
      " convert(w)\n ROOT s = ", Array(c.type, c.operand),
      " scatter(x, v, u), update_window_dims={}, inserted_window_dims={", absl::StrJoin(inserted, ","),
      "}, scatter_dims_to_operand_dims={", absl::StrJoin(c.to_operand, ","), "}, index_vector_dim=", c.vector,
      ", to_apply=", c.combiner);
}

// Ranks of what the scatters of the lowered program write into.
std::vector<int64_t> RanksWritten(absl::string_view entry) {
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(entry));
  std::vector<int64_t> ranks;
  for (const auto& computation : lowered->computations()) {
    for (const auto& op : computation->instructions()) {
      if (op->opcode() == Opcode::kScatter) ranks.push_back(op->shape().rank());
    }
  }
  return ranks;
}

TEST(FlatScatterTest, ScattersIntoAVectorKeepValues) {
  const Case cases[] = {
      {{31, 17}, {1100}, 1},
      {{31, 17}, {1100}, 0},
      {{300, 5}, {257, 5}, 2},
      {{300, 5}, {257, 5}, 1},
      {{5, 300}, {257, 5}, 0},
      {{7, 9, 11}, {350, 3}, 2},
      {{7, 2, 3, 5}, {1024}, 1},
      {{16, 256}, {16, 128}, 2},
      {{1, 40}, {1030}, 1},
      {{64}, {40, 3}, 2},
      {.operand = {31, 17}, .updates = {1100}, .vector = 1, .to_operand = {1, 0}},
      {.operand = {9, 7, 11}, .updates = {1100}, .vector = 1, .to_operand = {2, 0, 1}},
      {.operand = {31, 17}, .updates = {1100}, .type = "s32", .combiner = "count"},
      {.operand = {31, 17}, .updates = {1100}, .type = "bf16", .combiner = "bmax"},
      {.operand = {31, 17}, .updates = {1100}, .combiner = "second"},
      {.operand = {31, 17}, .updates = {1100}, .index_type = "u32"},
      {.operand = {31, 17}, .updates = {1100}, .index_type = "s8"},
      {.operand = {31, 17}, .updates = {1100}, .index_type = "s64"},
  };
  for (const Case& c : cases) {
    const std::string program = Program(c);
    ExpectSameValues(program);
    EXPECT_EQ(RanksWritten(program), std::vector<int64_t>({1})) << program;
  }
}

TEST(FlatScatterTest, SharedDimensionsAreCounted) {
  constexpr char kProgram[] = R"( x = f32[5,8,7] parameter(0)
    u = f32[7,5,40] parameter(1)
    n = s32[1400] iota(), iota_dimension=0
    end = s32[] constant(9) ends = s32[1400] broadcast(end), dimensions={}
    r = s32[1400] remainder(n, ends)
    i = s32[7,5,1,40] reshape(r)
    ROOT s = f32[5,8,7] scatter(x, i, u), update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1},
      input_batching_dims={0,2}, scatter_indices_batching_dims={1,0}, index_vector_dim=2, to_apply=sum )";
  ExpectSameValues(kProgram);
  EXPECT_EQ(RanksWritten(kProgram), std::vector<int64_t>({1}));
}

TEST(FlatScatterTest, WhatIsEverywhereTheSameIsFilledByTheScatter) {
  constexpr char kProgram[] = R"( u = f32[2000] parameter(0)
    zero = f32[] constant(0) x = f32[40,50] broadcast(zero), dimensions={}
    n = s32[2000,2] iota(), iota_dimension=0
    end = s32[] constant(47) ends = s32[2000,2] broadcast(end), dimensions={}
    i = s32[2000,2] remainder(n, ends)
    ROOT s = f32[40,50] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0,1},
      scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=sum )";
  ExpectSameValues(kProgram);
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(kProgram));
  for (const auto& op : lowered->entry()->instructions()) EXPECT_NE(op->opcode(), Opcode::kBroadcast);
}

TEST(FlatScatterTest, AScatterFillsWhatItPassesOver) {
  // 33.5 MB, more than there is on the chip: with 8,192 updates in one pass over sorted indices, with 1,024 one by one.
  const auto filled = [](int updates, absl::string_view operand, absl::string_view update_window) {
    const std::string update = absl::StrCat("f32[", updates, update_window.empty() ? "" : ",1024", "]");
    const std::unique_ptr<Module> lowered = Lowered(*Parsed(absl::StrCat(
        " u = ", update, " parameter(0) i = s32[", updates,
        ",1] parameter(1) zero = f32[] constant(0) x = ", operand,
        " broadcast(zero), dimensions={} ROOT s = ", operand, " scatter(x, i, u), update_window_dims={",
        update_window, "}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, ",
        "to_apply=sum")));
    return lowered->entry()->root()->opcode() == Opcode::kFusion;
  };
  EXPECT_TRUE(filled(8192, "f32[8388608]", ""));
  EXPECT_FALSE(filled(4096, "f32[8388608]", ""));
  EXPECT_TRUE(filled(1024, "f32[3145728]", ""));  // On the chip.
  EXPECT_TRUE(filled(4096, "f32[32000,1024]", "1"));
  EXPECT_FALSE(filled(16384, "f32[131072,1024]", "1"));
}

TEST(FlatScatterTest, FewUpdatesAndWindowsStay) {
  const std::string few = Program({{31, 17}, {1023}, 1});
  ExpectSameValues(few);
  EXPECT_EQ(RanksWritten(few), std::vector<int64_t>({2}));
  constexpr char kRows[] = R"( x = f32[40,16] parameter(0)
    u = f32[2000,16] parameter(1)
    i = s32[2000,1] iota(), iota_dimension=0
    ROOT s = f32[40,16] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum )";
  ExpectSameValues(kRows);
  EXPECT_EQ(RanksWritten(kRows), std::vector<int64_t>({2}));
}

TEST(FlatScatterTest, FewUpdatesAlongLanesArePaddedOnTheirWay) {
  // 4 MiB of updates as an argument; a copy of 128 MiB, of which a vector is made. The compiler for TPU v3 states 142,606,336
  // bytes.
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(R"( x = f32[262144] parameter(0)
    i = s32[262144,4] parameter(1)
    u = f32[262144,4] parameter(2)
    ROOT s = f32[262144] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=2, to_apply=sum )"));
  const ArraySize size = PaddedSize(Tiling());
  EXPECT_THAT(ComputeMemoryNeeds(*lowered, &size).temporary, IsWithin(kTwoPercent, 142606336));
}

}  // namespace
}  // namespace toroid
