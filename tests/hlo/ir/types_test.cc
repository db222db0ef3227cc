// BUILD: size = "small"
// Element types: the C++ types of native_types.h have the widths of types.h.
#include "gtest/gtest.h"
#include "hlo/ir/native_types.h"

namespace toroid {
namespace {

TEST(TypesTest, NativeTypesAreAsWideAsTheTypesThatTheyHold) {
  for (int i = 0; i < xla::PrimitiveType_ARRAYSIZE; ++i) {
    const auto type = static_cast<PrimitiveType>(i);
    const int64_t width = VisitArrayType(
        type, [](auto tag) -> int64_t { return sizeof(typename decltype(tag)::type); }, int64_t{0});
    EXPECT_EQ(ByteWidth(type), width) << TypeName(type);
    EXPECT_EQ(IsArrayType(type), width > 0) << TypeName(type);
  }
}

TEST(TypesTest, NativeTypesKnowTheirElementType) {
#define TOROID_CHECK_TYPE(enumerator, cpp) EXPECT_EQ(PrimitiveTypeOf<cpp>::value, xla::enumerator);
  TOROID_FOR_EACH_ARRAY_TYPE(TOROID_CHECK_TYPE)
#undef TOROID_CHECK_TYPE
}

}  // namespace
}  // namespace toroid
