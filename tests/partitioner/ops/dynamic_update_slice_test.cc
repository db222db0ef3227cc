#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Update(const std::string& index, int64_t size, int64_t update,
                   const std::string& update_sharding) {
  return absl::StrCat("ENTRY main {\n  x = f32[", size,
                      ",3] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  u = f32[", update,
                      ",2] parameter(1)", update_sharding, "\n  i = ", index,
                      "[] parameter(2)\n  j = ", index, "[] parameter(3)\n  ROOT y = f32[", size,
                      ",3] dynamic-update-slice(x, u, i, j), sharding={devices=[$n,1]<=[$n]}\n}\n");
}

template <typename T>
void ExpectEquivalentAt(int64_t size, int64_t update, std::initializer_list<int64_t> starts) {
  const std::string type(TypeName(PrimitiveTypeOf<T>::value));
  for (const int64_t start : starts) {
    SCOPED_TRACE(absl::StrCat(type, " start ", start));
    for (const char* sharding : {", sharding={devices=[$n,1]<=[$n]}", ""}) {
      ExpectEquivalent(Update(type, size, update, sharding),
                       {Integers(Shape(xla::F32, {size, 3})), Integers(Shape(xla::F32, {update, 2}), 2),
                        Literal::Scalar<T>(static_cast<T>(start)), Literal::Scalar<T>(T{1})},
                       {1, 2, 3, 16});
    }
  }
}

TEST(DynamicUpdateSliceTest, StartsAreClampedGloballyFirst) {
  ExpectEquivalentAt<int32_t>(8, 3, {-100, -1, 0, 3, 5, 6, 100, 2147483647, -2147483647});
  ExpectEquivalentAt<int32_t>(13, 5, {-1, 4, 8, 9, 13});
  ExpectEquivalentAt<int32_t>(8, 8, {-1, 0, 1});
  ExpectEquivalentAt<int32_t>(8, 0, {0, 9});
}

TEST(DynamicUpdateSliceTest, IndexTypesNeitherWrapNorNarrow) {
  ExpectEquivalentAt<int64_t>(8, 3, {-(int64_t{1} << 40), int64_t{1} << 40, (int64_t{1} << 32) + 2, 4});
  ExpectEquivalentAt<uint8_t>(300, 2, {0, 127, 128, 200, 255});
  ExpectEquivalentAt<int8_t>(300, 2, {-128, -1, 100, 127});
  ExpectEquivalentAt<uint32_t>(8, 3, {0, 4, 4294967295});
}

TEST(DynamicUpdateSliceTest, AVectorOfStartsIsCutAsScalarsAre) {
  for (const char* vector : {"", ", sharding={devices=[$n]<=[$n]}"}) {
    const std::string text =
        absl::StrCat("ENTRY main {\n  x = s32[13,6] parameter(0), sharding={devices=[$n,1]<=[$n]}\n",
                     "  u = s32[4,1] parameter(1)\n  v = s64[2] parameter(2)", vector,
                     "\n  ROOT y = s32[13,6] dynamic-update-slice(x, u, v)\n}\n");
    for (const int64_t start : {-1, 0, 5, 9, 100}) {
      SCOPED_TRACE(absl::StrCat(vector, " start ", start));
      const Literal starts = Literal::Array<int64_t>({2}, {start, 5});
      ExpectEquivalent(text,
                       {Integers(Shape(xla::S32, {13, 6})), Integers(Shape(xla::S32, {4, 1}), 2), starts},
                       {1, 2, 3, 16});
    }
  }
}

TEST(DynamicUpdateSliceTest, OneRowIntoACutCacheMovesNothing) {
  EXPECT_THAT(Collectives(Update("s32", 16, 1, ", sharding={replicated}"), 4), IsEmpty());
}

// An update of several rows and columns at a constant position.
std::string ConstantUpdate(int64_t size, int64_t rows, int64_t start, const std::string& sharding) {
  return absl::StrCat("ENTRY main {\n  x = f32[", size, ",", size, "] parameter(0), sharding=", sharding,
                      "\n  u = f32[", rows, ",", rows, "] parameter(1), sharding=", sharding,
                      "\n  i = s32[] constant(", start, ")\n  ROOT y = f32[", size, ",", size,
                      "] dynamic-update-slice(x, u, i, i), sharding=", sharding, "\n}\n");
}

TEST(DynamicUpdateSliceTest, RowsAreShiftedToAConstantPlace) {
  for (const int64_t start : {-1, 0, 2, 5, 100}) {
    SCOPED_TRACE(start);
    ExpectEquivalent(ConstantUpdate(13, 8, start, "{devices=[$n,1]<=[$n]}"));
    ExpectEquivalent(ConstantUpdate(16, 3, start, "{devices=[1,$n]<=[$n]}"));
    ExpectEquivalent(ConstantUpdate(13, 11, start, "{devices=[2,2]<=[4]}"), {}, {4});
  }
  // 12 rows of 60 floats go to the next tile, then 12 columns of 64 floats.
  EXPECT_THAT(Collectives(ConstantUpdate(256, 240, 16, "{devices=[4,4]<=[16]}"), 16),
              ElementsAre("collective-permute 2880", "collective-permute 3072"));
}

TEST(DynamicUpdateSliceTest, AnUpdateThatAllHaveIsNotSent) {
  std::string text = ConstantUpdate(13, 8, 2, "{devices=[2,2]<=[4]}");
  text.replace(text.find("parameter(1), sharding={devices=[2,2]<=[4]}"), 43,
               "parameter(1), sharding={replicated}");
  EXPECT_THAT(Collectives(text, 4), IsEmpty());
  ExpectEquivalent(text, {}, {4});
}

}  // namespace
}  // namespace toroid
