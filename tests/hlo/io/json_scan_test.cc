// BUILD: size = "small"
// Tokens of JSON, well-formed or not, and the bound on nesting.
#include "hlo/io/json_scan.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Tokens(absl::string_view text) {
  std::vector<std::string> tokens;
  JsonTokens scan(text);
  while (scan.Next()) {
    EXPECT_EQ(text.substr(scan.offset(), scan.token().size()), scan.token());
    tokens.emplace_back(scan.token());
  }
  return tokens;
}

std::string Repeat(absl::string_view text, int n) {
  std::string all;
  for (int i = 0; i < n; ++i) absl::StrAppend(&all, text);
  return all;
}

TEST(JsonScanTest, TokensAreFoundWithTheirPlaces) {
  EXPECT_THAT(
      Tokens(" {\"a\" :[-0,1e5 , true],\n\tb:{}}"),
      ElementsAre("{", "\"a\"", ":", "[", "-0", ",", "1e5", ",", "true", "]", ",", "b", ":", "{", "}", "}"));
  EXPECT_THAT(Tokens(""), ElementsAre());
  EXPECT_THAT(Tokens(" \n"), ElementsAre());
}

TEST(JsonScanTest, StringsHoldBracketsQuotesAndEscapes) {
  EXPECT_THAT(
      Tokens(R"(["[{", "\"[", "\\", '"[', '\''])"),
      ElementsAre("[", R"("[{")", ",", R"("\"[")", ",", R"("\\")", ",", R"('"[')", ",", R"('\'')", "]"));
}

TEST(JsonScanTest, StringsWithoutAnEndReachTheEndOfTheText) {
  EXPECT_THAT(Tokens("[\"a"), ElementsAre("[", "\"a"));
  EXPECT_THAT(Tokens("[\""), ElementsAre("[", "\""));
  EXPECT_THAT(Tokens("[\"\\"), ElementsAre("[", "\"\\"));
}

TEST(JsonScanTest, NestingIsBounded) {
  EXPECT_OK(CheckJsonNesting(Repeat("[", 200)));
  EXPECT_OK(CheckJsonNesting(Repeat("{\"a\":[", 100) + Repeat("]}", 100)));
  EXPECT_OK(CheckJsonNesting(Repeat("[[],{}],", 1000)));
  EXPECT_OK(CheckJsonNesting("[\"" + Repeat("[", 1000) + "\"]"));
  EXPECT_THAT(CheckJsonNesting(Repeat("{\"a\":[", 100) + "[0"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than 200 deep at byte 600")));
}

// Protobuf's parser takes hundreds of bytes for each open bracket in a repeated field.
TEST(JsonScanTest, FilesOfOpenBracketsAreRefusedBeforeTheyAreParsed) {
  EXPECT_THAT(ReadHlo("{\"computations\":" + Repeat("[", 1 << 20)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nest more than 200 deep")));
}

TEST(JsonScanTest, ZerosKeepTheirSign) {
  EXPECT_EQ(WithSignedZeros("{\"-0\":[-0,-0 ,-0.5,0,-01,\"a-0\"],\"b\":-0}"),
            "{\"-0\":[-0.0,-0.0 ,-0.5,0,-01,\"a-0\"],\"b\":-0.0}");
  const std::string text =
      "HloModule m\nENTRY e { a = f32[2] constant({-0, 1}) b = f64[] constant(-0) c = c64[1] constant({(0, "
      "-0)}) "
      "ROOT t = (f32[2], f64[], c64[1]) tuple(a, b, c) }";
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(text));
  ASSERT_OK_AND_ASSIGN(std::string json, SerializeHlo(file, Format::kJson));
  EXPECT_THAT(json, HasSubstr("-0.0"));
  for (int other = 0; other < 2; ++other) {
    ASSERT_OK_AND_ASSIGN(const HloFile again, ReadHlo(json));
    const std::string printed = PrintModule(*again.module);
    EXPECT_THAT(printed, HasSubstr("constant({-0, 1})"));
    EXPECT_THAT(printed, HasSubstr("constant(-0)"));
    EXPECT_THAT(printed, HasSubstr("constant({(0, -0)})"));
    json = absl::StrReplaceAll(json, {{"-0.0", "-0"}});  // Other writers spell it so.
  }
}

// Tuples nest deepest in a module; protobuf writes JSON of up to about 60 nested messages.
TEST(JsonScanTest, DeepShapesAreRead) {
  std::string shape = "f32[]";
  for (int i = 0; i < 50; ++i) shape = "(" + shape + ")";
  ASSERT_OK_AND_ASSIGN(const HloFile file,
                       ReadHlo("HloModule m\nENTRY e { ROOT p = " + shape + " parameter(0) }"));
  ASSERT_OK_AND_ASSIGN(const std::string binary, SerializeHlo(file, Format::kContainer));
  ASSERT_OK(ReadHlo(binary));
  ASSERT_OK_AND_ASSIGN(const std::string json, SerializeHlo(file, Format::kJson));
  EXPECT_OK(ReadHlo(json));
}

}  // namespace
}  // namespace toroid
