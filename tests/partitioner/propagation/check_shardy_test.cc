// BUILD: size = "small"
// Shardy attributes that name axes, meshes or dimensions which the module does not have.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "partitioner/propagation/read_annotations.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

constexpr char kMesh[] =
    "HloModule m, frontend_attributes={xla.sdy.meshes=\"{mesh = #sdy.mesh<[\\\"a\\\"=2, \\\"b\\\"=4]>}\"}\n";

absl::Status Check(const std::string& text) { return CheckShardyAttributes(*ProgramFor(text, 8)); }

// The error of a module with these attributes on its parameter.
absl::Status ErrorOf(const std::string& attributes, const std::string& header = kMesh) {
  return Check(absl::StrCat(header, "ENTRY main { x = f32[8,16] parameter(0), frontend_attributes={",
                            attributes, "} ROOT y = f32[8,16] negate(x) }"));
}
absl::Status ErrorOfSharding(absl::string_view sharding) {
  return ErrorOf(absl::StrCat("xla.sdy.sharding=\"#sdy.sharding<", sharding, ">\""));
}

TEST(CheckShardyTest, ShardingsThatNameWhatIsNotThereAreErrors) {
  const auto invalid = [](absl::string_view what) {
    return StatusIs(absl::StatusCode::kInvalidArgument,
                    testing::AllOf(HasSubstr("main/x: "), HasSubstr(std::string(what))));
  };
  EXPECT_THAT(ErrorOf("xla.sdy.sharding=\"#sdy.sharding<@grid, [{\\\"rows\\\"}, {}]>\"", "HloModule m\n"),
              invalid("the module has no mesh @grid"));
  EXPECT_THAT(ErrorOfSharding("@grid, [{}, {}]"), invalid("the module has no mesh @grid"));
  EXPECT_THAT(ErrorOfSharding("@mesh, [{\\\"c\\\"}, {}]"), invalid("the mesh has no axis \"c\""));
  EXPECT_THAT(ErrorOfSharding("@mesh, [{\\\"a\\\"}, {\\\"a\\\"}]"), invalid("axis \"a\" is used twice"));
  EXPECT_THAT(ErrorOfSharding("@mesh, [{\\\"a\\\"}, {}], replicated={\\\"a\\\"}"),
              invalid("axis \"a\" is used twice"));
  EXPECT_THAT(ErrorOfSharding("@mesh, [{\\\"b\\\":(1)2}, {\\\"b\\\"}]"), invalid("axis \"b\" is used twice"));
  EXPECT_THAT(ErrorOfSharding("@mesh, [{\\\"b\\\":(2)4}, {}]"),
              invalid("the sub-axis does not divide its axis"));
  EXPECT_THAT(ErrorOfSharding("@mesh, [{\\\"b\\\":(1)8}, {}]"),
              invalid("the sub-axis does not divide its axis"));
  EXPECT_THAT(ErrorOf("xla.sdy.sharding=\"#sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>]>\""),
              invalid("xla.sdy.sharding has 2 shardings for 1 values"));
  EXPECT_THAT(ErrorOfSharding("@mesh, [{}, {}, {}]"),
              invalid("xla.sdy.sharding has 3 dimensions for f32[8,16]"));
  EXPECT_OK(ErrorOfSharding("@mesh, [{\\\"b\\\":(1)2}, {\\\"b\\\":(2)2}]"));
}

TEST(CheckShardyTest, AttributesAreReadWherePropagationDoesNotLook) {
  EXPECT_THAT(
      Check("HloModule m\ndead { p = f32[4] parameter(0) ROOT n = f32[4] negate(p), "
            "frontend_attributes={xla.sdy.sharding=\"#sdy.sharding<@grid, [{}]>\"} }\n"
            "ENTRY main { x = f32[4] parameter(0) ROOT y = f32[4] negate(x) }"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("dead/n: sdy attribute, column 20: the module "
                                                             "has no mesh @grid")));
}

TEST(CheckShardyTest, ManualAxesAreThoseOfTheMesh) {
  const auto region = [](const std::string& axis) {
    return Check(
        absl::StrCat(kMesh,
                     "ENTRY main { x = f32[8,16] parameter(0) ROOT y = f32[4,16] custom-call(x), "
                     "custom_call_target=\"xla.sdy.GlobalToLocalShape\", frontend_attributes={"
                     "xla.sdy.manual_axes=\"#sdy<manual_axes{\\\"",
                     axis,
                     "\\\"}>\", "
                     "xla.sdy.in_shardings=\"#sdy.sharding_per_value<[<@mesh, [{\\\"a\\\"}, {}]>]>\"} }"));
  };
  EXPECT_OK(region("a"));
  EXPECT_THAT(region("c"), StatusIs(absl::StatusCode::kInvalidArgument,
                                    HasSubstr("main/y: manual axis \"c\" is not in the mesh")));
}

TEST(CheckShardyTest, CallbacksWithoutResultsHaveOneSharding) {
  EXPECT_OK(Check(absl::StrCat(kMesh,
                               "ENTRY main { x = f32[8] parameter(0) c = () custom-call(x), "
                               "custom_call_target=\"print\", custom_call_has_side_effect=true, "
                               "frontend_attributes={xla.sdy.sharding=\"#sdy.sharding_per_value<[<mesh<[], "
                               "device_ids=[1]>, []>]>\"} ROOT y = f32[8] negate(x) }")));
}

}  // namespace
}  // namespace toroid
