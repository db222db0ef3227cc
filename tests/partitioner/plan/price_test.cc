// BUILD: size = "small"
// Which of two prices is better.
#include "partitioner/plan/price.h"

#include "gtest/gtest.h"

namespace toroid {
namespace {

Price Of(double sent, double flops, double collectives = 1, double written = 0, double replicated = 0) {
  Price price;
  price.time = price.sent_bytes = sent;
  price.flops = flops;
  price.collectives = collectives;
  price.written_bytes = written;
  price.replicated = replicated;
  return price;
}

bool IsImproved(const Price& a, const Price& b) { return Improves(a, b, Comparison()); }
bool IsBetter(const Price& a, const Price& b, double usual_bytes = 0) {
  return Better(a, b, {Objective::kBytes, &DefaultCostModel(), usual_bytes});
}

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

TEST(PriceTest, SecondsAddUpWhatIsSentComputedWrittenAndStarted) {
  // 70 GB/s, 61.5 Tflop/s, 450 GB/s, 18 us.
  EXPECT_NEAR(SecondsOf(Of(70e9, 0, 0), DefaultCostModel()), 1, 1e-9);
  EXPECT_NEAR(SecondsOf(Of(0, 61.5e12, 0), DefaultCostModel()), 1, 1e-9);
  EXPECT_NEAR(SecondsOf(Of(0, 0, 0, 225e9), DefaultCostModel()), 1, 1e-9);
  EXPECT_NEAR(SecondsOf(Of(0, 0, 100), DefaultCostModel()), 18e-4, 1e-9);
}

TEST(PriceTest, InSecondsBytesAndFlopsHaveAPrice) {
  const Comparison by = {Objective::kSeconds};
  // 1 MB takes as long as 0.88 Gflop; a collective as long as 1.26 MB.
  EXPECT_TRUE(Better(Of(1e6, 1e9), Of(2.2e6, 0), by));
  EXPECT_FALSE(Better(Of(1e6, 1e9), Of(2.1e6, 0), by));
  EXPECT_TRUE(Improves(Of(2.2e6, 0, 1), Of(1e6, 0, 2), by));
  EXPECT_FALSE(Improves(Of(2.3e6, 0, 1), Of(1e6, 0, 2), by));
}

TEST(PriceTest, FlopsCountOnceUnderAModelThatPricesThem) {
  class Pricing : public CostModel {
   public:
    double CollectiveTime(CollectiveKind, int64_t bytes, const Mesh&, const AxisList&) const override {
      return static_cast<double>(bytes);
    }
    double PermuteDelay(int64_t) const override { return 0; }
    double MemoryTime(double) const override { return 0; }
    std::optional<double> ContractionTime(double flops) const override { return flops / 4; }
    double OpTime(const Work&) const override { return 0; }
    double SecondsPerLinkByte() const override { return 1; }
  };
  Price price = Of(100, 40);
  price.time = 110;  // The bytes, and 40 flops at 4 for each byte.
  EXPECT_EQ(SecondsOf(price, Pricing()), 110);
}

}  // namespace
}  // namespace toroid
