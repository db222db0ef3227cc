#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/groups/block_program.h"

namespace toroid {
namespace {

using Kind = BlockOp::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A program of ops on words: registers 0 to 3 are given.
class Words {
 public:
  Words() {
    for (int i = 0; i < 4; ++i) NewRegister();
  }

  int Add(Opcode opcode, int a, int b = -1, PrimitiveType type = xla::F32) {
    BlockOp op;
    op.kind = b < 0 ? Kind::kUnary : Kind::kBinary;
    op.width = 4;
    op.meaning = {opcode, type, type};
    op.a = a;
    op.b = b;
    op.to = NewRegister();
    program_.ops.push_back(op);
    return op.to;
  }
  BlockOp& last() { return program_.ops.back(); }
  // An op that no chain has.
  int AddRows(int a) {
    const int to = Add(Opcode::kUnknown, a);
    last().kind = Kind::kReduceRows;
    return to;
  }

  // Adds x into sums of its own, whose register is returned.
  int AddFold(int x) {
    const int sums = NewRegister();
    program_.registers[sums].place = BlockProgram::Register::Place::kSums;
    Add(Opcode::kAdd, sums, x);
    last().kind = Kind::kFoldLines;
    last().to = sums;
    return sums;
  }

  const BlockProgram& Chained() {
    MakeChains(&program_);
    return program_;
  }

 private:
  int NewRegister() {
    BlockProgram::Register r;
    r.place = BlockProgram::Register::Place::kScratch;
    r.width = 4;
    program_.registers.push_back(r);
    return static_cast<int>(program_.registers.size()) - 1;
  }

  BlockProgram program_;
};

TEST(BlockChainsTest, OpsInARowAreOneChain) {
  Words words;
  const int product = words.Add(Opcode::kMultiply, 0, 1), sum = words.Add(Opcode::kAdd, product, 2);
  words.AddRows(sum);
  const BlockProgram& program = words.Chained();
  ASSERT_EQ(program.chains.size(), 1);
  const BlockChain& chain = *program.chains[0];
  EXPECT_EQ(chain.begin, 0);
  EXPECT_EQ(chain.end, 2);
  EXPECT_THAT(chain.inputs, ElementsAre(0, 1, 2));
  EXPECT_THAT(chain.outputs, ElementsAre(sum));
  EXPECT_EQ(ToString(chain.chain),
            "0 = input f32\n1 = input f32\n2 = input f32\n3 = multiply f32 (0, 1)\n4 = add f32 (3, 2)\n");
}

TEST(BlockChainsTest, WhatIsNotInAChainComesBeforeItUnlessItReadsIt) {
  Words words;
  const int one = words.Add(Opcode::kNegate, 0);
  const int apart = words.AddRows(1);
  const int two = words.Add(Opcode::kAdd, one, apart);
  const int rows = words.AddRows(two);
  const int three = words.Add(Opcode::kMultiply, two, rows);
  words.AddRows(words.Add(Opcode::kAbs, three));
  const BlockProgram& program = words.Chained();
  std::vector<int> order;
  for (const BlockOp& op : program.ops) order.push_back(op.to);
  EXPECT_THAT(order, ElementsAre(apart, one, two, rows, three, three + 1, three + 2));
  ASSERT_EQ(program.chains.size(), 2);
  EXPECT_THAT(program.chains[0]->outputs, ElementsAre(two));
  EXPECT_THAT(program.chains[1]->inputs, ElementsAre(two, rows));
}

TEST(BlockChainsTest, OpsThatShareNoValueAreChainsOfTheirOwn) {
  Words words;
  const int a = words.Add(Opcode::kNegate, 0), b = words.Add(Opcode::kNegate, 1);
  const int c = words.Add(Opcode::kMultiply, a, 2), d = words.Add(Opcode::kMultiply, b, 2);
  words.AddRows(c);
  words.AddRows(d);
  const BlockProgram& program = words.Chained();
  ASSERT_EQ(program.chains.size(), 2);
  EXPECT_THAT(program.chains[0]->outputs, ElementsAre(c));
  EXPECT_THAT(program.chains[1]->outputs, ElementsAre(d));
  EXPECT_EQ(program.chains[1]->begin, 2);
}

TEST(BlockChainsTest, SumsOfWhatAChainComputesOrReadsArePartOfIt) {
  Words words;
  const int sum = words.AddFold(0);
  const int square = words.Add(Opcode::kMultiply, 0, 0), squares = words.AddFold(square);
  const BlockProgram& program = words.Chained();
  ASSERT_EQ(program.chains.size(), 1);
  const BlockChain& chain = *program.chains[0];
  EXPECT_TRUE(chain.folds);
  EXPECT_THAT(chain.inputs, ElementsAre(sum, 0, squares));
  EXPECT_THAT(chain.outputs, ElementsAre(sum, squares));
  EXPECT_EQ(ToString(chain.chain),
            "0 = input f32\n1 = input f32\n2 = input f32\n3 = add f32 (0, 1)\n4 = multiply f32 (1, 1)\n"
            "5 = add f32 (2, 4)\n");
}

TEST(BlockChainsTest, ASumAloneIsNoChain) {
  Words words;
  words.AddFold(0);
  EXPECT_THAT(words.Chained().chains, IsEmpty());
}

TEST(BlockChainsTest, OneOpIsNoChain) {
  Words words;
  words.AddRows(words.Add(Opcode::kNegate, 0));
  EXPECT_THAT(words.Chained().chains, IsEmpty());
}

// The bytes of an s8 that are read as u8 are extended otherwise.
TEST(BlockChainsTest, SmallIntegersAreNotReadAsOthers) {
  Words words;
  const int bytes = words.Add(Opcode::kConvert, 0, -1, xla::S32);
  words.last().meaning.to = xla::S8;
  words.Add(Opcode::kConvert, bytes, -1, xla::U8);
  words.last().meaning.to = xla::S32;
  EXPECT_THAT(words.Chained().chains, IsEmpty());
}

TEST(BlockChainsTest, ARegisterThatIsWrittenTwiceHasItsLastValue) {
  Words words;
  const int low = words.Add(Opcode::kMaximum, 0, 1);
  words.Add(Opcode::kMinimum, low, 2);
  words.last().to = low;
  words.AddRows(low);
  const BlockProgram& program = words.Chained();
  ASSERT_EQ(program.chains.size(), 1);
  EXPECT_THAT(program.chains[0]->outputs, ElementsAre(low));
  EXPECT_THAT(program.chains[0]->chain.outputs, ElementsAre(4));
}

}  // namespace
}  // namespace toroid
