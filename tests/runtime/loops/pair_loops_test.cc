// BUILD: size = "small"
#include "runtime/loops/pair_loops.h"

#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/loops/binary_loops.h"
#include "runtime/loops/float_loops.h"

namespace toroid {
namespace {

constexpr Opcode kOpcodes[] = {Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply, Opcode::kMaximum,
                               Opcode::kMinimum};

TEST(PairLoopsTest, GiveTheBitsOfOneOpAfterTheOther) {
  std::mt19937_64 random(11);
  const float special[] = {0.0f,
                           -0.0f,
                           1.0f,
                           -1.5f,
                           std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN(),
                           1e-40f,
                           3e38f};
  constexpr int64_t n = 300;
  std::vector<float> a(n), b(n), c(n), first(n), second(n), pair(n);
  for (std::vector<float>* values : {&a, &b, &c}) {
    for (float& value : *values) {
      value = random() % 4 == 0 ? special[random() % 9]
                                : static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 7;
    }
  }
  for (const Opcode one : kOpcodes) {
    for (const Opcode two : kOpcodes) {
      for (const bool exchanged : {false, true}) {
        const std::optional<PairOp> order = exchanged ? Exchanged(*PairOpOf(two)) : PairOpOf(two);
        if (!order.has_value()) continue;
        for (int ones = 0; ones < 4; ++ones) {
          const bool one_b = (ones & 2) != 0, one_c = (ones & 1) != 0;
          FindFloatLoop(one, xla::F32)(a.data(), b.data(), first.data(), n,
                                       one_b ? Repeat::kSecond : Repeat::kNone);
          const float* x = exchanged ? c.data() : first.data();
          const float* y = exchanged ? first.data() : c.data();
          const Repeat repeat = !one_c ? Repeat::kNone : exchanged ? Repeat::kFirst : Repeat::kSecond;
          FindFloatLoop(two, xla::F32)(x, y, second.data(), n, repeat);
          FindPairLoops(*PairOpOf(one), *order)[ones](a.data(), b.data(), c.data(), pair.data(), n);
          for (int64_t i = 0; i < n; ++i) {
            if (second[i] != second[i] && pair[i] != pair[i]) continue;
            ASSERT_EQ(std::memcmp(&second[i], &pair[i], sizeof(float)), 0)
                << static_cast<int>(one) << " " << static_cast<int>(two) << " " << a[i] << " " << b[i] << " "
                << c[i];
          }
        }
      }
    }
  }
}

template <typename T>
void ExpectTurns(PrimitiveType type) {
  std::mt19937_64 random(12);
  constexpr int64_t n = 70;
  std::vector<T> a(n), left(n), right(n), d(n), shifted(n), other(n), expected(n), found(n);
  for (int64_t i = 0; i < n; ++i) {
    a[i] = static_cast<T>(random());
    d[i] = static_cast<T>(random());
    left[i] = static_cast<T>(random() % (8 * sizeof(T) + 3));
    right[i] = static_cast<T>(8 * sizeof(T) - left[i]);
  }
  const auto loop = [&](Opcode opcode) { return FindBinaryLoop(opcode, type); };
  for (int ones = 0; ones < 16; ++ones) {
    const auto stride = [&](int operand) { return (ones >> operand) % 2 == 0 ? 1 : 0; };
    const auto spread = [&](const std::vector<T>& values, int operand) {
      return stride(operand) == 1 ? values : std::vector<T>(n, values[0]);
    };
    const std::vector<T> x = spread(a, 0), l = spread(left, 1), r = spread(right, 2), y = spread(d, 3);
    loop(Opcode::kShiftLeft)(x.data(), l.data(), shifted.data(), n, Repeat::kNone);
    loop(Opcode::kShiftRightLogical)(x.data(), r.data(), other.data(), n, Repeat::kNone);
    loop(Opcode::kOr)(shifted.data(), other.data(), expected.data(), n, Repeat::kNone);
    const TurnLoop turn = FindTurnLoop(sizeof(T));
    turn({a.data(), stride(0)}, {left.data(), stride(1)}, {right.data(), stride(2)}, {nullptr, 0},
         found.data(), n);
    EXPECT_EQ(found, expected) << ones;
    loop(Opcode::kXor)(expected.data(), y.data(), expected.data(), n, Repeat::kNone);
    turn({a.data(), stride(0)}, {left.data(), stride(1)}, {right.data(), stride(2)}, {d.data(), stride(3)},
         found.data(), n);
    EXPECT_EQ(found, expected) << ones;
  }
}

TEST(PairLoopsTest, TurnsGiveTheBitsOfShiftsOrAndXor) {
  ExpectTurns<uint32_t>(xla::U32);
  ExpectTurns<uint64_t>(xla::U64);
  EXPECT_EQ(FindTurnLoop(2), nullptr);
}

}  // namespace
}  // namespace toroid
