// BUILD: size = "small"
// Tokens of JSON, well-formed or not, and the bound on nesting.
#include "hlo/io/json_scan.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/file.h"
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

// Protobuf's parser keeps hundreds of bytes for each bracket that is open in a repeated field.
TEST(JsonScanTest, FilesOfOpenBracketsAreRefusedBeforeTheyAreParsed) {
  EXPECT_THAT(ReadHlo("{\"computations\":" + Repeat("[", 1 << 20)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nest more than 200 deep")));
}

// Tuples are what nests deepest in a module; protobuf writes JSON of about 60 messages inside each other.
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
