#include "runtime/groups/block_program.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hlo/base/status.h"

namespace toroid {
namespace {

using Kind = BlockOp::Kind;
using Place = BlockProgram::Register::Place;

// What an exponential, a logarithm and their like take beyond a sum, in nanoseconds for 16 elements of f32.
constexpr double kTranscendentalCost = 16;

// nullopt for orders that chains have not.
std::optional<ChainDirection> DirectionOf(const xla::HloInstructionProto& attrs) {
  constexpr absl::string_view kNames[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  if (attrs.comparison_type() == "TOTALORDER") return std::nullopt;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (attrs.comparison_direction() == kNames[i]) return static_cast<ChainDirection>(i);
  }
  return std::nullopt;
}

class Compiler {
 public:
  Compiler(const Group& group, uint64_t outputs) : group_(group), program_(new BlockProgram) {
    output_of_.assign(group.nodes.size(), -1);
    needed_.assign(group.nodes.size(), false);
    for (size_t o = 0; o < group.outputs.size(); ++o) {
      if (((outputs >> o) & 1) == 0) continue;
      program_->outputs.push_back(static_cast<int>(o));
      output_of_[group.outputs[o].node] = static_cast<int>(o);
      needed_[group.outputs[o].node] = true;
    }
    for (int i = static_cast<int>(group.nodes.size()) - 1; i >= 0; --i) {
      if (!needed_[i]) continue;
      for (const int operand : Read(group.nodes[i])) needed_[operand] = true;
    }
    uses_.assign(group.nodes.size(), 0);
    for (size_t i = 0; i < group.nodes.size(); ++i) {
      if (!needed_[i]) continue;
      for (const int operand : Read(group.nodes[i])) ++uses_[operand];
    }
  }

  std::unique_ptr<BlockProgram> Compile() {
    held_.assign(group_.nodes.size(), -1);
    raw_.assign(group_.nodes.size(), -1);
    for (size_t i = 0; i < group_.nodes.size(); ++i) {
      if (needed_[i]) Emit(static_cast<int>(i));
    }
    MakeChains(program_.get());
    FindInPlace();
    AssignSlots();
    for (size_t r = 0; r < program_->registers.size(); ++r) {
      if (program_->registers[r].place == Place::kOutput)
        program_->output_registers.push_back(static_cast<int>(r));
    }
    for (BlockOp& op : program_->ops) {
      op.writes_output = op.to >= 0 && program_->registers[op.to].place == Place::kOutput;
    }
    for (const auto& reg : program_->registers) program_->widest = std::max<int>(program_->widest, reg.width);
    program_->cost += static_cast<double>(program_->ops.size());
    return std::move(program_);
  }

 private:
  // The operands that blocks read: the start value of a sink is added at the end.
  static absl::Span<const int> Read(const GroupNode& node) {
    const bool sink = node.kind == GroupNode::Kind::kReduceLines || node.kind == GroupNode::Kind::kReduceLong;
    return absl::MakeConstSpan(node.operands).subspan(0, sink ? 1 : node.operands.size());
  }

  int NewRegister(int width, bool per_row, Place place = Place::kScratch) {
    BlockProgram::Register r;
    r.place = place;
    r.width = static_cast<int16_t>(width);
    r.per_row = per_row;
    program_->registers.push_back(r);
    return static_cast<int>(program_->registers.size()) - 1;
  }

  BlockOp& Add(Kind kind, int to, int a = -1, int b = -1, int c = -1) {
    BlockOp op;
    op.kind = kind;
    op.to = to;
    op.a = a;
    op.b = b;
    op.c = c;
    if (to >= 0) {
      op.width = program_->registers[to].width;
      op.per_row = program_->registers[to].per_row;
    }
    program_->ops.push_back(op);
    return program_->ops.back();
  }

  // Between f32 and a narrow float.
  void AddNarrow(Kind kind, int to, int from, PrimitiveType type) {
    BlockOp& op = Add(kind, to, from);
    op.type = type;
    op.meaning.opcode = kind == Kind::kRound ? Opcode::kReducePrecision : Opcode::kConvert;
    op.meaning.from = kind == Kind::kWiden ? type : xla::F32;
    op.meaning.to = kind == Kind::kWiden ? xla::F32 : type;
  }

  static ChainOp MeaningOf(const GroupNode& node, PrimitiveType operands) {
    ChainOp meaning{node.instruction->opcode(), operands, operands};
    if (meaning.opcode != Opcode::kCompare) return meaning;
    const std::optional<ChainDirection> direction = DirectionOf(node.instruction->attrs());
    if (!direction.has_value()) return {};
    meaning.direction = *direction;
    return meaning;
  }

  static int HeldWidth(const GroupNode& node) { return static_cast<int>(ByteWidth(HeldType(node.type))); }

  // The register for a value as blocks hold it, or as memory does (`raw`): the output's own memory if it can be written there.
  int ResultRegister(int i, bool raw = false) {
    const GroupNode& node = group_.nodes[i];
    const bool as_memory = raw || !IsNarrowFloat(node.type);
    const int r =
        NewRegister(as_memory ? static_cast<int>(ByteWidth(node.type)) : HeldWidth(node), node.per_row);
    if (output_of_[i] >= 0 && as_memory) {
      program_->registers[r].place = Place::kOutput;
      program_->registers[r].index = output_of_[i];
    }
    return r;
  }

  // The register with the node's value as blocks hold it: narrow floats as f32.
  int Held(int i) {
    if (held_[i] < 0) {
      held_[i] = NewRegister(sizeof(float), group_.nodes[i].per_row);
      AddNarrow(Kind::kWiden, held_[i], raw_[i], group_.nodes[i].type);
    }
    return held_[i];
  }

  // The register with the node's value as it is in memory. A value that is only moved keeps its bits, those of a NaN too.
  int Raw(int i) {
    const GroupNode& node = group_.nodes[i];
    if (!IsNarrowFloat(node.type)) return Held(i);
    if (raw_[i] < 0) {
      raw_[i] = NewRegister(static_cast<int>(ByteWidth(node.type)), node.per_row);
      AddNarrow(Kind::kNarrow, raw_[i], held_[i], node.type);
    }
    return raw_[i];
  }

  void Emit(int i) {
    const GroupNode& node = group_.nodes[i];
    switch (node.kind) {
      case GroupNode::Kind::kSource:
      case GroupNode::Kind::kCount:
        EmitView(i);
        break;
      case GroupNode::Kind::kOp:
        EmitOp(i);
        break;
      case GroupNode::Kind::kExpand: {
        const bool raw = raw_[node.operands[0]] >= 0;
        std::vector<int>& registers = raw ? raw_ : held_;
        registers[i] = ResultRegister(i, raw);
        Add(Kind::kExpand, registers[i], registers[node.operands[0]]);
        break;
      }
      case GroupNode::Kind::kReduceRows: {
        const int x = Held(node.operands[0]);
        const int total = NewRegister(HeldWidth(node), true);
        Add(Kind::kReduceRows, total, x).node = i;
        const int start = Held(node.operands[1]);
        held_[i] = ResultRegister(i);
        Add(Kind::kBinary, held_[i], start, total).binary = node.fold;
        Round(i, IsNarrowFloat(node.type));
        break;
      }
      case GroupNode::Kind::kReduceLines:
      case GroupNode::Kind::kReduceLong: {
        const bool lines = node.kind == GroupNode::Kind::kReduceLines;
        const int x = Held(node.operands[0]);
        const int sums = lines ? NewRegister(HeldWidth(node), false, Place::kSums) : -1;
        BlockOp& op = lines ? Add(Kind::kFoldLines, sums, sums, x) : Add(Kind::kFoldPart, -1, x);
        op.node = i;
        op.number = static_cast<int>(program_->sinks.size());
        op.width = static_cast<int16_t>(HeldWidth(node));
        if (lines) op.meaning = {node.folds, HeldType(node.type), HeldType(node.type)};
        program_->sinks.push_back({i, output_of_[i], op.width, sums});
        return;
      }
    }
    Store(i);
  }

  void EmitView(int i) {
    const GroupNode& node = group_.nodes[i];
    const bool count = node.kind == GroupNode::Kind::kCount;
    const int raw = NewRegister(static_cast<int>(ByteWidth(node.type)), node.per_row);
    BlockOp& op = Add(count ? Kind::kCount : Kind::kRead, raw);
    op.node = i;
    op.number = static_cast<int>(program_->views.size());
    program_->views.push_back(i);
    if (count) op.count = FindCountLoop(node.type);
    (IsNarrowFloat(node.type) ? raw_ : held_)[i] = raw;
  }

  void EmitOp(int i) {
    const GroupNode& node = group_.nodes[i];
    const auto operand = [&](int o) { return node.operands[o]; };
    if (HasTrait(node.instruction->opcode(), kTranscendental)) program_->cost += kTranscendentalCost;
    switch (node.op.kind) {
      case ElementOp::Kind::kNone:
        TOROID_CHECK(false, "a group of an op without loops");
        return;
      case ElementOp::Kind::kSame:
        if (!node.op.rounds && IsNarrowFloat(node.type)) {
          held_[i] = held_[operand(0)];
          raw_[i] = raw_[operand(0)];
          return;
        }
        held_[i] = Held(operand(0));
        if (node.op.rounds && uses_[i] > 0) {
          const int rounded = NewRegister(sizeof(float), node.per_row);
          AddNarrow(Kind::kRound, rounded, held_[i], node.type);
          held_[i] = rounded;
        }
        return;
      case ElementOp::Kind::kUnary: {
        const int a = Held(operand(0));
        std::vector<int>& registers = node.op.narrow_result ? raw_ : held_;
        registers[i] = ResultRegister(i, node.op.narrow_result);
        BlockOp& op = Add(Kind::kUnary, registers[i], a);
        op.unary = node.op.unary;
        op.meaning = MeaningOf(node, HeldType(group_.nodes[operand(0)].type));
        op.meaning.to = node.op.narrow_result ? node.type : HeldType(node.type);
        break;
      }
      case ElementOp::Kind::kBinary: {
        const int a = node.op.narrow_operands ? Raw(operand(0)) : Held(operand(0));
        const int b = node.op.narrow_operands ? Raw(operand(1)) : Held(operand(1));
        held_[i] = ResultRegister(i);
        BlockOp& op = Add(Kind::kBinary, held_[i], a, b);
        op.binary = node.op.binary;
        if (!node.op.narrow_operands) op.meaning = MeaningOf(node, HeldType(group_.nodes[operand(0)].type));
        break;
      }
      case ElementOp::Kind::kSelect: {
        const int pred = Held(operand(0)), on_true = Raw(operand(1)), on_false = Raw(operand(2));
        std::vector<int>& registers = IsNarrowFloat(node.type) ? raw_ : held_;
        registers[i] = ResultRegister(i, /*raw=*/true);
        BlockOp& op = Add(Kind::kSelect, registers[i], pred, on_true, on_false);
        op.select = node.op.select;
        op.meaning = MeaningOf(node, node.type);
        break;
      }
      case ElementOp::Kind::kClamp: {
        const int low = Held(operand(0)), x = Held(operand(1)), high = Held(operand(2));
        held_[i] = ResultRegister(i);
        BlockOp& above = Add(Kind::kBinary, held_[i], x, low);
        above.binary = node.op.binary;
        above.meaning = {Opcode::kMaximum, HeldType(node.type)};
        BlockOp& within = Add(Kind::kBinary, held_[i], held_[i], high);
        within.binary = node.op.then;
        within.meaning = {Opcode::kMinimum, HeldType(node.type)};
        break;
      }
    }
    Round(i, node.op.rounds);
  }

  // Rounds in place. Writing the output rounds as well.
  void Round(int node, bool rounds) {
    if (rounds && uses_[node] > 0) AddNarrow(Kind::kRound, held_[node], held_[node], group_.nodes[node].type);
  }

  // Writes the node's value to its output, unless it is there.
  void Store(int i) {
    if (output_of_[i] < 0) return;
    const GroupNode& node = group_.nodes[i];
    const int value = IsNarrowFloat(node.type) ? raw_[i] : held_[i];
    if (value >= 0 && program_->registers[value].place == Place::kOutput &&
        program_->registers[value].index == output_of_[i]) {
      return;
    }
    const int out = ResultRegister(i, /*raw=*/true);
    if (value >= 0) {
      Add(Kind::kCopy, out, value);
    } else {
      AddNarrow(Kind::kNarrow, out, held_[i], node.type);
    }
  }

  // A register that another one may point into lives as long as that one.
  std::vector<int> LastReads() const {
    std::vector<int> last(program_->registers.size(), -1);
    for (int o = static_cast<int>(program_->ops.size()) - 1; o >= 0; --o) {
      const BlockOp& op = program_->ops[o];
      for (const int r : op.Reads()) {
        if (r < 0) continue;
        last[r] = std::max(last[r], o);
        if (op.kind == Kind::kExpand) last[r] = std::max(last[r], last[op.to]);
      }
    }
    return last;
  }

  // As LastReads, for storage: the code of a chain reads its inputs and writes its outputs until its end.
  std::vector<int> LastUses() const {
    std::vector<int> last = LastReads();
    for (const auto& chain : program_->chains) {
      for (const int r : chain->inputs) last[r] = std::max(last[r], chain->end - 1);
    }
    return last;
  }

  // An output may take an input's storage if every block has read the input's part before it writes its own.
  void FindInPlace() {
    const std::vector<int> last = LastReads();
    std::vector<int> written(group_.outputs.size(), -1);
    for (int o = static_cast<int>(program_->ops.size()) - 1; o >= 0; --o) {
      const int to = program_->ops[o].to;
      if (to >= 0 && program_->registers[to].place == Place::kOutput)
        written[program_->registers[to].index] = o;
    }
    for (int o = 0; o < static_cast<int>(program_->ops.size()); ++o) {
      const BlockOp& read = program_->ops[o];
      if (read.kind != Kind::kRead) continue;
      const GroupNode& source = group_.nodes[read.node];
      if (!source.view.IsWhole() || source.view.elements() != source.input_elements) continue;
      int readers = 0;
      for (const GroupNode& node : group_.nodes) {
        readers += node.kind == GroupNode::Kind::kSource && node.input == source.input;
      }
      if (readers != 1) continue;
      for (const int output : program_->outputs) {
        const GroupNode& result = group_.nodes[group_.outputs[output].node];
        if (written[output] < 0 || written[output] < last[read.to] || result.per_row != source.per_row ||
            ByteWidth(result.type) != ByteWidth(source.type)) {
          continue;
        }
        program_->in_place.push_back({output, read.node});
      }
    }
  }

  // A slot of scratch memory is free again after the last read of its register. A result takes the slot of an operand that dies
  // there if their elements have one width.
  void AssignSlots() {
    const std::vector<int> last = LastUses();
    std::vector<std::vector<int>> ends(program_->ops.size());  // By op: the registers that it uses last.
    for (size_t r = 0; r < last.size(); ++r) {
      if (last[r] >= 0) ends[last[r]].push_back(static_cast<int>(r));
    }
    std::vector<int> free;
    std::vector<bool> has_slot(program_->registers.size(), false);
    for (int o = 0; o < static_cast<int>(program_->ops.size()); ++o) {
      const BlockOp& op = program_->ops[o];
      const bool elementwise = IsOfElements(op.kind);
      const auto release = [&](bool before) {
        for (const int r : ends[o]) {
          if (!has_slot[r] || r == op.to) continue;
          const auto& reg = program_->registers[r];
          if (before && !(elementwise && reg.width == op.width && reg.per_row == op.per_row)) continue;
          free.push_back(reg.index);
          has_slot[r] = false;
        }
      };
      release(/*before=*/true);
      if (op.to >= 0 && program_->registers[op.to].place == Place::kScratch && !has_slot[op.to]) {
        if (free.empty()) free.push_back(program_->slots++);
        program_->registers[op.to].index = free.back();
        free.pop_back();
        has_slot[op.to] = true;
      }
      release(/*before=*/false);
    }
  }

  const Group& group_;
  std::unique_ptr<BlockProgram> program_;
  std::vector<bool> needed_;
  std::vector<int> uses_;       // By node: by nodes of this program.
  std::vector<int> output_of_;  // By node; -1 for none.
  // By node: the registers with its value as blocks hold it, and as memory does if that is another; -1: not there yet.
  std::vector<int> held_, raw_;
};

}  // namespace

std::unique_ptr<BlockProgram> CompileBlocks(const Group& group, uint64_t outputs) {
  return Compiler(group, outputs).Compile();
}

}  // namespace toroid
