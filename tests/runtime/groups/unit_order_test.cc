// BUILD: size = "small"
#include "runtime/groups/unit_order.h"

#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace toroid {
namespace {

TEST(UnitOrderTest, RefusesCyclesThroughUnitsThatGrewLater) {
  UnitOrder order;
  const int a = order.Add({}), step = order.Add({a}), b = order.Add({}), c = order.Add({b});
  EXPECT_TRUE(order.MakeUser(a, {c}));
  EXPECT_TRUE(order.IsBefore(c, a) && order.IsBefore(b, c));
  EXPECT_FALSE(order.MakeUser(b, {step}));
  EXPECT_FALSE(order.MakeUser(a, {a}));
  EXPECT_TRUE(order.MakeUser(step, {b}));
}

TEST(UnitOrderTest, MergesWhatDoesNotDependOnEachOther) {
  UnitOrder order;
  const int a = order.Add({}), user_of_a = order.Add({a}), b = order.Add({}), user_of_b = order.Add({b});
  EXPECT_FALSE(order.Merge(a, user_of_a));
  EXPECT_TRUE(order.Merge(a, b));
  EXPECT_EQ(order.Find(b), a);
  EXPECT_TRUE(order.IsBefore(b, user_of_a) && order.IsBefore(a, user_of_b));
  EXPECT_FALSE(order.Merge(user_of_b, a));
  EXPECT_TRUE(order.Merge(user_of_b, user_of_a));
}

// Random growth beside a plain search for cycles.
TEST(UnitOrderTest, AgreesWithAPlainSearch) {
  for (int seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    UnitOrder order;
    std::vector<std::pair<int, int>> edges;  // Producer, user.
    const int units = 3 + random() % 40;
    const auto reaches = [&](int from, int to) {
      std::set<int> seen = {order.Find(from)};
      std::vector<int> todo = {order.Find(from)};
      while (!todo.empty()) {
        const int at = todo.back();
        todo.pop_back();
        if (at == order.Find(to) && at != order.Find(from)) return true;
        for (const auto& [producer, user] : edges) {
          if (order.Find(producer) == at && seen.insert(order.Find(user)).second)
            todo.push_back(order.Find(user));
        }
      }
      return false;
    };
    for (int u = 0; u < units; ++u) {
      std::vector<int> producers;
      for (int p = 0; u > 0 && p < static_cast<int>(random() % 3); ++p) producers.push_back(random() % u);
      order.Add(producers);
      for (const int p : producers) edges.emplace_back(p, u);
      if (u < 2) continue;
      const int x = random() % (u + 1), y = random() % (u + 1);
      if (order.Find(x) == order.Find(y)) continue;
      const bool forward = reaches(x, y), backward = reaches(y, x);
      if (random() % 2 == 0) {
        EXPECT_EQ(order.MakeUser(y, {x}), !backward);
        if (!backward) edges.emplace_back(x, y);
      } else {
        EXPECT_EQ(order.Merge(x, y), !forward && !backward);
      }
      for (const auto& [producer, user] : edges)
        EXPECT_TRUE(order.IsBefore(producer, user)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace toroid
