// BUILD: size = "small"
// The table of the benchmark of sharding search, on an instance made here.
#include "benchmarks/iopddl_table.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/files.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kList[] =
    "instance\tmodel\tmesh\tnodes\tedges\tseconds\tbest\tknown\tbound\n"
    "Z\tTwo\t1x2\t2\t1\t20\t6\t3\t2\n";
constexpr char kProblem[] =
    R"({"problem": {"name": "Z", "nodes": {"intervals": [[0, 5], [0, 5]], "costs": [[0, 3], [4, 0]], "usages": [[8, 2], [8, 2]]},)"
    R"( "edges": {"nodes": [[0, 1]], "costs": [[0, 5, 5, 0]]}, "usage_limit": 10}})";

TEST(IopddlTableTest, ReadsTheListOfInstances) {
  ASSERT_OK_AND_ASSIGN(const std::vector<IopddlInstance> instances, ParseIopddlInstances(kList));
  ASSERT_EQ(instances.size(), 1u);
  EXPECT_EQ(instances[0].name, "Z");
  EXPECT_EQ(instances[0].mesh, "1x2");
  EXPECT_EQ(instances[0].seconds, 20);
  EXPECT_EQ(instances[0].best_in_contest, 6);
  EXPECT_EQ(instances[0].best_known, 3);
  EXPECT_EQ(instances[0].bound, 2);
  EXPECT_THAT(ParseIopddlInstances("names\nZ\tTwo\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 2")));
}

TEST(IopddlTableTest, SolvesEachInstance) {
  const std::string folder = ::testing::TempDir();
  ASSERT_OK(WriteFile(folder + "/best_known.tsv", kList));
  ASSERT_OK(WriteOutput(folder + "/Z.json.gz", kProblem));
  ASSERT_OK_AND_ASSIGN(const std::string text, IopddlTable(folder, 2, SolveOptions()));
  EXPECT_THAT(text, AllOf(HasSubstr("optimal"), HasSubstr("Points: 1.0000 of 1."))) << text;
}

}  // namespace
}  // namespace toroid
