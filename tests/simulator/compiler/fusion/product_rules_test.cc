// Ops that are fused with products, the layouts of the results, and the arrays that are written for products: rules of
// fusion_pass.h and layout_pass.h. A test gives the groups of a small program, and the microseconds that Google's compiler for
// TPU v3 estimates for it.
#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "tests/simulator/compiler/lowered_programs.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

std::string Product(absl::string_view rows, int contracted, int columns, absl::string_view type = "f32") {
  const int dim = static_cast<int>(std::count(rows.begin(), rows.end(), ','));
  return absl::StrCat(" x = ", type, "[", rows, contracted, "] parameter(0) w = ", type, "[", contracted, ",",
                      columns, "] parameter(1) d = ", type, "[", rows, columns,
                      "] dot(x, w), lhs_contracting_dims={", dim, "}, rhs_contracting_dims={0}");
}

TEST(ProductRulesTest, LanesAreAlongTheLongerOfTwoDimensionsIfTheOtherIsReduced) {
  const auto program = [](int rows, int columns) {
    return absl::StrCat(Product(absl::StrCat(rows, ","), 256, columns), " zero = f32[] constant(0) q = f32[",
                        rows, ",", columns, "] multiply(d, d) s = f32[", rows,
                        "] reduce(q, zero), dimensions={1}, to_apply=sum ROOT r = (f32[", rows, ",", columns,
                        "], f32[", rows, "]) tuple(d, s)");
  };
  ExpectSameValues(program(24, 16));
  EXPECT_THAT(Groups(program(1024, 256)), ElementsAre("dot", "copy"));
  EXPECT_THAT(Microseconds(program(1024, 256)), IsWithin(kTwoPercent, 13.8));
  EXPECT_THAT(Groups(program(256, 1024)), ElementsAre("dot"));
  EXPECT_THAT(Microseconds(program(256, 1024)), IsWithin(kTwoPercent, 8.1));
  // Lanes would be padded.
  EXPECT_THAT(Groups(program(520, 512)), ElementsAre("dot"));
  EXPECT_THAT(Groups(program(64, 64)), ElementsAre("dot", "copy"));
}

TEST(ProductRulesTest, WhatIsAnOperandAndMetByTheResultIsReadTwice) {
  const auto residual = [](absl::string_view rows) {
    return absl::StrCat(Product(absl::StrCat(rows, ","), 128, 128), " ROOT r = f32[", rows,
                        ",128] add(d, x)");
  };
  ExpectSameValues(residual("24"));
  EXPECT_THAT(Groups(residual("65536")), ElementsAre("dot"));
  EXPECT_THAT(Microseconds(residual("65536")), IsWithin(kTwoPercent, 244.9));
  const std::string nested =
      absl::StrCat(Product("65536,", 128, 128), R"( t = f32[65536,128] tanh(d) v = f32[128,128] parameter(2)
    e = f32[65536,128] dot(t, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ROOT r = f32[65536,128] add(e, x) )");
  EXPECT_THAT(Groups(nested), ElementsAre("dot"));
  EXPECT_THAT(Microseconds(nested), IsWithin(kTwoPercent, 253.1));
}

// Scores of features and what they weigh, with one product inside of the other, whose rows come batch by batch; and a narrow
// result that lies with rows along lanes.
TEST(ProductRulesTest, RowsOfAnInnerProductMayComeBatchByBatch) {
  const auto scores = [](int batch, int rows, int features) {
    const std::string x = absl::StrCat("f32[", batch, ",", rows, ",64]"),
                      s = absl::StrCat("f32[", batch, ",", rows, ",", features, "]");
    return absl::StrCat(" x = ", x, " parameter(0) w = f32[64,", features, "] parameter(1) d = ", s,
                        " dot(x, w), lhs_contracting_dims={2}, rhs_contracting_dims={0} e = ", s,
                        " negate(d) ");
  };
  const auto weighed = [&](int batch, int rows, int features) {
    return absl::StrCat(
        scores(batch, rows, features), " v = f32[", batch, ",", rows, ",64] parameter(2) ROOT r = f32[",
        batch, ",", features,
        ",64] dot(e, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}");
  };
  const auto next = [&](int batch, int rows, int features) {
    return absl::StrCat(scores(batch, rows, features), " v = f32[", features,
                        ",64] parameter(2) ROOT r = f32[", batch, ",", rows,
                        ",64] dot(e, v), lhs_contracting_dims={2}, rhs_contracting_dims={0}");
  };
  ExpectSameValues(weighed(2, 24, 16));
  ExpectSameValues(next(2, 24, 16));
  EXPECT_THAT(Groups(weighed(8, 512, 512)), ElementsAre("dot"));
  EXPECT_THAT(Microseconds(weighed(8, 512, 512)), IsWithin(kFivePercent, 27.1));
  EXPECT_THAT(Groups(next(8, 512, 512)), ElementsAre("dot"));
  EXPECT_THAT(Microseconds(next(8, 512, 512)), IsWithin(kTwentyPercent, 26.3));
}

// A reshaped product combined with an array that was not reshaped has a group of its own. If it is combined with vectors
// only, the reductions behind it are computed over the dimensions before the reshape.
TEST(ProductRulesTest, ReshapesEndTheGroupOfAProductUnlessAllIsReduced) {
  const auto program = [](int outer, int rows, int columns, absl::string_view other,
                          absl::string_view spread) {
    const std::string all = absl::StrCat("f32[", outer, ",", rows, ",", columns, "]"),
                      sums = absl::StrCat("f32[", outer, ",", rows, "]");
    return absl::StrCat(
        Product(absl::StrCat(outer * rows, ","), 256, columns),
        " y = ", other.empty() ? all : std::string(other), " parameter(2) zero = f32[] constant(0) c = ", all,
        " reshape(d) b = ", all, spread.empty() ? " negate(y)" : spread, " o = ", all, " add(c, b) q = ", all,
        " multiply(o, o) e = ", sums, " reduce(q, zero), dimensions={2}, to_apply=sum g = f32[", columns,
        "] reduce(o, zero), dimensions={0,1}, to_apply=sum ROOT r = (", sums, ", f32[", columns,
        "]) tuple(e, g)");
  };
  ExpectSameValues(program(4, 8, 24, "", ""));
  ExpectSameValues(program(4, 8, 24, "f32[4,8]", " broadcast(y), dimensions={0,1}"));
  ExpectSameValues(program(4, 8, 24, "f32[24]", " broadcast(y), dimensions={2}"));
  EXPECT_THAT(Groups(program(4, 512, 1024, "", "")), ElementsAre("dot", "reduce"));
  const std::string with_rows = program(4, 512, 1024, "f32[4,512]", " broadcast(y), dimensions={0,1}");
  EXPECT_THAT(Microseconds(with_rows), IsWithin(kTwoPercent, 33.8));
  const std::string with_columns = program(4, 512, 1024, "f32[1024]", " broadcast(y), dimensions={2}");
  EXPECT_THAT(Microseconds(with_columns), IsWithin(kTenPercent, 33.4));
}

TEST(ProductRulesTest, AnArgumentIsCopiedForAProductThatItMeets) {
  const auto program = [](int rows, int columns) {
    const std::string rest = absl::StrCat("4,", rows), all = absl::StrCat("f32[", rest, ",", columns, "]");
    return absl::StrCat(Product(absl::StrCat(rest, ","), columns, columns),
                        " zero = f32[] constant(0) y = ", all, " add(x, d) s = f32[", rest,
                        "] reduce(y, zero), dimensions={2}, to_apply=sum ROOT r = (", all, ", f32[", rest,
                        "]) tuple(y, s)");
  };
  ExpectSameValues(program(24, 16));
  EXPECT_THAT(Groups(program(1024, 256)), ElementsAre("copy", "dot", "copy"));
  EXPECT_THAT(Microseconds(program(1024, 256)), IsWithin(kTwoPercent, 78.4));
  EXPECT_THAT(Groups(program(256, 512)), ElementsAre("dot"));
}

TEST(ProductRulesTest, ResultsThatAreMadeOfAProductAreMadeWithIt) {
  // A gradient, its momentum and the weights that are updated.
  const char* program =
      R"( x = f32[256,1024] parameter(0) g = f32[256,512] parameter(1) v = f32[1024,512] parameter(2)
    d = f32[1024,512] dot(x, g), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    a = f32[1024,512] subtract(v, d)
    b = f32[1024,512] add(v, d)
    ROOT r = (f32[1024,512], f32[1024,512]) tuple(a, b) )";
  ExpectSameValues(program);
  EXPECT_THAT(Groups(program), ElementsAre("dot"));
  EXPECT_THAT(Microseconds(program), IsWithin(kTwoPercent, 22.2));
  // Also if the ops read the product through a transpose, which in the group is only another name for it.
  const char* named =
      R"( x = f32[256,1024] parameter(0) g = f32[256,512] parameter(1) v = f32[512,1024] parameter(2)
    d = f32[1024,512] dot(x, g), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    t = f32[512,1024] transpose(d), dimensions={1,0}
    a = f32[512,1024] subtract(v, t)
    b = f32[512,1024] add(v, t)
    ROOT r = (f32[512,1024], f32[512,1024]) tuple(a, b) )";
  ExpectSameValues(named);
  // A copy to another layout is none of them.
  EXPECT_THAT(Groups(R"( x = f32[1024,256] parameter(0) w = f32[256,512] parameter(1)
    d = f32[1024,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    t = f32[512,1024] transpose(d), dimensions={1,0}
    ROOT r = (f32[1024,512], f32[512,1024]) tuple(d, t) )"),
              ElementsAre("dot", "copy"));
}

TEST(ProductRulesTest, WeightsAreCopiedForColumnsOfSingleStepsThatAreCut) {
  const auto program = [](int sequences, int steps) {
    return absl::StrCat(Product(absl::StrCat(sequences, ",", steps, ","), 1024, 2048, "bf16"),
                        " ROOT r = bf16[", sequences, ",", steps, ",16,128] reshape(d)");
  };
  EXPECT_THAT(Microseconds(program(8, 1)), IsWithin(kTwoPercent, 62.9));
  EXPECT_THAT(Microseconds(program(8, 4)), IsWithin(kTenPercent, 17.4));
  EXPECT_THAT(Microseconds(program(1, 1)), IsWithin(kTwoPercent, 32.3));
  // Somebody else reads it uncut.
  const std::string both = absl::StrCat(
      Product("8,1,", 1024, 2048, "bf16"),
      " h = bf16[8,1,16,128] reshape(d) ROOT r = (bf16[8,1,2048], bf16[8,1,16,128]) tuple(d, h)");
  EXPECT_THAT(Microseconds(both), IsWithin(kTenPercent, 16));
}

TEST(ProductRulesTest, RowsOfSeveralDimensionsAreTheLastThatFillsTiles) {
  const auto program = [](int images, int places, int contracted, int columns) {
    return Product(absl::StrCat(images, ",", places, ","), contracted, columns);
  };
  EXPECT_THAT(Groups(program(64, 16, 128, 256)), ElementsAre("dot"));
  EXPECT_THAT(Microseconds(program(64, 16, 128, 256)), IsWithin(kFivePercent, 6.0));
  // Images fill the units; places do not fill tiles, but then the result lies so too.
  EXPECT_THAT(Groups(program(128, 16, 128, 128)), ElementsAre("dot", "copy"));
  EXPECT_THAT(Microseconds(program(128, 16, 128, 128)), IsWithin(kTwoPercent, 12.7));
  EXPECT_THAT(Groups(program(64, 12, 128, 256)), ElementsAre("dot"));
}

TEST(ProductRulesTest, WhatAProductReadsInOtherRowsIsWritten) {
  const auto program = [](int images, int places, int columns) {
    const std::string rest = absl::StrCat("[", images, ",", places, ",");
    return absl::StrCat(" x = f32", rest, "128] parameter(0) y = f32", rest, "128] parameter(1) w = f32[128,",
                        columns, "] parameter(2) z = f32", rest, "128] multiply(x, y) ROOT d = f32", rest,
                        columns, "] dot(z, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}");
  };
  ExpectSameValues(program(9, 8, 16));
  EXPECT_THAT(Groups(program(64, 16, 128)), ElementsAre("dot"));
  EXPECT_THAT(Groups(program(128, 16, 128)), ElementsAre("loop", "dot", "copy"));
  EXPECT_THAT(Microseconds(program(128, 16, 128)), IsWithin(kTwoPercent, 21.1));
}

TEST(ProductRulesTest, AProductThatIsReducedTakesAsLongAsOneThatIsWritten) {
  const std::string product = Product("4096,", 64, 1024);
  EXPECT_THAT(Microseconds(product), IsWithin(kTwoPercent, 48.9));
  EXPECT_THAT(
      Microseconds(absl::StrCat(
          product,
          " zero = f32[] constant(0) ROOT s = f32[4096] reduce(d, zero), dimensions={1}, to_apply=sum")),
      IsWithin(kTwoPercent, 49));
}

TEST(ProductRulesTest, VectorWorkIsHiddenBehindAProductUntilItAndItsSumsTakeLonger) {
  const auto program = [](int ops) {
    std::string text = Product("4096,", 512, 1024);
    absl::StrAppend(
        &text,
        " g = f32[1024] parameter(2) c = f32[4096,1024] broadcast(g), dimensions={1} v0 = f32[4096,1024] add(d, c)");
    for (int i = 1; i < ops; ++i) {
      if (i % 2 == 0) {
        absl::StrAppend(&text, " v", i, " = f32[4096,1024] add(v", i - 1, ", c)");
      } else {
        absl::StrAppend(&text, " m", i, " = f32[4096,1024] multiply(v", i - 1, ", c) v", i,
                        " = f32[4096,1024] maximum(m", i, ", c)");
      }
    }
    return text;
  };
  EXPECT_THAT(Microseconds(program(1)), IsWithin(kFivePercent, 83.3));
  EXPECT_THAT(Microseconds(program(4)), IsWithin(kFivePercent, 83.3));
  EXPECT_THAT(Microseconds(program(16)), IsWithin(kTenPercent, 111));
  EXPECT_THAT(Microseconds(program(32)), IsWithin(kFivePercent, 161.1));
}

TEST(ProductRulesTest, SpreadingOverLanesGoesOnBesideOtherInstructions) {
  // Scores less their largest, as exponentials, times values.
  EXPECT_THAT(
      Microseconds(
          R"( p = bf16[64,256,512] parameter(0) m = bf16[64,256] parameter(1) v = bf16[64,512,64] parameter(2)
    b = bf16[64,256,512] broadcast(m), dimensions={0,1}
    s = bf16[64,256,512] subtract(p, b)
    e = bf16[64,256,512] exponential(s)
    ROOT d = bf16[64,256,64] dot(e, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1} )"),
      IsWithin(kTwoPercent, 76.6));
}

TEST(ProductRulesTest, AVectorForEachOfABatchIsMultipliedAndAddedIfMatricesAreSmall) {
  const auto program = [](absl::string_view matrix, absl::string_view vector, absl::string_view result,
                          absl::string_view numbers) {
    return absl::StrCat(" a = f32", matrix, " parameter(0) v = f32", vector, " parameter(1) ROOT d = f32",
                        result, " dot(a, v), ", numbers);
  };
  const std::string small =
      program("[5,7,6]", "[5,6]", "[5,7]",
              "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}");
  ExpectSameValues(small);
  EXPECT_THAT(Groups(small), Not(Contains("dot")));
  ExpectSameValues(program(
      "[7,5,6,3]", "[6,3,5]", "[5,3,7]",
      "lhs_batch_dims={1,3}, lhs_contracting_dims={2}, rhs_batch_dims={2,1}, rhs_contracting_dims={0}"));
  // Under a dimension of one element; behind it in the result.
  const std::string one =
      program("[4,128,96]", "[4,1,96]", "[4,128,1]",
              "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={2}");
  ExpectSameValues(one);
  EXPECT_THAT(Groups(one), Not(Contains("dot")));
  EXPECT_THAT(
      Groups(program(
          "[4,128,96]", "[4,96]", "[4,128]",
          "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}")),
      Contains("dot"));
  // The vector on the left.
  ExpectSameValues(R"( v = f32[5,6] parameter(0) a = f32[5,7,6] parameter(1)
    ROOT d = f32[5,7] dot(v, a), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={2} )");
}

TEST(ProductRulesTest, AProductOfSeveralRowDimensionsIsWrittenAsUnitsMakeIt) {
  const auto program = [](absl::string_view batch, int columns) {
    return absl::StrCat(" x = f32[", batch, "512,256] parameter(0) w = f32[256,", columns,
                        "] parameter(1) y = f32[", batch, "512,", columns,
                        "] dot(x, w), lhs_contracting_dims={", batch.empty() ? 1 : 2,
                        "}, rhs_contracting_dims={0} ROOT t = f32[", batch, columns,
                        ",512] transpose(y), dimensions={", batch.empty() ? "1,0" : "0,2,1", "}");
  };
  EXPECT_THAT(Groups(program("", 384)), ElementsAre("dot"));
  EXPECT_THAT(Groups(program("16,", 384)), ElementsAre("dot", "copy"));
  // Columns fill half of the lanes that rows do.
  EXPECT_THAT(Groups(program("16,", 64)), ElementsAre("dot"));
  ExpectSameValues(R"( x = f32[3,5,4] parameter(0) w = f32[4,6] parameter(1) r = f32[3,6,5] parameter(2)
    y = f32[3,5,6] dot(x, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}
    t = f32[3,6,5] transpose(y), dimensions={0,2,1}
    ROOT s = f32[3,6,5] add(t, r) )");
}

TEST(ProductRulesTest, ReductionsOfWhatAProductWritesJoinItAlongAnyDimension) {
  const char* program = R"( x = f32[256,128] parameter(0) y = f32[128,512] parameter(1)
    zero = f32[] constant(0)
    low = f32[] constant(-inf)
    d = f32[256,512] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    s = f32[512] reduce(d, zero), dimensions={0}, to_apply=sum
    m = f32[256] reduce(d, low), dimensions={1}, to_apply=max
    ROOT t = (f32[256,512], f32[512], f32[256]) tuple(d, s, m) )";
  ExpectSameValues(program);
  EXPECT_THAT(Groups(program), ElementsAre("dot"));
}

TEST(ProductRulesTest, AProductTakesAllSumsOverTheSameDimensions) {
  // A batch norm's gradient needs two sums: of the product d, and of d times another array.
  const char* program =
      R"( x = f32[64,24] parameter(0) w = f32[24,128] parameter(1) n = f32[64,128] parameter(2) zero = f32[] constant(0)
    d = f32[64,128] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    a = f32[128] reduce(d, zero), dimensions={0}, to_apply=sum
    m = f32[64,128] multiply(d, n)
    b = f32[128] reduce(m, zero), dimensions={0}, to_apply=sum
    ROOT t = (f32[64,128], f32[128], f32[128]) tuple(d, a, b) )";
  ExpectSameValues(program);
  EXPECT_THAT(Groups(program), ElementsAre("dot"));
}

TEST(ProductRulesTest, AProductRunsInsideOfTheOneThatReadsItIfWhatItPassesByFits) {
  const auto program = [](int rows, int in, int between, int out, absl::string_view middle) {
    return absl::StrCat(
        " x = f32[", rows, ",", in, "] parameter(0) w = f32[", in, ",", between, "] parameter(1) v = f32[",
        between, ",", out, "] parameter(2) u = f32[", in, ",", between, "] parameter(3) a = f32[", rows, ",",
        between, "] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} ",
        absl::StrReplaceAll(middle, {{"S", absl::StrCat("f32[", rows, ",", between, "]")}}), " ROOT d = f32[",
        rows, ",", out, "] dot(b, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
  };
  ExpectSameValues(program(64, 24, 40, 16, "b = S negate(a)"));
  EXPECT_THAT(Groups(program(1024, 256, 512, 256, "b = S tanh(a)")), ElementsAre("dot"));
  // In parts that meet again.
  EXPECT_THAT(Groups(program(1024, 256, 512, 256, "t = S tanh(a) b = S multiply(t, a)")), ElementsAre("dot"));
  EXPECT_THAT(Groups(program(4096, 2048, 2048, 2048, "b = S tanh(a)")), ElementsAre("dot", "dot"));
  // Few rows: weights pass once.
  EXPECT_THAT(Groups(program(128, 2048, 8192, 2048, "b = S tanh(a)")), ElementsAre("dot"));
  // A gate.
  EXPECT_THAT(
      Groups(program(
          1024, 256, 512, 256,
          "g = S dot(x, u), lhs_contracting_dims={1}, rhs_contracting_dims={0} b = S multiply(a, g)")),
      ElementsAre("dot", "dot", "dot"));
  // Of three products the first two are fused, unless the second widens the operand of the third.
  const auto three = [](int middle, int wide) {
    return absl::StrCat(
        " x = f32[1024,256] parameter(0) w = f32[256,", middle, "] parameter(1) v = f32[", middle, ",", wide,
        "] parameter(2) u = f32[", wide, ",128] parameter(3) a = f32[1024,", middle,
        "] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} b = f32[1024,", wide,
        "] dot(a, v), lhs_contracting_dims={1}, rhs_contracting_dims={0} ROOT c = f32[1024,128] dot(b, u), ",
        "lhs_contracting_dims={1}, rhs_contracting_dims={0}");
  };
  const auto last_reads = [&](const std::string& text) {
    const std::unique_ptr<Module> lowered = Lowered(*Parsed(text));
    const Instruction* root = lowered->entry()->root();
    int64_t widest = 0;
    for (const Instruction* operand : root->operands()) {
      if (operand->opcode() != Opcode::kParameter) widest = operand->shape().dim(1);
    }
    return widest;
  };
  EXPECT_EQ(last_reads(three(512, 512)), 512);
  EXPECT_EQ(Groups(three(512, 512)).size(), 2u);
  EXPECT_EQ(last_reads(three(256, 1024)), 256);
  // Few rows stay for it while weights pass, also those of a norm.
  EXPECT_THAT(Groups(program(64, 1024, 4096, 1024, "b = S tanh(a)")), ElementsAre("dot"));
  const std::string normalized = absl::StrReplaceAll(
      program(64, 1024, 4096, 1024, "b = S tanh(a)"),
      {{" x = f32[64,1024] parameter(0)",
        " y = f32[64,1024] parameter(0) r = f32[64] parameter(4) s = f32[64,1024] broadcast(r), dimensions={0} "
        "x = f32[64,1024] multiply(y, s)"}});
  EXPECT_THAT(Groups(normalized), ElementsAre("dot"));
  // Products over the features of an image are fused if its rows fill tiles.
  EXPECT_THAT(
      Groups(R"( x = f32[4,64,64,128] parameter(0) w = f32[128,512] parameter(1) v = f32[512,128] parameter(2)
    a = f32[4,64,64,512] dot(x, w), lhs_contracting_dims={3}, rhs_contracting_dims={0}
    b = f32[4,64,64,512] tanh(a)
    ROOT d = f32[4,64,64,128] dot(b, v), lhs_contracting_dims={3}, rhs_contracting_dims={0} )"),
      ElementsAre("dot"));
  // Not where they do not.
  EXPECT_THAT(
      Groups(R"( x = f32[6,28,28,64] parameter(0) w = f32[64,256] parameter(1) v = f32[256,64] parameter(2)
    a = f32[6,28,28,256] dot(x, w), lhs_contracting_dims={3}, rhs_contracting_dims={0}
    b = f32[6,28,28,256] tanh(a)
    ROOT d = f32[6,28,28,64] dot(b, v), lhs_contracting_dims={3}, rhs_contracting_dims={0} )"),
      ::testing::Contains("dot").Times(2));
}

TEST(ProductRulesTest, SumsOfWhatAProductMakesOverTheSameDimensionAreMadeWithIt) {
  // As behind a norm: sums of the gradient, and of it times what was normed.
  const char* program =
      R"( x = f32[256,128] parameter(0) w = f32[128,512] parameter(1) h = f32[256,512] parameter(2) zero = f32[] constant(0)
    d = f32[256,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    s = f32[256] reduce(d, zero), dimensions={1}, to_apply=sum
    p = f32[256,512] multiply(d, h)
    t = f32[256] reduce(p, zero), dimensions={1}, to_apply=sum
    ROOT r = (f32[256,512], f32[256], f32[256]) tuple(d, s, t) )";
  ExpectSameValues(program);
  EXPECT_THAT(Groups(program), ElementsAre("dot"));
}

TEST(ProductRulesTest, ARoundedSineIsMadeOnceForSeveralProducts) {
  const auto program = [](absl::string_view function) {
    return absl::StrCat(
        " x = f32[1024,256] parameter(0) w = f32[256,128] parameter(1) g = f32[1024,128] parameter(2) s = f32[1024,256] ",
        function, R"((x)
      y = f32[1024,128] dot(s, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      dw = f32[256,128] dot(s, g), lhs_contracting_dims={0}, rhs_contracting_dims={0}
      ROOT r = (f32[1024,128], f32[256,128]) tuple(y, dw) )");
  };
  EXPECT_THAT(Groups(program("sine")), ElementsAre("loop", "dot", "dot"));
  EXPECT_THAT(Groups(program("tanh")), ElementsAre("dot", "dot"));
}

TEST(ProductRulesTest, WeightsOfOneQueryThatAreMadeInF32OfSumsPassAMatrixUnit) {
  // Attention of a decoder that has one query for each head: scores are sums, what they weigh is a product.
  const auto program = [](int batch, int keys, int heads, int features, bool is_made) {
    const std::string cache = absl::StrCat("f32[", batch, ",", keys, ",", heads, ",", features, "]"),
                      scores = absl::StrCat("f32[", batch, ",", heads, ",1,", keys, "]");
    return absl::StrCat(
        " q = f32[", batch, ",1,", heads, ",", features, "] parameter(0) k = ", cache,
        " parameter(1) v = ", cache, " parameter(2) w = ", scores, " parameter(3) s = ", scores,
        " dot(q, k), lhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_batch_dims={0,2}, rhs_contracting_dims={3} p = ",
        scores, " exponential(", is_made ? "s" : "w", ") o = f32[", batch, ",", heads, ",", features,
        ",1] dot(v, p), lhs_batch_dims={0,2}, lhs_contracting_dims={1}, rhs_batch_dims={0,1}, rhs_contracting_dims={3} ROOT t = (f32[",
        batch, ",", heads, ",", features, ",1], ", scores, ") tuple(o, s)");
  };
  for (const bool is_made : {true, false}) {
    // Exponentials are summed, in another order by the product.
    ExpectSameValues(program(2, 64, 2, 64, is_made), /*tolerance=*/1e-6);
    EXPECT_THAT(Groups(program(16, 1024, 16, 128, is_made)),
                is_made ? Contains("dot").Times(1) : Contains("dot").Times(0));
  }
}

}  // namespace
}  // namespace toroid
