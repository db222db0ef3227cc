// Ops that become one loop.
#include <optional>
#include <utility>
#include <vector>

#include "runtime/groups/block_program.h"

namespace toroid {
namespace {

using Kind = BlockOp::Kind;
using Place = BlockProgram::Register::Place;

class Fuser {
 public:
  explicit Fuser(BlockProgram* program)
      : program_(*program),
        readers_(program->registers.size(), 0),
        writers_(program->registers.size(), 0),
        written_at_(program->registers.size(), -1) {}

  void Run() {
    for (const BlockOp& op : program_.ops) {
      for (const int r : {op.a, op.b, op.c, op.d}) {
        if (r >= 0) ++readers_[r];
      }
      if (op.to >= 0) ++writers_[op.to];
    }
    std::vector<BlockOp> ops;
    for (const BlockOp& op : program_.ops) {
      ops_.push_back(TurnOf(op).value_or(op));
      if (op.to >= 0) written_at_[op.to] = static_cast<int>(ops_.size()) - 1;
    }
    RemoveFused();
    int last = -1;  // The last op that computes, in `ops`.
    for (const BlockOp& op : ops_) {
      std::optional<BlockOp> pair;
      if (last >= 0) pair = PairOf(ops[last], op);
      if (pair.has_value()) ops.erase(ops.begin() + last);
      ops.push_back(pair.value_or(op));
      if (op.kind != Kind::kRead && op.kind != Kind::kCount) last = static_cast<int>(ops.size()) - 1;
    }
    program_.ops = std::move(ops);
  }

 private:
  bool IsOnlyFor(int r) const {
    return readers_[r] == 1 && writers_[r] == 1 && program_.registers[r].place == Place::kScratch;
  }

  std::optional<BlockOp> PairOf(const BlockOp& one, const BlockOp& next) const {
    if (one.kind != Kind::kBinary || next.kind != Kind::kBinary || one.per_row != next.per_row ||
        one.type != xla::F32 || next.type != xla::F32) {
      return std::nullopt;
    }
    const std::optional<PairOp> first = PairOpOf(one.opcode), second = PairOpOf(next.opcode);
    const bool is_a = next.a == one.to;
    if (!first || !second || !IsOnlyFor(one.to) || (!is_a && next.b != one.to)) return std::nullopt;
    const std::optional<PairOp> order = is_a ? second : Exchanged(*second);
    if (!order) return std::nullopt;
    BlockOp pair = next;
    pair.kind = Kind::kPair;
    pair.a = one.a;
    pair.b = one.b;
    pair.c = is_a ? next.b : next.a;
    pair.binary = one.binary;
    pair.then = next.binary;
    pair.pairs = FindPairLoops(*first, *order);
    if (Exchanged(*first)) pair.swapped_pairs = FindPairLoops(*Exchanged(*first), *order);
    pair.exchanged = !is_a;
    return pair;
  }

  // The binary op, by this opcode, whose result only the reader of the register needs; null if it is none.
  BlockOp* Only(int r, Kind kind) {
    if (r < 0 || !IsOnlyFor(r) || written_at_[r] < 0 || ops_[written_at_[r]].kind != kind) return nullptr;
    return &ops_[written_at_[r]];
  }

  void Remove(BlockOp& op) { op.to = kFused; }

  // The op as the end of a rotation, or of a rotation and an exclusive or. What it replaces is removed.
  std::optional<BlockOp> TurnOf(const BlockOp& op) {
    if (op.kind != Kind::kBinary || !IsInt(op.type)) return std::nullopt;
    const TurnLoop loop = FindTurnLoop(op.width);
    if (loop == nullptr) return std::nullopt;
    if (op.opcode == Opcode::kXor) {
      for (const auto& [turned, other] : {std::pair(op.a, op.b), std::pair(op.b, op.a)}) {
        BlockOp* turn = Only(turned, Kind::kTurn);
        if (turn == nullptr || turn->d >= 0 || turn->per_row != op.per_row) continue;
        BlockOp both = *turn;
        both.to = op.to;
        both.d = other;
        Remove(*turn);
        return both;
      }
      return std::nullopt;
    }
    if (op.opcode != Opcode::kOr || op.a == op.b) return std::nullopt;
    BlockOp* left = Only(op.a, Kind::kBinary);
    BlockOp* right = Only(op.b, Kind::kBinary);
    if (left == nullptr || right == nullptr) return std::nullopt;
    if (left->opcode != Opcode::kShiftLeft) std::swap(left, right);
    if (left->opcode != Opcode::kShiftLeft || right->opcode != Opcode::kShiftRightLogical ||
        left->a != right->a || left->per_row != op.per_row || right->per_row != op.per_row) {
      return std::nullopt;
    }
    BlockOp turn = op;
    turn.kind = Kind::kTurn;
    turn.turn = loop;
    turn.a = left->a;
    turn.b = left->b;
    turn.c = right->b;
    --readers_[turn.a];
    Remove(*left);
    Remove(*right);
    return turn;
  }

  void RemoveFused() {
    std::erase_if(ops_, [](const BlockOp& op) { return op.to == kFused; });
  }

  static constexpr int kFused = -2;  // As the result of an op that has become part of another one.

  BlockProgram& program_;
  std::vector<int> readers_, writers_, written_at_;  // By register; written_at_ in ops_.
  std::vector<BlockOp> ops_;
};

}  // namespace

void MakePairs(BlockProgram* program) { Fuser(program).Run(); }

}  // namespace toroid
