// What runs with products, how their results lie and what is written for them: rules of fusion_pass.h and layout_pass.h, each as the groups
// of a small program and the microseconds that Google's compiler for TPU v3 estimates for it.
#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "simulator/chip/chip_model.h"
#include "simulator/machines/tpu_v3_core.h"
#include "tests/simulator/lowering/lowered_programs.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

double Microseconds(absl::string_view entry) {
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(entry));
  ChipModel model(TpuV3Core());
  double microseconds = 0;
  for (const auto& op : lowered->entry()->instructions()) microseconds += static_cast<double>(model.TimeOf(*op).picoseconds) * 1e-6;
  return microseconds;
}

std::string Product(absl::string_view rows, int contracted, int columns, absl::string_view type = "f32") {
  const int dim = static_cast<int>(std::count(rows.begin(), rows.end(), ','));
  return absl::StrCat(" x = ", type, "[", rows, contracted, "] parameter(0) w = ", type, "[", contracted, ",", columns, "] parameter(1) d = ", type,
                      "[", rows, columns, "] dot(x, w), lhs_contracting_dims={", dim, "}, rhs_contracting_dims={0}");
}

TEST(ProductRulesTest, LanesAreAlongTheLongerOfTwoDimensionsIfTheOtherIsReduced) {
  const auto program = [](int rows, int columns) {
    return absl::StrCat(Product(absl::StrCat(rows, ","), 256, columns), " zero = f32[] constant(0) q = f32[", rows, ",", columns,
                        "] multiply(d, d) s = f32[", rows, "] reduce(q, zero), dimensions={1}, to_apply=sum ROOT r = (f32[", rows, ",", columns,
                        "], f32[", rows, "]) tuple(d, s)");
  };
  ExpectSameValues(program(24, 16));
  EXPECT_THAT(Groups(program(1024, 256)), ElementsAre("dot", "copy"));
  EXPECT_NEAR(Microseconds(program(1024, 256)), 13.8, 1.1);
  EXPECT_THAT(Groups(program(256, 1024)), ElementsAre("dot"));
  EXPECT_NEAR(Microseconds(program(256, 1024)), 8.1, 0.6);
  // Lanes would be padded.
  EXPECT_THAT(Groups(program(520, 512)), ElementsAre("dot"));
  EXPECT_THAT(Groups(program(64, 64)), ElementsAre("dot", "copy"));
}

TEST(ProductRulesTest, WhatIsAnOperandAndMetByTheResultIsReadTwice) {
  const auto residual = [](absl::string_view rows) {
    return absl::StrCat(Product(absl::StrCat(rows, ","), 128, 128), " ROOT r = f32[", rows, ",128] add(d, x)");
  };
  ExpectSameValues(residual("24"));
  EXPECT_THAT(Groups(residual("65536")), ElementsAre("dot"));
  EXPECT_NEAR(Microseconds(residual("65536")), 244.9, 8);
  const std::string nested = absl::StrCat(Product("65536,", 128, 128), R"( t = f32[65536,128] tanh(d) v = f32[128,128] parameter(2)
    e = f32[65536,128] dot(t, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ROOT r = f32[65536,128] add(e, x) )");
  EXPECT_THAT(Groups(nested), ElementsAre("dot"));
  EXPECT_NEAR(Microseconds(nested), 253.1, 8);
}

// Scores of features and what they weigh, with one product inside of the other, whose rows come batch by batch; and a narrow result that
// lies with rows along lanes.
TEST(ProductRulesTest, RowsOfAnInnerProductMayComeBatchByBatch) {
  const auto scores = [](int batch, int rows, int features) {
    const std::string x = absl::StrCat("f32[", batch, ",", rows, ",64]"), s = absl::StrCat("f32[", batch, ",", rows, ",", features, "]");
    return absl::StrCat(" x = ", x, " parameter(0) w = f32[64,", features, "] parameter(1) d = ", s,
                        " dot(x, w), lhs_contracting_dims={2}, rhs_contracting_dims={0} e = ", s, " negate(d) ");
  };
  const auto weighed = [&](int batch, int rows, int features) {
    return absl::StrCat(scores(batch, rows, features), " v = f32[", batch, ",", rows, ",64] parameter(2) ROOT r = f32[", batch, ",", features,
                        ",64] dot(e, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}");
  };
  const auto next = [&](int batch, int rows, int features) {
    return absl::StrCat(scores(batch, rows, features), " v = f32[", features, ",64] parameter(2) ROOT r = f32[", batch, ",", rows,
                        ",64] dot(e, v), lhs_contracting_dims={2}, rhs_contracting_dims={0}");
  };
  ExpectSameValues(weighed(2, 24, 16));
  ExpectSameValues(next(2, 24, 16));
  EXPECT_THAT(Groups(weighed(8, 512, 512)), ElementsAre("dot"));
  EXPECT_NEAR(Microseconds(weighed(8, 512, 512)), 27.1, 2.7);
  EXPECT_THAT(Groups(next(8, 512, 512)), ElementsAre("dot"));
  EXPECT_NEAR(Microseconds(next(8, 512, 512)), 26.3, 4.5);
}

// What is made of a product behind a reshape, with an array that was not reshaped, is made by itself; reductions of what is made with
// vectors alone are over the dimensions before.
TEST(ProductRulesTest, ReshapesEndTheGroupOfAProductUnlessAllIsReduced) {
  const auto program = [](int outer, int rows, int columns, absl::string_view other, absl::string_view spread) {
    const std::string all = absl::StrCat("f32[", outer, ",", rows, ",", columns, "]"), sums = absl::StrCat("f32[", outer, ",", rows, "]");
    return absl::StrCat(Product(absl::StrCat(outer * rows, ","), 256, columns), " y = ", other.empty() ? all : std::string(other),
                        " parameter(2) zero = f32[] constant(0) c = ", all, " reshape(d) b = ", all, spread.empty() ? " negate(y)" : spread,
                        " o = ", all, " add(c, b) q = ", all, " multiply(o, o) e = ", sums,
                        " reduce(q, zero), dimensions={2}, to_apply=sum g = f32[", columns,
                        "] reduce(o, zero), dimensions={0,1}, to_apply=sum ROOT r = (", sums, ", f32[", columns, "]) tuple(e, g)");
  };
  ExpectSameValues(program(4, 8, 24, "", ""));
  ExpectSameValues(program(4, 8, 24, "f32[4,8]", " broadcast(y), dimensions={0,1}"));
  ExpectSameValues(program(4, 8, 24, "f32[24]", " broadcast(y), dimensions={2}"));
  EXPECT_THAT(Groups(program(4, 512, 1024, "", "")), ElementsAre("dot", "reduce"));
  const std::string with_rows = program(4, 512, 1024, "f32[4,512]", " broadcast(y), dimensions={0,1}");
  EXPECT_NEAR(Microseconds(with_rows), 33.8, 1.5);
  const std::string with_columns = program(4, 512, 1024, "f32[1024]", " broadcast(y), dimensions={2}");
  EXPECT_NEAR(Microseconds(with_columns), 33.4, 2.6);
}

TEST(ProductRulesTest, AnArgumentIsCopiedForAProductThatItMeets) {
  const auto program = [](int rows, int columns) {
    const std::string rest = absl::StrCat("4,", rows), all = absl::StrCat("f32[", rest, ",", columns, "]");
    return absl::StrCat(Product(absl::StrCat(rest, ","), columns, columns), " zero = f32[] constant(0) y = ", all, " add(x, d) s = f32[", rest,
                        "] reduce(y, zero), dimensions={2}, to_apply=sum ROOT r = (", all, ", f32[", rest, "]) tuple(y, s)");
  };
  ExpectSameValues(program(24, 16));
  EXPECT_THAT(Groups(program(1024, 256)), ElementsAre("copy", "dot", "copy"));
  EXPECT_NEAR(Microseconds(program(1024, 256)), 78.4, 4);
  EXPECT_THAT(Groups(program(256, 512)), ElementsAre("dot"));
}

TEST(ProductRulesTest, ResultsThatAreMadeOfAProductAreMadeWithIt) {
  // A gradient, its momentum and the weights that are updated.
  const char* program = R"( x = f32[256,1024] parameter(0) g = f32[256,512] parameter(1) v = f32[1024,512] parameter(2)
    d = f32[1024,512] dot(x, g), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    a = f32[1024,512] subtract(v, d)
    b = f32[1024,512] add(v, d)
    ROOT r = (f32[1024,512], f32[1024,512]) tuple(a, b) )";
  ExpectSameValues(program);
  EXPECT_THAT(Groups(program), ElementsAre("dot"));
  EXPECT_NEAR(Microseconds(program), 22.2, 1.4);
  // What is needed under another name inside of it too.
  const char* named = R"( x = f32[256,1024] parameter(0) g = f32[256,512] parameter(1) v = f32[512,1024] parameter(2)
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
    return absl::StrCat(Product(absl::StrCat(sequences, ",", steps, ","), 1024, 2048, "bf16"), " ROOT r = bf16[", sequences, ",", steps,
                        ",16,128] reshape(d)");
  };
  EXPECT_NEAR(Microseconds(program(8, 1)), 62.9, 3);
  EXPECT_NEAR(Microseconds(program(8, 4)), 17.4, 1.2);
  EXPECT_NEAR(Microseconds(program(1, 1)), 32.3, 1.5);
  // Somebody else reads it uncut.
  const std::string both = absl::StrCat(Product("8,1,", 1024, 2048, "bf16"),
                                        " h = bf16[8,1,16,128] reshape(d) ROOT r = (bf16[8,1,2048], bf16[8,1,16,128]) tuple(d, h)");
  EXPECT_NEAR(Microseconds(both), 16, 2);
}

TEST(ProductRulesTest, RowsOfSeveralDimensionsAreTheLastThatFillsTiles) {
  const auto program = [](int images, int places, int contracted, int columns) {
    return Product(absl::StrCat(images, ",", places, ","), contracted, columns);
  };
  EXPECT_THAT(Groups(program(64, 16, 128, 256)), ElementsAre("dot"));
  EXPECT_NEAR(Microseconds(program(64, 16, 128, 256)), 6.0, 0.5);
  // Images fill the units; places do not fill tiles, but then the result lies so too.
  EXPECT_THAT(Groups(program(128, 16, 128, 128)), ElementsAre("dot", "copy"));
  EXPECT_NEAR(Microseconds(program(128, 16, 128, 128)), 12.7, 0.6);
  EXPECT_THAT(Groups(program(64, 12, 128, 256)), ElementsAre("dot"));
}

TEST(ProductRulesTest, WhatAProductReadsInOtherRowsIsWritten) {
  const auto program = [](int images, int places, int columns) {
    const std::string rest = absl::StrCat("[", images, ",", places, ",");
    return absl::StrCat(" x = f32", rest, "128] parameter(0) y = f32", rest, "128] parameter(1) w = f32[128,", columns, "] parameter(2) z = f32", rest,
                        "128] multiply(x, y) ROOT d = f32", rest, columns, "] dot(z, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}");
  };
  ExpectSameValues(program(9, 8, 16));
  EXPECT_THAT(Groups(program(64, 16, 128)), ElementsAre("dot"));
  EXPECT_THAT(Groups(program(128, 16, 128)), ElementsAre("loop", "dot", "copy"));
  EXPECT_NEAR(Microseconds(program(128, 16, 128)), 21.1, 1.1);
}

TEST(ProductRulesTest, AProductThatIsReducedTakesAsLongAsOneThatIsWritten) {
  const std::string product = Product("4096,", 64, 1024);
  EXPECT_NEAR(Microseconds(product), 48.9, 2);
  EXPECT_NEAR(Microseconds(absl::StrCat(product, " zero = f32[] constant(0) ROOT s = f32[4096] reduce(d, zero), dimensions={1}, to_apply=sum")), 49, 3);
}

TEST(ProductRulesTest, VectorWorkIsHiddenBehindAProductUntilItAndItsSumsTakeLonger) {
  const auto program = [](int ops) {
    std::string text = Product("4096,", 512, 1024);
    absl::StrAppend(&text, " g = f32[1024] parameter(2) c = f32[4096,1024] broadcast(g), dimensions={1} v0 = f32[4096,1024] add(d, c)");
    for (int i = 1; i < ops; ++i) {
      if (i % 2 == 0) {
        absl::StrAppend(&text, " v", i, " = f32[4096,1024] add(v", i - 1, ", c)");
      } else {
        absl::StrAppend(&text, " m", i, " = f32[4096,1024] multiply(v", i - 1, ", c) v", i, " = f32[4096,1024] maximum(m", i, ", c)");
      }
    }
    return text;
  };
  EXPECT_NEAR(Microseconds(program(1)), 83.3, 4.5);
  EXPECT_NEAR(Microseconds(program(4)), 83.3, 4.5);
  EXPECT_NEAR(Microseconds(program(16)), 111, 9);
  EXPECT_NEAR(Microseconds(program(32)), 161.1, 11);
}

TEST(ProductRulesTest, SpreadingOverLanesGoesOnBesideOtherInstructions) {
  // Scores less their largest, as exponentials, times values.
  EXPECT_NEAR(Microseconds(R"( p = bf16[64,256,512] parameter(0) m = bf16[64,256] parameter(1) v = bf16[64,512,64] parameter(2)
    b = bf16[64,256,512] broadcast(m), dimensions={0,1}
    s = bf16[64,256,512] subtract(p, b)
    e = bf16[64,256,512] exponential(s)
    ROOT d = bf16[64,256,64] dot(e, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1} )"),
              76.6, 7);
}

}  // namespace
}  // namespace toroid
