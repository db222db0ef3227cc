#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// The gradient of max pooling: x has n rows, the source m rows.
std::string PoolingGradient(int64_t n, int64_t m, int64_t size, int64_t stride, const std::string& split,
                            const std::string& init = "0") {
  return absl::StrCat(R"(
ge { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=GE }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[)",
                      n, R"(,5] parameter(0), sharding={devices=)", split, R"(<=[$n]}
  y = f32[)",
                      m, R"(,5] parameter(1), sharding={devices=)", split, R"(<=[$n]}
  init = f32[] constant()",
                      init, R"()
  ROOT r = f32[)",
                      n, R"(,5] select-and-scatter(x, y, init), window={size=)", size, "x1 stride=", stride,
                      "x1}, select=ge, scatter=add, sharding={devices=", split, "<=[$n]}\n}\n");
}

TEST(SelectAndScatterTest, GradientOfMaxPooling) {
  for (const char* split : {"[$n,1]", "[1,$n]"}) {
    SCOPED_TRACE(split);
    ExpectEquivalent(PoolingGradient(8, 4, 2, 2, split));
    ExpectEquivalent(PoolingGradient(13, 6, 2, 2, split));
    ExpectEquivalent(PoolingGradient(14, 5, 2, 3, split, "3"));
    ExpectEquivalent(PoolingGradient(17, 5, 3, 3, split, "3"));
    ExpectEquivalent(PoolingGradient(9, 4, 3, 2, split));  // Windows overlap.
  }
}

TEST(SelectAndScatterTest, WindowsThatLieApartStayWhereTheyAre) {
  EXPECT_THAT(Collectives(PoolingGradient(64, 32, 2, 2, "[$n,1]"), 4), IsEmpty());
}

// The gradient of 2-d max pooling: windows of k x k with stride s.
std::string Image(const std::string& type, int64_t n, int64_t k, int64_t s, int64_t low, int64_t high,
                  const std::string& direction) {
  const int64_t m = (n + low + high - k) / s + 1;
  return absl::StrCat("sel { a = ", type, "[] parameter(0)  b = ", type,
                      "[] parameter(1)  ROOT c = pred[] compare(a, b), direction=", direction,
                      " }\nadd { a = ", type, "[] parameter(0)  b = ", type,
                      "[] parameter(1)  ROOT c = ", type, "[] add(a, b) }\nENTRY main {\n  x = ", type, "[",
                      n, ",", n, "] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  y = ", type, "[", m, ",",
                      m, "] parameter(1), sharding={devices=[$n,1]<=[$n]}\n  init = ", type,
                      "[] constant(0)\n  ROOT r = ", type, "[", n, ",", n,
                      "] select-and-scatter(x, y, init), window={size=", k, "x", k, " stride=", s, "x", s,
                      " pad=", low, "_", high, "x", low, "_", high,
                      "}, select=sel, scatter=add, sharding={devices=[$n,1]<=[$n]}\n}\n");
}

TEST(SelectAndScatterTest, OverlappingAndPaddedWindows) {
  for (const char* direction : {"GE", "GT", "LE"}) {
    for (const int64_t n : {8, 13, 32}) {
      for (const int64_t k : {1, 2, 3, 5}) {
        for (const int64_t s : {1, 2, 3}) {
          SCOPED_TRACE(absl::StrCat(direction, " ", n, " size ", k, " stride ", s));
          ExpectEquivalent(Image("f32", n, k, s, 0, 0, direction), {}, {2, 4, 7});
          ExpectEquivalent(Image("f32", n, k, s, 0, 1, direction), {}, {2, 4, 7});
          ExpectEquivalent(Image("f32", n, k, s, 2, 1, direction), {}, {3, 4});
        }
      }
    }
  }
  ExpectEquivalent(Image("bf16", 12, 3, 2, 0, 1, "GE"));
  ExpectEquivalent(Image("f16", 12, 3, 2, 1, 1, "GE"));
  ExpectEquivalent(Image("f64", 12, 3, 2, 1, 1, "GE"));
  ExpectEquivalent(Image("s32", 12, 3, 2, 1, 1, "GE"));
  ExpectEquivalent(Image("s32", 12, 3, 2, 0, 0, "GE"));
}

TEST(SelectAndScatterTest, WindowsBeyondTheArraySelectAmongItsElementsAlone) {
  // All elements are as low as the usual padding value.
  const float lowest = -std::numeric_limits<float>::infinity();
  const std::vector<float> x(12 * 12, lowest);
  for (const char* direction : {"GE", "GT"}) {
    ExpectEquivalent(Image("f32", 12, 3, 2, 1, 1, direction),
                     {Literal::Array<float>({12, 12}, x), Integers(Shape(xla::F32, {6, 6}), 2)});
  }
}

TEST(SelectAndScatterTest, TheGradientOfMaxPoolingSendsHalos) {
  // 64 rows of 64 over 4 devices, k = 3, s = 2: rows have 256 bytes in x and 128 bytes in the source.
  EXPECT_THAT(
      Collectives(Image("f32", 64, 3, 2, 0, 1, "GE"), 4),
      UnorderedElementsAre("collective-permute 512", "collective-permute 256", "collective-permute 128"));
}

}  // namespace
}  // namespace toroid
