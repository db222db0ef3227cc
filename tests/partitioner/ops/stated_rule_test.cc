// BUILD: size = "small"
// Custom calls with a Shardy sharding rule.
#include "partitioner/ops/stated_rule.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/partitioner/equivalence.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A call of an unknown target, f32[32,8] -> f32[32,8]. Its operand has the sharding `sharding`, its result
// has none.
std::string Call(const std::string& rule, const std::string& sharding = "{devices=[$n,1]<=[$n]}") {
  return absl::StrCat("ENTRY main { x = f32[32,8] parameter(0), sharding=", sharding,
                      " y = f32[32,8] custom-call(x), custom_call_target=\"kernel\", "
                      "frontend_attributes={xla.sdy.sharding_rule=\"#sdy.op_sharding_rule<",
                      rule, ", custom>\"} ROOT z = f32[32,8] tanh(y) }");
}

TEST(StatedRuleTest, FactorsThatPassThroughStayCut) {
  EXPECT_THAT(Collectives(Call("([i, j])->([i, j]) {i=32, j=8} need_replication={j}"), 4), IsEmpty());
  EXPECT_THAT(Collectives(Call("([i, j])->([i, j]) {i=32, j=8}"), 4), IsEmpty());
}

TEST(StatedRuleTest, TheTargetSeesNoPaddingAndTheLocalCallStatesNoRule) {
  // j is not cut either, since no part of the axis divides 5.
  const auto local_call = [](int64_t rows) -> std::string {
    const std::string text = absl::StrCat(
        "ENTRY main { x = f32[", rows, ",5] parameter(0), sharding={devices=[$n,1]<=[$n]} y = f32[", rows,
        ",5] custom-call(x), custom_call_target=\"kernel\", frontend_attributes={xla.sdy.sharding_rule=",
        "\"#sdy.op_sharding_rule<([i, j])->([i, j]) {i=", rows, ", j=5}, custom>\"} ROOT z = f32[", rows,
        ",5] tanh(y) }");
    const auto partitioned = PartitionModule(*ProgramFor(text, 4), PartitionOptions());
    if (!partitioned.ok()) return partitioned.status().ToString();
    for (const auto& instruction : partitioned->module->entry()->instructions()) {
      if (instruction->opcode() != Opcode::kCustomCall) continue;
      EXPECT_EQ(instruction->FrontendAttribute("xla.sdy.sharding_rule"), nullptr);
      return absl::StrCat(instruction->operand(0)->shape().ToString(), " ", instruction->shape().ToString());
    }
    return "no call";
  };
  EXPECT_EQ(local_call(32), "f32[8,5] f32[8,5]");
  EXPECT_EQ(local_call(30), "f32[15,5] f32[15,5]");
  EXPECT_EQ(local_call(29), "f32[29,5] f32[29,5]");
}

TEST(StatedRuleTest, FactorsThatNeedReplicationAreGathered) {
  const std::string cut_columns = "{devices=[1,$n]<=[$n]}";
  EXPECT_THAT(Collectives(Call("([i, j])->([i, j]) {i=32, j=8} need_replication={j}", cut_columns), 4),
              testing::Not(IsEmpty()));
  EXPECT_THAT(Collectives(Call("([i, j])->([i, j]) {i=32, j=8} permutation={j}", cut_columns), 4),
              testing::Not(IsEmpty()));
  EXPECT_THAT(Collectives(Call("([i, j])->([i, j]) {i=32, j=8}", cut_columns), 4), IsEmpty());
}

TEST(StatedRuleTest, BlockedFactorsAreCutWhereBothSidesAreAndHoldShardingsBack) {
  const auto call = [](const std::string& operand, const std::string& extras) {
    return absl::StrCat(
        "ENTRY main { x = f32[32,8] parameter(0)", operand,
        " y = f32[32,8] custom-call(x), custom_call_target=\"kernel\", "
        "frontend_attributes={xla.sdy.sharding_rule=\"#sdy.op_sharding_rule<([i, j])->([i, j]) {i=32, j=8} ",
        extras, ", custom>\"} ROOT z = f32[32,8] tanh(y), sharding={devices=[1,$n]<=[$n]} }");
  };
  const std::string cut = ", sharding={devices=[1,$n]<=[$n]}";
  EXPECT_THAT(Collectives(call(cut, "blocked_propagation={j}"), 4), IsEmpty());
  EXPECT_THAT(Collectives(call(cut, "need_replication={j} blocked_propagation={j}"), 4),
              testing::Not(IsEmpty()));
  // The cut of the result does not reach a parameter of which nothing is said.
  const auto parameter = [&](const std::string& extras) {
    const auto partitioned = PartitionModule(*ProgramFor(call("", extras), 4), PartitionOptions());
    if (!partitioned.ok()) return partitioned.status().ToString();
    return partitioned->module->entry()->parameter(0)->shape().ToString();
  };
  EXPECT_EQ(parameter("blocked_propagation={j}"), "f32[32,8]");
  EXPECT_EQ(parameter("blocked_propagation={i}"), "f32[32,2]");
}

TEST(StatedRuleTest, ReductionFactorsLeavePartialSums) {
  const std::string text =
      "ENTRY main { x = f32[8,32] parameter(0), sharding={devices=[1,$n]<=[$n]} "
      "y = f32[8] custom-call(x), custom_call_target=\"sum_of_rows\", "
      "frontend_attributes={xla.sdy.sharding_rule=\"#sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=32} "
      "reduction={j}, custom>\"} ROOT z = f32[8] negate(y), sharding={replicated} }";
  EXPECT_THAT(Collectives(text, 4), ElementsAre(HasSubstr("all-reduce")));
}

// A target with a known meaning, so that values can be compared; also with rows that do not divide evenly.
TEST(StatedRuleTest, ShardsOfACallGiveShardsOfItsResult) {
  for (const char* rows : {"12", "13"}) {
    ExpectEquivalent(absl::StrCat(
        "ENTRY main { x = f32[", rows, ",8] parameter(0), sharding={devices=[$n,1]<=[$n]} t = (f32[", rows,
        ",3], s32[", rows,
        ",3]) custom-call(x), custom_call_target=\"TopK\", "
        "frontend_attributes={xla.sdy.sharding_rule=\"#sdy.op_sharding_rule<([i, j])->([i, k], [i, k]) {i=",
        rows, ", j=8, k=3} need_replication={j, k}, custom>\"} v = f32[", rows,
        ",3] get-tuple-element(t), index=0 ROOT z = f32[", rows, ",3] negate(v) }"));
  }
}

// JAX states that the dimensions of a matrix to be factorized and those of its factors have nothing to do with each other.
TEST(StatedRuleTest, FactorsOfOneSideAreWhole) {
  const std::string apart = "([i, j])->([k, l]) {i=32, j=8, k=32, l=8}";
  EXPECT_THAT(Collectives(Call(apart), 4), ElementsAre(HasSubstr("all-gather")));
  EXPECT_THAT(Collectives(Call(apart, "{devices=[1,$n]<=[$n]}"), 4), ElementsAre(HasSubstr("all-gather")));
  ExpectEquivalent(R"(ENTRY main {
  x = f32[12,8] parameter(0), sharding={devices=[$n,1]<=[$n]}
  t = (f32[12,3], s32[12,3]) custom-call(x), custom_call_target="TopK", frontend_attributes={xla.sdy.sharding_rule="#sdy.op_sharding_rule<([i, j])->([k, l], [m, n]) {i=12, j=8, k=12, l=3, m=12, n=3}, custom>"}
  v = f32[12,3] get-tuple-element(t), index=0
  ROOT z = f32[12,3] negate(v), sharding={devices=[1,$n]<=[$n]}
})");
}

TEST(StatedRuleTest, ASolveIsCutAlongItsRightHandSidesWhateverItsRuleSays) {
  const std::string solve = R"(ENTRY main {
  a = f32[5,5] parameter(0)
  b = f32[5,12] parameter(1), sharding={devices=[1,$n]<=[$n]}
  c = f32[5,12]{0,1} custom-call(a, b), custom_call_target="lapack_strsm_ffi", operand_layout_constraints={f32[5,5]{0,1}, f32[5,12]{0,1}}, api_version=API_VERSION_TYPED_FFI, frontend_attributes={num_batch_dims="0",xla.sdy.sharding_rule="#sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=5, j=5, k=5, l=12, m=5, n=12}, custom>"}, backend_config={diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}
  ROOT z = f32[5,12] negate(c)
})";
  EXPECT_THAT(Collectives(solve, 4), IsEmpty());
  ExpectEquivalent(solve);
}

TEST(StatedRuleTest, RulesThatDoNotFitTheirCallAreErrors) {
  const auto error = [](const std::string& rule) {
    return std::string(PartitionModule(*ProgramFor(Call(rule), 4), PartitionOptions()).status().message());
  };
  EXPECT_THAT(error("([i, j])->([i, j]) {i=32, j=9}"),
              HasSubstr("main/y: the factors of the sharding rule do not make dimension 1 of f32[32,8]"));
  EXPECT_THAT(error("([i, j], [i])->([i, j]) {i=32, j=8}"),
              HasSubstr("the sharding rule has 2 operands, the call 1"));
  EXPECT_THAT(error("([i])->([i, j]) {i=32, j=8}"), HasSubstr("gives one of the operands 1 dimensions"));
  EXPECT_THAT(error("([i, j])->([i, k]) {i=32, j=8}"), HasSubstr("the rule gives factor k no size"));
  EXPECT_THAT(
      error("([i, j])->([i, j]) {i=32, j=8} reduction={j}"),
      HasSubstr(
          "main/y: the sharding rule reduces factor j, yet dimension 1 of the result f32[32,8] has it; a factor of both passes through or is in need_replication"));
  EXPECT_THAT(error("([i, j])->"), HasSubstr("main/y: sdy attribute, column "));
  EXPECT_THAT(error("([i, z_])->([i, z_]) {i=32, z_=8}"),
              HasSubstr("expected a number behind the factor's _"));
}

TEST(StatedRuleTest, ADimensionMayBeMadeOfSeveralFactors) {
  EXPECT_THAT(
      Collectives("ENTRY main { x = f32[32,8] parameter(0), sharding={devices=[$n,1]<=[$n]} "
                  "y = f32[256] custom-call(x), custom_call_target=\"flat\", "
                  "frontend_attributes={xla.sdy.sharding_rule=\"#sdy.op_sharding_rule<([i, j])->([ij]) "
                  "{i=32, j=8}, custom>\"} ROOT z = f32[256] tanh(y) }",
                  4),
      IsEmpty());
}

}  // namespace
}  // namespace toroid
