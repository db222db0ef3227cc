#include "simulator/program/tiling.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

const Tiling kTiling;

TEST(TilingTest, TheTwoMinorDimensionsPadToTiles) {
  EXPECT_EQ(PaddedElements(Shape(xla::F32, {2048, 64}), kTiling), 2048 * 128);
  EXPECT_EQ(PaddedElements(Shape(xla::F32, {3, 9, 130}), kTiling), 3 * 16 * 256);
  EXPECT_EQ(PaddedBytes(Shape(xla::BF16, {2048, 1024}), kTiling), 2 * 2048 * 1024);
}

TEST(TilingTest, FewRowsLieInSmallerTiles) {
  EXPECT_EQ(PaddedElements(Shape(xla::F32, {100, 3, 128}), kTiling), 100 * 4 * 128);
  EXPECT_EQ(PaddedElements(Shape(xla::F32, {100, 2, 128}), kTiling), 100 * 2 * 128);
  EXPECT_EQ(PaddedElements(Shape(xla::BF16, {100, 2, 128}), kTiling), 100 * 4 * 128);
  // Bytes come in whole tiles.
  EXPECT_EQ(PaddedElements(Shape(xla::U8, {100, 3, 128}), kTiling), 100 * 8 * 128);
}

TEST(TilingTest, VectorsPadToAPowerOfTwoOrToTilesOf1024) {
  EXPECT_EQ(PaddedElements(Shape(xla::F32, {10}), kTiling), 128);
  EXPECT_EQ(PaddedElements(Shape(xla::F32, {300}), kTiling), 512);
  EXPECT_EQ(PaddedElements(Shape(xla::F32, {5000}), kTiling), 5120);
  EXPECT_EQ(PaddedElements(Shape(xla::F32, {}), kTiling), 1);
  EXPECT_EQ(PaddedElements(Shape(xla::F32, {0, 5}), kTiling), 0);
}

TEST(TilingTest, DimensionsOfOneElementTakeNoPlaceInTiles) {
  EXPECT_EQ(PaddedElements(Shape(xla::F32, {64, 1, 128, 1}), kTiling), 64 * 128);
}

TEST(TilingTest, OneLaneThatStaysAlongLanesFillsThem) {
  Shape shape(xla::F32, {64, 128, 1});
  EXPECT_EQ(PaddedElements(shape, kTiling), 64 * 128);
  SetTiled({2, 1, 0}, kTiling, &shape);
  EXPECT_EQ(PaddedElements(shape, kTiling), 64 * 128 * 128);
  EXPECT_EQ(TilesOf(shape, kTiling), 64 * 16);
}

TEST(TilingTest, RowsAreCutInWholeTilesOrUnderOneColumnOfThem) {
  const auto keeps = [](Dims from, Dims to) {
    return KeepsTiles(Shape(xla::F32, from), Shape(xla::F32, to), kTiling);
  };
  EXPECT_TRUE(keeps({32, 256}, {4, 8, 256}));
  EXPECT_FALSE(keeps({32, 256}, {16, 2, 256}));
  EXPECT_TRUE(keeps({32, 128}, {16, 2, 128}));
  EXPECT_TRUE(keeps({32, 40}, {16, 2, 40}));
  EXPECT_FALSE(keeps({36, 40}, {12, 3, 40}));
  EXPECT_TRUE(keeps({16, 128}, {2048}));
  EXPECT_FALSE(keeps({16, 64}, {1024}));
}

TEST(TilingTest, TheOrderOfLeastPaddingPutsTheWorstDimensionOutermost) {
  EXPECT_THAT(LeastPaddingOrder(Shape(xla::F32, {65536, 64}), kTiling), ElementsAre(0, 1));
  EXPECT_THAT(LeastPaddingOrder(Shape(xla::F32, {2048, 128, 2}), kTiling), ElementsAre(1, 2, 0));
  EXPECT_THAT(LeastPaddingOrder(Shape(xla::F32, {2048, 128, 2}), kTiling, /*prefers_whole=*/true),
              ElementsAre(1, 0, 2));
  EXPECT_THAT(LeastPaddingOrder(Shape(xla::F32, {2048, 128, 3}), kTiling), ElementsAre(1, 0, 2));
  EXPECT_THAT(LeastPaddingOrder(Shape(xla::F32, {4096, 1024}), kTiling), ElementsAre(1, 0));
}

TEST(TilingTest, AProgramWithoutLayoutsPadsLittle) {
  const ArraySize size = LeastPaddedSize(kTiling);
  const Shape thin(xla::F32, {28672, 32, 16});
  EXPECT_EQ(size(thin), int64_t{28672} * 32 * 16 * 4);
  EXPECT_EQ(PaddedSize(kTiling)(thin), int64_t{28672} * 32 * 128 * 4);
  EXPECT_EQ(size(Shape(xla::F32, {100})), PaddedSize(kTiling)(Shape(xla::F32, {100})));
  // A layout with tiles is that of a compiler.
  Shape laid_out = thin;
  SetTiled({2, 1, 0}, kTiling, &laid_out);
  EXPECT_EQ(size(laid_out), PaddedSize(kTiling)(laid_out));
}

}  // namespace
}  // namespace toroid
