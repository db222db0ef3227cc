// BUILD: size = "small"
// BUILD: data = ["//hlo/ops:collectives.h", "//hlo/ops:control_flow.h", "//hlo/ops:convolution.h", "//hlo/ops:data_movement.h", "//hlo/ops:dot.h", "//hlo/ops:elementwise.h", "//hlo/ops:indexing.h", "//hlo/ops:infer_shape.h", "//hlo/ops:linear_algebra.h", "//hlo/ops:random.h", "//hlo/ops:reduce.h", "//hlo/ops:sort.h", "//hlo/ops:structure.h", "//hlo/ops:transfer.h", "//hlo/ops:verify_module.h"]
// Headers of hlo/ops and tables of violating cases agree: for every listed constraint a case breaks it and
// its message names it, and no case breaks a constraint that is not listed.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "hlo/opcode.h"
#include "tests/hlo/ops/constraint_cases.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The names in `listed` that list this constraint for the opcode.
std::vector<std::vector<std::string>> SectionsWith(const ConstraintList& listed, Opcode opcode,
                                                   const std::string& constraint) {
  std::vector<std::vector<std::string>> found;
  const std::vector<std::string> own = NamesOf(opcode);
  for (const auto& [names, constraints] : listed) {
    const bool covers = std::any_of(own.begin(), own.end(), [&names = names](const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    });
    if (covers && std::find(constraints.begin(), constraints.end(), constraint) != constraints.end()) {
      found.push_back(names);
    }
  }
  return found;
}

class ConstraintsTest : public ::testing::TestWithParam<int> {
 protected:
  const ConstraintTable& table() const { return ConstraintTables()[GetParam()]; }
};

TEST_P(ConstraintsTest, EachIsViolated) {
  const ConstraintList listed = ConstraintsIn(table().header);
  std::set<std::pair<std::vector<std::string>, std::string>> missing;
  for (const auto& [names, constraints] : listed) {
    for (const std::string& constraint : constraints) missing.emplace(names, constraint);
  }
  EXPECT_FALSE(missing.empty()) << table().header << " lists no constraint";
  for (const ViolatingCase& c : table().cases) {
    SCOPED_TRACE(absl::StrCat(c.constraint, ": ", c.instruction));
    const absl::StatusOr<Verdict> verdict = VerdictOf(c);
    if (!verdict.ok()) {
      ADD_FAILURE() << verdict.status();
      continue;
    }
    EXPECT_THAT(verdict->status,
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(StartsWith(c.place), HasSubstr(absl::StrCat(" (", c.constraint, ")")),
                               HasSubstr(": found "), HasSubstr(", expected "), HasSubstr(c.words))));
    const auto sections = SectionsWith(listed, verdict->opcode, c.constraint);
    EXPECT_EQ(sections.size(), 1) << table().header << " lists " << c.constraint << " of "
                                  << OpcodeName(verdict->opcode) << " in " << sections.size() << " places";
    for (const auto& names : sections) missing.erase({names, c.constraint});
  }
  for (const auto& [names, constraint] : missing) {
    ADD_FAILURE() << table().header << ": no case violates " << constraint << " of "
                  << absl::StrJoin(names, ", ");
  }
}

// Numbers run from 1 without gaps; for an op in two sections the second continues the numbers of the first.
TEST_P(ConstraintsTest, NumbersHaveNoHoles) {
  const ConstraintList listed = ConstraintsIn(table().header);
  std::map<std::string, std::set<int>> numbers;
  for (const auto& [names, constraints] : listed) {
    for (const std::string& name : names) {
      for (const std::string& constraint : constraints) {
        EXPECT_TRUE(numbers[name].insert(std::stoi(constraint.substr(1))).second)
            << table().header << ": " << constraint << " of " << name << " twice";
      }
    }
  }
  for (const auto& [name, of_name] : numbers) {
    EXPECT_EQ(*of_name.rbegin(), static_cast<int>(of_name.size()))
        << table().header << ": numbers of " << name;
  }
}

std::string NameOfTable(const ::testing::TestParamInfo<int>& info) {
  const std::string& header = ConstraintTables()[info.param].header;
  return header.substr(8, header.size() - 10);  // hlo/ops/NAME.h
}

INSTANTIATE_TEST_SUITE_P(Headers, ConstraintsTest,
                         ::testing::Range(0, static_cast<int>(ConstraintTables().size())), NameOfTable);

// An opcode that no header names has no constraints, and would pass the tests above.
TEST(ConstraintListsTest, EveryOpcodeIsNamedInOneHeaderAndRejectedOnce) {
  std::map<std::string, std::set<std::string>> headers;  // By name.
  std::set<Opcode> rejected;
  for (const ConstraintTable& table : ConstraintTables()) {
    for (const auto& [names, constraints] : ConstraintsIn(table.header)) {
      for (const std::string& name : names) headers[name].insert(table.header);
    }
    for (const ViolatingCase& c : table.cases) {
      ASSERT_OK_AND_ASSIGN(const Verdict verdict, VerdictOf(c));
      if (!verdict.status.ok() && c.constraint[0] != 'M') rejected.insert(verdict.opcode);
    }
  }
  for (int i = 0; i < kNumOpcodes; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    std::set<std::string> own;
    for (const std::string& name : NamesOf(opcode)) {
      if (name != "every-opcode" && name != "module") own.insert(headers[name].begin(), headers[name].end());
    }
    EXPECT_EQ(own.size(), 1) << OpcodeName(opcode) << " is listed in: " << absl::StrJoin(own, ", ");
    EXPECT_EQ(rejected.count(opcode), 1) << "no case rejects " << OpcodeName(opcode);
  }
}

}  // namespace
}  // namespace toroid
