#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "partitioner/prepare/dim_parts.h"
#include "partitioner/prepare/prepare_passes.h"
#include "tests/hlo/passes/same_after_pass.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kAdd[] = R"(
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
)";

constexpr char kAddIntegers[] = R"(
add {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b)
}
)";

std::string After(const std::string& body, bool changes = true) {
  UnmergedDimsPass pass;
  return SameAfterPass(&pass, body, kAdd, 1, changes);
}

TEST(DimPartsTest, OfReshapes) {
  EXPECT_EQ(PartsOfReshape({2, 3, 4}, {6, 4}), (DimParts{{2, 3}, {4}}));
  EXPECT_EQ(PartsOfReshape({6, 1, 4}, {2, 12, 1}), (DimParts{{2}, {3, 4}, {1}}));
  EXPECT_EQ(PartsOfReshape({12}, {1, 3, 4}), (DimParts{{1}, {3}, {4}}));
  EXPECT_EQ(PartsOfReshape({2, 3, 5}, {30}), (DimParts{{2, 3, 5}}));
  EXPECT_EQ(PartsOfReshape({6, 4}, {8, 3}), std::nullopt);
  EXPECT_EQ(PartsOfReshape({0, 4}, {0}), std::nullopt);
  EXPECT_EQ(PlacesOfParts({{2, 3}, {4}, {5, 6}}, {2, 0}), (Dims{3, 4, 0, 1}));
}

TEST(UnmergedDimsPassTest, GroupNorm) {
  EXPECT_THAT(After(R"(
  x = f32[2,3,4,6] parameter(0)
  z = f32[] constant(0)
  n = f32[] constant(0.25)
  y = f32[2,12,2,3] reshape(x)
  s = f32[2,2] reduce(y, z), dimensions={1,3}, to_apply=add
  c = f32[2,2] broadcast(n), dimensions={}
  m = f32[2,2] multiply(s, c)
  b = f32[2,12,2,3] broadcast(m), dimensions={0,2}
  d = f32[2,12,2,3] subtract(y, b)
  ROOT r = f32[2,3,4,6] reshape(d)
)"),
              AllOf(HasSubstr("dimensions={1,2,4}, to_apply=add"), HasSubstr("dimensions={0,3}"),
                    Not(HasSubstr("[2,12,"))));
}

TEST(UnmergedDimsPassTest, Products) {
  // Contracting, free and batch dimensions. A dimension that is merged in one operand only is split in the
  // other.
  EXPECT_THAT(
      After(R"(
  x = f32[5,3,4] parameter(0)
  w = f32[12,2] parameter(1)
  y = f32[5,12] reshape(x)
  ROOT d = f32[5,2] dot(y, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)"),
      AllOf(HasSubstr("f32[3,4,2]"), HasSubstr("lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}")));
  After(R"(
  x = f32[2,3,5] parameter(0)
  w = f32[7,5] parameter(1)
  y = f32[6,5] reshape(x)
  ROOT d = f32[7,6] dot(w, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
)");
  After(R"(
  x = f32[2,3,5] parameter(0)
  w = f32[6,5,2] parameter(1)
  y = f32[6,5] reshape(x)
  ROOT d = f32[6,2] dot(w, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}
)");
  // The two operands merge different dimensions.
  After(R"(
  x = f32[2,6,5] parameter(0)
  w = f32[3,4,5] parameter(1)
  y = f32[12,5] reshape(x)
  v = f32[12,5] reshape(w)
  ROOT d = f32[5,5] dot(y, v), lhs_contracting_dims={0}, rhs_contracting_dims={0}
)");
}

TEST(UnmergedDimsPassTest, MovedValues) {
  After(R"(
  x = f32[2,3,5] parameter(0)
  z = f32[6,2] parameter(1)
  y = f32[6,5] reshape(x)
  t = f32[5,6] transpose(y), dimensions={1,0}
  s = f32[2,6] slice(t), slice={[1:5:2], [0:6]}
  q = f32[2,6] transpose(z), dimensions={1,0}
  c = f32[4,6] concatenate(s, q), dimensions={0}
  b = f32[6,3,4] broadcast(c), dimensions={2,0}
  ROOT r = f32[2,3,3,4] reshape(b)
)");
  // A slice or concatenation along the merged dimension stays as it is; its operand is merged for it.
  EXPECT_THAT(After(R"(
  x = f32[2,3,5] parameter(0)
  y = f32[6,5] reshape(x)
  n = f32[6,5] negate(y)
  s = f32[4,5] slice(n), slice={[1:5], [0:5]}
  ROOT c = f32[10,5] concatenate(s, n), dimensions={0}
)"),
              AllOf(HasSubstr("negate(x)"), HasSubstr("slice={[1:5], [0:5]}")));
}

TEST(UnmergedDimsPassTest, ValuesOfATuple) {
  EXPECT_THAT(After(R"(
  x = f32[2,3,5] parameter(0)
  y = f32[6,5] reshape(x)
  t = (f32[6,5], f32[2,3,5]) tuple(y, x)
  g = f32[6,5] get-tuple-element(t), index=0
  n = f32[6,5] negate(g)
  ROOT r = f32[2,3,5] reshape(n)
)"),
              Not(HasSubstr("[6,5]")));
}

TEST(UnmergedDimsPassTest, NothingMerged) {
  After(R"(
  x = f32[6,5] parameter(0)
  y = f32[2,3,5] reshape(x)
  ROOT n = f32[2,3,5] negate(y)
)",
        /*changes=*/false);
  After(R"(
  x = f32[6,4] parameter(0)
  ROOT y = f32[8,3] reshape(x)
)",
        /*changes=*/false);
}

// Random chains of ops on arrays of 24 elements whose dimensions are merged and split.
std::string RandomChain(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
  const std::vector<std::vector<int64_t>> forms = {{24},   {2, 12}, {12, 2},   {4, 6},    {2, 3, 4},
                                                   {8, 3}, {3, 8},  {4, 2, 3}, {1, 6, 4}, {2, 2, 2, 3}};
  const auto type = [](const std::vector<int64_t>& dims) {
    return absl::StrCat("s32[", absl::StrJoin(dims, ","), "]");
  };
  struct Value {
    std::string name;
    std::vector<int64_t> dims;
  };
  std::vector<Value> values;
  std::string text;
  const auto add = [&](const std::vector<int64_t>& dims, const std::string& op) {
    values.push_back({absl::StrCat("v", values.size()), dims});
    absl::StrAppend(&text, "  ", values.back().name, " = ", type(dims), " ", op, "\n");
  };
  add(forms[4], "parameter(0)");
  add(forms[9], "parameter(1)");
  text += "  zero = s32[] constant(0)\n";
  for (int k = 0; k < 14; ++k) {
    const Value x = values[below(2) == 0 ? values.size() - 1 : below(values.size())];
    const int64_t rank = static_cast<int64_t>(x.dims.size());
    if (rank == 0) continue;
    switch (below(6)) {
      case 0:
      case 1:
        if (std::accumulate(x.dims.begin(), x.dims.end(), int64_t{1}, std::multiplies<int64_t>()) == 24) {
          add(forms[below(forms.size())], absl::StrCat("reshape(", x.name, ")"));
        }
        break;
      case 2: {
        std::vector<int64_t> order(rank), dims(rank);
        for (int64_t d = 0; d < rank; ++d) order[d] = d;
        std::shuffle(order.begin(), order.end(), random);
        for (int64_t d = 0; d < rank; ++d) dims[d] = x.dims[order[d]];
        add(dims, absl::StrCat("transpose(", x.name, "), dimensions={", absl::StrJoin(order, ","), "}"));
        break;
      }
      case 3: {
        std::vector<const Value*> alike;
        for (const Value& y : values) {
          if (y.dims == x.dims) alike.push_back(&y);
        }
        add(x.dims, absl::StrCat("subtract(", x.name, ", ", alike[below(alike.size())]->name, ")"));
        break;
      }
      case 4: {
        const int64_t d = below(rank);
        std::vector<int64_t> left = x.dims, others;
        left.erase(left.begin() + d);
        for (int64_t e = 0; e < rank; ++e) {
          if (e != d) others.push_back(e);
        }
        const Value from = x;
        add(left, absl::StrCat("reduce(", from.name, ", zero), dimensions={", d, "}, to_apply=add"));
        const std::string sum = values.back().name;
        add(from.dims, absl::StrCat("broadcast(", sum, "), dimensions={", absl::StrJoin(others, ","), "}"));
        break;
      }
      default: {
        // Contracts one dimension with iota weights.
        const int64_t d = below(rank);
        if (x.dims[d] > 12) break;
        std::vector<int64_t> weight = {x.dims[d], 3}, dims;
        add(weight, "iota(), iota_dimension=0");
        const std::string w = values.back().name;
        for (int64_t e = 0; e < rank; ++e) {
          if (e != d) dims.push_back(x.dims[e]);
        }
        dims.push_back(3);
        add(dims, absl::StrCat("dot(", x.name, ", ", w, "), lhs_contracting_dims={", d,
                               "}, rhs_contracting_dims={0}"));
        break;
      }
    }
  }
  std::vector<std::string> types, names;
  for (const Value& x : values) {
    types.push_back(type(x.dims));
    names.push_back(x.name);
  }
  // The results are the last few values, so some values have few users.
  const size_t first = values.size() > 3 ? values.size() - 3 : 0;
  types.erase(types.begin(), types.begin() + first);
  names.erase(names.begin(), names.begin() + first);
  return absl::StrCat(text, "  ROOT out = (", absl::StrJoin(types, ", "), ") tuple(",
                      absl::StrJoin(names, ", "), ")\n");
}

TEST(UnmergedDimsPassTest, RandomChains) {
  int changed = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    UnmergedDimsPass pass;
    const std::string body = RandomChain(seed);
    std::unique_ptr<Module> module = MakeModule(body, kAddIntegers);
    ASSERT_OK_AND_ASSIGN(const bool merges, pass.Run(&module));
    SameAfterPass(&pass, body, kAddIntegers, 1, merges);
    changed += merges;
    if (HasFailure()) FAIL() << body;
  }
  EXPECT_GT(changed, 150);
}

}  // namespace
}  // namespace toroid
