// Which operands an op takes as partial sums, and how it is computed.
#include "partitioner/plan/op_decider.h"

#include <optional>

#include "gmock/gmock.h"
#include "tests/partitioner/rewrite/rewrite_fixture.h"

namespace toroid {
namespace {

const char kSums[] = R"(ENTRY main {
  p = f32[8,8] parameter(0)
  q = f32[8,8] parameter(1)
  a = f32[8,8] negate(p)
  b = f32[8,8] negate(q)
  sum = f32[8,8] add(a, b)
  product = f32[8,8] multiply(sum, q)
  bent = f32[8,8] tanh(product)
  ROOT t = (f32[8,8], f32[8,8]) tuple(bent, sum)
})";

class OpDecisionTest : public testing::Test {
 protected:
  // A program whose tensors exist in the shardings that AddValue says.
  struct Fixture : RewriteFixture {
    Fixture(const std::string& text, int64_t n) : RewriteFixture(text, n), memo(*program), undecided(plan) {
      undecided.ops.clear();
      steps.emplace(undecided, &memo);
      places.emplace(*steps, memo.versions());
    }
    void AddValue(absl::string_view name, const Sharding& sharding) {
      VersionSets& versions = memo.versions();
      places->Put(Tensor(name), versions.SetOf(versions.Number(sharding)));
    }
    const FlowOp& Op(absl::string_view name) const { return *program->graph->OpOf(Get(name)); }

    PlanMemo memo;
    Plan undecided;
    std::optional<ProgramSteps> steps;
    std::optional<ValuePlaces> places;
  };

  OpDecider Decider(Fixture& f) { return {f.undecided, CheapestAssignments(), *f.places, &f.memo}; }
  PartialOperands Passed(Fixture& f, absl::string_view name) {
    return Decider(f).OperandsToPassOn(f.Get(name), f.Op(name));
  }
  OpDecision Decide(Fixture& f, absl::string_view name) { return Decider(f).Decide(f.Get(name), f.Op(name)); }
};

TEST_F(OpDecisionTest, ASumTakesTermsThatArePartialAlike) {
  Fixture f(kSums, 4);
  f.AddValue("a", PartialOverAll(f, 2));
  f.AddValue("b", PartialOverAll(f, 2));
  const PartialOperands passed = Passed(f, "sum");
  EXPECT_EQ(passed.operands, 0b11);
  EXPECT_EQ(passed.axes, f.state.mesh.AllAxes());
  const OpDecision decision = Decide(f, "sum");
  EXPECT_EQ(decision.passed_on.operands, 0b11);
  const FlowOp& op = *f.program->graph->OpOf(f.Get("sum"));
  EXPECT_EQ(OperandSharding(*f.program, op, 0, decision), PartialOverAll(f, 2));
  EXPECT_EQ(ResultSharding(*f.program, op, 0, decision), PartialOverAll(f, 2));
}

TEST_F(OpDecisionTest, ATermThatIsCompleteIsNoTermOfASumOverDevices) {
  Fixture f(kSums, 4);
  f.AddValue("a", PartialOverAll(f, 2));
  f.AddValue("b", Sharding::Replicated(2));
  EXPECT_TRUE(Passed(f, "sum").none()) << "each device would add it once";
  EXPECT_TRUE(Decide(f, "sum").passed_on.none());
}

TEST_F(OpDecisionTest, TermsOverOtherAxesOrOfAnotherReducerAreReducedFirst) {
  Fixture f(kSums, 4);
  f.AddValue("a", PartialOverAll(f, 2));
  Sharding largest = PartialOverAll(f, 2);
  largest.reducer = Reducer::kMaximum;
  f.AddValue("b", largest);
  EXPECT_TRUE(Passed(f, "sum").none());
}

TEST_F(OpDecisionTest, MaximaOfPartsGoThroughNoArithmetic) {
  Fixture f(kSums, 4);
  Sharding largest = PartialOverAll(f, 2);
  largest.reducer = Reducer::kMaximum;
  f.AddValue("a", largest);
  f.AddValue("b", largest);
  EXPECT_TRUE(Passed(f, "sum").none()) << "the maximum of sums is not the sum of maxima";
}

TEST_F(OpDecisionTest, ZerosCountAsAPartialTerm) {
  Fixture f(R"(ENTRY main {
    p = f32[8,8] parameter(0)
    a = f32[8,8] negate(p)
    zero = f32[] constant(0)
    zeros = f32[8,8] broadcast(zero), dimensions={}
    ROOT sum = f32[8,8] add(a, zeros)
  })",
            4);
  f.AddValue("a", PartialOverAll(f, 2));
  f.AddValue("zeros", Sharding::Replicated(2));
  EXPECT_EQ(Passed(f, "sum").operands, 0b01);
}

TEST_F(OpDecisionTest, WhatANonlinearOpNeedsReducedIsPassedOnToNone) {
  Fixture f(R"(ENTRY main {
    p = f32[8,8] parameter(0), sharding={devices=[1,$n]<=[$n]}
    q = f32[8,8] parameter(1), sharding={devices=[$n,1]<=[$n]}
    d = f32[8,8] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    minus = f32[8,8] negate(d)
    bent = f32[8,8] tanh(d)
    ROOT t = (f32[8,8], f32[8,8]) tuple(minus, bent)
  })",
            4);
  f.AddValue("d", PartialOverAll(f, 2));
  EXPECT_TRUE(Passed(f, "bent").none());
  EXPECT_TRUE(Passed(f, "minus").none()) << "it is reduced for tanh anyway, once for both";
}

TEST_F(OpDecisionTest, AContractionOverACutDimensionLeavesItsResultPartial) {
  Fixture f(R"(ENTRY main {
    p = f32[8,16] parameter(0), sharding={devices=[1,$n]<=[$n]}
    q = f32[16,8] parameter(1), sharding={devices=[$n,1]<=[$n]}
    ROOT d = f32[8,8] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  })",
            4);
  f.AddValue("p", CutAlong(f, 2, 1));
  f.AddValue("q", CutAlong(f, 2, 0));
  const FlowOp& op = *f.program->graph->OpOf(f.Get("d"));
  const OpDecision decision = Decide(f, "d");
  EXPECT_EQ(OperandSharding(*f.program, op, 0, decision), CutAlong(f, 2, 1));
  EXPECT_EQ(ResultSharding(*f.program, op, 0, decision).partial, f.state.mesh.AllAxes());
}

}  // namespace
}  // namespace toroid
