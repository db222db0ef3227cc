// BUILD: size = "medium"
// topk.
#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/number_format.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// Against a stable sort of all elements, in the total order; few values, so that there are many ties. Long lines are shared by
// threads.
TEST(TopKTest, AgreesWithASortOfTheLine) {
  std::mt19937_64 random(61);
  for (const PrimitiveType type :
       {xla::F32, xla::BF16, xla::F64, xla::S8, xla::S32, xla::U32, xla::U64, xla::S64, xla::F16}) {
    for (const auto& [lines, n, k] : std::vector<std::tuple<int64_t, int64_t, int64_t>>{{30, 100, 7},
                                                                                        {3, 5000, 64},
                                                                                        {1, 300000, 50},
                                                                                        {2, 300001, 1},
                                                                                        {9, 33, 33},
                                                                                        {4, 1, 1},
                                                                                        {2, 700, 650},
                                                                                        {3, 9, 0}}) {
      for (const int kind : {0, 1, 2}) {  // Any values, few values, or each line in order.
        Literal x =
            kind == 1 ? RandomSmall(type, {lines, n}, random, 0, 3) : RandomArray(type, {lines, n}, random);
        const bool largest = random() % 2 == 0;
        const bool is_int = IsInt(type);
        // Floats by their bits: sign and magnitude.
        const auto key = [&](int64_t i) -> __int128 {
          if (is_int) return IntAt(x, i);
          const int bits = BitWidth(type);
          const uint64_t code = BitsAt(x, i), sign = code >> (bits - 1) & 1;
          const __int128 magnitude = code & ((uint64_t{1} << (bits - 1)) - 1);
          return sign ? -magnitude - 1 : magnitude;
        };
        if (kind == 2) {  // The worst order: each element is before all others so far.
          for (int64_t line = 0; line < lines; ++line) {
            std::vector<std::pair<__int128, uint64_t>> values;
            for (int64_t i = 0; i < n; ++i) values.push_back({key(line * n + i), BitsAt(x, line * n + i)});
            std::sort(values.begin(), values.end());
            if (!largest) std::reverse(values.begin(), values.end());
            for (int64_t i = 0; i < n; ++i) SetBits(&x, line * n + i, values[i].second);
          }
        }
        const std::string name(TypeName(type));
        const std::string text = absl::StrCat("x = ", name, "[", lines, ",", n, "] parameter(0) ROOT y = (",
                                              name, "[", lines, ",", k, "], s32[", lines, ",", k,
                                              "]) topk(x), k=", k, ", largest=", largest ? "true" : "false");
        SCOPED_TRACE(text);
        ASSERT_OK_AND_ASSIGN(const Literal y, RunOnThreads(*MakeModule(text), {x}));
        for (int64_t line = 0; line < lines; ++line) {
          std::vector<std::pair<__int128, int64_t>> order;
          for (int64_t i = 0; i < n; ++i)
            order.push_back({largest ? -key(line * n + i) : key(line * n + i), i});
          std::sort(order.begin(), order.end());
          for (int64_t i = 0; i < k; ++i) {
            const int64_t place = y.element(1).data<int32_t>()[line * k + i];
            ASSERT_EQ(place, order[i].second) << line << " " << i;
            ASSERT_EQ(BitsAt(y.element(0), line * k + i), BitsAt(x, line * n + place));
          }
        }
      }
    }
  }
}

TEST(TopKTest, TiesByPositionAndTotalOrder) {
  EXPECT_EQ(Evaluate("x = f32[2,4] constant({{1, 3, 3, 2}, {nan, inf, -0, 0}}) "
                     "ROOT y = (f32[2,3], s32[2,3]) topk(x), k=3, largest=true"),
            "( { { 3, 3, 2 }, { nan, inf, 0 } }, { { 1, 2, 3 }, { 0, 1, 3 } } )");
  EXPECT_EQ(
      Evaluate("x = s32[4] constant({5, -2, 9, -2}) ROOT y = (s32[2], s32[2]) topk(x), k=2, largest=false"),
      "( {-2, -2}, {1, 3} )");
  EXPECT_EQ(Evaluate("x = s32[3] constant({5, -2, 9}) "
                     "ROOT y = (s32[1], s32[1]) custom-call(x), custom_call_target=\"TopK\""),
            "( {9}, {2} )");
}

}  // namespace
}  // namespace toroid
