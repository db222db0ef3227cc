// Matchers and assertions for absl::Status and absl::StatusOr.
//
//   ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(text));
//   EXPECT_OK(VerifyModule(*module));
//   EXPECT_THAT(ParseModule("x"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1:1")));
#pragma once

#include <ostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/status.h"

namespace toroid {
namespace testing_internal {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& status_or) {
  return status_or.status();
}

}  // namespace testing_internal

// Matches an OK Status or StatusOr.
MATCHER(IsOk, negation ? "is not OK" : "is OK") {
  const absl::Status& status = testing_internal::StatusOf(arg);
  *result_listener << "whose status is " << status.ToString();
  return status.ok();
}

// Matches an OK StatusOr whose value matches.
MATCHER_P(IsOkAndHolds, inner, "is OK and holds a matching value") {
  if (!arg.ok()) {
    *result_listener << "whose status is " << arg.status().ToString();
    return false;
  }
  return ::testing::ExplainMatchResult(inner, *arg, result_listener);
}

// Matches a status with this code.
MATCHER_P(StatusIs, code, "has the given status code") {
  const absl::Status& status = testing_internal::StatusOf(arg);
  *result_listener << "whose status is " << status.ToString();
  return status.code() == code;
}

// Matches a status with this code whose message matches.
MATCHER_P2(StatusIs, code, message, "has the given status code and message") {
  const absl::Status& status = testing_internal::StatusOf(arg);
  *result_listener << "whose status is " << status.ToString();
  return status.code() == code &&
         ::testing::ExplainMatchResult(message, std::string(status.message()), result_listener);
}

}  // namespace toroid

#define EXPECT_OK(expression) EXPECT_THAT((expression), ::toroid::IsOk())
#define ASSERT_OK(expression) ASSERT_THAT((expression), ::toroid::IsOk())
#define ASSERT_OK_AND_ASSIGN(declaration, expression) \
  ASSERT_OK_AND_ASSIGN_IMPL(TOROID_CONCAT(toroid_test_status_or_, __LINE__), declaration, expression)
#define ASSERT_OK_AND_ASSIGN_IMPL(result, declaration, expression) \
  auto result = (expression);                                      \
  ASSERT_TRUE(result.ok()) << result.status().ToString();          \
  declaration = std::move(result).value()
