// Predicates of products that are kept as bits: the same values, in the groups one expects.
#include "simulator/compiler/rewrites/packed_predicates_pass.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "tests/simulator/compiler/lowered_programs.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A hidden layer with a relu, and what comes back through it: [rows.., m] x [m, h].
std::string Relu(const std::string& rows, int rank, int m, int h) {
  const std::string in = absl::StrCat("f32[", rows, ",", m, "]"),
                    hidden = absl::StrCat("f32[", rows, ",", h, "]");
  return absl::StrCat(
      " x = ", in, " parameter(0) w = f32[", m, ",", h, "] parameter(1) v = f32[", h, ",", m,
      "] parameter(2)\n", " zero = f32[] constant(0) z = ", hidden, " broadcast(zero), dimensions={}\n",
      " d = ", hidden, " dot(x, w), lhs_contracting_dims={", rank - 1, "}, rhs_contracting_dims={0}\n",
      " r = ", hidden, " maximum(d, z)\n y = ", in, " dot(r, v), lhs_contracting_dims={", rank - 1,
      "}, rhs_contracting_dims={0}\n", " g = ", hidden, " dot(y, v), lhs_contracting_dims={", rank - 1,
      "}, rhs_contracting_dims={1}\n", " p = pred[", rows, ",", h,
      "] compare(d, z), direction=GT\n e = ", hidden, " select(p, g, z)\n ROOT t = ", in,
      " dot(e, w), lhs_contracting_dims={", rank - 1, "}, rhs_contracting_dims={1} ");
}

std::string LoweredText(const std::string& program) { return PrintModule(*Lowered(*Parsed(program))); }

TEST(PackedPredicatesPassTest, ValuesStayTheSameForEveryWidthOfWords) {
  for (const char* rows : {"2,8", "8,4", "9,4", "16,2", "17,3", "32,2", "3,5,4", "33,4", "2,3,40,2"}) {
    const int rank = 2 + static_cast<int>(std::count(rows, rows + std::string(rows).size(), ','));
    SCOPED_TRACE(rows);
    ExpectSameValues(Relu(rows, rank, 6, 10));
  }
}

TEST(PackedPredicatesPassTest, TheLargestDimensionThatFitsAWordBecomesBits) {
  EXPECT_THAT(LoweredText(Relu("2,4,16", 4, 128, 256)), HasSubstr("u8[2,16,256]"));
  EXPECT_THAT(LoweredText(Relu("12,16", 3, 128, 256)), HasSubstr("u16[16,256]"));
  EXPECT_THAT(LoweredText(Relu("32,16", 3, 128, 256)), HasSubstr("u32[16,256]"));
}

// Two slots of each of 2,048 experts: rows of tiles are experts, as slots fill none.
TEST(PackedPredicatesPassTest, RowsThatFillNoTileBecomeBitsIfAnotherDimensionFillsThem) {
  EXPECT_THAT(LoweredText(Relu("64,2", 3, 128, 256)), HasSubstr("u8[64,256]"));
  EXPECT_THAT(LoweredText(Relu("64,9", 3, 128, 256)), Not(HasSubstr("shift-left")));
  EXPECT_THAT(LoweredText(Relu("64,1", 3, 128, 256)), Not(HasSubstr("shift-left")));
}

// 32 slots of each of 128 experts: experts fill the matrix units, slots do not.
TEST(PackedPredicatesPassTest, RowsThatDoNotFillTheUnitsBecomeBitsIfAnotherDimensionDoes) {
  EXPECT_THAT(LoweredText(Relu("128,32", 3, 128, 256)), HasSubstr("u32[128,256]"));
  EXPECT_THAT(LoweredText(Relu("120,32", 3, 128, 256)), Not(HasSubstr("shift-left")));
  EXPECT_THAT(LoweredText(Relu("256,128", 3, 128, 256)), Not(HasSubstr("shift-left")));
}

TEST(PackedPredicatesPassTest, RowsAndWhatNoWordHoldsStayAsTheyAre) {
  EXPECT_THAT(LoweredText(Relu("33,16", 3, 128, 256)), Not(HasSubstr("shift-left")));
  EXPECT_THAT(LoweredText(Relu("32", 2, 128, 256)), Not(HasSubstr("shift-left")));
}

// A predicate is not packed if only the product's group needs it, or if it is computed from a sum of the product.
TEST(PackedPredicatesPassTest, OnlyWhatIsNeededLaterIsPacked) {
  const std::string head =
      R"( x = f32[8,16,128] parameter(0) w = f32[128,256] parameter(1) zero = f32[] constant(0)
    z = f32[8,16,256] broadcast(zero), dimensions={}
    d = f32[8,16,256] dot(x, w), lhs_contracting_dims={2}, rhs_contracting_dims={0} )";
  const std::string chosen =
      head + R"( y = f32[8,16,256] parameter(2) p = pred[8,16,256] compare(d, z), direction=GT
    ROOT s = f32[8,16,256] select(p, y, z) )";
  EXPECT_THAT(LoweredText(chosen), Not(HasSubstr("shift-left")));
  ExpectSameValues(chosen);
  const std::string behind_sum =
      head + R"( v = f32[256,128] parameter(2) m = f32[8,16] reduce(d, zero), dimensions={2}, to_apply=sum
    b = f32[8,16,256] broadcast(m), dimensions={0,1}
    p = pred[8,16,256] compare(d, b), direction=GT
    s = f32[8,16,256] select(p, d, z)
    ROOT r = f32[8,16,128] dot(s, v), lhs_contracting_dims={2}, rhs_contracting_dims={0} )";
  EXPECT_THAT(LoweredText(behind_sum), Not(HasSubstr("shift-left")));
  ExpectSameValues(behind_sum);
  // Needed by the sum and after it.
  const std::string before_sum = head + R"( p = pred[8,16,256] compare(d, z), direction=GT
    s = f32[8,16,256] select(p, d, z)
    m = f32[8,16] reduce(s, zero), dimensions={2}, to_apply=sum
    b = f32[8,16,256] broadcast(m), dimensions={0,1}
    ROOT t = f32[8,16,256] select(p, b, d) )";
  EXPECT_THAT(LoweredText(before_sum), HasSubstr("u8[16,256]"));
  ExpectSameValues(before_sum);
}

// Words are made with the product; the predicate by which the gradient chooses is taken out of them in a group of its own.
TEST(PackedPredicatesPassTest, WordsAreMadeWithTheProduct) {
  const std::string program = Relu("4,512", 3, 1024, 1024);
  EXPECT_THAT(Groups(program), ::testing::UnorderedElementsAre("dot", "dot", "dot", "loop"));
}

}  // namespace
}  // namespace toroid
