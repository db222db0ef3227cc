// The code of chains against the loops of their ops, bit by bit.
#include "runtime/native/chain_code.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/base/status.h"
#include "runtime/loops/binary_loops.h"
#include "runtime/loops/block_convert.h"
#include "runtime/loops/compare_loops.h"
#include "runtime/loops/convert_loops.h"
#include "runtime/loops/processor_level.h"
#include "runtime/loops/select_loops.h"
#include "runtime/loops/unary_loops.h"

namespace toroid {
namespace {

constexpr PrimitiveType kTypes[] = {xla::F32, xla::S32, xla::U32, xla::PRED, xla::BF16,
                                    xla::F16, xla::S8,  xla::U8,  xla::S16,  xla::U16};
constexpr absl::string_view kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};

using Bytes = std::vector<char>;

// Any bits, small numbers, and for f32 the ends of its range, among them.
Bytes Random(PrimitiveType type, int64_t n, std::mt19937& random) {
  const int64_t width = ByteWidth(type);
  Bytes bytes(n * width);
  constexpr float kEnds[] = {0.0f, -0.0f,         1.0f,           -1.0f,  INFINITY, -INFINITY,
                             NAN,  2147483648.0f, -2147483648.0f, 1e-40f, 3e38f};
  for (int64_t i = 0; i < n; ++i) {
    uint32_t bits = random();
    if (type == xla::PRED) {
      bits &= 1;
    } else if (random() % 4 == 0) {
      bits %= 40;
    } else if (type == xla::F32) {
      const float value = random() % 8 == 0 ? kEnds[random() % std::size(kEnds)]
                                            : std::normal_distribution<float>(0, 20)(random);
      if (random() % 2 == 0) std::memcpy(&bits, &value, sizeof(bits));
    }
    std::memcpy(bytes.data() + i * width, &bits, width);
  }
  return bytes;
}

// What the op's loops give.
Bytes ByLoops(const ChainOp& op, const std::vector<Bytes>& in, int64_t n) {
  Bytes out(n * ByteWidth(op.type()));
  const auto floats = [](Bytes& bytes) { return reinterpret_cast<float*>(bytes.data()); };
  switch (op.opcode) {
    case Opcode::kConvert:
      if (IsHalf(op.from)) {
        NarrowToFloat(op.from, in[0].data(), floats(out), n);
      } else if (IsHalf(op.to)) {
        FloatToNarrow(op.to, reinterpret_cast<const float*>(in[0].data()), out.data(), n);
      } else {
        FindConvertLoop(op.from, op.to)(in[0].data(), out.data(), n);
      }
      return out;
    case Opcode::kReducePrecision:
      RoundToNarrow(op.to, reinterpret_cast<const float*>(in[0].data()), floats(out), n);
      return out;
    case Opcode::kCompare:
      FindCompareLoop(kDirections[static_cast<int>(op.direction)], false, op.from)(
          in[0].data(), in[1].data(), out.data(), n, Repeat::kNone);
      return out;
    case Opcode::kSelect:
      FindSelectLoop(ByteWidth(op.from))({reinterpret_cast<const bool*>(in[0].data()), 1}, {in[1].data(), 1},
                                         {in[2].data(), 1}, out.data(), n);
      return out;
    default:
      break;
  }
  if (in.size() == 1) {
    FindUnaryLoop(op.opcode, op.from)(in[0].data(), out.data(), n);
  } else {
    FindBinaryLoop(op.opcode, op.from)(in[0].data(), in[1].data(), out.data(), n, Repeat::kNone);
  }
  return out;
}

int OperandsOf(const ChainOp& op) {
  return op.opcode == Opcode::kReducePrecision ? 1 : OpcodeArity(op.opcode);
}

std::vector<ChainOp> AllOps() {
  std::vector<ChainOp> ops;
  const auto add = [&](const ChainOp& op) {
    if (CanChain(op)) ops.push_back(op);
  };
  for (int o = 0; o < kNumOpcodes; ++o) {
    const auto opcode = static_cast<Opcode>(o);
    for (const PrimitiveType from : kTypes) {
      if (opcode == Opcode::kConvert || opcode == Opcode::kReducePrecision) {
        for (const PrimitiveType to : kTypes) {
          if (from != to) add({opcode, from, to});
        }
      } else if (opcode == Opcode::kCompare) {
        for (size_t d = 0; d < std::size(kDirections); ++d) {
          add({opcode, from, from, static_cast<ChainDirection>(d)});
        }
      } else {
        add({opcode, from, from});
      }
    }
  }
  return ops;
}

// Empty if the bits are the same; any NaN is as good as another.
std::string Difference(const Bytes& expected, const Bytes& found, PrimitiveType type) {
  const int64_t width = ByteWidth(type);
  for (size_t i = 0; i < expected.size(); i += width) {
    if (std::memcmp(&expected[i], &found[i], width) == 0) continue;
    uint32_t a = 0, b = 0;
    std::memcpy(&a, &expected[i], width);
    std::memcpy(&b, &found[i], width);
    if (type == xla::F32 && std::isnan(std::bit_cast<float>(a)) && std::isnan(std::bit_cast<float>(b)))
      continue;
    if (type == xla::F16 && (a & 0x7FFF) > 0x7C00 && (b & 0x7FFF) > 0x7C00) continue;
    return absl::StrCat("element ", i / width, ": ", absl::Hex(a), ", not ", absl::Hex(b));
  }
  return "";
}

class ChainCodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (LevelsOfThisProcessor().size() == 1)
      GTEST_SKIP() << "this processor has no AVX2, and runs no such code";
    ASSERT_TRUE(CanMakeCode());
  }
};

TEST_F(ChainCodeTest, EveryOpHasTheBitsOfItsLoop) {
  std::mt19937 random(1);
  const std::vector<ChainOp> ops = AllOps();
  EXPECT_GT(ops.size(), 100);
  for (const int64_t n : {1, 7, 8, 1029}) {
    for (ChainOp op : ops) {
      Chain chain;
      std::vector<Bytes> in;
      std::vector<const char*> from;
      for (int i = 0; i < OperandsOf(op); ++i) {
        chain.inputs.push_back(op.OperandType(i));
        op.operands[i] = i;
        in.push_back(Random(chain.inputs[i], n, random));
      }
      for (const Bytes& bytes : in) from.push_back(bytes.data());
      chain.ops = {op};
      chain.outputs = {static_cast<int>(in.size())};
      const auto code = ChainCode::Make(chain, 0);
      ASSERT_NE(code, nullptr) << ToString(chain);
      Bytes found(n * ByteWidth(op.type()));
      char* out = found.data();
      code->Run(from, {&out, 1}, n);
      EXPECT_EQ(Difference(ByLoops(op, in, n), found, op.type()), "")
          << ToString(chain) << op.from << " to " << op.to;
    }
  }
}

// A chain of random ops on words, whose inputs partly repeat, that writes over one of them.
TEST_F(ChainCodeTest, RandomChainsHaveTheBitsOfTheirOps) {
  std::mt19937 random(2);
  std::vector<ChainOp> ops;
  for (const ChainOp& op : AllOps()) {
    const auto word = [](PrimitiveType type) { return type == xla::F32 || type == xla::PRED; };
    if (word(op.from) && word(op.type())) ops.push_back(op);
  }
  for (int trial = 0; trial < 300; ++trial) {
    const int64_t n = 1 + random() % 300;
    Chain chain;
    std::vector<Bytes> values;
    uint64_t repeats = 0;
    const int inputs = 2 + random() % 20;
    for (int i = 0; i < inputs; ++i) {
      const bool repeated = i > 0 && random() % 3 == 0;
      repeats |= uint64_t{repeated} << i;
      chain.inputs.push_back(i % 4 == 3 ? xla::PRED : xla::F32);
      const int64_t width = ByteWidth(chain.inputs[i]);
      values.push_back(Random(chain.inputs[i], n, random));
      for (int64_t e = 1; repeated && e < n; ++e) std::memcpy(&values[i][e * width], values[i].data(), width);
    }
    std::vector<Bytes> memory = values;
    while (chain.ops.size() < 40) {
      ChainOp op = ops[random() % ops.size()];
      std::vector<Bytes> operands;
      for (int i = 0; i < OperandsOf(op); ++i) {
        std::vector<int> fitting;
        for (int v = 0; v < static_cast<int>(values.size()); ++v) {
          if (chain.TypeOf(v) == op.OperandType(i)) fitting.push_back(v);
        }
        if (fitting.empty()) break;
        op.operands[i] = fitting[random() % fitting.size()];
        operands.push_back(values[op.operands[i]]);
      }
      if (static_cast<int>(operands.size()) != OperandsOf(op)) continue;
      values.push_back(ByLoops(op, operands, n));
      chain.ops.push_back(op);
    }
    // Three outputs; one of f32 takes the memory of input 0.
    std::vector<char*> to;
    std::vector<Bytes> results;
    for (int o = 0; o < 3; ++o) {
      const int value = static_cast<int>(values.size()) - 1 - o * 7;
      chain.outputs.push_back(value);
      results.emplace_back(values[value].size());
    }
    bool in_place = false;
    for (int o = 0; o < 3; ++o) {
      const bool over = !in_place && chain.TypeOf(chain.outputs[o]) == xla::F32;
      to.push_back(over ? memory[0].data() : results[o].data());
      in_place |= over;
    }
    std::vector<const char*> from;
    for (int i = 0; i < inputs; ++i) from.push_back(memory[i].data());
    const auto code = ChainCode::Make(chain, repeats);
    ASSERT_NE(code, nullptr);
    code->Run(from, to, n);
    for (int o = 0; o < 3; ++o) {
      const Bytes& expected = values[chain.outputs[o]];
      ASSERT_EQ(Difference(expected, Bytes(to[o], to[o] + expected.size()), chain.TypeOf(chain.outputs[o])),
                "")
          << "chain " << trial << ", output " << o << "\n"
          << ToString(chain);
    }
  }
}

TEST(ChainTest, HasNoCodeForTheLowestProcessors) {
  const ProcessorLevel before = CurrentProcessorLevel();
  ASSERT_TRUE(UseProcessorLevel(ProcessorLevel::kV2).ok());
  Chain chain{{xla::F32}, {{Opcode::kNegate, xla::F32, xla::F32, {}, {0, -1, -1}}}, {1}};
  EXPECT_EQ(ChainCode::Make(chain, 0), nullptr);
  ASSERT_TRUE(UseProcessorLevel(before).ok());
}

TEST(ChainTest, IsPrintedLineByLine) {
  Chain chain{{xla::F32, xla::S8}, {{Opcode::kConvert, xla::S8, xla::F32, {}, {1, -1, -1}}}, {2}};
  chain.ops.push_back({Opcode::kMultiply, xla::F32, xla::F32, {}, {0, 2, -1}});
  EXPECT_EQ(ToString(chain), "0 = input f32\n1 = input s8\n2 = convert f32 (1)\n3 = multiply f32 (0, 2)\n");
}

}  // namespace
}  // namespace toroid
