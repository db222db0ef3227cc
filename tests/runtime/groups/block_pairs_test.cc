#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/groups/block_program.h"

namespace toroid {
namespace {

using Kind = BlockOp::Kind;
using ::testing::ElementsAre;

// A program of ops on words: registers 0 to 3 are given.
class Words {
 public:
  explicit Words(PrimitiveType type) : type_(type) {
    for (int i = 0; i < 4; ++i) NewRegister();
  }

  int Add(Opcode opcode, int a, int b) {
    BlockOp op;
    op.kind = Kind::kBinary;
    op.width = 4;
    op.opcode = opcode;
    op.type = type_;
    op.a = a;
    op.b = b;
    op.to = NewRegister();
    program_.ops.push_back(op);
    return op.to;
  }

  const std::vector<BlockOp>& Fused() {
    MakePairs(&program_);
    return program_.ops;
  }

  std::vector<Kind> FusedKinds() {
    std::vector<Kind> kinds;
    for (const BlockOp& op : Fused()) kinds.push_back(op.kind);
    return kinds;
  }

 private:
  int NewRegister() {
    BlockProgram::Register r;
    r.place = BlockProgram::Register::Place::kScratch;
    r.width = 4;
    program_.registers.push_back(r);
    return static_cast<int>(program_.registers.size()) - 1;
  }

  const PrimitiveType type_;
  BlockProgram program_;
};

TEST(BlockPairsTest, ARotationAndAnExclusiveOrAreOneOp) {
  for (const bool left_first : {true, false}) {
    Words words(xla::U32);
    const int left = words.Add(Opcode::kShiftLeft, 0, 1), right = words.Add(Opcode::kShiftRightLogical, 0, 2);
    const int turned = left_first ? words.Add(Opcode::kOr, left, right) : words.Add(Opcode::kOr, right, left);
    const int both = left_first ? words.Add(Opcode::kXor, turned, 3) : words.Add(Opcode::kXor, 3, turned);
    const std::vector<BlockOp>& ops = words.Fused();
    ASSERT_EQ(ops.size(), 1);
    EXPECT_EQ(ops[0].kind, Kind::kTurn);
    EXPECT_THAT((std::vector<int>{ops[0].a, ops[0].b, ops[0].c, ops[0].d, ops[0].to}),
                ElementsAre(0, 1, 2, 3, both));
  }
}

TEST(BlockPairsTest, ARotationThatIsReadTwiceStays) {
  Words words(xla::U32);
  const int left = words.Add(Opcode::kShiftLeft, 0, 1), right = words.Add(Opcode::kShiftRightLogical, 0, 2);
  const int turned = words.Add(Opcode::kOr, left, right);
  words.Add(Opcode::kXor, turned, 3);
  words.Add(Opcode::kAdd, turned, 3);
  EXPECT_THAT(words.FusedKinds(), ElementsAre(Kind::kTurn, Kind::kBinary, Kind::kBinary));
}

TEST(BlockPairsTest, OtherShiftsStay) {
  {
    Words words(xla::U32);  // Of two values.
    words.Add(Opcode::kOr, words.Add(Opcode::kShiftLeft, 0, 1), words.Add(Opcode::kShiftRightLogical, 3, 2));
    EXPECT_EQ(words.Fused().size(), 3);
  }
  {
    Words words(xla::S32);  // The sign is shifted in.
    words.Add(Opcode::kOr, words.Add(Opcode::kShiftLeft, 0, 1),
              words.Add(Opcode::kShiftRightArithmetic, 0, 2));
    EXPECT_EQ(words.Fused().size(), 3);
  }
  {
    Words words(xla::U32);  // One shift is read elsewhere.
    const int left = words.Add(Opcode::kShiftLeft, 0, 1);
    words.Add(Opcode::kOr, left, words.Add(Opcode::kShiftRightLogical, 0, 2));
    words.Add(Opcode::kAdd, left, 3);
    EXPECT_EQ(words.Fused().size(), 4);
  }
}

TEST(BlockPairsTest, PairsAreOfFloatsAlone) {
  Words floats(xla::F32), words(xla::U32);
  floats.Add(Opcode::kAdd, floats.Add(Opcode::kMultiply, 0, 1), 2);
  words.Add(Opcode::kAdd, words.Add(Opcode::kMultiply, 0, 1), 2);
  EXPECT_THAT(floats.FusedKinds(), ElementsAre(Kind::kPair));
  EXPECT_THAT(words.FusedKinds(), ElementsAre(Kind::kBinary, Kind::kBinary));
}

}  // namespace
}  // namespace toroid
