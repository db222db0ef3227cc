// Lowered programs compute what they did, and run in the groups one expects.
#include "simulator/compiler/lower.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "simulator/machines/tpu_v3_core.h"
#include "tests/simulator/compiler/lowered_programs.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(LowerTest, TransposesAndReshapesKeepValues) {
  ExpectSameValues(R"( x = f32[6,10] parameter(0)
    ROOT t = f32[10,6] transpose(x), dimensions={1,0} )");
  ExpectSameValues(R"( x = f32[6,10] parameter(0) y = f32[10,6] parameter(1)
    t = f32[10,6] transpose(x), dimensions={1,0}
    ROOT a = f32[10,6] add(t, y) )");
  ExpectSameValues(R"( x = f32[4,1,6] parameter(0)
    t = f32[1,6,4] transpose(x), dimensions={1,2,0}
    r = f32[6,4] reshape(t)
    u = f32[4,6] transpose(r), dimensions={1,0}
    ROOT n = f32[24] reshape(u) )");
  ExpectSameValues(R"( x = f32[8] parameter(0)
    r = f32[8,1] reshape(x)
    b = f32[8,1] broadcast(r), dimensions={0,1}
    s = f32[8] reshape(b)
    c = f32[8,4] broadcast(s), dimensions={0}
    t = f32[4,8] transpose(c), dimensions={1,0}
    ROOT n = f32[32] reshape(t) )");
}

TEST(LowerTest, DotsKeepValuesWithEveryTransposedOperand) {
  for (const absl::string_view sizes : {"[16,24]", "[24,16]"}) {
    const bool is_transposed = sizes == "[24,16]";
    ExpectSameValues(absl::StrCat(
        " x = f32", sizes, " parameter(0) w = f32[24,8] parameter(1) ",
        is_transposed ? "xt = f32[16,24] transpose(x), dimensions={1,0}" : "xt = f32[16,24] negate(x)",
        R"( d = f32[16,8] dot(xt, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
                                  ROOT t = f32[8,16] transpose(d), dimensions={1,0} )"));
  }
  ExpectSameValues(R"( x = f32[2,8,4,16] parameter(0) y = f32[2,6,4,16] parameter(1)
    d = f32[2,4,8,6] dot(x, y), lhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_batch_dims={0,2}, rhs_contracting_dims={3}
    f = f32[] constant(-inf)
    m = f32[2,4,8] reduce(d, f), dimensions={3}, to_apply=max
    b = f32[2,4,8,6] broadcast(m), dimensions={0,1,2}
    ROOT s = f32[2,4,8,6] subtract(d, b) )");
}

// A cost volume of optical flow: more sums of products with rolled features than join the product that makes them.
std::string CostVolume(int rows, int columns, int features, int reach) {
  const auto array = [&](int height, int width) {
    return absl::StrCat("f32[2,", height, ",", width, ",", features, "] ");
  };
  const auto slice = [&](absl::string_view of, int top, int bottom, int left, int right) {
    return absl::StrCat(array(bottom - top, right - left), "slice(", of, "), slice={[0:2], [", top, ":",
                        bottom, "], [", left, ":", right, "], [0:", features, "]} ");
  };
  const std::string whole = array(rows, columns), image = absl::StrCat("f32[2,", rows, ",", columns, "]");
  const std::string dot =
      absl::StrCat(whole, "dot(x, w), lhs_contracting_dims={3}, rhs_contracting_dims={0} ");
  std::string text =
      absl::StrCat(" x = ", array(rows, columns), "parameter(0) y = ", whole, "parameter(1) w = f32[",
                   features, ",", features, "] parameter(2) zero = f32[] constant(0) zeros = ", whole,
                   "broadcast(zero), dimensions={} p = ", dot, "q = ", whole,
                   "dot(y, w), lhs_contracting_dims={3}, rhs_contracting_dims={0} f = ", whole,
                   "maximum(p, zeros) g = ", whole, "maximum(q, zeros) ");
  std::string sums;
  for (int i = 1; i <= reach; ++i) {
    absl::StrAppend(&text, "a", i, " = ", slice("g", i, rows, 0, columns), "b", i, " = ",
                    slice("g", 0, i, 0, columns), "down", i, " = ", whole, "concatenate(a", i, ", b", i,
                    "), dimensions={1} ");
    for (int j = reach; j >= 0; --j) {
      const std::string n = absl::StrCat(i, "_", j), down = absl::StrCat("down", i);
      if (j > 0) {
        absl::StrAppend(&text, "c", n, " = ", slice(down, 0, rows, j, columns), "d", n, " = ",
                        slice(down, 0, rows, 0, j), "r", n, " = ", whole, "concatenate(c", n, ", d", n,
                        "), dimensions={2} ");
      }
      absl::StrAppend(&text, "m", n, " = ", whole, "multiply(f, ", j > 0 ? absl::StrCat("r", n) : down, ") s",
                      n, " = ", image, " reduce(m", n, ", zero), dimensions={3}, to_apply=sum ");
      absl::StrAppend(&sums, sums.empty() ? "" : ", ", "s", n);
    }
  }
  std::vector<std::string> types(reach * (reach + 1), image);
  return absl::StrCat(text, "ROOT t = (", absl::StrJoin(types, ", "), ") tuple(", sums, ") ");
}

TEST(LowerTest, SumsThatFindNoRoomBesideAProductDoNotWaitForThemselves) {
  // They would be made with what is rolled, which those that did find room wait for.
  ExpectSameValues(CostVolume(8, 7, 8, 4));
  ExpectSameValues(CostVolume(12, 10, 8, 5));
}

// Sums of all before each element, or behind it: with one result more of which one is left out, as TensorFlow has them, and
// without.
TEST(LowerTest, ExclusiveCumulativeSumsKeepValuesAndAreTrees) {
  const auto sliced = [](int n, bool forward) {
    return absl::StrCat(" x = f32[", n, ",3] parameter(0) zero = f32[] constant(0) w = f32[", n + 1,
                        ",3] reduce-window(x, zero), window={size=", n,
                        "x1 pad=", forward ? absl::StrCat(n, "_0") : absl::StrCat("0_", n),
                        "x0_0}, to_apply=sum ROOT s = f32[", n, ",3] slice(w), slice={[",
                        forward ? absl::StrCat("0:", n) : absl::StrCat("1:", n + 1), "], [0:3]}");
  };
  const auto direct = [](int n, bool forward) {
    return absl::StrCat(" x = f32[3,", n, "] parameter(0) zero = f32[] constant(0) ROOT w = f32[3,", n,
                        "] reduce-window(x, zero), window={size=1x", n, " pad=0_0x",
                        forward ? absl::StrCat(n, "_-1") : absl::StrCat("-1_", n), "}, to_apply=sum");
  };
  for (const int n : {5, 128, 129, 256, 300}) {
    for (const bool forward : {true, false}) {
      SCOPED_TRACE(n);
      for (const std::string& program : {sliced(n, forward), direct(n, forward)}) {
        ExpectSameValues(program);
        const std::string text = PrintModule(*Lowered(*Parsed(program)));
        if (n > 128) {
          EXPECT_THAT(text, Not(HasSubstr(absl::StrCat("size=", n)))) << text;
        }
      }
    }
  }
}

TEST(LowerTest, ADotThatContractsNothingIsAProductOfBroadcasts) {
  // The sum takes the sign of products that are zero.
  constexpr char kBatched[] =
      R"( x = f32[3,8] parameter(0) y = f32[3,5] parameter(1) z = f32[3,8,5] parameter(2)
    d = f32[3,8,5] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}
    ROOT s = f32[3,8,5] add(d, z) )";
  constexpr char kVectors[] = R"( x = f32[8] parameter(0) y = f32[5] parameter(1) z = f32[8,5] parameter(2)
    d = f32[8,5] dot(x, y)
    ROOT s = f32[8,5] add(d, z) )";
  for (const char* entry : {kBatched, kVectors}) {
    ExpectSameValues(entry);
    EXPECT_THAT(Groups(entry), Not(Contains("dot")));
  }
  // The dimensions of y change places.
  constexpr char kTurned[] =
      R"( x = f32[3,8] parameter(0) y = f32[8,3,5] parameter(1) z = f32[3,8,5] parameter(2)
    d = f32[3,8,5] dot(x, y), lhs_batch_dims={0,1}, rhs_batch_dims={1,0}
    ROOT s = f32[3,8,5] add(d, z) )";
  ExpectSameValues(kTurned);
  EXPECT_THAT(Groups(kTurned), Not(Contains("dot")));
}

TEST(LowerTest, ADotOfOneVectorWithAnotherForEachOfTheBatchIsASum) {
  constexpr char kPairs[] = R"( x = f32[6,5] parameter(0) y = f32[5,6] parameter(1)
    ROOT d = f32[6] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={1}, rhs_contracting_dims={0} )";
  constexpr char kOutOfOrder[] = R"( x = f32[4,5,2,3] parameter(0) y = f32[3,2,5,4] parameter(1)
    ROOT d = f32[3,4] dot(x, y), lhs_batch_dims={3,0}, rhs_batch_dims={0,3}, lhs_contracting_dims={2,1},
        rhs_contracting_dims={1,2} )";
  for (const char* entry : {kPairs, kOutOfOrder}) {
    ExpectSameValues(entry);
    EXPECT_THAT(Groups(entry), Not(Contains("dot")));
  }
}

TEST(LowerTest, CumulativeSumsKeepValuesForEverySize) {
  for (const int n : {2, 127, 128, 129, 256, 300}) {
    for (const bool forward : {true, false}) {
      for (const int dimension : {0, 1}) {
        const std::string shape =
            dimension == 0 ? absl::StrCat("f32[", n, ",3]") : absl::StrCat("f32[3,", n, "]");
        const std::string pad = forward ? absl::StrCat(n - 1, "_0") : absl::StrCat("0_", n - 1);
        ExpectSameValues(absl::StrCat(
            " x = ", shape, " parameter(0) z = f32[] constant(0) ROOT s = ", shape,
            " reduce-window(x, z), window={size=", dimension == 0 ? "" : "1x", n, dimension == 0 ? "x1" : "",
            " pad=", dimension == 0 ? pad + "x0_0" : "0_0x" + pad, "}, to_apply=sum "));
      }
    }
  }
}

TEST(LowerTest, ACumulativeSumOfManyBlocksIsATreeOfTrees) {
  ExpectSameValues(R"( x = f32[20000] parameter(0) z = f32[] constant(0)
    ROOT s = f32[20000] reduce-window(x, z), window={size=20000 pad=19999_0}, to_apply=sum )");
}

TEST(LowerTest, SoftmaxIsThreePassesTheFirstAlone) {
  const absl::string_view softmax = R"( x = f32[64,256] parameter(0)
    low = f32[] constant(-inf)
    zero = f32[] constant(0)
    m = f32[64] reduce(x, low), dimensions={1}, to_apply=max
    mb = f32[64,256] broadcast(m), dimensions={0}
    d = f32[64,256] subtract(x, mb)
    e = f32[64,256] exponential(d)
    s = f32[64] reduce(e, zero), dimensions={1}, to_apply=sum
    sb = f32[64,256] broadcast(s), dimensions={0}
    ROOT r = f32[64,256] divide(e, sb) )";
  EXPECT_THAT(Groups(softmax), ElementsAre("reduce", "reduce", "loop"));
}

TEST(LowerTest, ADotTakesItsEpilogueAndOneReduction) {
  EXPECT_THAT(
      Groups(R"( x = f32[256,128] parameter(0) w = f32[128,512] parameter(1) y = f32[256,512] parameter(2)
    zero = f32[] constant(0)
    zb = f32[256,512] broadcast(zero), dimensions={}
    d = f32[256,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    p = f32[256,512] maximum(d, zb)
    a = f32[256,512] add(p, y)
    s = f32[512] reduce(a, zero), dimensions={0}, to_apply=sum
    ROOT t = (f32[256,512], f32[512]) tuple(a, s) )"),
      ElementsAre("dot"));
}

TEST(LowerTest, ReductionsOfOneArrayAndUpdatesThatReadEachOtherMerge) {
  EXPECT_THAT(Groups(R"( x = f32[256,512] parameter(0)
    zero = f32[] constant(0)
    low = f32[] constant(-inf)
    s = f32[512] reduce(x, zero), dimensions={0}, to_apply=sum
    m = f32[256] reduce(x, low), dimensions={1}, to_apply=max
    ROOT t = (f32[512], f32[256]) tuple(s, m) )"),
              ElementsAre("reduce"));
  EXPECT_THAT(
      Groups(R"( p = f32[256,512] parameter(0) g = f32[256,512] parameter(1) m = f32[256,512] parameter(2)
    n = f32[256,512] add(m, g)
    q = f32[256,512] subtract(p, n)
    ROOT t = (f32[256,512], f32[256,512]) tuple(q, n) )"),
      ElementsAre("loop"));
}

TEST(LowerTest, WhatStandsBehindABarrierIsComputedASecondTime) {
  const auto program = [](absl::string_view again) {
    return absl::StrCat(R"( x = f32[256,256] parameter(0)
    g = f32[256,256] parameter(1)
    a = f32[256,256] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    t = (f32[256,256], f32[256,256]) tuple(x, g)
    b = (f32[256,256], f32[256,256]) opt-barrier(t)
    y = f32[256,256] get-tuple-element(b), index=0
    c = f32[256,256] dot()",
                        again, ", ", again, R"(), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    d = f32[256,256] get-tuple-element(b), index=1
    ROOT r = (f32[256,256], f32[256,256], f32[256,256]) tuple(a, c, d) )");
  };
  // g is returned, and the first product twice: copies.
  EXPECT_THAT(Groups(program("x")), ElementsAre("dot", "copy", "copy"));
  EXPECT_THAT(Groups(program("y")), ElementsAre("dot", "dot", "copy"));
  ExpectSameValues(program("y"));
}

TEST(LowerTest, WhatOnlyDotsReadIsSentInBf16) {
  const std::unique_ptr<Module> module = Parsed(R"( x = f32[8,256] parameter(0) w = f32[256,256] parameter(1)
    n = f32[8,256] negate(x)
    a = f32[8,256] all-to-all(n), dimensions={0}, channel_id=1, replica_groups={{0,1,2,3,4,5,6,7}}
    ROOT d = f32[8,256] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} )");
  module->config().num_partitions = 8;
  const std::string text = PrintModule(*Lowered(*module));
  EXPECT_THAT(text, HasSubstr("bf16[8,256]{1,0} all-to-all("));
  EXPECT_THAT(text, HasSubstr("f32[8,256]{1,0} dot("));
}

TEST(LowerTest, WhatWasRoundedToBf16BeforeIsNotRoundedAgain) {
  const std::unique_ptr<Module> lowered =
      Lowered(*Parsed(R"( x = f32[256,256] parameter(0) w = f32[256,256] parameter(1)
    e = f32[256,256] exponential(x) b = bf16[256,256] convert(e) y = f32[256,256] convert(b)
    ROOT d = f32[256,256] dot(y, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} )"));
  // The dot reads the bf16 array that is written, or values computed from it: no convert from bf16 is left.
  int converts = 0;
  for (const auto& computation : lowered->computations()) {
    for (const auto& op : computation->instructions()) {
      converts += op->opcode() == Opcode::kConvert && op->operand(0)->shape().element_type() == xla::BF16;
    }
  }
  EXPECT_EQ(converts, 0);
}

TEST(LowerTest, ScattersOfOneElementForEachRowAreChoices) {
  constexpr char kEntry[] = R"( x = f32[3,8] parameter(0)
    u = f32[3,1] parameter(1)
    i = s32[3,1,1] constant({{{2}},{{-1}},{{7}}})
    s = f32[3,8] scatter(x, i, u), update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1},
      input_batching_dims={0}, scatter_indices_batching_dims={0}, index_vector_dim=2, to_apply=sum
    ROOT n = f32[3,8] negate(s) )";
  ExpectSameValues(kEntry);
  EXPECT_THAT(Groups(kEntry), ElementsAre("loop"));
}

TEST(LowerTest, ADotLiesAsAnExchangeOfItsTransposeWantsIt) {
  // Without regard to the exchange {1,0} and a copy.
  EXPECT_THAT(Groups(R"( a = f32[256,512] parameter(0)
    b = f32[256,1024] parameter(1)
    v = f32[512] parameter(2)
    d = f32[512,1024] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    t = f32[1024,512] transpose(d), dimensions={1,0}
    w = f32[512] negate(v)
    r0 = (f32[1024,512], f32[512]) all-reduce(t, w), replica_groups={}, to_apply=sum
    r = f32[1024,512] get-tuple-element(r0), index=0
    ROOT n = f32[1024,512] negate(r) )"),
              testing::Not(testing::Contains("copy")));
}

TEST(LowerTest, HighestPrecisionKeepsF32) {
  const std::unique_ptr<Module> module = Parsed(R"( x = f32[8,256] parameter(0) w = f32[256,256] parameter(1)
    n = f32[8,256] negate(x)
    ROOT d = f32[8,256] dot(n, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest} )");
  EXPECT_THAT(PrintModule(*Lowered(*module)), ::testing::Not(HasSubstr("bf16")));
}

TEST(LowerTest, AllReducesThatDoNotWaitForEachOtherAreOne) {
  const std::unique_ptr<Module> module = Parsed(R"( x = f32[8] parameter(0) y = f32[4,4] parameter(1)
    a = f32[8] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum
    b = f32[4,4] all-reduce(y), channel_id=2, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum
    n = f32[8] negate(a)
    c = f32[8] all-reduce(n), channel_id=3, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum
    ROOT t = (f32[8], f32[4,4], f32[8]) tuple(a, b, c) )");
  module->config().num_partitions = 2;
  const std::unique_ptr<Module> lowered = Lowered(*module);
  std::vector<int> sizes;
  for (const auto& op : lowered->entry()->instructions()) {
    if (op->opcode() == Opcode::kAllReduce) sizes.push_back(op->num_operands());
  }
  EXPECT_THAT(sizes, ElementsAre(2, 1));
}

TEST(LowerTest, LoopsKeepTheirBodies) {
  auto module = ParseModule(R"(
    body { s = (s32[], f32[64,128]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      x = f32[64,128] get-tuple-element(s), index=1
      one = s32[] constant(1)
      j = s32[] add(i, one)
      y = f32[64,128] add(x, x)
      z = f32[64,128] negate(y)
      ROOT t = (s32[], f32[64,128]) tuple(j, z) }
    condition { s = (s32[], f32[64,128]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      n = s32[] constant(3)
      ROOT l = pred[] compare(i, n), direction=LT }
    ENTRY main { x = f32[64,128] parameter(0)
      zero = s32[] constant(0)
      s = (s32[], f32[64,128]) tuple(zero, x)
      w = (s32[], f32[64,128]) while(s), condition=condition, body=body
      ROOT r = f32[64,128] get-tuple-element(w), index=1 })");
  ASSERT_OK(module.status());
  const std::unique_ptr<Module> lowered = Lowered(**module);
  const std::vector<Literal> arguments = {Argument(Shape(xla::F32, {64, 128}), 1)};
  ASSERT_OK_AND_ASSIGN(const Literal before, RunSingle(**module, arguments));
  ASSERT_OK_AND_ASSIGN(const Literal after, RunSingle(*lowered, arguments));
  EXPECT_TRUE(before == after);
  bool fused = false;
  for (const auto& computation : lowered->computations()) {
    for (const auto& op : computation->instructions()) fused |= op->opcode() == Opcode::kFusion;
  }
  EXPECT_TRUE(fused);
}

TEST(LowerTest, TheModuleGivenStaysAsItIs) {
  const std::unique_ptr<Module> module = Parsed(R"( x = f32[6,10] parameter(0)
    t = f32[10,6] transpose(x), dimensions={1,0}
    ROOT n = f32[10,6] negate(t) )");
  const std::string before = PrintModule(*module);
  Lowered(*module);
  EXPECT_EQ(PrintModule(*module), before);
}

}  // namespace
}  // namespace toroid
