// Which ops of a block program run together as machine code.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/groups/block_program.h"

namespace toroid {
namespace {

using Place = BlockProgram::Register::Place;

constexpr size_t kFewestOps = 2;  // One op is as fast by its own loop.
constexpr size_t kMostOps = 120;
constexpr size_t kMostInputs = 64;  // Bits of the set of those that repeat.

// Whether what is held as one type can be read as the other: the lanes of words have no extension.
bool SameLanes(PrimitiveType a, PrimitiveType b) { return a == b || (IsWord(a) && IsWord(b)); }

// Ops that are not written yet, in order; other ops that do not touch their registers are written before them.
class Maker {
 public:
  explicit Maker(BlockProgram* program)
      : program_(*program), last_read_(program->registers.size(), -1), type_of_(program->registers.size()) {}

  void Run() {
    const std::vector<BlockOp> ops = std::exchange(program_.ops, {});
    for (int i = 0; i < static_cast<int>(ops.size()); ++i) {
      for (const int r : ops[i].Reads()) {
        if (r >= 0) last_read_[r] = i;
      }
    }
    for (at_ = 0; at_ < static_cast<int>(ops.size()); ++at_) {
      const BlockOp& op = ops[at_];
      const bool chains = CanChain(op.meaning) && op.to >= 0;
      if (chains && Fits(op)) {
        Open(op);
        continue;
      }
      if (Touches(op) || chains) Close();
      if (chains && Fits(op)) {
        Open(op);
      } else {
        program_.ops.push_back(op);
      }
    }
    Close();
  }

 private:
  static bool Folds(const BlockOp& op) { return op.kind == BlockOp::Kind::kFoldLines; }

  bool Fits(const BlockOp& op) const {
    if (!open_.empty() && open_[0].per_row != op.per_row) return false;
    if (open_.size() >= kMostOps || read_.size() + 3 > kMostInputs) return false;
    for (int i = 0; i < 3; ++i) {
      const int r = op.Reads()[i];
      if (r >= 0 && type_of_[r].has_value() && !SameLanes(*type_of_[r], op.meaning.OperandType(i)))
        return false;
    }
    return true;
  }

  bool Touches(const BlockOp& op) const {
    const auto is_open = [&](int r) { return r >= 0 && type_of_[r].has_value(); };
    const auto reads = op.Reads();
    const auto is_written = [&](int r) { return r >= 0 && written_by_.contains(r); };
    return is_open(op.to) || std::any_of(reads.begin(), reads.end(), is_written);
  }

  void Open(const BlockOp& op) {
    const int index = static_cast<int>(open_.size());
    part_.push_back(index);
    for (int i = 0; i < 3; ++i) {
      const int r = op.Reads()[i];
      if (r < 0) continue;
      if (!type_of_[r].has_value()) {
        type_of_[r] = op.meaning.OperandType(i);
        read_.push_back(r);
      }
      if (const auto writer = written_by_.find(r); writer != written_by_.end()) Join(index, writer->second);
      // A fold does little with what it reads: it is there once for all.
      const int reader = read_by_.try_emplace(r, index).first->second;
      if (reader != index && (Folds(op) || Folds(open_[reader]))) Join(index, reader);
    }
    if (const auto writer = written_by_.find(op.to); writer != written_by_.end()) Join(index, writer->second);
    written_by_[op.to] = index;
    type_of_[op.to] = op.meaning.type();
    open_.push_back(op);
  }

  int PartOf(int op) const {
    while (part_[op] != op) op = part_[op];
    return op;
  }
  void Join(int a, int b) {
    a = PartOf(a);
    b = PartOf(b);
    part_[std::max(a, b)] = std::min(a, b);
  }

  // Writes the ops that are open: those that share values become one chain.
  void Close() {
    std::map<int, std::vector<const BlockOp*>> parts;
    for (int i = 0; i < static_cast<int>(open_.size()); ++i) parts[PartOf(i)].push_back(&open_[i]);
    for (const auto& [first, ops] : parts) {
      if (ops.size() >= kFewestOps) program_.chains.push_back(ChainOf(ops));
      for (const BlockOp* op : ops) program_.ops.push_back(*op);
    }
    for (const BlockOp& op : open_) type_of_[op.to].reset();
    for (const int r : read_) type_of_[r].reset();
    open_.clear();
    part_.clear();
    read_.clear();
    written_by_.clear();
    read_by_.clear();
  }

  std::unique_ptr<BlockChain> ChainOf(const std::vector<const BlockOp*>& ops) const {
    auto made = std::make_unique<BlockChain>();
    made->begin = static_cast<int>(program_.ops.size());
    made->end = made->begin + static_cast<int>(ops.size());
    made->per_row = ops[0]->per_row;
    for (const BlockOp* op : ops) made->folds |= Folds(*op);
    std::map<int, int> value_of;  // By register.
    for (const BlockOp* op : ops) {
      for (int i = 0; i < 3; ++i) {
        const int r = op->Reads()[i];
        if (r < 0 || value_of.contains(r) || IsWrittenBefore(ops, op, r)) continue;
        value_of[r] = static_cast<int>(made->inputs.size());
        made->inputs.push_back(r);
        made->chain.inputs.push_back(op->meaning.OperandType(i));
      }
    }
    for (const BlockOp* op : ops) {
      ChainOp value = op->meaning;
      for (int i = 0; i < 3; ++i) value.operands[i] = op->Reads()[i] < 0 ? -1 : value_of.at(op->Reads()[i]);
      value_of[op->to] = static_cast<int>(made->chain.inputs.size() + made->chain.ops.size());
      made->chain.ops.push_back(value);
    }
    for (const BlockOp* op : ops) {
      const int r = op->to;
      const Place place = program_.registers[r].place;
      const bool is_read = last_read_[r] >= at_ || place == Place::kOutput || place == Place::kSums;
      if (!is_read || std::count(made->outputs.begin(), made->outputs.end(), r) != 0) continue;
      made->outputs.push_back(r);
      made->chain.outputs.push_back(value_of.at(r));
    }
    return made;
  }

  static bool IsWrittenBefore(const std::vector<const BlockOp*>& ops, const BlockOp* op, int r) {
    for (const BlockOp* other : ops) {
      if (other == op) return false;
      if (other->to == r) return true;
    }
    return false;
  }

  BlockProgram& program_;
  int at_ = 0;  // The op of the original program that is looked at.
  std::vector<int> last_read_;
  std::vector<std::optional<PrimitiveType>> type_of_;  // By register: as open ops hold it.
  std::vector<BlockOp> open_;
  std::vector<int> part_;                     // By open op: another one of its part.
  std::vector<int> read_;                     // Registers that open ops found written.
  absl::flat_hash_map<int, int> written_by_;  // By register: the last open op that writes it.
  absl::flat_hash_map<int, int> read_by_;     // The first that reads it.
};

}  // namespace

void MakeChains(BlockProgram* program) { Maker(program).Run(); }

const ChainCode* BlockChain::CodeFor(uint64_t repeats) const {
  for (const Made& made : made_) {
    const ChainCode* code = made.code.load(std::memory_order_acquire);
    if (code != nullptr && made.repeats == repeats) return code;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Made& made : made_) {
    if (made.code.load(std::memory_order_relaxed) == nullptr) {
      made.repeats = repeats;
      made.owner = ChainCode::Make(chain, repeats);
      made.code.store(made.owner.get(), std::memory_order_release);
      return made.owner.get();
    }
    if (made.repeats == repeats) return made.owner.get();
  }
  return nullptr;
}

}  // namespace toroid
