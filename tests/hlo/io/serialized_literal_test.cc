// BUILD: size = "small"
#include "hlo/io/serialized_literal.h"

#include <string>

#include "hlo/io/literal_text.h"
#include "hlo/io/shape_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

Literal Parsed(const std::string& shape_text, const std::string& text) {
  const Shape shape = ParseShape(shape_text).value();
  TextScanner scanner(text);
  return ParseLiteral(shape, &scanner).value().value();
}

std::string Serialized(const Literal& literal) {
  std::string bytes;
  TOROID_CHECK(AppendSerializedLiteral(literal, &bytes).ok(), "not serialized");
  return bytes;
}

// The bytes after the size and the shape.
std::string Elements(const Literal& literal) {
  const std::string bytes = Serialized(literal);
  return bytes.substr(8 + static_cast<unsigned char>(bytes[0]));
}

TEST(SerializedLiteralTest, EveryTypeComesBack) {
  const std::pair<const char*, const char*> kLiterals[] = {
      {"f32[2,3]", "{ { 1, 2, 3 }, { 4, 5, 6 } }"},
      {"f32[2,3]{0,1}", "{ { 1, 2, 3 }, { 4, 5, 6 } }"},
      {"s32[2,1,2]{1,0,2}", "{ { { 1, 2 } }, { { 3, 4 } } }"},
      {"pred[11]", "{1,0,1,1,0,0,0,0,1,0,1}"},
      {"pred[]", "true"},
      {"s4[5]", "{-8, 7, -1, 0, 1}"},
      {"u4[2]", "{15, 1}"},
      {"s2[5]", "{-2, -1, 0, 1, -1}"},
      {"u2[3]", "{3, 0, 2}"},
      {"s1[3]", "{-1, 0, -1}"},
      {"u1[9]", "{1,0,1,1,0,0,0,0,1}"},
      {"f4e2m1fn[3]", "{6, -0.5, 1}"},
      {"f6e2m3fn[2]", "{7.5, -1}"},
      {"bf16[2]", "{1.5, -inf}"},
      {"f8e4m3fn[2]", "{448, nan}"},
      {"c64[2]", "{(1, -2), (3, 4)}"},
      {"c128[]", "(1, 2)"},
      {"u64[]", "-1"},
      {"f32[0,3]", "{}"},
      {"(f32[2], (s8[], pred[3]))", "({1, 2}, (-3, {1, 1, 0}))"},
      {"()", "()"},
      {"f32[<=3]", "{1, 2, 3}"}};
  for (const auto& [shape, text] : kLiterals) {
    SCOPED_TRACE(shape);
    const Literal literal = Parsed(shape, text);
    std::string bytes = Serialized(literal) + "rest";
    absl::string_view left = bytes;
    ASSERT_OK_AND_ASSIGN(const Literal again, TakeSerializedLiteral(&left));
    EXPECT_EQ(again, literal);
    EXPECT_EQ(again.shape(), literal.shape());
    EXPECT_EQ(left, "rest");
  }
}

TEST(SerializedLiteralTest, ElementsLieInTheOrderOfTheLayout) {
  EXPECT_EQ(Elements(Parsed("u8[2,3]", "{ { 1, 2, 3 }, { 4, 5, 6 } }")), "\x01\x02\x03\x04\x05\x06");
  EXPECT_EQ(Elements(Parsed("u8[2,3]{0,1}", "{ { 1, 2, 3 }, { 4, 5, 6 } }")), "\x01\x04\x02\x05\x03\x06");
  EXPECT_EQ(Elements(Parsed("u16[2]", "{ 513, 1027 }")), "\x01\x02\x03\x04");
}

TEST(SerializedLiteralTest, NarrowTypesFillBytesFromTheLowBits) {
  EXPECT_EQ(Elements(Parsed("pred[3]", "{1, 0, 1}")), "\x05");
  EXPECT_EQ(Elements(Parsed("pred[9]", "{1, 1, 1, 1, 1, 1, 1, 1, 1}")), "\xff\x01");
  EXPECT_EQ(Elements(Parsed("s4[3]", "{1, 2, 3}")), "\x21\x03");
  EXPECT_EQ(Elements(Parsed("u2[4]", "{1, 2, 3, 0}")), "\x39");
}

TEST(SerializedLiteralTest, AnArrayShorterAtRunTimeGetsItsOwnShape) {
  std::string bytes = Serialized(Parsed("s8[<=2,3]", "{ {1, 2, 3}, {4, 5, 6} }"));
  const size_t sizes = bytes.size() - 6 - 8;
  bytes[sizes] = 1, bytes[sizes + 4] = 2;
  absl::string_view left = bytes;
  ASSERT_OK_AND_ASSIGN(const Literal literal, TakeSerializedLiteral(&left));
  EXPECT_EQ(literal, Parsed("s8[1,2]", "{ {1, 2} }"));
  bytes[sizes] = 3;
  left = bytes;
  EXPECT_THAT(TakeSerializedLiteral(&left),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("size 3")));
}

TEST(SerializedLiteralTest, DamagedBytesAreErrors) {
  const std::string whole = Serialized(Parsed("(f32[4], pred[9])", "({1, 2, 3, 4}, true)"));
  for (size_t size = 0; size < whole.size(); ++size) {
    absl::string_view left = absl::string_view(whole).substr(0, size);
    EXPECT_FALSE(TakeSerializedLiteral(&left).ok()) << size;
  }
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int bit : {1, 16, 128}) {
      std::string flipped = whole;
      flipped[i] = static_cast<char>(flipped[i] ^ bit);
      absl::string_view left = flipped;
      TakeSerializedLiteral(&left).IgnoreError();
    }
  }
  // A few bytes must not cause an allocation of gigabytes.
  std::string large;
  const std::string shape = ParseShape("f32[1000000,1000000]")->ToProto().SerializeAsString();
  large = std::string(1, static_cast<char>(shape.size())) + std::string(7, '\0') + shape;
  absl::string_view left = large;
  EXPECT_THAT(TakeSerializedLiteral(&left),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("ends early")));
  std::string bytes;
  EXPECT_THAT(AppendSerializedLiteral(Literal(Shape::Token()), &bytes),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace toroid
