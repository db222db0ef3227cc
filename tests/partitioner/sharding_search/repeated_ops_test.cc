// BUILD: size = "small"
// Layers that repeat have few kinds of ops and tensors.
#include "partitioner/sharding_search/repeated_ops.h"

#include <set>
#include <string>

#include "gtest/gtest.h"
#include "partitioner/choice/solve.h"
#include "tests/partitioner/sharding_search/models.h"
#include "tests/partitioner/sharding_search/searched_program.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

struct Counted {
  size_t ops = 0, tensors = 0;
};

Counted CountKinds(int layers) {
  const SearchedProgram on = PrepareForSearch(Layers(layers, 64, 32), "x=2");
  const Kinds kinds = RepeatedKinds(ProgramSteps(on.base, on.memo.get()), *on.memo);
  return {std::set<int>(kinds.of_op.begin(), kinds.of_op.end()).size(),
          std::set<int>(kinds.of_tensor.begin(), kinds.of_tensor.end()).size()};
}

TEST(RepeatedOpsTest, TheNumberOfKindsDoesNotDependOnTheNumberOfLayers) {
  const Counted eight = CountKinds(8), sixteen = CountKinds(16), more = CountKinds(40);
  EXPECT_EQ(eight.ops, sixteen.ops);
  EXPECT_EQ(eight.tensors, sixteen.tensors);
  EXPECT_EQ(more.ops, sixteen.ops);
  EXPECT_EQ(more.tensors, sixteen.tensors);
  EXPECT_LT(sixteen.ops, 16u * 5u / 2);
}

TEST(RepeatedOpsTest, QueryAndKeyAreOfOneKindAndTheOutputOfAnother) {
  const SearchedProgram on = PrepareForSearch(Layers(12, 64, 32), "x=2");
  const Kinds kinds = RepeatedKinds(ProgramSteps(on.base, on.memo.get()), *on.memo);
  const auto kind = [&](const char* name) { return kinds.of_tensor[on.TensorOf(name)]; };
  EXPECT_EQ(kind("wq5"), kind("wq6"));
  EXPECT_EQ(kind("q5"), kind("q6"));
  EXPECT_NE(kind("wq5"), kind("wo5"));
  EXPECT_NE(kind("q5"), kind("o5"));
  EXPECT_NE(kind("wq0"), kind("wq6")) << "the first layer begins at the argument";
}

TEST(RepeatedOpsTest, ApartEachOpAndTensorIsItsOwn) {
  const SearchedProgram on = PrepareForSearch(Layers(3, 64, 32), "x=2");
  const Kinds kinds = AllApart(ProgramSteps(on.base, on.memo.get()));
  for (size_t i = 0; i < kinds.of_op.size(); ++i) EXPECT_EQ(kinds.of_op[i], static_cast<int>(i));
  for (size_t t = 0; t < kinds.of_tensor.size(); ++t) EXPECT_EQ(kinds.of_tensor[t], static_cast<int>(t));
}

TEST(RepeatedOpsTest, AnAnnotationSetsALayerApart) {
  std::string text = Layers(12, 64, 32);
  const std::string whole = "wq6 = f32[32,32] parameter(19)";
  const size_t at = text.find(whole);
  ASSERT_NE(at, std::string::npos);
  text.insert(at + whole.size(), ", sharding={devices=[2,1]<=[2]}");
  const SearchedProgram on = PrepareForSearch(text, "");
  const Kinds kinds = RepeatedKinds(ProgramSteps(on.base, on.memo.get()), *on.memo);
  EXPECT_NE(kinds.of_tensor[on.TensorOf("wq6")], kinds.of_tensor[on.TensorOf("wq5")]);
}

TEST(RepeatedOpsTest, LayersThatShareTheirChoiceCostNoMoreNodesAndTheSame) {
  SearchedProgram few = PrepareForSearch(Layers(8, 64, 32), "x=2");
  SearchedProgram many = PrepareForSearch(Layers(24, 64, 32), "x=2");
  few.space.repeats = many.space.repeats = true;
  ASSERT_OK_AND_ASSIGN(const ShardingProblem of_few,
                       ShardingProblem::Make(few.base, few.space, few.memo.get()));
  ASSERT_OK_AND_ASSIGN(const ShardingProblem of_many,
                       ShardingProblem::Make(many.base, many.space, many.memo.get()));
  EXPECT_EQ(of_few.problem().nodes.size(), of_many.problem().nodes.size());

  // Equal layers are best cut equally, so that nothing is lost here by sharing.
  SearchSpace apart = few.space;
  apart.repeats = false;
  ASSERT_OK_AND_ASSIGN(const ShardingProblem alone, ShardingProblem::Make(few.base, apart, few.memo.get()));
  EXPECT_GT(alone.problem().nodes.size(), of_few.problem().nodes.size());
  ASSERT_OK_AND_ASSIGN(const Solution shared, Solve(of_few.problem(), SolveOptions()));
  ASSERT_OK_AND_ASSIGN(const Solution own, Solve(alone.problem(), SolveOptions()));
  EXPECT_LE(own.cost, shared.cost + static_cast<int64_t>(alone.problem().nodes.size()));
  EXPECT_LE(static_cast<double>(shared.cost), 1.01 * static_cast<double>(own.cost));
}

}  // namespace
}  // namespace toroid
