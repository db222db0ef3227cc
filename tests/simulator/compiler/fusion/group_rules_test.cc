// Ops that are fused, values that are computed again, arrays that are read in place: rules found on real programs, each shown
// on a small one.
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/simulator/compiler/lowered_programs.h"

namespace toroid {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

TEST(GroupRulesTest, PiecesOfAPaddingArePaddedByLess) {
  for (const absl::string_view cut :
       {"[0:6], [0:9]", "[1:7], [2:11]", "[2:8], [3:12]", "[2:4], [4:6]", "[0:2], [0:9]", "[7:8], [0:2]"}) {
    int64_t a, b, c, d;
    ASSERT_EQ(std::sscanf(std::string(cut).c_str(), "[%ld:%ld], [%ld:%ld]", &a, &b, &c, &d), 4);
    ExpectSameValues(absl::StrCat(R"( x = f32[5,7] parameter(0)
      three = f32[] constant(3)
      p = f32[8,12] pad(x, three), padding=2_1x3_2
      ROOT s = f32[)",
                                  b - a, ",", d - c, "] slice(p), slice={[", a, ":", b, "], [", c, ":", d,
                                  "]}"));
  }
  // A difference of neighbours reads x, not what is padded.
  EXPECT_THAT(Groups(R"( x = f32[256,256] parameter(0)
    zero = f32[] constant(0)
    p = f32[258,256] pad(x, zero), padding=1_1x0_0
    a = f32[256,256] slice(p), slice={[0:256], [0:256]}
    b = f32[256,256] slice(p), slice={[2:258], [0:256]}
    ROOT d = f32[256,256] subtract(a, b) )"),
              ElementsAre("loop"));
}

TEST(GroupRulesTest, SlicesOfOneValueAreCutTogether) {
  const char* program = R"( x = f32[64,300] parameter(0)
    y = f32[64,300] parameter(1)
    a = f32[64,100] slice(x), slice={[0:64], [0:100]}
    b = f32[64,100] slice(x), slice={[0:64], [100:200]}
    c = f32[64,100] slice(x), slice={[0:64], [150:250]}
    d = f32[64,120] slice(x), slice={[0:64], [180:300]}
    e = f32[64,100] slice(y), slice={[0:64], [0:100]}
    ROOT t = (f32[64,100], f32[64,100], f32[64,100], f32[64,120], f32[64,100]) tuple(a, b, c, d, e) )";
  ExpectSameValues(program);
  EXPECT_EQ(Groups(program).size(), 3u);  // a, b and c; d; e.
}

TEST(GroupRulesTest, WhatIsMadeFromOneArrayInBlocksOfRowsIsMadeTogether) {
  // Two values of each element, each with a scale for a block of rows.
  const char* program = R"( p = f32[64,256] parameter(0)
    s = f32[4,256] parameter(1)
    q = f32[4,256] parameter(2)
    two = f32[] constant(2)
    twos = f32[64,256] broadcast(two), dimensions={}
    lo = f32[64,256] maximum(p, twos)
    hi = f32[64,256] subtract(p, twos)
    rlo = f32[4,16,256] reshape(lo)
    rhi = f32[4,16,256] reshape(hi)
    bs = f32[4,16,256] broadcast(s), dimensions={0,2}
    bq = f32[4,16,256] broadcast(q), dimensions={0,2}
    a = f32[4,16,256] multiply(rlo, bs)
    b = f32[4,16,256] multiply(rhi, bq)
    ROOT t = (f32[4,16,256], f32[4,16,256]) tuple(a, b) )";
  ExpectSameValues(program);
  EXPECT_THAT(Groups(program), ElementsAre("loop"));
}

TEST(GroupRulesTest, AnArgumentIsRoundedAsItIsCopied) {
  const char* program = R"( x = f32[16,40,40,32] parameter(0)
    k = f32[3,3,32,16] parameter(1)
    ROOT c = f32[16,40,40,16] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f )";
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(program));
  // The copy is there, of the argument as it is, and no array of rounded values is copied.
  int copies = 0;
  for (const auto& computation : lowered->computations()) {
    for (const auto& op : computation->instructions()) {
      copies += op->opcode() == Opcode::kCopy || op->opcode() == Opcode::kConvert;
    }
  }
  EXPECT_GT(copies, 0);
  for (const auto& op : lowered->entry()->instructions()) {
    EXPECT_FALSE(op->opcode() == Opcode::kCopy && op->operand(0)->opcode() == Opcode::kConvert);
  }
}

TEST(GroupRulesTest, HeadsOfFewFeaturesLieAlongRows) {
  // Copied with their rows along lanes, of which heads are cut; not as [rows, 32], which fills a quarter of each tile.
  const auto program = [](int rows, int features) {
    return absl::StrCat(" q = f32[2,", rows, ",", 4 * features, "] parameter(0) k = f32[2,", rows, ",",
                        4 * features, R"(] parameter(1)
      h = f32[2,)",
                        rows, ",4,", features, "] reshape(q) g = f32[2,", rows, ",4,", features,
                        R"(] reshape(k)
      ROOT d = f32[2,4,)",
                        rows, ",", rows,
                        "] dot(h, g), lhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_batch_dims={0,2}, ",
                        "rhs_contracting_dims={3}");
  };
  const auto orders_of_heads = [](const std::string& text) {
    const std::unique_ptr<Module> lowered = Lowered(*Parsed(text));
    std::vector<Dims> orders;
    for (const auto& computation : lowered->computations()) {
      for (const auto& op : computation->instructions()) {
        if (op->shape().IsArray() && op->opcode() == Opcode::kDot) {
          for (const Instruction* operand : op->operands()) {
            const auto order = operand->shape().MinorToMajor();
            orders.emplace_back(order.begin(), order.end());
          }
        }
      }
    }
    return orders;
  };
  ExpectSameValues(program(7, 3));
  ExpectSameValues(program(130, 5));
  EXPECT_THAT(orders_of_heads(program(256, 32)), ElementsAre(Dims{1, 3, 2, 0}, Dims{1, 3, 2, 0}));
  EXPECT_THAT(orders_of_heads(program(256, 128)), ElementsAre(Dims{3, 2, 1, 0}, Dims{3, 2, 1, 0}));
}

TEST(GroupRulesTest, HeadsOfFewFeaturesLieAlongRowsWhoeverReadsThem) {
  // Halves of each head are turned against each other.
  const auto program = [](int rows, int half) {
    const std::string head = absl::StrCat("f32[2,", rows, ",4,", 2 * half, "]"),
                      piece = absl::StrCat("f32[2,", rows, ",4,", half, "]");
    const std::string others = absl::StrCat("[0:2], [0:", rows, "], [0:4], ");
    return absl::StrCat(" q = f32[2,", rows, ",", 8 * half, "] parameter(0) h = ", head,
                        " reshape(q) a = ", piece, " slice(h), slice={", others, "[0:", half,
                        "]} b = ", piece, " slice(h), slice={", others, "[", half, ":", 2 * half,
                        "]} n = ", piece, " negate(b) ROOT c = ", head, " concatenate(n, a), dimensions={3}");
  };
  ExpectSameValues(program(7, 3));
  ExpectSameValues(program(130, 8));
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(program(256, 16)));
  int copies = 0;
  for (const auto& op : lowered->entry()->instructions()) {
    if (op->opcode() != Opcode::kCopy) continue;
    ++copies;
    EXPECT_THAT(op->shape().MinorToMajor(), ElementsAre(1, 2, 0));
  }
  EXPECT_EQ(copies, 1);
}

TEST(GroupRulesTest, ASumBesideWhatProductsReadDoesNotKeepItF32) {
  const auto program = [](int rows, int columns) {
    const std::string made = absl::StrCat("f32[", rows, ",", columns, "]");
    return absl::StrCat(
        " g = f32[", rows, ",24] parameter(0) w = f32[24,", columns, "] parameter(1) m = ", made,
        " parameter(2) x = f32[", rows, ",16] parameter(3) zero = f32[] constant(0) d = ", made,
        " dot(g, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} e = ", made,
        " maximum(d, m) s = f32[", columns, "] reduce(e, zero), dimensions={0}, to_apply=sum k = f32[",
        columns, ",16] dot(e, x), lhs_contracting_dims={0}, rhs_contracting_dims={0} ROOT t = (f32[", columns,
        "], f32[", columns, ",16]) tuple(s, k)");
  };
  ExpectSameValues(program(5, 7));
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(program(512, 256)));
  bool is_narrow = false;
  for (const auto& op : lowered->entry()->instructions()) {
    is_narrow |= op->shape().IsArray() && op->shape().element_type() == xla::BF16 &&
                 op->shape().NumElements() == 512 * 256;
  }
  EXPECT_TRUE(is_narrow);
  EXPECT_THAT(Groups(program(512, 256)), ElementsAre("dot", "dot"));
}

TEST(GroupRulesTest, AChainForOneGroupIsNotWritten) {
  // Each step reads the last one twice.
  const auto chain = [](absl::string_view end) {
    std::string text =
        " x = f32[256,256] parameter(0) y = f32[256,256] parameter(1) z = f32[256,256] parameter(2) v0 = f32[256,256] add(x, y)";
    for (int i = 0; i < 60; ++i) {
      absl::StrAppend(&text, " s", i, " = f32[256,256] sine(v", i, ") v", i + 1, " = f32[256,256] add(s", i,
                      ", v", i, ")");
    }
    return absl::StrCat(text, end);
  };
  EXPECT_THAT(Groups(chain(" ROOT r = f32[256,256] add(v60, z)")), ElementsAre("loop"));
  // For a product, or for two groups, it is.
  EXPECT_EQ(
      Groups(chain(" ROOT r = f32[256,256] dot(v60, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}"))
          .size(),
      2u);
}

TEST(GroupRulesTest, AKernelsGradientMultipliesNoZeros) {
  const auto program = [](absl::string_view x, absl::string_view g, absl::string_view result,
                          absl::string_view window) {
    return absl::StrCat(" x = f32", x, " parameter(0) g = f32", g, " parameter(1) ROOT c = f32", result,
                        " convolution(x, g), window={", window, "}, dim_labels=f01b_i01o->01bf");
  };
  const std::string even =
      program("[2,5,4,3]", "[2,10,8,6]", "[4,4,3,6]", "size=10x8 pad=2_2x2_2 lhs_dilate=2x2");
  ExpectSameValues(even);
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(even));
  for (const auto& computation : lowered->computations()) {
    for (const auto& op : computation->instructions()) {
      for (const auto& d : op->attrs().window().dimensions()) EXPECT_LE(d.base_dilation(), 1);
    }
  }
  ExpectSameValues(program("[2,5,4,3]", "[2,13,8,6]", "[2,2,3,6]", "size=13x8 pad=1_0x1_1 lhs_dilate=3x2"));
  ExpectSameValues(program("[2,5,4,3]", "[2,12,3,6]", "[3,4,3,6]", "size=12x3 pad=4_1x1_1 lhs_dilate=2x1"));
}

TEST(GroupRulesTest, ReductionsOfDifferentTypesArePassesOfTheirOwn) {
  EXPECT_THAT(Groups(R"( x = f32[256,512] parameter(0)
    zero = f32[] constant(0)
    s = f32[512] reduce(x, zero), dimensions={0}, to_apply=sum
    i = s32[256,512] convert(x)
    none = s32[] constant(0)
    n = s32[512] reduce(i, none), dimensions={0}, to_apply=count
    ROOT t = (f32[512], s32[512]) tuple(s, n) )"),
              ElementsAre("reduce", "reduce"));
}

constexpr char kLargestAndPlace[] = R"( x = f32[256,512] parameter(0)
    low = f32[] constant(-inf)
    none = s32[] constant(0)
    i = s32[256,512] iota(), iota_dimension=1
    a = (f32[256], s32[256]) reduce(x, i, low, none), dimensions={1}, to_apply=largest
    p = s32[256] get-tuple-element(a), index=1
    m = f32[256] reduce(x, low), dimensions={1}, to_apply=max
    zero = f32[] constant(0)
    s = f32[256] reduce(x, zero), dimensions={1}, to_apply=sum )";

TEST(GroupRulesTest, TheLargestAndItsPlaceAreFoundTogetherAloneOfOthers) {
  EXPECT_THAT(Groups(absl::StrCat(kLargestAndPlace, "ROOT t = (s32[256], f32[256]) tuple(p, m)")),
              ElementsAre("reduce"));
  EXPECT_THAT(Groups(absl::StrCat(kLargestAndPlace, "ROOT t = (s32[256], f32[256]) tuple(p, s)")),
              ElementsAre("reduce", "reduce"));
}

TEST(GroupRulesTest, RowsAreReadFromWhereTheyAre) {
  const char* program =
      R"( x = f32[16,8,256] parameter(0) y = f32[8,16,256] parameter(1) z = f32[8,16,256] parameter(2)
    t = f32[8,16,256] transpose(x), dimensions={1,0,2}
    a = f32[8,16,256] add(y, z)
    ROOT s = f32[8,16,256] multiply(a, t) )";
  ExpectSameValues(program);
  EXPECT_THAT(Groups(program), ElementsAre("loop"));
  EXPECT_EQ(Groups(R"( x = f32[256,128] parameter(0) y = f32[128,256] parameter(1)
    t = f32[128,256] transpose(x), dimensions={1,0}
    ROOT s = f32[128,256] add(y, t) )")
                .size(),
            2u);  // Lanes are turned before.
}

TEST(GroupRulesTest, ScoresOfAMaskedProductAreKeptInBf16) {
  const char* program = R"( x = bf16[8,256,128] parameter(0) y = bf16[8,256,128] parameter(1)
    low = f32[] constant(-inf)
    zero = f32[] constant(0)
    d = bf16[8,256,256] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={2}
    f = f32[8,256,256] convert(d)
    i = s32[256,256] iota(), iota_dimension=0
    j = s32[256,256] iota(), iota_dimension=1
    c = pred[256,256] compare(i, j), direction=GE
    cb = pred[8,256,256] broadcast(c), dimensions={1,2}
    lb = f32[8,256,256] broadcast(low), dimensions={}
    m = f32[8,256,256] select(cb, f, lb)
    r = f32[8,256] reduce(m, low), dimensions={2}, to_apply=max
    rb = f32[8,256,256] broadcast(r), dimensions={0,1}
    e = f32[8,256,256] subtract(m, rb)
    ROOT s = f32[8,256] reduce(e, zero), dimensions={2}, to_apply=sum )";
  EXPECT_THAT(Groups(program), ElementsAre("loop", "dot", "reduce"));
}

TEST(GroupRulesTest, WhatNeedsASumOfAllWaitsForIt) {
  EXPECT_THAT(Groups(R"( x = f32[256,512] parameter(0) y = f32[256,512] parameter(1)
    zero = f32[] constant(0)
    m = f32[256,512] add(x, y)
    q = f32[256,512] multiply(m, m)
    s = f32[] reduce(q, zero), dimensions={0,1}, to_apply=sum
    b = f32[256,512] broadcast(s), dimensions={}
    u = f32[256,512] multiply(m, b)
    ROOT t = (f32[256,512], f32[256,512]) tuple(m, u) )"),
              ElementsAre("reduce", "loop"));
}

TEST(GroupRulesTest, AValueThatOneGroupMakesFromManyIsNotWritten) {
  // t is read on two ways by one group.
  EXPECT_THAT(
      Groups(R"( x = f32[256,512] parameter(0) y = f32[256,512] parameter(1) z = f32[256,512] parameter(2)
    a = f32[256,512] add(x, y)
    t = f32[256,512] multiply(a, z)
    e = f32[256,512] exponential(t)
    ROOT r = f32[256,512] subtract(e, t) )"),
      ElementsAre("loop"));
}

TEST(GroupRulesTest, ManyArraysAreWrittenToTheirPlaces) {
  std::string program = " x = f32[64,128] parameter(0) ";
  std::string operands;
  for (int i = 0; i < 6; ++i) {
    absl::StrAppend(&program, "c", i, " = f32[] constant(", i, ") b", i, " = f32[64,128] broadcast(c", i,
                    "), dimensions={} p", i, " = f32[64,128] add(x, b", i, ") ");
    absl::StrAppend(&operands, i == 0 ? "" : ", ", "p", i);
  }
  absl::StrAppend(&program, "ROOT c = f32[384,128] concatenate(", operands, "), dimensions={0}");
  ExpectSameValues(program);
  EXPECT_EQ(Groups(program).size(), 6u);
}

TEST(GroupRulesTest, BitsUnderAnotherTypeAreReadWhereTheyAre) {
  const char* program = R"( x = f32[64,256] parameter(0)
    one = u32[] constant(1)
    ones = u32[64,256] broadcast(one), dimensions={}
    b = u32[64,256] bitcast-convert(x)
    n = u32[64,256] or(b, ones)
    ROOT y = f32[64,256] bitcast-convert(n) )";
  ExpectSameValues(program);
  EXPECT_THAT(Groups(program), ElementsAre("loop"));
}

TEST(GroupRulesTest, ArgumentsAndResultsThatAreReturnedAgainAreCopied) {
  const char* program = R"( x = f32[64,256] parameter(0) y = f32[64,256] parameter(1)
    s = f32[64,256] add(x, y)
    ROOT t = (f32[64,256], f32[64,256], f32[64,256]) tuple(s, x, s) )";
  ExpectSameValues(program);
  EXPECT_THAT(Groups(program), ElementsAre("loop", "copy", "copy"));
  EXPECT_THAT(Groups(" ROOT x = f32[64,256] parameter(0) "), ElementsAre("copy"));
}

TEST(GroupRulesTest, WhatIsComputedInOneTypeIsMadeTogether) {
  const auto program = [](absl::string_view first, absl::string_view second) {
    return absl::StrCat(R"( x = f32[64,256] parameter(0) y = f32[64,256] parameter(1)
      zero = f32[] constant(0) least = bf16[] constant(-9) none = s32[] constant(0)
      d = f32[64,256] subtract(x, y)
      b = bf16[64,256] convert(x)
      n = s32[64,256] convert(d)
      rows = f32[64] reduce(d, zero), dimensions={1}, to_apply=sum
      most = bf16[64] reduce(b, least), dimensions={1}, to_apply=bmax
      number = s32[64] reduce(n, none), dimensions={1}, to_apply=count
      product = f32[64,256] multiply(x, y)
      halves = bf16[64,256] multiply(b, b)
      rounded = bf16[64,256] convert(product)
      columns = f32[256] reduce(x, zero), dimensions={0}, to_apply=max
      ROOT t = )",
                        first, second);
  };
  const auto groups = [&](absl::string_view shape, absl::string_view a, absl::string_view other,
                          absl::string_view b) {
    return Groups(
               program(absl::StrCat("(", shape, ", ", other, ") "), absl::StrCat("tuple(", a, ", ", b, ")")))
        .size();
  };
  EXPECT_EQ(groups("f32[64]", "rows", "f32[256]", "columns"), 1u);
  EXPECT_EQ(groups("f32[64]", "rows", "f32[64,256]", "product"), 1u);
  // Rounded as they are written.
  EXPECT_EQ(groups("f32[64]", "rows", "bf16[64,256]", "rounded"), 1u);
  EXPECT_EQ(groups("f32[64]", "rows", "bf16[64,256]", "halves"), 2u);
  EXPECT_EQ(groups("f32[64]", "rows", "bf16[64]", "most"), 2u);
  EXPECT_EQ(groups("f32[64]", "rows", "s32[64]", "number"), 2u);
  EXPECT_EQ(groups("bf16[64]", "most", "bf16[64,256]", "halves"), 1u);
}

TEST(GroupRulesTest, OneReaderOfWhatIsWrittenIsMadeWithIt) {
  const auto groups = [](absl::string_view readers, absl::string_view results, int n) {
    std::string shapes;
    for (int i = 0; i < n; ++i) absl::StrAppend(&shapes, i == 0 ? "" : ", ", "f32[64,256]");
    return Groups(absl::StrCat(R"( x = f32[64,256] parameter(0) w = f32[64,256] parameter(1)
      e = f32[64,256] exponential(x)
      y = f32[64,256] multiply(e, w) )",
                               readers, " ROOT t = (", shapes, ") tuple(", results, ")"))
        .size();
  };
  EXPECT_EQ(groups(" a = f32[64,256] tanh(y) ", "y, a", 2), 1u);
  EXPECT_EQ(groups(" a = f32[64,256] tanh(y) b = f32[64,256] log(y) ", "y, a, b", 3), 2u);
  // In a chain.
  EXPECT_EQ(groups(" a = f32[64,256] tanh(y) b = f32[64,256] log(a) ", "y, a, b", 3), 1u);
  EXPECT_EQ(groups(" a = f32[64,256] tanh(y) b = f32[64,256] add(a, y) ", "y, a, b", 3), 1u);
}

TEST(GroupRulesTest, ReductionsThatWaitForNothingAreMadeTogetherFirst) {
  // Sums of columns do not wait for the sum of exponentials. The copy is one of the result.
  EXPECT_THAT(Groups(R"( x = f32[64,32,256] parameter(0)
    zero = f32[] constant(0)
    m = f32[64,32] reduce(x, zero), dimensions={2}, to_apply=max
    mb = f32[64,32,256] broadcast(m), dimensions={0,1}
    d = f32[64,32,256] subtract(x, mb)
    e = f32[64,32,256] exponential(d)
    s = f32[64,32] reduce(e, zero), dimensions={2}, to_apply=sum
    c = f32[64,256] reduce(x, zero), dimensions={1}, to_apply=sum
    cb = f32[64,32,256] broadcast(c), dimensions={0,2}
    f = f32[64,32,256] subtract(x, cb)
    g = f32[64,32,256] multiply(f, f)
    v = f32[64,256] reduce(g, zero), dimensions={1}, to_apply=sum
    ROOT t = (f32[64,32], f32[64,256]) tuple(s, v) )"),
              ElementsAre("reduce", "reduce", "copy"));
}

TEST(GroupRulesTest, WhatIsRolledIsWrittenOnce) {
  const char* program = R"( x = f32[64,256] parameter(0) y = f32[64,256] parameter(1)
    e = f32[64,256] multiply(x, y)
    last = f32[64,3] slice(e), slice={[0:64], [253:256]}
    first = f32[64,253] slice(e), slice={[0:64], [0:253]}
    r = f32[64,256] concatenate(last, first), dimensions={1}
    ROOT d = f32[64,256] subtract(e, r) )";
  ExpectSameValues(program);
  EXPECT_EQ(Groups(program).size(), 3u);  // e; its last columns; the difference.
}

TEST(GroupRulesTest, EdgesAreAddedWhereSlicesOfThemAreRead) {
  const char* program =
      R"( x = f32[64,256] parameter(0) top = f32[1,256] parameter(1) bottom = f32[1,256] parameter(2)
    p = f32[66,256] concatenate(top, x, bottom), dimensions={0}
    a = f32[64,256] slice(p), slice={[0:64], [0:256]}
    b = f32[64,256] slice(p), slice={[2:66], [0:256]}
    ROOT d = f32[64,256] subtract(b, a) )";
  ExpectSameValues(program);
  EXPECT_THAT(Groups(program), ElementsAre("loop"));
  // Or where it is padded.
  const char* padded = R"( x = f32[64,256] parameter(0) top = f32[1,256] parameter(1)
    zero = f32[] constant(0)
    p = f32[65,256] concatenate(top, x), dimensions={0}
    ROOT d = f32[65,300] pad(p, zero), padding=0_0x20_24 )";
  ExpectSameValues(padded);
  EXPECT_EQ(Groups(padded).size(), 1u);
}

TEST(GroupRulesTest, WhatIsQuantizedForProductsIsWritten) {
  EXPECT_THAT(Groups(R"( x = f32[256,512] parameter(0) w = f32[512,256] parameter(1)
    r = f32[256,512] round-nearest-even(x)
    q = s8[256,512] convert(r)
    b = bf16[256,512] convert(q)
    s = f32[512,256] round-nearest-even(w)
    t = s8[512,256] convert(s)
    c = bf16[512,256] convert(t)
    ROOT d = f32[256,256] dot(b, c), lhs_contracting_dims={1}, rhs_contracting_dims={0} )"),
              ElementsAre("loop", "loop", "dot"));
}

TEST(GroupRulesTest, AReductionReadsAsTheArrayLiesThatIsSpreadToIt) {
  // No copy of m, whose columns are summed along lanes.
  EXPECT_THAT(Groups(R"( m = f32[1024,1024] parameter(0) x = f32[1024,3] parameter(1)
    s = f32[1024,1024] exponential(m)
    a = f32[1024,1024,3] broadcast(s), dimensions={0,1}
    b = f32[1024,1024,3] broadcast(x), dimensions={1,2}
    p = f32[1024,1024,3] multiply(a, b)
    zero = f32[] constant(0)
    r = f32[1024,3] reduce(p, zero), dimensions={1}, to_apply=sum
    ROOT t = (f32[1024,3], f32[1024,1024]) tuple(r, s) )"),
              Not(Contains("copy")));
}

TEST(GroupRulesTest, AResultIsMadeInItsOrderOfRows) {
  const char* program = R"( x = f32[4,16,8,128] parameter(0)
    y = f32[4,16,8,128] multiply(x, x)
    ROOT t = f32[16,4,8,128] transpose(y), dimensions={1,0,2,3} )";
  ExpectSameValues(program);
  EXPECT_EQ(Groups(program).size(), 1u);
}

TEST(GroupRulesTest, AReshapeIsReadWhereItMovesNothing) {
  // Blocks of 32: rows along lanes, pieces of 32 as rows of tiles.
  const auto program = [](int rows, int blocks, int size) {
    const std::string whole = absl::StrCat("f32[", rows, ",", blocks * size, "]"),
                      cut = absl::StrCat("f32[", rows, ",", blocks, ",", size, "]");
    const std::string largest = absl::StrCat("f32[", rows, ",", blocks, "]");
    return absl::StrCat(" x = ", whole, " parameter(0) low = f32[] constant(-100) y = ", whole,
                        " negate(x) b = ", cut, " reshape(y) m = ", largest,
                        " reduce(b, low), dimensions={2}, to_apply=max s = ", cut,
                        " broadcast(m), dimensions={0,1} ROOT d = ", cut, " subtract(b, s)");
  };
  ExpectSameValues(program(5, 3, 4));
  ExpectSameValues(program(256, 32, 32));
  // One copy, of which both the largest and the difference are read.
  EXPECT_THAT(Groups(program(256, 32, 32)), Contains("copy").Times(1));
}

TEST(GroupRulesTest, SquaresOfPixelsLieWithWholeTilesOfImagesOrFeatures) {
  const auto program = [](int images, int half, int features) {
    const int side = 2 * half;
    return absl::StrCat(" x = f32[", images, ",", side, ",", side, ",", features, "] parameter(0) r = f32[",
                        images, ",", half, ",2,", half, ",2,", features,
                        "] reshape(x) zero = f32[] constant(0) ROOT s = f32[", images, ",", half, ",", half,
                        ",", features, "] reduce(r, zero), dimensions={2,4}, to_apply=sum");
  };
  ExpectSameValues(program(9, 16, 5));
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(program(16, 64, 64)));
  for (const auto& computation : lowered->computations()) {
    for (const auto& op : computation->instructions()) {
      if (op->shape().IsArray() && op->shape().rank() == 6) {
        EXPECT_EQ(op->shape().MinorToMajor(), (Dims{5, 0, 4, 3, 2, 1}));
      }
    }
  }
}

TEST(GroupRulesTest, WhatIsCutForOneReaderAndReadByOthersIsWritten) {
  const char* halves = R"( x = f32[64,256] parameter(0)
    y = f32[64,256] exponential(x)
    a = f32[64,128] slice(y), slice={[0:64], [0:128]}
    b = f32[64,128] slice(y), slice={[0:64], [128:256]}
    ROOT d = f32[64,128] multiply(a, b) )";
  EXPECT_EQ(Groups(halves).size(), 2u);
  const char* one = R"( x = f32[64,256] parameter(0)
    y = f32[64,256] negate(x)
    a = f32[64,128] slice(y), slice={[0:64], [0:128]}
    ROOT d = f32[64,128] multiply(a, a) )";
  ExpectSameValues(one);
  EXPECT_EQ(Groups(one).size(), 1u);
  // Pieces of an argument are read from it.
  const char* argument = R"( x = f32[64,256] parameter(0)
    a = f32[64,128] slice(x), slice={[0:64], [0:128]}
    b = f32[64,128] slice(x), slice={[0:64], [128:256]}
    ROOT d = f32[64,128] multiply(a, b) )";
  ExpectSameValues(argument);
  EXPECT_EQ(Groups(argument).size(), 1u);
}

TEST(GroupRulesTest, GroupsOfTheSameSizesThatShareAVectorAreOne) {
  const auto program = [](absl::string_view other) {
    return absl::StrCat(R"( x = f32[96] parameter(0) y = f32[64] parameter(1) z = f32[96] parameter(2)
      zero = f32[] constant(0)
      bx = f32[64,96] broadcast(x), dimensions={1}
      by = f32[64,96] broadcast(y), dimensions={0}
      bz = f32[64,96] broadcast(z), dimensions={1}
      p = f32[64,96] multiply(bx, by)
      q = f32[64,96] maximum(bz, )",
                        other, R"()
      s = f32[64] reduce(p, zero), dimensions={1}, to_apply=sum
      t = f32[64] reduce(q, zero), dimensions={1}, to_apply=sum
      ROOT r = (f32[64], f32[64]) tuple(s, t) )");
  };
  ExpectSameValues(program("by"));
  EXPECT_EQ(Groups(program("by")).size(), 1u);
  EXPECT_EQ(Groups(program("bz")).size(), 2u);
}

TEST(GroupRulesTest, ASineIsNotTakenTwice) {
  const auto program = [](absl::string_view function) {
    return absl::StrCat(R"( x = f32[64,256] parameter(0)
      zero = f32[] constant(0)
      y = f32[64,256] )",
                        function, R"((x)
      m = f32[64] reduce(y, zero), dimensions={1}, to_apply=sum
      b = f32[64,256] broadcast(m), dimensions={0}
      ROOT d = f32[64,256] subtract(y, b) )");
  };
  ExpectSameValues(program("negate"));
  EXPECT_EQ(Groups(program("exponential")).size(), 2u);
  EXPECT_EQ(Groups(program("cosine")).size(), 3u);
}

TEST(GroupRulesTest, AMaskIsReducedWithTheGroupThatWritesItEvenIfTheSumIsRounded) {
  const char* program = R"( s = s32[64] parameter(0)
    zero = f32[] constant(0)
    a = s32[64,64] broadcast(s), dimensions={0}
    b = s32[64,64] broadcast(s), dimensions={1}
    m = pred[64,64] compare(a, b), direction=EQ
    f = f32[64,64] convert(m)
    n = f32[64] reduce(f, zero), dimensions={1}, to_apply=sum
    c = bf16[64] convert(n)
    ROOT t = (pred[64,64], bf16[64]) tuple(m, c) )";
  EXPECT_EQ(Groups(program).size(), 1u);
}

TEST(GroupRulesTest, ResultsOfAllTheSameArgumentsAreOneGroup) {
  // The operands that both results share take long to read, but neither result waits for the other.
  const char* program =
      R"( a = f32[64,256] parameter(0) b = f32[64,256] parameter(1) c = f32[64,256] parameter(2) d = f32[64,256] parameter(3)
    x = f32[64,256] add(a, b)
    y = f32[64,256] multiply(x, c)
    z = f32[64,256] subtract(y, d)
    p = f32[64,256] maximum(z, a)
    q = f32[64,256] minimum(z, b)
    ROOT t = (f32[64,256], f32[64,256]) tuple(p, q) )";
  ExpectSameValues(program);
  EXPECT_EQ(Groups(program).size(), 1u);
}

TEST(GroupRulesTest, WhatIsPutTogetherIsRoundedBefore) {
  const char* program = R"( x = f32[64,256] parameter(0)
    a = f32[64,128] slice(x), slice={[0:64], [0:128]}
    b = f32[64,128] slice(x), slice={[0:64], [128:256]}
    n = f32[64,128] negate(b)
    c = f32[64,256] concatenate(n, a), dimensions={1}
    r = bf16[64,256] convert(c)
    ROOT f = f32[64,256] convert(r) )";
  ExpectSameValues(program);
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(program));
  for (const auto& computation : lowered->computations()) {
    for (const auto& op : computation->instructions()) {
      if (op->opcode() == Opcode::kConcatenate) {
        EXPECT_EQ(op->shape().element_type(), xla::BF16);
      }
    }
  }
}

TEST(GroupRulesTest, APieceOfAPieceIsOfTheWhole) {
  const char* program = R"( x = f32[20,30] parameter(0)
    a = f32[8,14] slice(x), slice={[1:17:2], [1:29:2]}
    ROOT b = f32[3,5] slice(a), slice={[2:8:2], [3:8]} )";
  ExpectSameValues(program);
  EXPECT_EQ(Groups(program).size(), 1u);
}

TEST(GroupRulesTest, BothHalvesMadeFromHalvesAreWrittenToTheirPlaces) {
  const char* program = R"( x = f32[64,512] parameter(0)
      a = f32[64,256] slice(x), slice={[0:64], [0:256]}
      b = f32[64,256] slice(x), slice={[0:64], [256:512]}
      s = f32[64,256] add(a, b)
      d = f32[64,256] subtract(a, b)
      ROOT c = f32[64,512] concatenate(s, d), dimensions={1} )";
  ExpectSameValues(program);
  EXPECT_EQ(Groups(program).size(), 1u);
  // The operands are two whole arrays instead of halves of one: the results are not written to their places.
  EXPECT_EQ(Groups(R"( x = f32[64,256] parameter(0) y = f32[64,256] parameter(1)
    s = f32[64,256] add(x, y)
    d = f32[64,256] subtract(x, y)
    ROOT c = f32[64,512] concatenate(s, d), dimensions={1} )")
                .size(),
            2u);
}

TEST(GroupRulesTest, ElementsAreRepeatedWhereTheirReshapeMovesNothing) {
  const auto program = [](int images, int side, int features) {
    return absl::StrCat(" x = f32[", images, ",", side, ",", side, ",", features, "] parameter(0) b = f32[",
                        images, ",", side, ",3,", side, ",3,", features,
                        "] broadcast(x), dimensions={0,1,3,5} ROOT r = f32[", images, ",", 3 * side, ",",
                        3 * side, ",", features, "] reshape(b)");
  };
  ExpectSameValues(program(9, 4, 5));
  // Copied as they are repeated; then turned into the order of a result.
  EXPECT_THAT(Groups(program(8, 24, 100)), ElementsAre("loop", "copy"));
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(program(8, 24, 100)));
  for (const auto& op : lowered->entry()->instructions()) {
    if (op->opcode() == Opcode::kBroadcast) {
      EXPECT_EQ(op->shape().MinorToMajor(), (Dims{5, 0, 4, 3, 2, 1}));
    }
  }
}

}  // namespace
}  // namespace toroid
