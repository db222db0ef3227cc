#include "hlo/passes/product_order_pass.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "tests/partitioner/equivalence.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The program after the pass; expects that it computes the same.
std::string After(const std::string& body, bool changes = true) {
  std::unique_ptr<Module> module = MakeModule(body);
  std::vector<std::vector<Literal>> arguments;
  for (Literal& value : IntegerArguments(*module)) arguments.push_back({std::move(value)});
  const absl::StatusOr<std::vector<Literal>> expected = RunOnDevices(*module, arguments, 1);
  EXPECT_OK(expected.status());
  const absl::StatusOr<bool> changed = ProductOrderPass().Run(&module);
  EXPECT_OK(changed.status());
  EXPECT_EQ(*changed, changes) << body;
  EXPECT_OK(VerifyModule(*module));
  const absl::StatusOr<std::vector<Literal>> actual = RunOnDevices(*module, arguments, 1);
  EXPECT_OK(actual.status());
  EXPECT_EQ(ToText((*actual)[0]), ToText((*expected)[0])) << PrintModule(*module);
  return PrintModule(*module);
}

// Sizes: $b of the batch, $m and $n of the sides, $k of the sum.
std::string Sized(const std::string& text, int64_t b, int64_t m, int64_t n, int64_t k) {
  return absl::StrReplaceAll(
      text,
      {{"$b", absl::StrCat(b)}, {"$m", absl::StrCat(m)}, {"$n", absl::StrCat(n)}, {"$k", absl::StrCat(k)}});
}

TEST(ProductOrderPassTest, AProductWithItsSidesExchangedNeedsNoTranspose) {
  constexpr char kProgram[] = R"(
  x = f32[$k,$b,$m] parameter(0)
  y = f32[$n,$k,$b] parameter(1)
  d = f32[$b,$m,$n] dot(x, y), lhs_batch_dims={1}, lhs_contracting_dims={0}, rhs_batch_dims={2}, rhs_contracting_dims={1}
  t = f32[$b,$n,$m] transpose(d), dimensions={0,2,1}
  ROOT r = f32[$b,$n,$m] negate(t)
)";
  for (const int64_t b : {1, 2, 5}) {
    for (const int64_t m : {2, 7}) {
      for (const int64_t n : {3, 8}) {
        for (const int64_t k : {1, 4, 9}) {
          const std::string text = After(Sized(kProgram, b, m, n, k));
          EXPECT_THAT(text, HasSubstr("dot(y, x)"));
          EXPECT_THAT(
              text,
              HasSubstr(
                  "lhs_batch_dims={2}, lhs_contracting_dims={1}, rhs_batch_dims={1}, rhs_contracting_dims={0}"));
          EXPECT_THAT(text, Not(HasSubstr("transpose(")));
          EXPECT_THAT(text, Not(HasSubstr("reshape(")));
        }
      }
    }
  }
}

TEST(ProductOrderPassTest, DimensionsOfOneElementAreReshapedIntoPlace) {
  for (const int64_t n : {2, 6}) {
    const std::string text = After(Sized(R"(
  x = f32[1,5,4] parameter(0)
  m = f32[1,5,$n,3] parameter(1)
  d = f32[1,4,$n,3] dot(x, m), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  t = f32[$n,1,3,4] transpose(d), dimensions={2,0,3,1}
  ROOT r = f32[$n,1,1,3,4] reshape(t)
)",
                                         0, 0, n, 0));
    EXPECT_THAT(text, HasSubstr(absl::StrCat("f32[1,", n, ",3,4]{3,2,1,0} dot(m, x)")));
    EXPECT_THAT(text, HasSubstr(absl::StrCat("ROOT reshape = f32[", n, ",1,1,3,4]{4,3,2,1,0} reshape(dot)")));
    EXPECT_THAT(text, Not(HasSubstr("transpose(")));
  }
}

TEST(ProductOrderPassTest, ProductsOfProductsAreExchangedInOneRun) {
  const std::string text = After(R"(
  x = f32[2,3] parameter(0)
  y = f32[3,4] parameter(1)
  d = f32[2,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[4,2] transpose(d), dimensions={1,0}
  e = f32[4,3] dot(t, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT u = f32[3,4] transpose(e), dimensions={1,0}
)");
  EXPECT_THAT(text, Not(HasSubstr("transpose(")));
}

TEST(ProductOrderPassTest, EachOperandKeepsItsPrecision) {
  EXPECT_THAT(After(R"(
  x = f32[2,3] parameter(0)
  y = f32[3,4] parameter(1)
  d = f32[2,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,highest}
  ROOT t = f32[4,2] transpose(d), dimensions={1,0}
)"),
              HasSubstr("operand_precision={highest,high}"));
}

TEST(ProductOrderPassTest, WhatNeitherOrderGivesStays) {
  After(R"(
  x = f32[2,3,5] parameter(0)
  y = f32[5,4] parameter(1)
  d = f32[2,3,4] dot(x, y), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  ROOT t = f32[2,4,3] transpose(d), dimensions={0,2,1}
)",
        /*changes=*/false);
}

TEST(ProductOrderPassTest, AProductThatIsReadAsItIsStays) {
  After(R"(
  x = f32[2,3] parameter(0)
  y = f32[3,4] parameter(1)
  d = f32[2,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[4,2] transpose(d), dimensions={1,0}
  ROOT p = (f32[2,4], f32[4,2]) tuple(d, t)
)",
        /*changes=*/false);
}

TEST(ProductOrderPassTest, ATransposeOfUnitDimensionsAloneStays) {
  After(R"(
  x = f32[1,3] parameter(0)
  y = f32[3,4] parameter(1)
  d = f32[1,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[4,1] transpose(d), dimensions={1,0}
)",
        /*changes=*/false);
}

// The dispatch of tokens to experts: an einsum writes this product with swapped operands.
TEST(ProductOrderPassTest, PartitionsOfDispatchAgree) {
  for (const int64_t k : {2, 5}) {
    ExpectEquivalent(absl::StrReplaceAll(R"(
ENTRY main {
  x = f32[16,$k,6] parameter(0), sharding={devices=[$n,1,1]<=[$n]}
  m = f32[16,$k,16,3] parameter(1), sharding={devices=[$n,1,1,1]<=[$n]}
  d = f32[16,6,16,3] dot(x, m), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  t = f32[16,16,3,6] transpose(d), dimensions={2,0,3,1}
  ROOT e = f32[16,16,3,6] custom-call(t), custom_call_target="Sharding", sharding={devices=[$n,1,1,1]<=[$n]}
})",
                                         {{"$k", absl::StrCat(k)}}));
  }
}

}  // namespace
}  // namespace toroid
