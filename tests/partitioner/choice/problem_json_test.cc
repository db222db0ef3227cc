// BUILD: size = "small"
// The benchmark's format: read, written, refused.
#include "partitioner/choice/problem_json.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/partitioner/choice/random_problem.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kProblem[] =
    R"({"problem": {"name": "x", "nodes": {"intervals": [[0, 5], []], "costs": [[0, 3], [4, 0]], "usages": [[8, 2], [8, 2]]},)"
    R"( "edges": {"nodes": [[0, 1]], "costs": [[0, 5, 1000000000000000001, 0]]}, "usage_limit": 10}})";

TEST(ProblemJsonTest, ReadsTheFormat) {
  ASSERT_OK_AND_ASSIGN(const ChoiceProblem problem, ParseChoiceProblem(kProblem));
  EXPECT_EQ(problem.name, "x");
  ASSERT_EQ(problem.nodes.size(), 2u);
  EXPECT_EQ(problem.nodes[0].end, 5);
  EXPECT_EQ(problem.nodes[1].end, 0);
  EXPECT_EQ(problem.edges[0].costs, (std::vector<int64_t>{0, 5, kForbidden, 0}));
  EXPECT_EQ(problem.usage_limit, 10);
}

TEST(ProblemJsonTest, WhatIsWrittenIsReadAgain) {
  RandomNumbers random(5);
  for (int k = 0; k < 20; ++k) {
    ChoiceProblem problem = RandomProblem(random, 9);
    if (k % 2 == 0) problem.usage_limit = 9;
    const std::string text = PrintChoiceProblem(problem);
    ASSERT_OK_AND_ASSIGN(const ChoiceProblem read, ParseChoiceProblem(text));
    EXPECT_EQ(PrintChoiceProblem(read), text);
    EXPECT_EQ(Enumerate(read).cost, Enumerate(problem).cost);
  }
}

TEST(ProblemJsonTest, RefusesWhatIsMalformedInOneLine) {
  const std::pair<std::string, std::string> kChanges[] = {
      {R"("usage_limit": 10)", R"("usage_limit": 1e1)"},
      {R"("usage_limit": 10)", R"("usage_limit": -1)"},
      {R"("usage_limit": 10)", R"("usage_limit": 99999999999999999999)"},
      {"[[0, 1]]", "[[0, 2]]"},
      {"[[0, 1]]", "[[0, -1]]"},
      {"[[0, 1]]", "[[]]"},
      {"[[0, 1]]", "[0]"},
      {"[[0, 1]]", "[]"},
      {"[0, 5,", "[0,"},
      {"[0, 5,", "[0, \"5\","},
      {"[0, 3]", "[]"},
      {"[0, 3]", "[0, -3]"},
      {"[0, 3]", "[[[[[[[[0]]]]]]]]"},
      {"[[8, 2],", "["},
      {"[0, 5]", "[0]"},
      {"\"costs\"", "\"cost\""},
      {"\"edges\"", "\"edge\""},
      {"\"problem\"", "\"question\""},
      {"}}", "}"},
  };
  for (const auto& [from, to] : kChanges) {
    const std::string text = absl::StrReplaceAll(kProblem, {{from, to}});
    ASSERT_NE(text, kProblem) << from;
    EXPECT_THAT(ParseChoiceProblem(text), StatusIs(absl::StatusCode::kInvalidArgument, Not(HasSubstr("\n"))))
        << text;
  }
  EXPECT_THAT(ParseChoiceProblem(std::string(100'000, '[')), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ParseChoiceProblem(""), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ProblemJsonTest, Answers) {
  ASSERT_OK_AND_ASSIGN(const ChoiceProblem problem, ParseChoiceProblem(kProblem));
  EXPECT_EQ(PrintChoice({1, 0}), "[1, 0]\n");
  ASSERT_OK_AND_ASSIGN(const std::vector<int> choice, ParseChoice("[1, 0]\n", problem));
  EXPECT_EQ(Evaluate(problem, choice).cost, kForbidden);
  EXPECT_THAT(ParseChoice("[1]", problem),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("1 nodes"), HasSubstr("2"))));
  EXPECT_THAT(ParseChoice("[1, 2]", problem),
              StatusIs(absl::StatusCode::kInvalidArgument, "node 1: no strategy 2"));
  EXPECT_THAT(ParseChoice("[1, 4294967296]", problem), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ParseChoice("{}", problem), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace toroid
