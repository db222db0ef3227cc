// Constraints on arrays stay in the program of one partition, as identities.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Rows grouped as sequences, constrained, regrouped, cut otherwise, and back; sizes $b and $s.
constexpr char kRegrouped[] = R"(
ENTRY main {
  x = f32[$n,$b,$s,4] parameter(0), sharding={devices=[$n,1,1,1]<=[$n]}
  w = f32[4,4] parameter(1), sharding={replicated}
  d = f32[$n,$b,$s,4] dot(x, w), lhs_contracting_dims={3}, rhs_contracting_dims={0}
  c = f32[$n,$b,$s,4] custom-call(d), custom_call_target="Sharding", sharding={devices=[$n,1,1,1]<=[$n]}
  r = f32[$n,$t,4] reshape(c)
  m = f32[$n,$t,4] negate(r)
  e = f32[$n,$t,4] custom-call(m), custom_call_target="Sharding", sharding={devices=[1,$n,1]<=[$n]}
  ROOT y = f32[$n,$t,4] add(e, r)
})";

std::string Sized(int64_t b, int64_t s) {
  return absl::StrReplaceAll(kRegrouped, {{"$b", absl::StrCat(b)}, {"$s", absl::StrCat(s)}, {"$t", absl::StrCat(b * s)}});
}

TEST(ConstraintMarksTest, AConstraintStaysAsAManualOne) {
  const absl::StatusOr<Partitioned> partitioned = PartitionModule(*ProgramFor(Sized(2, 6), 4), PartitionOptions());
  ASSERT_OK(partitioned.status());
  EXPECT_OK(VerifyModule(*partitioned->module));
  int marks = 0;
  for (const auto& instruction : partitioned->module->entry()->instructions()) {
    if (!IsCallTo(*instruction, "Sharding")) continue;
    ++marks;
    ASSERT_NE(instruction->sharding(), nullptr);
    EXPECT_EQ(instruction->sharding()->type(), xla::OpSharding::MANUAL);
    EXPECT_TRUE(instruction->shape().Compatible(instruction->operand(0)->shape()));
  }
  EXPECT_EQ(marks, 2);
  EXPECT_THAT(PrintModule(*partitioned->module),
              HasSubstr("f32[1,2,6,4]{3,2,1,0} custom-call(dot), custom_call_target=\"Sharding\", sharding={manual}"));
}

TEST(ConstraintMarksTest, OtherAnnotationsGo) {
  const absl::StatusOr<Partitioned> partitioned = PartitionModule(*ProgramFor(R"(
ENTRY main {
  x = f32[8,6] parameter(0), sharding={devices=[2,1]<=[2]}
  b = f32[8,6] custom-call(x), custom_call_target="xla.sdy.PropagationBarrier"
  ROOT y = f32[8,6] negate(b)
})",
                                                                             2),
                                                                 PartitionOptions());
  ASSERT_OK(partitioned.status());
  EXPECT_THAT(PrintModule(*partitioned->module), Not(HasSubstr("custom-call")));
}

TEST(ConstraintMarksTest, PartitionsAgree) {
  for (const auto& [b, s] : {std::pair<int64_t, int64_t>{1, 4}, {2, 3}, {3, 5}}) ExpectEquivalent(Sized(b, s));
}

// The rows themselves are cut, evenly or not, and the sum over columns is wanted whole.
TEST(ConstraintMarksTest, PartitionsOfCutRowsAndPartialSumsAgree) {
  ExpectEquivalent(R"(
ENTRY main {
  x = f32[5,6,4] parameter(0), sharding={devices=[$n,1,1]<=[$n]}
  w = f32[30,3] parameter(1), sharding={devices=[$n,1]<=[$n]}
  c = f32[5,6,4] custom-call(x), custom_call_target="Sharding", sharding={devices=[1,$n,1]<=[$n]}
  r = f32[30,4] reshape(c)
  e = f32[30,4] custom-call(r), custom_call_target="Sharding", sharding={devices=[$n,1]<=[$n]}
  d = f32[4,3] dot(e, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT y = f32[4,3] custom-call(d), custom_call_target="Sharding", sharding={devices=[1,$n]<=[$n]}
})");
}

}  // namespace
}  // namespace toroid
