// BUILD: size = "small"
// BUILD: data = ["//:docs/adding_a_strategy.md", "whole_small.h", "whole_small.cc", "whole_small_test.cc"]
// The worked example of docs/adding_a_strategy.md, which quotes it.
#include "tests/partitioner/search/whole_small.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "hlo/base/files.h"
#include "tests/partitioner/search/proposals.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Strategy kWholeSmall = {"whole_small", "small tensors whole on every device", KeepSmallWhole};

TEST(WholeSmallTest, AValueThatIsReturnedWholeIsComputedWhole) {
  const Proposals proposals = ProposalsOf(kWholeSmall, R"(ENTRY main {
  w = f32[64] parameter(0), sharding={replicated}
  x = f32[64,8] parameter(1), sharding={devices=[$n,1]<=[$n]}
  c = f32[64] tanh(w)
  b = f32[64,8] broadcast(c), dimensions={0}
  y = f32[64,8] add(x, b)
  d = f32[64] negate(c)
  ROOT r = (f32[64,8], f32[64]) tuple(y, d), sharding={{devices=[$n,1]<=[$n]}, {replicated}}
})",
                                          4);
  EXPECT_EQ(proposals.first.price.sent_bytes, 3 * 64);
  ASSERT_THAT(proposals.plans, SizeIs(1));
  EXPECT_EQ(proposals.plans[0].price.sent_bytes, 0);
}

TEST(WholeSmallTest, NothingIsProposedThatSendsAsMuch) {
  const Proposals proposals = ProposalsOf(kWholeSmall, R"(ENTRY main {
  x = f32[64,8] parameter(0), sharding={devices=[$n,1]<=[$n]}
  c = f32[64,8] tanh(x)
  ROOT y = f32[64,8] negate(c)
})",
                                          4);
  EXPECT_THAT(proposals.plans, IsEmpty());
}

// `code` as pages show it.
std::string Indented(absl::string_view code) {
  std::string text;
  for (const absl::string_view line : absl::StrSplit(code, '\n'))
    absl::StrAppend(&text, line.empty() ? "" : "    ", line, "\n");
  return text;
}

TEST(WholeSmallTest, ThePageQuotesTheExample) {
  const std::string folder = "tests/partitioner/search/";
  ASSERT_OK_AND_ASSIGN(const std::string page, ReadFile("docs/adding_a_strategy.md"));
  ASSERT_OK_AND_ASSIGN(const std::string header, ReadFile(folder + "whole_small.h"));
  ASSERT_OK_AND_ASSIGN(const std::string source, ReadFile(folder + "whole_small.cc"));
  ASSERT_OK_AND_ASSIGN(const std::string test, ReadFile(folder + "whole_small_test.cc"));
  EXPECT_THAT(page, HasSubstr(Indented(header)));
  EXPECT_THAT(page, HasSubstr(Indented(source)));
  const size_t begin = test.find("TEST("), end = test.find("\n}\n", begin);
  EXPECT_THAT(page, HasSubstr(Indented(test.substr(begin, end + 2 - begin))));
}

}  // namespace
}  // namespace toroid
