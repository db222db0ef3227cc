// BUILD: size = "small"
#include "runtime/groups/group_deps.h"

#include "gtest/gtest.h"

namespace toroid {
namespace {

TEST(GroupDepsTest, FollowsGroupsThatGrowLater) {
  GroupDeps deps;
  const int a = deps.NewGroup(), b = deps.NewGroup();
  deps.AddDependencies(b, deps.OfMember(a));
  const GroupSet step = deps.OfMember(b);  // Of a step that reads b.
  EXPECT_TRUE(deps.Holds(step, a));
  const int c = deps.NewGroup();
  EXPECT_FALSE(deps.Holds(deps.Closure(step), c));
  deps.AddDependencies(a, deps.OfMember(c));  // a takes a member that reads c.
  EXPECT_TRUE(deps.Holds(deps.Closure(step), c));
  EXPECT_TRUE(deps.Holds(deps.OfMember(b), c));
}

TEST(GroupDepsTest, MergesUnlessOneRunsBeforeTheOther) {
  GroupDeps deps;
  const int a = deps.NewGroup(), b = deps.NewGroup(), c = deps.NewGroup(), d = deps.NewGroup();
  deps.AddDependencies(b, deps.OfMember(a));
  EXPECT_FALSE(deps.Merge(a, b));
  EXPECT_FALSE(deps.Merge(b, a));
  EXPECT_TRUE(deps.Merge(a, c));
  EXPECT_EQ(deps.Find(c), a);
  EXPECT_TRUE(deps.Holds(deps.OfMember(b), c));
  deps.AddDependencies(d, deps.OfMember(b));
  EXPECT_FALSE(deps.Merge(c, d));
  EXPECT_FALSE(deps.Merge(b, d));
}

TEST(GroupDepsTest, AGroupClosesBeforeItsNumberIsForgotten) {
  GroupDeps deps;
  const int a = deps.NewGroup();
  const GroupSet user = deps.OfMember(a);
  for (int i = 0; i < 62; ++i) deps.NewGroup();
  EXPECT_FALSE(deps.IsClosed(a));
  EXPECT_TRUE(deps.Holds(deps.Closure(user), a));
  deps.NewGroup();
  EXPECT_TRUE(deps.IsClosed(a));
}

}  // namespace
}  // namespace toroid
