// BUILD: size = "small"
// Compressed files: reading, writing, damage, nesting.
#include "hlo/base/gzip.h"

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/files.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

// `printf hello | gzip -n`
constexpr absl::string_view kHello(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\x07\x00\x86\xa6\x10\x36\x05\x00\x00\x00",
    25);

std::string Numbers(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) absl::StrAppend(&text, i * 7919 % 10007, ",");
  return text;
}

std::string Path(const std::string& name) { return ::testing::TempDir() + "/" + name; }

TEST(GzipTest, ReadsWhatGzipWrites) { EXPECT_THAT(Gunzip(kHello), IsOkAndHolds("hello")); }

TEST(GzipTest, ContentComesBackAndTheBytesDependOnItAlone) {
  for (const std::string& content :
       {std::string(), std::string("x"), std::string(3000000, 'a'), Numbers(100000)}) {
    ASSERT_OK_AND_ASSIGN(const std::string packed, Gzip(content));
    EXPECT_TRUE(IsGzip(packed));
    EXPECT_THAT(Gunzip(packed), IsOkAndHolds(content));
    EXPECT_THAT(Gzip(content), IsOkAndHolds(packed));
  }
}

TEST(GzipTest, MembersAreJoinedAndPaddingIsDropped) {
  const std::string two = absl::StrCat(kHello, Gzip(Numbers(5000)).value());
  EXPECT_THAT(Gunzip(two), IsOkAndHolds("hello" + Numbers(5000)));
  EXPECT_THAT(Gunzip(two + std::string(700, '\0')), IsOkAndHolds("hello" + Numbers(5000)));
  EXPECT_THAT(Gunzip(absl::StrCat(kHello, "tail")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("followed by something else")));
}

TEST(GzipTest, EveryCutIsReported) {
  const std::string whole = Gzip(Numbers(300)).value();
  for (size_t n = 3; n < whole.size(); ++n) {
    EXPECT_THAT(Gunzip(whole.substr(0, n)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cut short")))
        << n;
  }
}

TEST(GzipTest, EveryFlippedBitOfDataAndCheckIsReported) {
  const std::string whole = Gzip(Numbers(300)).value();
  for (size_t at = 10; at < whole.size();
       ++at) {  // After the header, whose time and system fields are ignored.
    std::string damaged = whole;
    damaged[at] ^= 4;
    EXPECT_THAT(Gunzip(damaged), StatusIs(absl::StatusCode::kInvalidArgument)) << at;
  }
}

// The size in the trailer is only a hint: a wrong one is an error, and does not cause an allocation.
TEST(GzipTest, ALieAboutTheSizeIsAnError) {
  std::string lie(kHello);
  lie.replace(21, 4, "\xff\xff\xff\x7f");
  EXPECT_THAT(Gunzip(lie), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(GzipTest, ContentIsBounded) {
  const size_t limit = size_t{1} << 20;
  const std::string packed = Gzip(std::string(limit - 1, '\0')).value();
  ASSERT_OK_AND_ASSIGN(const std::string content, Gunzip(packed, limit));
  EXPECT_EQ(content.size(), limit - 1);
  EXPECT_THAT(Gunzip(packed + Gzip("x").value(), limit),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("holds 1 MiB or more")));
  EXPECT_THAT(Gunzip(Gzip(std::string(50 * limit, '\0')).value(), limit),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(GzipTest, InputsAreRecognisedFromContentAndOutputsFromTheirName) {
  ASSERT_OK(WriteOutput(Path("a.txt.gz"), "hello"));
  EXPECT_TRUE(IsGzip(ReadFile(Path("a.txt.gz")).value()));
  ASSERT_OK(WriteOutput(Path("a.txt"), "hello"));
  EXPECT_THAT(ReadFile(Path("a.txt")), IsOkAndHolds("hello"));
  EXPECT_THAT(ReadInput(Path("a.txt.gz")), IsOkAndHolds("hello"));
  EXPECT_THAT(ReadInput(Path("a.txt")), IsOkAndHolds("hello"));
  ASSERT_OK(WriteFile(Path("no_gz_in_the_name"), kHello));
  EXPECT_THAT(ReadInput(Path("no_gz_in_the_name")), IsOkAndHolds("hello"));
}

TEST(GzipTest, NestingIsFollowedThreeDeep) {
  std::string content = "hello";
  for (int layers = 1; layers <= 4; ++layers) {
    content = Gzip(content).value();
    ASSERT_OK(WriteFile(Path("nested"), content));
    if (layers <= 3) {
      EXPECT_THAT(ReadInput(Path("nested")), IsOkAndHolds("hello"));
    } else {
      EXPECT_THAT(ReadInput(Path("nested")), StatusIs(absl::StatusCode::kInvalidArgument,
                                                      HasSubstr("nested: is compressed more than 3 times")));
    }
  }
  ASSERT_OK(WriteFile(Path("cut"), kHello.substr(0, 20)));
  EXPECT_THAT(ReadInput(Path("cut")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cut: the gzip data")));
}

// Each layer may expand by up to 1032: 100 MB of zeros take 300 bytes in two layers.
TEST(GzipTest, NestedDataHoldsNoMoreThanOneLayerMay) {
  const std::string one = Gzip(std::string(100 << 20, '\0')).value(), two = Gzip(one).value();
  ASSERT_LT(two.size(), 2000u);
  ASSERT_OK(WriteFile(Path("one"), one));
  ASSERT_OK_AND_ASSIGN(const std::string content, ReadInput(Path("one")));
  EXPECT_EQ(content.size(), size_t{100} << 20);
  for (const std::string& bomb : {two, Gzip(two).value()}) {
    ASSERT_OK(WriteFile(Path("bomb"), bomb));
    EXPECT_THAT(ReadInput(Path("bomb")), StatusIs(absl::StatusCode::kResourceExhausted,
                                                  HasSubstr("bomb: inside other gzip data: the gzip data")));
  }
  // A small file may expand to some size, and data that do not shrink twice to any size.
  ASSERT_OK(WriteFile(Path("small"), Gzip(Gzip(std::string(64 << 10, '\0')).value()).value()));
  EXPECT_OK(ReadInput(Path("small")));
  ASSERT_OK(WriteFile(Path("numbers"), Gzip(Gzip(Numbers(100000)).value()).value()));
  EXPECT_THAT(ReadInput(Path("numbers")), IsOkAndHolds(Numbers(100000)));
}

TEST(GzipTest, ReadersMayAskForLess) {
  ASSERT_OK(WriteFile(Path("plain"), std::string(5000, 'a')));
  ASSERT_OK(WriteFile(Path("packed"), Gzip(std::string(5000, 'a')).value()));
  for (const char* name : {"plain", "packed"}) {
    EXPECT_THAT(ReadInput(Path(name), 5000), IsOkAndHolds(std::string(5000, 'a')));
    EXPECT_THAT(ReadInput(Path(name), 4999), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr(name)));
  }
}

}  // namespace
}  // namespace toroid
