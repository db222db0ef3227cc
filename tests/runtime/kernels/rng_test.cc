// BUILD: size = "small"
// Random bits against a second implementation of the generators, element by element; draws within their
// bounds.
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/status.h"
#include "runtime/engine/executor.h"
#include "runtime/loops/counter_random.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/number_format.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

// Random123, kat_vectors: the digits of pi as counter and key.
TEST(RngKnownAnswerTest, DigitsOfPi) {
  EXPECT_THAT(Threefry2x32({0x13198a2e, 0x03707344}, {0x243f6a88, 0x85a308d3}),
              ElementsAre(0xc4923a9c, 0x483df7a0));
  EXPECT_THAT(Philox4x32({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

// Threefry by its definition: twenty rounds, a key added after every four.
uint64_t Threefry(uint64_t key, uint64_t counter) {
  const uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  const uint32_t k[3] = {k0, k1, 0x1BD11BDA ^ k0 ^ k1};
  static constexpr int kRotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  uint32_t x = static_cast<uint32_t>(counter) + k0, y = static_cast<uint32_t>(counter >> 32) + k1;
  for (uint32_t round = 0; round < 20; ++round) {
    const int r = kRotations[round % 8];
    x += y;
    y = (y << r) | (y >> (32 - r));
    y ^= x;
    if (round % 4 != 3) continue;
    const uint32_t j = round / 4 + 1;
    x += k[j % 3];
    y += k[(j + 1) % 3] + j;
  }
  return x | static_cast<uint64_t>(y) << 32;
}

Literal Bits(const std::string& state, const std::string& shape, const std::string& algorithm) {
  const std::string type = state.substr(0, state.find(' '));
  const auto module =
      MakeModule(absl::StrCat("s = ", type, " constant(", state.substr(state.find(' ') + 1), ") ROOT y = (",
                              type, ", ", shape, ") rng-bit-generator(s), algorithm=", algorithm));
  absl::StatusOr<Literal> result = RunSingle(*module, {});
  TOROID_CHECK(result.ok(), result.status().ToString());
  return *std::move(result);
}

TEST(RngBitGeneratorTest, ThreefryPairsAreSplitAlongTheFirstEvenDimension) {
  constexpr uint64_t kKey = 0x123456789abcdef0, kCounter = 0xfffffffe;
  const std::string state = absl::StrCat("u64[2] {", kKey, ", ", kCounter, "}");
  for (const auto& [type, mask] :
       {std::pair<std::string, uint64_t>{"u32", 0xffffffff}, {"u16", 0xffff}, {"u8", 0xff}}) {
    // [3, 4, 5]: dimension 1 is even; the half shape is [3, 2, 5].
    const Literal y = Bits(state, type + "[3,4,5]", "rng_three_fry");
    EXPECT_EQ(BitsAt(y.element(0), 0), kKey);
    EXPECT_EQ(BitsAt(y.element(0), 1), kCounter + 30);
    for (int i = 0; i < 3; ++i) {
      for (int t = 0; t < 4; ++t) {
        for (int k = 0; k < 5; ++k) {
          const uint64_t block = Threefry(kKey, kCounter + (i * 2 + t / 2) * 5 + k);
          ASSERT_EQ(BitsAt(y.element(1), (i * 4 + t) * 5 + k), (t % 2 == 0 ? block : block >> 32) & mask)
              << type << i << t << k;
        }
      }
    }
    // [3, 5]: no dimension is even, so the largest is cut, with one element too many.
    const Literal odd = Bits(state, type + "[3,5]", "rng_three_fry");
    EXPECT_EQ(BitsAt(odd.element(0), 1), kCounter + 9);
    for (int i = 0; i < 3; ++i) {
      for (int t = 0; t < 5; ++t) {
        const uint64_t block = Threefry(kKey, kCounter + i * 3 + t / 2);
        ASSERT_EQ(BitsAt(odd.element(1), i * 5 + t), (t % 2 == 0 ? block : block >> 32) & mask);
      }
    }
    const Literal scalar = Bits(state, type + "[]", "rng_three_fry");
    EXPECT_EQ(BitsAt(scalar.element(1), 0), Threefry(kKey, kCounter) & mask);
    EXPECT_EQ(BitsAt(scalar.element(0), 1), kCounter + 1);
  }
  const Literal wide = Bits(state, "u64[2,3]", "rng_three_fry");
  EXPECT_EQ(BitsAt(wide.element(0), 1), kCounter + 6);
  for (int i = 0; i < 6; ++i) ASSERT_EQ(BitsAt(wide.element(1), i), Threefry(kKey, kCounter + i));
}

std::vector<uint32_t> Philox(uint64_t key, uint64_t low, uint64_t high) {
  uint32_t c[4] = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high),
                   static_cast<uint32_t>(high >> 32)};
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
    const uint32_t next[4] = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
                              static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
    std::copy(next, next + 4, c);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {c, c + 4};
}

TEST(RngBitGeneratorTest, PhiloxWordsInOrderAndCountersCarry) {
  constexpr uint64_t kKey = 77, kLow = ~uint64_t{0}, kHigh = 5;
  for (const std::string type : {"u32", "s32", "u16", "s8", "u64"}) {
    for (const bool three : {true, false}) {
      const std::string state = three ? absl::StrCat("u64[3] {", kKey, ", ", kLow, ", ", kHigh, "}")
                                      : absl::StrCat("u64[2] {", kKey, ", ", kLow, "}");
      const Literal y = Bits(state, type + "[3,3]", "rng_philox");
      const bool wide = type == "u64";
      // A state of two words uses its key as the high half of the counter.
      std::vector<uint32_t> words;
      for (uint64_t block = 0; block < 5; ++block) {
        const uint64_t low = kLow + block, high = (three ? kHigh : kKey) + (block > 0);
        for (const uint32_t word : Philox(kKey, low, high)) words.push_back(word);
      }
      const PrimitiveType result = y.element(1).shape().element_type();
      for (int i = 0; i < 9; ++i) {
        const uint64_t expected =
            wide ? words[2 * i] | static_cast<uint64_t>(words[2 * i + 1]) << 32 : words[i];
        ASSERT_EQ(BitsAt(y.element(1), i), BitsOfInt(result, static_cast<__int128>(expected)))
            << type << " " << i;
      }
      const uint64_t blocks = wide ? 5 : 3;
      EXPECT_EQ(BitsAt(y.element(0), 0), kKey);
      EXPECT_EQ(BitsAt(y.element(0), 1), kLow + blocks);
      if (three) {
        EXPECT_EQ(BitsAt(y.element(0), 2), kHigh + 1);
      }
    }
  }
}

// Arrays of many pieces, on several threads: the middle one of three dimensions, or the last, is cut in pairs.
TEST(RngBitGeneratorTest, LargeArraysOfBothAlgorithms) {
  constexpr uint64_t kKey = 0x9e3779b97f4a7c15, kCounter = 0xfffff000;
  struct Case {
    std::string type;
    int64_t outer, size, inner;
  };
  for (const Case& c :
       {Case{"u32", 1, 70001, 1}, Case{"u16", 301, 401, 1}, Case{"u32", 3, 20000, 7}, Case{"u8", 333, 334, 1},
        Case{"u64", 1, 40001, 1}, Case{"u32", 1, 0, 1}, Case{"u32", 5, 5001, 3}, Case{"u16", 1, 1, 1}}) {
    const std::string dims = absl::StrCat(c.type, "[", c.outer, ",", c.size, ",", c.inner, "]");
    SCOPED_TRACE(dims);
    const uint64_t mask = c.type == "u64" ? ~uint64_t{0} : (uint64_t{1} << std::stoi(c.type.substr(1))) - 1;
    const auto run = [&](const std::string& state, const std::string& algorithm) {
      absl::StatusOr<Literal> y =
          RunOnThreads(*MakeModule(absl::StrCat("s = u64[2] constant(", state, ") ROOT y = (u64[2], ", dims,
                                                ") rng-bit-generator(s), algorithm=", algorithm)),
                       {});
      TOROID_CHECK(y.ok(), y.status().ToString());
      return *std::move(y);
    };
    const std::string state = absl::StrCat("{", kKey, ", ", kCounter, "}");
    const Literal threefry = run(state, "rng_three_fry"), philox = run(state, "rng_philox");
    const int64_t half = (c.size + 1) / 2, n = c.outer * c.size * c.inner;
    const uint64_t blocks = c.type == "u64" ? n : n == 0 ? 0 : c.outer * half * c.inner;
    EXPECT_EQ(BitsAt(threefry.element(0), 1), kCounter + blocks);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t t = i / c.inner % c.size,
                    block = (i / c.inner / c.size * half + t / 2) * c.inner + i % c.inner;
      const uint64_t expected =
          c.type == "u64" ? Threefry(kKey, kCounter + i) : Threefry(kKey, kCounter + block) >> (t % 2 * 32);
      ASSERT_EQ(BitsAt(threefry.element(1), i), expected & mask) << i;
    }
    const int64_t per_block = c.type == "u64" ? 2 : 4;
    for (int64_t i = 0; i < n; i += per_block) {
      const std::vector<uint32_t> words = Philox(kKey, kCounter + i / per_block, kKey);
      for (int64_t j = 0; j < per_block && i + j < n; ++j) {
        const uint64_t expected =
            per_block == 2 ? words[2 * j] | static_cast<uint64_t>(words[2 * j + 1]) << 32 : words[j] & mask;
        ASSERT_EQ(BitsAt(philox.element(1), i + j), expected) << i;
      }
    }
  }
}

TEST(RngTest, UniformAndNormalOfEveryType) {
  for (const PrimitiveType type : AllTypes()) {
    if (IsComplex(type) || type == xla::PRED) continue;
    const std::string name(TypeName(type));
    const Literal y =
        *RunSingle(*MakeModule(absl::StrCat("a = ", name, "[] constant(1) b = ", name, "[] constant(",
                                            BitWidth(type) == 2 ? "1" : "4", ") ROOT y = ", name,
                                            "[500] rng(a, b), distribution=rng_uniform")),
                   {});
    for (int64_t i = 0; i < 500 && BitWidth(type) > 2; ++i) {
      const double value = IsInt(type) ? static_cast<double>(IntAt(y, i)) : FloatAt(y, i);
      ASSERT_GE(value, 1) << name;
      ASSERT_LT(value, 4) << name;
    }
    if (!IsFloat(type) || BitWidth(type) < 16) continue;
    const Literal z = *RunSingle(
        *MakeModule(absl::StrCat("a = ", name, "[] constant(1) b = ", name, "[] constant(2) ROOT y = ", name,
                                 "[20000] rng(a, b), distribution=rng_normal")),
        {});
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < 20000; ++i) {
      sum += FloatAt(z, i);
      squares += FloatAt(z, i) * FloatAt(z, i);
    }
    EXPECT_NEAR(sum / 20000, 1, 0.06) << name;
    EXPECT_NEAR(squares / 20000, 5, 0.2) << name;
  }
}

}  // namespace
}  // namespace toroid
