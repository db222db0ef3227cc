// BUILD: size = "medium"
// Elementwise loops of all levels of x86-64 that this processor has give the same bits.
#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/loops/binary_loops.h"
#include "runtime/loops/block_convert.h"
#include "runtime/loops/compare_loops.h"
#include "runtime/loops/select_loops.h"
#include "runtime/loops/unary_loops.h"
#include "tests/runtime/loops/per_level_fixture.h"

namespace toroid {
namespace {

using PerLevelElementwiseTest = PerLevelTest;

TEST_F(PerLevelElementwiseTest, UnaryLoops) {
  int loops = 0;
  for (const PrimitiveType type : kTypes) {
    for (const Opcode opcode : kOpcodes) {
      if (IsNarrowFloat(type) || FindUnaryLoop(opcode, type) == nullptr) continue;
      ++loops;
      const Array x = Random(type);
      const PrimitiveType to = opcode == Opcode::kIsFinite ? xla::PRED
                               : opcode == Opcode::kAbs || opcode == Opcode::kReal || opcode == Opcode::kImag
                                   ? RealTypeOf(type)
                                   : type;
      ExpectSame(absl::StrCat(OpcodeName(opcode), " ", TypeName(type)), [&] {
        Array out(to, kElements);
        FindUnaryLoop(opcode, type)(x.data(), out.data(), kElements);
        return out;
      });
    }
  }
  EXPECT_GT(loops, 150);
}

TEST_F(PerLevelElementwiseTest, BinaryLoops) {
  int loops = 0;
  for (const PrimitiveType type : kTypes) {
    for (const Opcode opcode : kOpcodes) {
      if (IsNarrowFloat(type) || FindBinaryLoop(opcode, type) == nullptr) continue;
      ++loops;
      const Array x = Random(type), y = Random(type);
      PrimitiveType to = type;
      if (opcode == Opcode::kComplex) to = type == xla::F32 ? xla::C64 : xla::C128;
      for (const Repeat repeat : {Repeat::kNone, Repeat::kFirst, Repeat::kSecond}) {
        ExpectSame(absl::StrCat(OpcodeName(opcode), " ", TypeName(type)), [&] {
          Array out(to, kElements);
          FindBinaryLoop(opcode, type)(x.data(), y.data(), out.data(), kElements, repeat);
          return out;
        });
      }
    }
  }
  EXPECT_GT(loops, 150);
}

TEST_F(PerLevelElementwiseTest, Comparisons) {
  for (const PrimitiveType type : kTypes) {
    const Array x = Random(type), y = Random(type);
    for (const char* direction : {"EQ", "NE", "GE", "GT", "LE", "LT"}) {
      for (const bool total : {false, true}) {
        if (FindCompareLoop(direction, total, type) == nullptr) continue;
        ExpectSame(absl::StrCat(direction, " ", TypeName(type)), [&] {
          Array out(xla::PRED, kElements);
          FindCompareLoop(direction, total, type)(x.data(), y.data(), out.data(), kElements, Repeat::kNone);
          return out;
        });
      }
    }
  }
}

TEST_F(PerLevelElementwiseTest, Conversions) {
  for (const PrimitiveType from : kTypes) {
    const Array x = Random(from);
    for (const PrimitiveType to : kTypes) {
      ExpectSame(absl::StrCat(TypeName(from), " to ", TypeName(to)), [&] {
        Array out(to, kElements);
        FindConvertLoop(from, to)(x.data(), out.data(), kElements);
        return out;
      });
    }
    if (!IsNarrowFloat(from)) continue;
    const Array floats = Random(xla::F32, 3 * kElements);
    ExpectSame(absl::StrCat("blocks of ", TypeName(from)), [&] {
      Array out(xla::F32, 3 * kElements);
      RoundToNarrow(from, reinterpret_cast<const float*>(floats.data()), reinterpret_cast<float*>(out.data()),
                    3 * kElements);
      return out;
    });
  }
}

TEST_F(PerLevelElementwiseTest, Selections) {
  const Array pred = Random(xla::PRED);
  for (const PrimitiveType type : {xla::U8, xla::U16, xla::U32, xla::U64, xla::C128}) {
    const Array x = Random(type), y = Random(type);
    for (const int64_t stride : {0, 1}) {
      ExpectSame(absl::StrCat("select ", TypeName(type)), [&] {
        Array out(type, kElements);
        FindSelectLoop(ByteWidth(type))({reinterpret_cast<const bool*>(pred.data()), 1}, {x.data(), stride},
                                        {y.data(), 1}, out.data(), kElements);
        return out;
      });
    }
  }
}

}  // namespace
}  // namespace toroid
