// BUILD: size = "small"
// Which tensors are annotated in one line, and by which names.
#include "partitioner/sharding_search/annotation_groups.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "partitioner/sharding_search/few_annotations.h"
#include "partitioner/sharding_search/named_annotations.h"
#include "partitioner/sharding_search/tensor_names.h"
#include "tests/partitioner/sharding_search/models.h"
#include "tests/partitioner/sharding_search/searched_program.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<SuggestedAnnotation> GroupsOf(const SearchedProgram& on, const Plan& plan) {
  const Kinds kinds = AllApart(ProgramSteps(plan, on.memo.get()));
  return AnnotationGroups(*on.program, plan, kinds, StateOf(*on.program),
                          GivenNamesOfTensors(*on.module, *on.program));
}

// The tensors that are annotated together with `tensor`.
std::vector<int> With(const std::vector<SuggestedAnnotation>& groups, int tensor) {
  for (const SuggestedAnnotation& group : groups) {
    for (const int t : group.tensors) {
      if (t == tensor) return group.tensors;
    }
  }
  return {};
}

TEST(AnnotationGroupsTest, AWeightAndItsAveragesAreOneLine) {
  SearchedProgram on = PrepareForSearch(MlpStep(64, 32, 16, /*momentum=*/true), "d=4");
  const int w1 = on.TensorOf("w1"), m1 = on.TensorOf("m1"), w2 = on.TensorOf("w2"), m2 = on.TensorOf("m2");
  Plan plan = on.base;
  for (const int t : {w1, m1, w2, m2}) plan.shardings[t] = Sharding::Replicated(2);
  EXPECT_THAT(With(GroupsOf(on, plan), w1), ElementsAre(w1, m1));
  EXPECT_THAT(With(GroupsOf(on, plan), m2), ElementsAre(w2, m2));
  plan.shardings[m1].dims[0] = on.space.units[0];  // As ZeRO 1 cuts the optimizer alone.
  EXPECT_THAT(With(GroupsOf(on, plan), w1), ElementsAre(w1));
  EXPECT_THAT(With(GroupsOf(on, plan), m1), ElementsAre(m1));
  EXPECT_THAT(With(GroupsOf(on, plan), m2), ElementsAre(w2, m2));
}

TEST(AnnotationGroupsTest, AnActivationIsNoAverageOfAWeight) {
  SearchedProgram on = PrepareForSearch(MlpStep(32, 32, 32, /*momentum=*/true), "d=4");
  EXPECT_THAT(With(GroupsOf(on, on.base), on.TensorOf("x")), ElementsAre(on.TensorOf("x")));
}

// As JAX lowers a function that is used twice.
constexpr char kCalledTwice[] = R"(
HloModule called_twice
double {
  a = f32[64,64] parameter(0)
  twice = f32[64,64] add(a, a), metadata={op_name="add"}
  ROOT less = f32[64,64] negate(twice), metadata={op_name="neg"}
}
ENTRY main {
  x = f32[64,64] parameter(0)
  first = f32[64,64] call(x), to_apply=double, metadata={op_name="jit(f)/double"}
  turned = f32[64,64] transpose(first), dimensions={1,0}
  ROOT second = f32[64,64] call(turned), to_apply=double, metadata={op_name="jit(f)/double"}
}
)";

std::vector<int> Named(const std::vector<std::string>& names, const std::string& name) {
  std::vector<int> tensors;
  for (size_t t = 0; t < names.size(); ++t) {
    if (names[t] == name) tensors.push_back(static_cast<int>(t));
  }
  return tensors;
}

TEST(AnnotationGroupsTest, AValueOfAFunctionThatIsCalledTwiceIsAnnotatedInBothPlaces) {
  SearchedProgram on = PrepareForSearch(kCalledTwice, "d=4");
  const std::vector<std::string> names = GivenNamesOfTensors(*on.module, *on.program);
  const std::vector<int> twice = Named(names, "twice");
  ASSERT_THAT(twice, SizeIs(2)) << testing::PrintToString(names);
  auto plan = DecideGreedily(on.base, CheapestAssignments(), false, on.memo.get());
  ASSERT_TRUE(plan.has_value());
  for (const int t : twice) plan->plan.shardings[t] = Sharding::Replicated(2);
  EXPECT_EQ(With(GroupsOf(on, plan->plan), twice[0]), twice);
  plan->plan.shardings[twice[1]].dims[0] = on.space.units[0];
  EXPECT_THAT(With(GroupsOf(on, plan->plan), twice[0]), SizeIs(0)) << "one line cannot say two shardings";
}

TEST(AnnotationGroupsTest, TheAnnotatedModuleHasWhatWasSuggested) {
  SearchedProgram on = PrepareForSearch(kCalledTwice, "d=4");
  const std::unique_ptr<Module> annotated = OnMesh(kCalledTwice, "d=4");
  ASSERT_OK(GiveAnnotations({{.names = {"twice"}, .given = "{devices=[4,1]<=[4]}"}}, annotated.get()));
  const auto program = PrepareProgram(*annotated, {});
  ASSERT_OK(program.status());
  const std::vector<std::string> names = GivenNamesOfTensors(*annotated, **program);
  const std::vector<int> twice = Named(names, "twice");
  ASSERT_THAT(twice, SizeIs(2)) << testing::PrintToString(names);
  for (const int t : twice) {
    ASSERT_TRUE((*program)->annotations.tensor[t].has_value());
    EXPECT_EQ((*program)->annotations.mesh.Product((*program)->annotations.tensor[t]->sharding.dims[0]), 4);
  }
}

}  // namespace
}  // namespace toroid
