#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {


TEST(SelectAndScatterTest, GradientOfMaxPooling) {
  for (const char* split : {"[$n,1]", "[1,$n]"}) {
    SCOPED_TRACE(split);
    ExpectEquivalent(absl::StrCat(R"(
ge { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=GE }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[8,5] parameter(0), sharding={devices=)", split, R"(<=[$n]}
  y = f32[4,5] parameter(1), sharding={devices=)", split, R"(<=[$n]}
  zero = f32[] constant(0)
  ROOT r = f32[8,5] select-and-scatter(x, y, zero), window={size=2x1 stride=2x1}, select=ge, scatter=add, sharding={devices=)",
                                  split, "<=[$n]}\n}\n"));
  }
}

}  // namespace
}  // namespace toroid
