// BUILD: size = "small"
// Which of two prices is better.
#include "partitioner/plan/price.h"

#include "gtest/gtest.h"

namespace toroid {
namespace {

Price Of(double sent, double flops, double collectives = 1, double written = 0, double replicated = 0) {
  Price price;
  price.sent_bytes = sent;
  price.flops = flops;
  price.collectives = collectives;
  price.written_bytes = written;
  price.replicated = replicated;
  return price;
}

bool IsImproved(const Price& a, const Price& b) { return Improves(a, b, DefaultCostModel()); }
bool IsBetter(const Price& a, const Price& b, double usual_bytes = 0) { return Better(a, b, usual_bytes); }

TEST(PriceTest, OfTheSameFlopsFewerBytesAreBetter) {
  EXPECT_TRUE(IsImproved(Of(99, 10), Of(100, 10)));
  EXPECT_FALSE(IsImproved(Of(100, 10), Of(100, 10)));
  EXPECT_FALSE(IsImproved(Of(101, 10), Of(100, 10)));
}

TEST(PriceTest, ACollectiveMoreMustSaveATenth) {
  EXPECT_FALSE(IsImproved(Of(95, 10, 2), Of(100, 10, 1)));
  EXPECT_TRUE(IsImproved(Of(90, 10, 2), Of(100, 10, 1)));
}

TEST(PriceTest, AnOpOnWholeArraysMoreMustSaveAQuarter) {
  EXPECT_FALSE(IsImproved(Of(80, 10, 1, 8, 1), Of(100, 10, 1, 4, 0)));
  EXPECT_TRUE(IsImproved(Of(75, 10, 1, 8, 1), Of(100, 10, 1, 4, 0)));
  EXPECT_TRUE(IsImproved(Of(80, 10, 1, 4, 1), Of(100, 10, 1, 4, 0))) << "nothing more is written";
}

TEST(PriceTest, RepeatedWorkMustNotTakeLongerThanSendingWhatItSaves) {
  // A link carries 70 GB/s, memory 450 GB/s: 1 MB that is sent is 3.2 MB that are written and read.
  EXPECT_TRUE(IsImproved(Of(0, 10, 1, 3e6), Of(1e6, 10)));
  EXPECT_FALSE(IsImproved(Of(0, 10, 1, 4e6), Of(1e6, 10)));
}

TEST(PriceTest, AnImprovementNeverGrows) {
  EXPECT_TRUE(IsImproved(Of(100, 90), Of(100, 100)));
  EXPECT_FALSE(IsImproved(Of(101, 50), Of(100, 100)));
  EXPECT_FALSE(IsImproved(Of(50, 101), Of(100, 100)));
}

TEST(PriceTest, FlopsAndBytesAreExchangedWithinNinePercent) {
  EXPECT_TRUE(IsBetter(Of(105, 90), Of(100, 100)));
  EXPECT_FALSE(IsBetter(Of(105, 99), Of(100, 100)));
  EXPECT_FALSE(IsBetter(Of(120, 50), Of(100, 100)));
  EXPECT_FALSE(IsBetter(Of(50, 110), Of(100, 100)));
}

TEST(PriceTest, UpToTheUsualBytesAFlopCountsMore) {
  EXPECT_TRUE(IsBetter(Of(150, 80), Of(100, 100), 200));
  EXPECT_FALSE(IsBetter(Of(150, 80), Of(100, 100), 140));
  EXPECT_FALSE(IsBetter(Of(220, 80), Of(100, 100), 400)) << "0.8^3 x 2.2 = 1.13";
}

}  // namespace
}  // namespace toroid
