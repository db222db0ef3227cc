// Pairs of ops as one loop.
#include <optional>
#include <utility>
#include <vector>

#include "runtime/groups/block_program.h"

namespace toroid {
namespace {

using Kind = BlockOp::Kind;
using Place = BlockProgram::Register::Place;

std::optional<BlockOp> PairOf(const BlockProgram& program, const BlockOp& one, const BlockOp& next,
                              const std::vector<int>& readers) {
  if (one.kind != Kind::kBinary || next.kind != Kind::kBinary || one.per_row != next.per_row)
    return std::nullopt;
  const std::optional<PairOp> first = PairOpOf(one.opcode), second = PairOpOf(next.opcode);
  const bool is_a = next.a == one.to;
  if (!first || !second || readers[one.to] != 1 || (!is_a && next.b != one.to) ||
      program.registers[one.to].place != Place::kScratch) {
    return std::nullopt;
  }
  const std::optional<PairOp> order = is_a ? second : Exchanged(*second);
  if (!order) return std::nullopt;
  BlockOp pair = next;
  pair.kind = Kind::kPair;
  pair.a = one.a;
  pair.b = one.b;
  pair.c = is_a ? next.b : next.a;
  pair.binary = one.binary;
  pair.then = next.binary;
  pair.first = *first;
  pair.second = *order;
  pair.exchanged = !is_a;
  return pair;
}

}  // namespace

void MakePairs(BlockProgram* program) {
  std::vector<int> readers(program->registers.size(), 0);
  for (const BlockOp& op : program->ops) {
    for (const int r : {op.a, op.b, op.c}) {
      if (r >= 0) ++readers[r];
    }
  }
  std::vector<BlockOp> ops;
  int last = -1;  // The last op that computes, in `ops`.
  for (const BlockOp& op : program->ops) {
    std::optional<BlockOp> pair;
    if (last >= 0) pair = PairOf(*program, ops[last], op, readers);
    if (pair.has_value()) ops.erase(ops.begin() + last);
    ops.push_back(pair.value_or(op));
    if (op.kind != Kind::kRead && op.kind != Kind::kCount) last = static_cast<int>(ops.size()) - 1;
  }
  program->ops = std::move(ops);
}

}  // namespace toroid
