#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// fft(x), with x of the dimensions `in`, for type `type` over the last `dims` dimensions. Dimension `cut` is
// cut over all devices.
std::string Fft(const std::string& type, const std::vector<int64_t>& in, int cut, int dims) {
  std::vector<int64_t> length(in.end() - dims, in.end()), out = in;
  std::string from = "c64", to = "c64";
  if (type == "RFFT") {
    from = "f32";
    out.back() = out.back() / 2 + 1;
  } else if (type == "IRFFT") {
    to = "f32";
    out.back() = length.back() = 2 * in.back() - 2;
  }
  std::string tiles;
  for (size_t d = 0; d < in.size(); ++d)
    absl::StrAppend(&tiles, d > 0 ? "," : "", static_cast<int>(d) == cut ? "$n" : "1");
  const std::string sharding = absl::StrCat(", sharding={devices=[", tiles, "]<=[$n]}");
  return absl::StrCat("ENTRY main {\n  x = ", from, "[", absl::StrJoin(in, ","), "] parameter(0)", sharding,
                      "\n  ROOT y = ", to, "[", absl::StrJoin(out, ","), "] fft(x), fft_type=", type,
                      ", fft_length={", absl::StrJoin(length, ","), "}", sharding, "\n}\n");
}

constexpr double kTolerance = 1e-4;

TEST(FftTest, OfACutDimension) {
  for (const char* type : {"FFT", "IFFT", "RFFT", "IRFFT"}) {
    for (const std::vector<int64_t>& in : std::vector<std::vector<int64_t>>{
             {3}, {10}, {49}, {64}, {256}, {2, 64}, {5, 36}, {16, 10}, {3, 1, 20}}) {
      ExpectEquivalent(Fft(type, in, static_cast<int>(in.size()) - 1, 1), {}, {2, 3, 4, 7, 16}, kTolerance);
    }
  }
}

TEST(FftTest, OfSeveralDimensionsOneOfThemCut) {
  for (const char* type : {"FFT", "IFFT", "RFFT", "IRFFT"}) {
    for (const std::vector<int64_t>& in : std::vector<std::vector<int64_t>>{{8, 12}, {2, 9, 7}, {4, 5, 16}}) {
      const int rank = static_cast<int>(in.size());
      for (int cut = 0; cut < rank; ++cut) {
        for (int dims = 1; dims <= rank; ++dims)
          ExpectEquivalent(Fft(type, in, cut, dims), {}, {2, 3, 7, 16}, kTolerance);
      }
    }
  }
}

TEST(FftTest, OfTwoCutDimensions) {
  for (const char* type : {"FFT", "RFFT", "IRFFT"}) {
    const std::string out = std::string(type) == "RFFT"  ? "c64[9,7]"
                            : std::string(type) == "FFT" ? "c64[9,12]"
                                                         : "f32[9,22]";
    const std::string text = absl::StrCat(
        "ENTRY main {\n  x = ", std::string(type) == "RFFT" ? "f32" : "c64",
        "[9,12] parameter(0), sharding={devices=[2,4]<=[8]}\n  ROOT y = ", out, " fft(x), fft_type=", type,
        ", fft_length={9,", std::string(type) == "IRFFT" ? 22 : 12, "}\n}\n");
    ExpectEquivalent(text, {}, {8}, kTolerance);
  }
}

TEST(FftTest, WhatIsSent) {
  // A batch of lines: an all-to-all moves the cut to the batch dimension, another one moves it back.
  EXPECT_THAT(Collectives(Fft("FFT", {16, 4096}, 0, 1), 8), IsEmpty());
  EXPECT_THAT(Collectives(Fft("FFT", {16, 4096}, 1, 1), 8),
              ElementsAre("all-to-all 65536", "all-to-all 65536"));
  // An image cut along dimension 0: dimension 1 takes the cut while dimension 0 is transformed.
  EXPECT_THAT(Collectives(Fft("FFT", {256, 256}, 0, 2), 8),
              ElementsAre("all-to-all 65536", "all-to-all 65536"));
  // One line: each device sends its tile three times; an all-gather would send it seven times.
  EXPECT_THAT(Collectives(Fft("FFT", {65536}, 0, 1), 8),
              ElementsAre("all-to-all 65536", "all-to-all 65536", "all-to-all 65536"));
  EXPECT_THAT(Collectives(Fft("IFFT", {65536}, 0, 1), 8),
              ElementsAre("all-to-all 65536", "all-to-all 65536", "all-to-all 65536"));
  // Over few devices, or if the line does not divide into tiles, it is gathered.
  EXPECT_THAT(Collectives(Fft("FFT", {65536}, 0, 1), 2), ElementsAre("all-gather 262144"));
  EXPECT_THAT(Collectives(Fft("FFT", {1000}, 0, 1), 8), ElementsAre("all-gather 1000"));
}

// A convolution by transforms: between the two transforms, lines stay whole on their devices.
TEST(FftTest, ThereAndBackMovesLinesTwice) {
  PartitionOptions options;
  options.num_partitions = 8;
  const auto module = ProgramFor(R"(
ENTRY main {
  x = c64[16,4096] parameter(0), sharding={devices=[1,8]<=[8]}
  w = c64[4096] parameter(1)
  f = c64[16,4096] fft(x), fft_type=FFT, fft_length={4096}
  v = c64[16,4096] broadcast(w), dimensions={1}
  m = c64[16,4096] multiply(f, v)
  ROOT y = c64[16,4096] fft(m), fft_type=IFFT, fft_length={4096}, sharding={devices=[1,8]<=[8]}
})",
                                 8);
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*module, options));
  EXPECT_EQ(SentBytes(*partitioned.module), 2 * 57344);
}

}  // namespace
}  // namespace toroid
