#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

std::string DynamicSlice(const std::string& index, int64_t size, int64_t out,
                         const std::string& out_sharding) {
  return absl::StrCat("ENTRY main {\n  x = f32[", size,
                      ",3] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  i = ", index,
                      "[] parameter(1)\n  j = ", index, "[] parameter(2)\n  ROOT y = f32[", out,
                      ",2] dynamic-slice(x, i, j), dynamic_slice_sizes={", out, ",2}", out_sharding, "\n}\n");
}

template <typename T>
void ExpectEquivalentAt(int64_t size, int64_t out, std::initializer_list<int64_t> starts) {
  const std::string type(TypeName(PrimitiveTypeOf<T>::value));
  for (const int64_t start : starts) {
    SCOPED_TRACE(absl::StrCat(type, " start ", start));
    for (const char* sharding : {", sharding={devices=[$n,1]<=[$n]}", ", sharding={replicated}"}) {
      ExpectEquivalent(DynamicSlice(type, size, out, sharding),
                       {Integers(Shape(xla::F32, {size, 3})), Literal::Scalar<T>(static_cast<T>(start)),
                        Literal::Scalar<T>(T{1})},
                       {1, 2, 3, 16});
    }
  }
}

TEST(DynamicSliceTest, StartsAreClampedGloballyFirst) {
  ExpectEquivalentAt<int32_t>(8, 3, {-100, -1, 0, 3, 5, 6, 100, 2147483647, -2147483647});
  ExpectEquivalentAt<int32_t>(13, 5, {-1, 4, 8, 9, 13});
  ExpectEquivalentAt<int32_t>(8, 1, {0, 3, 4, 7, 8});
}

TEST(DynamicSliceTest, IndexTypesNeitherWrapNorNarrow) {
  ExpectEquivalentAt<int64_t>(8, 3, {-(int64_t{1} << 40), int64_t{1} << 40, (int64_t{1} << 32) + 2, 4});
  ExpectEquivalentAt<uint8_t>(300, 2, {0, 127, 128, 200, 255});
  ExpectEquivalentAt<int8_t>(300, 2, {-128, -1, 100, 127});
  ExpectEquivalentAt<uint32_t>(8, 3, {0, 4, 4294967295});
}

TEST(DynamicSliceTest, OneRowOfACutArraySendsOneRow) {
  EXPECT_THAT(Collectives(DynamicSlice("s32", 16, 1, ", sharding={replicated}"), 4),
              ElementsAre("all-reduce 8"));
}

TEST(DynamicSliceTest, AVectorOfStartsIsCutAsScalarsAre) {
  for (const char* sharding : {"", ", sharding={devices=[$n,1]<=[$n]}", ", sharding={replicated}"}) {
    for (const char* vector : {"", ", sharding={devices=[$n]<=[$n]}"}) {
      SCOPED_TRACE(absl::StrCat(sharding, vector));
      const std::string text = absl::StrCat(
          "ENTRY main {\n  x = f32[13,3] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  v = s32[2] parameter(1)",
          vector, "\n  ROOT y = f32[5,2] dynamic-slice(x, v), dynamic_slice_sizes={5,2}", sharding, "\n}\n");
      for (const int32_t start : {-1, 4, 8, 9, 13}) {
        const Literal starts = Literal::Array<int32_t>({2}, {start, 1});
        ExpectEquivalent(text, {Integers(Shape(xla::F32, {13, 3})), starts}, {1, 2, 3, 16});
      }
    }
  }
}

// The maximum over columns is partial over one axis, the slice is partial over the other: maxima must not be
// added.
TEST(DynamicSliceTest, PartialMaximaAreNotSummed) {
  for (const char* reducer : {"maximum", "minimum", "multiply"}) {
    SCOPED_TRACE(reducer);
    const std::string init = reducer[1] == 'u' ? "1" : reducer[1] == 'a' ? "-inf" : "inf";
    const std::string text = absl::StrCat(R"(
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] )",
                                          reducer, R"((a, b) }
ENTRY main {
  x = f32[64,8] parameter(0), sharding={devices=[2,2]<=[4]}
  k = s32[] parameter(1), sharding={replicated}
  i = f32[] constant()",
                                          init, R"()
  m = f32[64] reduce(x, i), dimensions={1}, to_apply=f
  ROOT s = f32[2] dynamic-slice(m, k), dynamic_slice_sizes={2}, sharding={replicated}
})");
    ExpectEquivalent(text, {}, {4});
  }
}

TEST(DynamicSliceTest, AConstantStartIsClamped) {
  for (const int start : {-5, 0, 4, 7, 12, 13, 100}) {
    for (const int64_t rows : {1, 3}) {
      SCOPED_TRACE(absl::StrCat(rows, " from ", start));
      ExpectEquivalent(absl::StrCat(
          "ENTRY main {\n  x = f32[13,5] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  i = s32[] constant(",
          start, ")\n  j = s32[] constant(1)\n  ROOT y = f32[", rows,
          ",2] dynamic-slice(x, i, j), dynamic_slice_sizes={", rows, ",2}, sharding={replicated}\n}\n"));
    }
  }
}

}  // namespace
}  // namespace toroid
