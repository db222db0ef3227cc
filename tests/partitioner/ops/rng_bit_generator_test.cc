// Random bits that are cut along any dimension equal those of the uncut op.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "tests/partitioner/equivalence.h"

namespace toroid {
namespace {

// An rng-bit-generator; dimension `cut` of the bits is cut over all devices; -1: no sharding.
std::string Program(const std::string& algorithm, const std::string& type, const std::vector<int64_t>& dims,
                    int cut, int words) {
  std::vector<std::string> tiles(dims.size(), "1");
  if (cut >= 0) tiles[cut] = "$n";
  const std::string shape = absl::StrCat(type, "[", absl::StrJoin(dims, ","), "]");
  const std::string state = absl::StrCat("u64[", words, "]");
  return absl::StrCat(
      "ENTRY main {\n  s = ", state, " parameter(0)\n  r = (", state, ", ", shape,
      ") rng-bit-generator(s), algorithm=", algorithm, "\n  n = ", state,
      " get-tuple-element(r), index=0\n  x = ", shape, " get-tuple-element(r), index=1\n  y = ", shape,
      " add(x, x)",
      cut < 0 ? "" : absl::StrCat(", sharding={devices=[", absl::StrJoin(tiles, ","), "]<=[$n]}"),
      "\n  ROOT t = (", state, ", ", shape, ") tuple(n, y)\n}\n");
}

// A state whose counter is near its end, so that a carry occurs.
Literal State(int words) {
  Literal state(Shape(xla::U64, {words}));
  const uint64_t values[] = {0x0123456789abcdefu, ~uint64_t{0} - 5, 0xfedcba9876543210u};
  for (int i = 0; i < words; ++i) state.mutable_data<uint64_t>()[i] = values[i];
  return state;
}

TEST(RngBitGeneratorTest, PartsAreThoseOfTheWholeStream) {
  struct Case {
    const char* algorithm;
    int words;
  };
  for (const Case& c :
       {Case{"rng_three_fry", 2}, Case{"rng_philox", 2}, Case{"rng_philox", 3}, Case{"rng_default", 3}}) {
    for (const char* type : {"u32", "u64", "s8", "u16"}) {
      for (const std::vector<int64_t>& dims :
           std::vector<std::vector<int64_t>>{{16}, {7}, {6, 8}, {3, 5}, {5, 3, 32}, {64, 3}}) {
        for (int cut = 0; cut < static_cast<int>(dims.size()); ++cut) {
          SCOPED_TRACE(absl::StrCat(c.algorithm, " ", c.words, " ", type, "[", absl::StrJoin(dims, ","),
                                    "] along ", cut));
          ExpectEquivalent(Program(c.algorithm, type, dims, cut, c.words), {State(c.words)}, {2, 3, 8});
        }
      }
    }
  }
}

TEST(RngBitGeneratorTest, NothingIsSent) {
  for (const char* algorithm : {"rng_three_fry", "rng_philox"}) {
    for (const int cut : {0, 1})
      EXPECT_THAT(Collectives(Program(algorithm, "u32", {64, 96}, cut, 2), 8), ::testing::IsEmpty());
  }
}

}  // namespace
}  // namespace toroid
