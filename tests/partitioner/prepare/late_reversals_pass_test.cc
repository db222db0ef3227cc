#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "partitioner/prepare/prepare_passes.h"
#include "tests/hlo/passes/same_after_pass.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

constexpr char kAdd[] = R"(
add {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b)
}
)";

// The program after the pass; expects that `reversals` reversals are left in it.
std::string After(const std::string& body, int reversals) {
  LateReversalsPass pass;
  const std::string text = SameAfterPass(&pass, body, kAdd, 1);
  EXPECT_EQ(CountOf(text, " reverse("), reversals) << text;
  return text;
}

TEST(LateReversalsPassTest, TwoMeet) {
  After(R"(
  x = s32[4,6] parameter(0)
  m = s32[4] parameter(1)
  r = s32[4,6] reverse(x), dimensions={1}
  b = s32[4,6] broadcast(m), dimensions={0}
  d = s32[4,6] subtract(r, b)
  t = s32[6,4] transpose(d), dimensions={1,0}
  s = s32[6,2,2] reshape(t)
  ROOT y = s32[6,2,2] reverse(s), dimensions={0}
)",
        0);
}

TEST(LateReversalsPassTest, OthersMayBeReversedToo) {
  // Both operands are reversed. An iota can be reversed too, at no cost.
  After(R"(
  x = s32[4,6] parameter(0)
  y = s32[4,6] parameter(1)
  r = s32[4,6] reverse(x), dimensions={1}
  q = s32[4,6] reverse(y), dimensions={1}
  d = s32[4,6] subtract(r, q)
  i = s32[4,6] iota(), iota_dimension=1
  e = s32[4,6] multiply(d, i)
  ROOT f = s32[4,6] reverse(e), dimensions={0,1}
)",
        2);  // A reversal of the iota, and one of dimension 0 of the result.
  // One operand is not reversed: the reversal of the other stays where it is.
  After(R"(
  x = s32[4,6] parameter(0)
  r = s32[4,6] reverse(x), dimensions={1}
  d = s32[4,6] subtract(r, x)
  ROOT f = s32[4,6] reverse(d), dimensions={1}
)",
        2);
}

TEST(LateReversalsPassTest, Products) {
  After(R"(
  x = s32[5,3,4] parameter(0)
  w = s32[4,2] parameter(1)
  r = s32[5,3,4] reverse(x), dimensions={0,1}
  d = s32[5,3,2] dot(r, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  ROOT y = s32[5,3,2] reverse(d), dimensions={0,1}
)",
        0);
  // Contracting dimensions: both operands are reversed, so only the order of the summands changes.
  After(R"(
  x = s32[5,3,4] parameter(0)
  w = s32[5,4,2] parameter(1)
  r = s32[5,3,4] reverse(x), dimensions={0,2}
  q = s32[5,4,2] reverse(w), dimensions={1,0}
  ROOT d = s32[5,3,2] dot(r, q), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
)",
        1);
  // Only one operand has the contracting dimension reversed: the reversal stays.
  After(R"(
  x = s32[3,4] parameter(0)
  w = s32[4,2] parameter(1)
  r = s32[3,4] reverse(x), dimensions={1}
  ROOT d = s32[3,2] dot(r, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)",
        1);
}

TEST(LateReversalsPassTest, SumsSlicesPads) {
  After(R"(
  x = s32[4,6] parameter(0)
  z = s32[] constant(0)
  r = s32[4,6] reverse(x), dimensions={0,1}
  ROOT s = s32[4] reduce(r, z), dimensions={1}, to_apply=add
)",
        1);
  After(R"(
  x = s32[4,7] parameter(0)
  z = s32[] constant(3)
  r = s32[4,7] reverse(x), dimensions={1}
  s = s32[4,3] slice(r), slice={[0:4], [1:6:2]}
  p = s32[4,10] pad(s, z), padding=0_0x2_1_2
  c = s32[4,13] concatenate(p, s), dimensions={1}
  ROOT y = s32[4,13] reverse(c), dimensions={1}
)",
        0);
}

TEST(LateReversalsPassTest, Convolutions) {
  struct Case {
    const char *kernel, *result, *window;
  };
  for (const Case& c :
       {Case{"3,3", "7,6", "size=3x3 pad=1_1x1_1"}, Case{"3,2", "7,6", "size=3x2 pad=0_2x1_0"},
        Case{"3,3", "4,3", "size=3x3 stride=2x2 pad=1_1x0_1"},
        Case{"2,3", "3,4", "size=2x3 stride=3x2 pad=2_0x1_3 rhs_dilate=2x1"},
        Case{"3,2", "14,16", "size=3x2 pad=2_1x0_1 lhs_dilate=2x3 rhs_reversal=1x0"},
        Case{"2,2", "3,9", "size=2x2 stride=2x1 pad=-1_0x0_-1 lhs_dilate=1x2"}}) {
    SCOPED_TRACE(c.window);
    After(absl::StrCat("  x = s32[2,7,6,3] parameter(0)\n  w = s32[", c.kernel, ",3,2] parameter(1)\n",
                       "  r = s32[2,7,6,3] reverse(x), dimensions={0,1,2}\n  ROOT c = s32[2,", c.result,
                       ",2] convolution(r, w), window={", c.window, "}, dim_labels=b01f_01io->b01f\n"),
          1);
  }
}

// Random chains of ops, some of which are reversals.
std::string RandomChain(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
  using Value = std::pair<std::string, std::vector<int64_t>>;
  std::vector<Value> values;
  std::string text = "  zero = s32[] constant(0)\n";
  const auto type = [](const std::vector<int64_t>& dims) {
    return absl::StrCat("s32[", absl::StrJoin(dims, ","), "]");
  };
  const auto add = [&](const std::vector<int64_t>& dims, const std::string& op) {
    values.emplace_back(absl::StrCat("v", values.size()), dims);
    absl::StrAppend(&text, "  ", values.back().first, " = ", type(dims), " ", op, "\n");
  };
  add({3, 4, 5}, "parameter(0)");
  add({4, 5}, "parameter(1)");
  for (int k = 0; k < 14; ++k) {
    const auto [x, dims] = values[below(2) == 0 ? values.size() - 1 : below(values.size())];
    const int64_t rank = static_cast<int64_t>(dims.size());
    if (rank == 0) continue;
    const int64_t d = below(rank);
    std::vector<int64_t> to = dims, others;
    for (int64_t e = 0; e < rank; ++e) {
      if (e != d) others.push_back(e);
    }
    switch (below(8)) {
      case 0:
      case 1:
      case 2:
        add(dims, absl::StrCat("reverse(", x, "), dimensions={", d, "}"));
        break;
      case 3: {
        std::vector<std::string> alike;
        for (const Value& y : values) {
          if (y.second == dims) alike.push_back(y.first);
        }
        add(dims, absl::StrCat("subtract(", x, ", ", alike[below(alike.size())], ")"));
        break;
      }
      case 4: {
        to.erase(to.begin() + d);
        add(to, absl::StrCat("reduce(", x, ", zero), dimensions={", d, "}, to_apply=add"));
        const std::string sum = values.back().first;
        add(dims, absl::StrCat("broadcast(", sum, "), dimensions={", absl::StrJoin(others, ","), "}"));
        break;
      }
      case 5:
        if (rank < 2) break;
        std::swap(to[0], to[d]);
        {
          std::vector<int64_t> order(rank);
          for (int64_t e = 0; e < rank; ++e) order[e] = e;
          std::swap(order[0], order[d]);
          add(to, absl::StrCat("transpose(", x, "), dimensions={", absl::StrJoin(order, ","), "}"));
        }
        break;
      case 6:
        to.insert(to.begin() + d, 1);
        add(to, absl::StrCat("reshape(", x, ")"));
        break;
      default: {
        if (dims[d] > 20) break;
        to[d] = 2 * dims[d];
        add(to, absl::StrCat("concatenate(", x, ", ", x, "), dimensions={", d, "}"));
        break;
      }
    }
  }
  const size_t first = values.size() > 3 ? values.size() - 3 : 0;
  std::vector<std::string> types, names;
  for (size_t i = first; i < values.size(); ++i) {
    types.push_back(type(values[i].second));
    names.push_back(values[i].first);
  }
  return absl::StrCat(text, "  ROOT out = (", absl::StrJoin(types, ", "), ") tuple(",
                      absl::StrJoin(names, ", "), ")\n");
}

TEST(LateReversalsPassTest, RandomChains) {
  int changed = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const std::string body = RandomChain(seed);
    std::unique_ptr<Module> module = MakeModule(body, kAdd);
    LateReversalsPass pass;
    ASSERT_OK_AND_ASSIGN(const bool changes, pass.Run(&module));
    SameAfterPass(&pass, body, kAdd, 1, changes);
    changed += changes;
    if (HasFailure()) FAIL() << body;
  }
  EXPECT_GT(changed, 200);
}

}  // namespace
}  // namespace toroid
