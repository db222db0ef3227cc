#include "hlo/analysis/memory_steps.h"

#include <algorithm>

#include "hlo/analysis/custom_call_targets.h"
#include "hlo/analysis/updating_group.h"
#include "hlo/analysis/work.h"
#include "hlo/base/math.h"

namespace toroid {
namespace {

// A value read by several consumers is made again in each one if it is made of at most this many arrays, by at most this many
// ops; a value with one consumer may be made of more.
constexpr size_t kArraysOfRepeated = 8;
constexpr int64_t kOpsOfRepeated = 64;
constexpr size_t kArraysOfFused = 64;

// The table says of most ops whether a consumer can make their elements while it reads. Iotas are free to repeat; pieces that
// are joined are written first.
bool IsMadeElementByElement(Opcode opcode) {
  return IsElementwise(opcode) || opcode == Opcode::kIota ||
         (HasTrait(opcode, kCheap) && opcode != Opcode::kConcatenate);
}

// Reads the operand's elements one by one, so that it can make them itself.
bool CanMakeOperand(const Instruction& op, int operand) {
  const Opcode opcode = op.opcode();
  if (HasTrait(opcode, kRunsBody)) return false;
  if (HasTrait(opcode, kInPlace)) return operand > 0;  // The first one is what is updated.
  switch (opcode) {
    case Opcode::kConcatenate:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
      return true;
    case Opcode::kGather:
      return operand == 1;
    default:
      return IsMadeElementByElement(opcode) || IsMatrixOp(opcode);
  }
}

bool CanBeMadeWhereRead(const Instruction& op) {
  return op.shape().IsArray() && op.control_predecessors().empty() && IsMadeElementByElement(op.opcode());
}

class Builder {
 public:
  Builder(const Computation& computation, const ArraySize* size, const CountedMemory& memory,
          const std::vector<ResultPlaces>& result_places, bool fuse)
      : computation_(computation),
        result_places_(result_places),
        made_{Buffers(computation, size, &memory, fuse ? &result_places : nullptr), {}} {}

  MemorySteps AsWritten() && {
    for (const auto& op : computation_.instructions()) {
      MemoryStep step = {op.get(), {}, {}};
      if (!HasTrait(op->opcode(), kNoStorage)) {  // An alias does not read the buffer.
        for (const Instruction* operand : op->operands()) {
          for (const int b : buffers().Of(*operand)) step.reads.push_back(b);
        }
        AddPlaces(*op, &step.places);
        if (IsElementwise(op->opcode()) && buffers().Of(*op).size() == 1) {
          for (const Instruction* operand : op->operands()) {
            const auto own = buffers().Of(*operand);
            if (own.size() == 1) step.places.push_back({own[0], buffers().Of(*op)[0]});
          }
        }
      }
      made_.steps.push_back(std::move(step));
    }
    return std::move(made_);
  }

  MemorySteps AsFused() && {
    FindReaders();
    inside_.resize(buffers().size());
    guards_.resize(computation_.size());
    for (const auto& op : computation_.instructions()) {
      if (op->opcode() == Opcode::kParameter) continue;
      if (op->opcode() == Opcode::kOptimizationBarrier) {
        AddBarrier(*op);
        continue;
      }
      if (!MakesBuffers(*op)) {
        FindGuards(*op);
        continue;
      }
      Inside inside = InsideOf(*op);
      const int result = buffers().Of(*op)[0];
      if (IsMadeWhereRead(*op, inside)) {
        made_.buffers.Drop(result);
        inside.is_made_where_read = true;
        inside_[result] = std::move(inside);
        continue;
      }
      MemoryStep step = {op.get(), {}, {}};
      AddPlaces(*op, &step.places);
      if (op->opcode() == Opcode::kAllReduce) AddLeafByLeaf(*op, &step.places);
      for (const Read& read : inside.reads) {
        step.reads.push_back(read.buffer);
        if (read.in_place && buffers().Of(*op).size() == 1) step.places.push_back({read.buffer, result});
      }
      made_.steps.push_back(std::move(step));
    }
    return std::move(made_);
  }

 private:
  struct Read {
    int buffer;
    bool in_place;  // Each element is read where the result's of the same position is made, and nowhere else.
  };
  struct Inside {
    std::vector<Read> reads;  // Each buffer once.
    int64_t ops = 0;          // Saturates.
    bool has_product = false;
    bool is_made_where_read = false;
  };

  // Behind a barrier nothing is read before all that goes through it is there: a step without results.
  void AddBarrier(const Instruction& op) {
    MemoryStep step = {&op, {}, {}};
    for (const Read& read : InsideOf(op).reads) step.reads.push_back(read.buffer);
    made_.steps.push_back(std::move(step));
    guards_[op.index()] = {made_.buffers.AddToken(op)};
    inside_.emplace_back();
  }
  // A name of an array behind a barrier stands behind that barrier, too.
  void FindGuards(const Instruction& op) {
    std::vector<int>& guards = guards_[op.index()];
    for (const Instruction* operand : op.operands()) {
      const auto& own = guards_[operand->index()];
      guards.insert(guards.end(), own.begin(), own.end());
    }
    std::sort(guards.begin(), guards.end());
    guards.erase(std::unique(guards.begin(), guards.end()), guards.end());
  }

  const Buffers& buffers() const { return made_.buffers; }
  bool MakesBuffers(const Instruction& op) const {
    const auto own = buffers().Of(op);
    return std::any_of(own.begin(), own.end(), [&](int b) { return buffers()[b].maker == &op; });
  }

  void AddLeafByLeaf(const Instruction& op, std::vector<std::pair<int, int>>* places) const {
    const auto results = buffers().Of(op);
    const std::vector<int> operands = LeavesOf(op.operands());
    for (size_t leaf = 0; leaf < results.size() && leaf < operands.size(); ++leaf) {
      places->push_back({operands[leaf], results[leaf]});
    }
  }

  // Adds the places of updates in place, calls and branches.
  void AddPlaces(const Instruction& op, std::vector<std::pair<int, int>>* places) const {
    const auto results = buffers().Of(op);
    if (HasTrait(op.opcode(), kInPlace)) {
      AddLeafByLeaf(op, places);
    } else if (const int updated = UpdatedOperand(op); updated >= 0) {
      const auto operand = buffers().Of(*op.operand(updated));
      if (operand.size() == 1 && results.size() == 1) places->push_back({operand[0], results[0]});
    } else if (op.opcode() == Opcode::kCall || op.opcode() == Opcode::kConditional) {
      for (size_t leaf = 0; leaf < results.size(); ++leaf) {
        const int from = PlaceInBodies(op, leaf);
        if (from >= 0) places->push_back({from, results[leaf]});
      }
    }
  }

  std::vector<int> LeavesOf(absl::Span<Instruction* const> operands) const {
    std::vector<int> leaves;
    for (const Instruction* operand : operands) {
      const auto own = buffers().Of(*operand);
      leaves.insert(leaves.end(), own.begin(), own.end());
    }
    return leaves;
  }

  // The buffer in whose place every body of `op` writes result leaf `leaf`; -1 if they write elsewhere.
  int PlaceInBodies(const Instruction& op, size_t leaf) const {
    int place = -1;
    for (size_t body = 0; body < op.called().size(); ++body) {
      const size_t computation = op.called(body)->index();
      if (computation >= result_places_.size() || leaf >= result_places_[computation].size()) return -1;
      const bool branches = op.opcode() == Opcode::kConditional;
      if (branches && static_cast<int>(body) + 1 >= op.num_operands()) return -1;
      const std::vector<int> arguments =
          LeavesOf(branches ? op.operands().subspan(body + 1, 1) : op.operands());
      const int argument = result_places_[computation][leaf].argument;
      if (argument < 0 || argument >= static_cast<int>(arguments.size())) return -1;
      if (body > 0 && place != arguments[argument]) return -1;
      place = arguments[argument];
    }
    return place;
  }

  void FindReaders() {
    readers_.assign(buffers().size(), 0);
    only_reader_.assign(buffers().size(), nullptr);
    needs_array_.assign(buffers().size(), false);
    for (const auto& op : computation_.instructions()) {
      // Names of arrays read nothing; what hands on an array that no reader can make again, needs it.
      if (!MakesBuffers(*op)) continue;
      for (int i = 0; i < op->num_operands(); ++i) {
        for (const int b : buffers().Of(*op->operand(i))) {
          if (!CanMakeOperand(*op, i)) needs_array_[b] = true;
          if (only_reader_[b] == op.get()) continue;
          only_reader_[b] = op.get();
          ++readers_[b];
        }
      }
    }
    if (computation_.root() == nullptr) return;
    for (const int b : buffers().Of(*computation_.root())) needs_array_[b] = true;
  }

  Inside InsideOf(const Instruction& op) {
    Inside inside;
    inside.ops = 1;
    inside.has_product = IsMatrixOp(op.opcode());
    const bool elementwise = IsElementwise(op.opcode());
    for (const Instruction* operand : op.operands()) {
      for (const int guard : guards_[operand->index()]) Add({guard, false}, &inside);
      const bool same_place = elementwise && operand->shape().IsArray() && op.shape().IsArray() &&
                              operand->shape().dims() == op.shape().dims();
      for (const int b : buffers().Of(*operand)) {
        const Inside& from = inside_[b];
        if (!from.is_made_where_read) {
          Add({b, same_place}, &inside);
          continue;
        }
        for (const Read& read : from.reads) Add({read.buffer, read.in_place && same_place}, &inside);
        inside.ops = SaturatingAdd(inside.ops, from.ops);
        inside.has_product |= from.has_product;
      }
    }
    for (const Read& read : inside.reads) position_of_[read.buffer] = -1;
    return inside;
  }

  void Add(const Read& read, Inside* inside) {
    if (position_of_.size() < static_cast<size_t>(buffers().size()))
      position_of_.resize(buffers().size(), -1);
    int& position = position_of_[read.buffer];
    if (position >= 0) {
      inside->reads[position].in_place &= read.in_place;
      return;
    }
    position = static_cast<int>(inside->reads.size());
    inside->reads.push_back(read);
  }

  bool IsMadeWhereRead(const Instruction& op, const Inside& inside) const {
    const auto own = buffers().Of(op);
    if (own.size() != 1 || needs_array_[own[0]] || readers_[own[0]] == 0) return false;
    const Instruction* reader = readers_[own[0]] == 1 ? only_reader_[own[0]] : nullptr;
    if (inside.has_product) {
      // An epilogue: one product for each group.
      if (reader == nullptr || !(IsMatrixOp(op.opcode()) || CanBeMadeWhereRead(op))) return false;
      return IsElementwise(reader->opcode()) && reader->shape().IsArray() &&
             reader->shape().dims() == op.shape().dims() &&
             reader->shape().ByteSize() <= op.shape().ByteSize() && inside.reads.size() <= kArraysOfFused &&
             !OtherOperandHasProduct(*reader, own[0]);
    }
    if (!CanBeMadeWhereRead(op)) return false;
    return reader != nullptr ? inside.reads.size() <= kArraysOfFused
                             : inside.reads.size() <= kArraysOfRepeated && inside.ops <= kOpsOfRepeated;
  }

  bool OtherOperandHasProduct(const Instruction& reader, int buffer) const {
    for (const Instruction* operand : reader.operands()) {
      for (const int b : buffers().Of(*operand)) {
        if (b != buffer && inside_[b].is_made_where_read && inside_[b].has_product) return true;
      }
    }
    return false;
  }

  const Computation& computation_;
  const std::vector<ResultPlaces>& result_places_;
  MemorySteps made_;
  std::vector<int> readers_;                     // By buffer: instructions that read it.
  std::vector<const Instruction*> only_reader_;  // By buffer: the last of them.
  std::vector<bool> needs_array_;                // By buffer: a reader needs it in memory.
  std::vector<Inside> inside_;                   // By buffer that is made where it is read.
  std::vector<std::vector<int>> guards_;  // By instruction that makes no array: tokens of barriers before it.
  std::vector<int> position_of_;          // By buffer: place among the reads being collected; -1.
};

}  // namespace

MemorySteps StepsAsWritten(const Computation& computation, const ArraySize* size, const CountedMemory& memory,
                           const std::vector<ResultPlaces>& result_places) {
  return Builder(computation, size, memory, result_places, /*fuse=*/false).AsWritten();
}

MemorySteps StepsAsFused(const Computation& computation, const ArraySize* size, const CountedMemory& memory,
                         const std::vector<ResultPlaces>& result_places) {
  return Builder(computation, size, memory, result_places, /*fuse=*/true).AsFused();
}

}  // namespace toroid
