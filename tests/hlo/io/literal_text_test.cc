// BUILD: size = "small"
#include "hlo/io/literal_text.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "hlo/io/shape_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<Literal> Parse(const std::string& shape_text, const std::string& text) {
  ASSIGN_OR_RETURN(const Shape shape, ParseShape(shape_text));
  TextScanner scanner(text);
  ASSIGN_OR_RETURN(std::optional<Literal> literal, ParseLiteral(shape, &scanner));
  if (!scanner.AtEnd()) return scanner.Error("expected nothing more");
  if (!literal) return absl::NotFoundError("left out");
  return *std::move(literal);
}

std::string Print(const Literal& literal) {
  std::string out;
  AppendLiteral(literal, &out);
  return out;
}

TEST(LiteralTextTest, EveryKindPrintsBackUnchanged) {
  const std::pair<const char*, const char*> kLiterals[] = {
      {"s32[]", "-7"},
      {"u64[]", "18446744073709551615"},
      {"s64[]", "-9223372036854775808"},
      {"pred[]", "true"},
      {"pred[3]", "{1, 0, 1}"},
      {"f32[]", "-2.5"},
      {"f32[]", "-0"},
      {"f32[2]", "{inf, -inf}"},
      {"f32[4]", "{nan, -nan, nan(0x7), -nan(0x1)}"},
      {"f64[]", "nan(0x8000000000001)"},
      {"bf16[2]", "{0.1, nan(0x3)}"},
      {"f16[3]", "{0.1, 65504, 6e-08}"},
      {"f8e5m2[3]", "{inf, nan, 57344}"},
      {"f8e4m3fn[3]", "{448, nan, -nan}"},
      {"f8e4m3fnuz[2]", "{240, -nan}"},
      {"f8e8m0fnu[2]", "{0.5, nan}"},
      {"f4e2m1fn[2]", "{6, -0.5}"},
      {"s4[2]", "{-8, 7}"},
      {"u1[2]", "{0, 1}"},
      {"c64[2]", "{(1, -0.5), (nan, 0)}"},
      {"s32[2,2]", "{ { 1, 2 }, { 3, 4 } }"},
      {"s32[2,1]", "{ {1}, {2} }"},
      {"s32[1,2,2]", "{ { { 1, 2 }, { 3, 4 } } }"},
      {"s32[2,2]{0,1}", "{ { 1, 2 }, { 3, 4 } }"},
      {"s32[0]", "{}"},
      {"(s32[], (f32[2], pred[]))", "( 1, ( {1, 2}, true ) )"},
      {"()", "()"},
  };
  for (const auto& [shape, text] : kLiterals) {
    SCOPED_TRACE(std::string(shape) + " " + text);
    ASSERT_OK_AND_ASSIGN(const Literal literal, Parse(shape, text));
    EXPECT_EQ(Print(literal), text);
  }
}

TEST(LiteralTextTest, BracesListLogicalElementsWhateverTheLayout) {
  ASSERT_OK_AND_ASSIGN(const Literal row_major, Parse("s32[2,2]{1,0}", "{{1,2},{3,4}}"));
  ASSERT_OK_AND_ASSIGN(const Literal column_major, Parse("s32[2,2]{0,1}", "{{1,2},{3,4}}"));
  EXPECT_EQ(row_major, column_major);
  EXPECT_THAT(column_major.data<int32_t>(), ::testing::ElementsAre(1, 2, 3, 4));
}

TEST(LiteralTextTest, TolerantForms) {
  ASSERT_OK_AND_ASSIGN(const Literal pred, Parse("pred[3]", "{true, 2, false}"));
  EXPECT_EQ(Print(pred), "{1, 1, 0}");
  ASSERT_OK_AND_ASSIGN(const Literal counted, Parse("s32[2,1]", "{ /*i0=0*/ {1}, /*i0=1*/ {2} }"));
  EXPECT_EQ(Print(counted), "{ {1}, {2} }");
  ASSERT_OK_AND_ASSIGN(const Literal empty, Parse("s32[2,0]", "{ {}, {} }"));
  EXPECT_EQ(empty.shape().NumElements(), 0);
  ASSERT_OK_AND_ASSIGN(const Literal token, Parse("f32[]", "-0"));
  EXPECT_TRUE(std::signbit(token.data<float>()[0]));
  EXPECT_THAT(Parse("f32[8]", "{...}"), StatusIs(absl::StatusCode::kNotFound));
}

TEST(LiteralTextTest, ErrorsNameThePlace) {
  const std::tuple<const char*, const char*, const char*> kErrors[] = {
      {"s8[]", "128", "1:1: integer is outside s8"},
      {"u8[]", "-1", "integer is outside u8"},
      {"s32[]", "1.0", "expected an integer of type s32"},
      {"s32[]", "x", "expected an integer"},
      {"u64[]", "18446744073709551616", "outside u64"},
      {"f32[]", "1e39", "number is outside f32"},
      {"f16[]", "65520", "number is outside f16"},
      {"f8e4m3fn[]", "1000", "number is outside"},
      {"f4e2m1fn[]", "8", "number is outside"},
      {"f4e2m1fn[]", "nan", "has no NaN"},
      {"f8e4m3fn[]", "inf", "has no infinity"},
      {"f32[]", "nan(0x800000)", "expected a NaN payload"},
      {"s32[2]", "{1}", "1:1: dimension 0 of the literal has 1 elements where s32[2] has 2"},
      {"s32[2]", "{1,2,3}", "has more elements"},
      {"s32[2,2]", "{{1,2},\n{3}}", "2:1: dimension 1"},
      {"s32[2]", "x", "expected an integer"},
      {"(s32[])", "{1}", "expected '('"},
  };
  for (const auto& [shape, text, message] : kErrors) {
    SCOPED_TRACE(text);
    EXPECT_THAT(Parse(shape, text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  }
}

TEST(LiteralTextTest, HugeShapesWithLittleTextCostLittle) {
  EXPECT_FALSE(Parse("f32[1000000000000]", "{1, 2}").ok());
  ASSERT_OK_AND_ASSIGN(const Literal empty, Parse("f32[1000000000,0]", "{}"));
  EXPECT_EQ(Print(empty), "{}");
}

// Random bit patterns of every float type are read back exactly.
TEST(LiteralTextTest, RandomFloatBitsSurvive) {
  std::mt19937_64 random(7);
  for (const PrimitiveType type :
       {xla::F16, xla::BF16, xla::F32, xla::F64, xla::F8E5M2, xla::F8E4M3, xla::F8E3M4, xla::F8E4M3FN,
        xla::F8E5M2FNUZ, xla::F8E4M3FNUZ, xla::F8E4M3B11FNUZ, xla::F8E8M0FNU, xla::F6E3M2FN, xla::F6E2M3FN,
        xla::F4E2M1FN}) {
    SCOPED_TRACE(std::string(TypeName(type)));
    Literal literal(Shape(type, {256}));
    const int64_t width = ByteWidth(type);
    for (int64_t i = 0; i < 256 * width; ++i) {
      const uint8_t mask = static_cast<uint8_t>(width > 1 ? 0xff : (1 << BitWidth(type)) - 1);
      literal.mutable_bytes()[i] = static_cast<char>((width > 1 ? random() : i) & mask);
    }
    const std::string text = Print(literal);
    TextScanner whole(text);
    ASSERT_OK_AND_ASSIGN(const std::optional<Literal> back, ParseLiteral(literal.shape(), &whole));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(*back, literal);
  }
}

TEST(LiteralTextTest, OneValueStandsForAllElements) {
  const std::tuple<const char*, const char*, const char*> kSplats[] = {
      {"f32[3]", "1.5", "{1.5, 1.5, 1.5}"},
      {"pred[2]", "true", "{1, 1}"},
      {"bf16[2,1]", "-inf", "{ {-inf}, {-inf} }"},
      {"c64[2]", "(1, 2)", "{(1, 2), (1, 2)}"},
      {"u8[0,3]", "1", "{}"},
      {"(s32[2], f32[])", "(4, 5)", "( {4, 4}, 5 )"},
  };
  for (const auto& [shape, text, printed] : kSplats) {
    SCOPED_TRACE(text);
    ASSERT_OK_AND_ASSIGN(const Literal literal, Parse(shape, text));
    EXPECT_EQ(Print(literal), printed);
  }
  EXPECT_THAT(Parse("f32[1000000,1000000]", "1"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 256 here")));
  EXPECT_THAT(Parse("f32[2,2]", "{1, 2}"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(LiteralTextTest, TheLargestU64IsAlsoMinusOne) {
  ASSERT_OK_AND_ASSIGN(const Literal one, Parse("u64[]", "-1"));
  EXPECT_EQ(Print(one), "18446744073709551615");
  ASSERT_OK_AND_ASSIGN(const Literal least, Parse("u64[]", "-9223372036854775808"));
  EXPECT_EQ(Print(least), "9223372036854775808");
  for (const auto& [shape, text] : {std::pair("u64[]", "-9223372036854775809"), std::pair("u32[]", "-1"),
                                    std::pair("u8[]", "-1"), std::pair("s64[]", "9223372036854775808")}) {
    EXPECT_THAT(Parse(shape, text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("outside")))
        << text;
  }
}

}  // namespace
}  // namespace toroid
