// BUILD: size = "medium"
// The other loops of all levels of x86-64 that this processor has give the same bits.
#include "runtime/loops/per_level.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/loops/binary_loops.h"
#include "runtime/loops/block_convert.h"
#include "runtime/loops/counter_random.h"
#include "runtime/loops/fft_lines.h"
#include "runtime/loops/gemm.h"
#include "runtime/loops/reduce_loops.h"
#include "runtime/loops/scatter_loops.h"
#include "runtime/loops/strided_copy.h"
#include "tests/runtime/loops/per_level_fixture.h"

namespace toroid {
namespace {

TEST_F(PerLevelTest, Reductions) {
  constexpr int64_t n = 3 * 5 * 1103;
  for (const PrimitiveType type : kTypes) {
    for (const Opcode opcode : kOpcodes) {
      if (IsNarrowFloat(type) || FindLineReduction(opcode, type).along == nullptr) continue;
      const Array x = IsInt(type) || type == xla::PRED ? Random(type, n) : Moderate(type, n),
                  init = Moderate(type, n);
      for (const auto& dims :
           std::vector<std::vector<ReduceNest::Dim>>{{{n, false}},
                                                     {{15, true}, {1103, false}},
                                                     {{15, false}, {1103, true}},
                                                     {{1103, false}, {15, true}},
                                                     {{3, false}, {5, true}, {1103, false}}}) {
        ReduceNest nest;
        for (const ReduceNest::Dim& dim : dims) nest.Add(dim.size, dim.kept);
        ExpectSame(absl::StrCat("reduce ", OpcodeName(opcode), " ", TypeName(type)), [&] {
          Array out = init;
          ReduceInto(nest, FindLineReduction(opcode, type), FindBinaryLoop(opcode, type), ByteWidth(type),
                     x.data(), out.data());
          return out;
        });
      }
    }
  }
}

TEST_F(PerLevelTest, Scatters) {
  std::vector<int64_t> sources(kElements), places(kElements);
  for (int64_t i = 0; i < kElements; ++i) {
    sources[i] = random_() % (kElements - 7);
    places[i] = random_() % 100;
  }
  for (const PrimitiveType type : kTypes) {
    const Array x = Random(type), before = Random(type);
    for (const Opcode opcode : kOpcodes) {
      if (FindScatterLoop(opcode, type) == nullptr) continue;
      const auto scatter = [&](int64_t n, int64_t columns) {
        Array out = before;
        FindScatterLoop(opcode, type)(x.data(), sources.data(), places.data(), n, columns, out.data());
        return out;
      };
      ExpectSame(absl::StrCat("scatter ", OpcodeName(opcode), " ", TypeName(type)),
                 [&] { return scatter(kElements, 1); });
      ExpectSame(absl::StrCat("scatter of rows ", OpcodeName(opcode), " ", TypeName(type)),
                 [&] { return scatter(kElements / 8, 7); });
    }
  }
}

TEST_F(PerLevelTest, Transforms) {
  using Kind = FftLines::Kind;
  for (const int64_t n : {1, 2, 3, 7, 16, 60, 97, 210, 1024, 8 * 2048, 13 * 2048, 3 * 3 * 2039}) {
    for (const Kind kind : {Kind::kForward, Kind::kInverse, Kind::kRealForward, Kind::kRealInverse}) {
      for (const bool wide : {false, true}) {
        for (const int64_t inner : {1, 5, 8}) {
          const PrimitiveType complex = wide ? xla::C128 : xla::C64, real = wide ? xla::F64 : xla::F32;
          const PrimitiveType from = kind == Kind::kRealForward ? real : complex,
                              to = kind == Kind::kRealInverse ? real : complex;
          const int64_t outer = 3;
          const Array in = Moderate(from, outer * inner * n);
          ExpectSame(
              absl::StrCat("fft ", static_cast<int>(kind), " of ", n, " by ", inner, wide ? " wide" : ""),
              [&] {
                const std::unique_ptr<const FftLines> lines = MakeFftLines(kind, n);
                Array out(to, outer * inner * lines->out_length());
                struct alignas(64) Line {
                  char bytes[64];
                };
                std::vector<Line> work((lines->WorkBytes() + 63) / 64);
                lines->Run(from, to, outer, inner, in.data(), out.data(),
                           work.empty() ? nullptr : work[0].bytes);
                return out;
              });
        }
      }
    }
  }
}

TEST_F(PerLevelTest, RandomWords) {
  const std::array<uint32_t, 2> key = {1, 0xDEADBEEF};
  ExpectSame("threefry", [&] {
    Array out(xla::U32, 2 * kElements);
    uint32_t* words = reinterpret_cast<uint32_t*>(out.data());
    ThreefryBlocks(key, 0xFFFFFF00, kElements, words, words + kElements);
    return out;
  });
  ExpectSame("philox", [&] {
    Array out(xla::U32, 8 * kElements);
    uint32_t* words = reinterpret_cast<uint32_t*>(out.data());
    PhiloxBlocks(key, ~uint64_t{0} - 5, 9, kElements, words);
    PhiloxOfIndices(key, 77, 3, kElements, words + 4 * kElements);
    return out;
  });
}

TEST_F(PerLevelTest, Copies) {
  for (const PrimitiveType type : {xla::U8, xla::U16, xla::U32, xla::U64, xla::C128}) {
    const int64_t width = ByteWidth(type), rows = 801, columns = 805;
    const Array x = Random(type, rows * columns);
    ExpectSame(absl::StrCat("transpose ", TypeName(type)), [&] {
      Array out(type, rows * columns);
      StridedLoop loop;
      loop.width = width;
      loop.Add(columns, width, rows * width);
      loop.Add(rows, columns * width, width);
      ParallelStridedCopy(loop, x.data(), out.data());
      return out;
    });
  }
}

// Rows of float products of random numbers. Integers: all levels. Floats: those that fuse the multiplication and the addition
// of a term; v2 is within the roundings of the terms.
TEST_F(PerLevelTest, Products) {
  for (const PrimitiveType type : {xla::U32, xla::U64, xla::PRED, xla::F32, xla::F64, xla::C64, xla::C128}) {
    for (int round = 0; round < 150; ++round) {
      const bool many = random_() % 8 == 0;
      GemmBatch g;
      g.m = 1 + random_() % (many ? 200 : 14);
      g.n = 1 + random_() % (many ? 200 : 40);
      g.k = 1 + random_() % (many ? 700 : 30);
      if (random_() % 2 == 0) g.lhs_order = MatrixOrder::kColumnMajor;
      if (random_() % 2 == 0) g.rhs_order = MatrixOrder::kColumnMajor;
      const bool exact = IsInt(type) || type == xla::PRED;
      const Array lhs = exact ? Random(type, g.m * g.k) : Moderate(type, g.m * g.k);
      const Array rhs = exact ? Random(type, g.k * g.n) : Moderate(type, g.k * g.n);
      const auto product = [&] {
        Array out(type, g.m * g.n);
        Gemm(type, g, lhs.data(), rhs.data(), out.data());
        return out;
      };
      const std::string what = absl::StrCat(TypeName(type), " m=", g.m, " n=", g.n, " k=", g.k);
      ExpectSame(what, product, exact ? ProcessorLevel::kV2 : ProcessorLevel::kV3);
      if (exact) continue;
      const PrimitiveType part = RealTypeOf(type);
      const int64_t parts = g.m * g.n * (IsComplex(type) ? 2 : 1);
      std::vector<double> results[2];
      for (const bool best : {false, true}) {
        ASSERT_OK(UseProcessorLevel(best ? LevelsOfThisProcessor().back() : ProcessorLevel::kV2));
        results[best].resize(parts);
        FindConvertLoop(part, xla::F64)(product().data(), results[best].data(), parts);
      }
      const double unit = part == xla::F32 ? 1.2e-7 : 2.3e-16;
      for (int64_t i = 0; i < parts; ++i) {
        ASSERT_NEAR(results[0][i], results[1][i], 4 * unit * static_cast<double>(g.k)) << what;
      }
    }
  }
}

TEST_F(PerLevelTest, LevelsAreNamed) {
  EXPECT_EQ(NameOf(ProcessorLevel::kV3), "x86-64-v3");
  EXPECT_EQ(LevelsOfThisProcessor().front(), ProcessorLevel::kV2);
  ASSERT_OK(UseProcessorLevel(ProcessorLevel::kV2));
  EXPECT_EQ(CurrentProcessorLevel(), ProcessorLevel::kV2);
  if (LevelsOfThisProcessor().back() == ProcessorLevel::kV4) return;
  EXPECT_EQ(UseProcessorLevel(ProcessorLevel::kV4).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CurrentProcessorLevel(), ProcessorLevel::kV2);
}

}  // namespace
}  // namespace toroid
