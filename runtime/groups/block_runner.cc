// BUILD: copts = ["-O3"]
#include "runtime/groups/block_runner.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "hlo/base/math.h"
#include "runtime/groups/view_lines.h"
#include "runtime/loops/block_convert.h"

namespace toroid {
namespace {

using Kind = BlockOp::Kind;
using Place = BlockProgram::Register::Place;

// Memory of one thread for the registers, kept between runs.
struct Scratch {
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  std::unique_ptr<char, Free> memory;
  int64_t bytes = 0;
  std::vector<char*> data;
  std::vector<uint8_t> repeat;
  std::vector<int64_t> filled;

  void Grow(int64_t wanted) {
    if (wanted <= bytes) return;
    memory.reset(static_cast<char*>(std::aligned_alloc(64, (wanted + 63) / 64 * 64)));
    bytes = wanted;
  }
};

Scratch& ScratchOfThread() {
  static thread_local Scratch scratch;
  return scratch;
}

}  // namespace

struct BlockRunner::State {
  State(const BlockProgram& program, int64_t block, int kept)
      : slot_bytes(CeilOfRatio(block * program.widest, 64) * 64) {
    Scratch& scratch = ScratchOfThread();
    const auto sinks = static_cast<int64_t>(program.sinks.size());
    scratch.Grow((program.slots + 1 + sinks + kept) * slot_bytes);
    scratch.filled.assign(kept, 0);
    scratch.data.resize(std::max(scratch.data.size(), program.registers.size()));
    scratch.repeat.resize(std::max(scratch.repeat.size(), program.registers.size()));
    memory = scratch.memory.get();
    for (size_t r = 0; r < program.registers.size(); ++r) {
      scratch.data[r] = memory + program.registers[r].index * slot_bytes;  // Outputs move with the block.
    }
    data = scratch.data.data();
    repeat = scratch.repeat.data();
    spare = memory + program.slots * slot_bytes;
    kept_memory = spare + (1 + sinks) * slot_bytes;
    filled = scratch.filled.data();
  }
  char* Slot(const BlockProgram::Register& reg) const { return memory + reg.index * slot_bytes; }
  // Where a unit that is a whole segment sums a sink.
  char* SumOf(int sink) const { return spare + (sink + 1) * slot_bytes; }

  const int64_t slot_bytes;
  char* memory;
  char* spare;  // A slot that no register has.
  char*
      kept_memory;  // Slots of the lines that stay from block to block, and how many of their elements are there.
  int64_t* filled;
  char** data;
  uint8_t* repeat;
};

void BlockRunner::RunUnits(int64_t begin, int64_t end) const {
  State state(program_, layout_.block, kept_);
  for (const BlockOp& op : program_.ops) {
    if (op.kind != Kind::kRead || sources_[op.number].kind != Source::Kind::kRepeat) continue;
    state.data[op.to] = const_cast<char*>(sources_[op.number].base);
    state.repeat[op.to] = true;
  }
  for (int64_t unit = begin; unit < end; ++unit) {
    Block block{0, 0, 0, 0, unit, true};
    if (layout_.bands > 0) {
      for (size_t s = 0; s < program_.sinks.size(); ++s) {
        const BlockProgram::Sink& sink = program_.sinks[s];
        state.repeat[sink.sums] = false;
        state.data[sink.sums] = layout_.bands == 1 ? state.SumOf(static_cast<int>(s))
                                                   : sums_[s] + unit * layout_.sum_elements * sink.width;
      }
      const int64_t segment = unit / layout_.bands, band = unit % layout_.bands;
      const int64_t blocks = CeilOfRatio(group_.segment_rows, layout_.rows_per_block);
      const int64_t first = band * blocks / layout_.bands, last = (band + 1) * blocks / layout_.bands;
      for (int64_t b = first; b < last; ++b) {
        const int64_t row = b * layout_.rows_per_block;
        block.rows = std::min(layout_.rows_per_block, group_.segment_rows - row);
        block.first_row = segment * group_.segment_rows + row;
        block.first = block.first_row * group_.row_length;
        block.count = block.rows * group_.row_length;
        RunBlock(block, state);
        block.first_of_unit = false;
      }
      for (size_t s = 0; layout_.bands == 1 && s < program_.sinks.size(); ++s) {
        FinishLines(program_.sinks[s], state.SumOf(static_cast<int>(s)), segment);
      }
      continue;
    }
    if (layout_.parts > 0) {
      const int64_t in_row = unit % layout_.parts * layout_.block;
      block.first = unit / layout_.parts * group_.row_length + in_row;
      block.count = std::min(layout_.block, group_.row_length - in_row);
    } else {
      block.first = unit * layout_.block;
      block.count = std::min(layout_.block, layout_.total - block.first);
      if (layout_.rows > 0) {
        block.first_row = unit * layout_.rows_per_block;
        block.rows = block.count / group_.row_length;
      }
    }
    RunBlock(block, state);
  }
}

// The ops of elements, which most blocks consist of.
inline void BlockRunner::Compute(const BlockOp& op, int64_t n, State& state) const {
  char** const data = state.data;
  uint8_t* const repeat = state.repeat;
  switch (op.kind) {
    case Kind::kUnary:
      repeat[op.to] = repeat[op.a];
      return op.unary(data[op.a], data[op.to], repeat[op.a] ? 1 : n);
    case Kind::kBinary: {
      const bool one_a = repeat[op.a], one_b = repeat[op.b];
      repeat[op.to] = one_a && one_b;
      if (one_a && one_b) return op.binary(data[op.a], data[op.b], data[op.to], 1, Repeat::kNone);
      return op.binary(data[op.a], data[op.b], data[op.to], n,
                       one_a   ? Repeat::kFirst
                       : one_b ? Repeat::kSecond
                               : Repeat::kNone);
    }
    case Kind::kSelect: {
      const bool one = repeat[op.a] && repeat[op.b] && repeat[op.c];
      repeat[op.to] = one;
      return op.select({reinterpret_cast<const bool*>(data[op.a]), repeat[op.a] ? 0 : 1},
                       {data[op.b], repeat[op.b] ? 0 : 1}, {data[op.c], repeat[op.c] ? 0 : 1}, data[op.to],
                       one ? 1 : n);
    }
    default:
      return;
  }
}

void BlockRunner::Step(const BlockOp& op, const Block& block, State& state) const {
  const int64_t n = op.per_row ? block.rows : block.count;
  char** const data = state.data;
  uint8_t* const repeat = state.repeat;
  switch (op.kind) {
    case Kind::kRead:
    case Kind::kCount:
      return Read(op, op.per_row ? block.first_row : block.first, n, state);
    case Kind::kWiden:
      repeat[op.to] = repeat[op.a];
      return NarrowToFloat(op.type, data[op.a], reinterpret_cast<float*>(data[op.to]), repeat[op.a] ? 1 : n);
    case Kind::kNarrow:
      repeat[op.to] = repeat[op.a];
      return FloatToNarrow(op.type, reinterpret_cast<const float*>(data[op.a]), data[op.to],
                           repeat[op.a] ? 1 : n);
    case Kind::kRound:
      repeat[op.to] = repeat[op.a];
      return RoundToNarrow(op.type, reinterpret_cast<const float*>(data[op.a]),
                           reinterpret_cast<float*>(data[op.to]), repeat[op.a] ? 1 : n);
    case Kind::kCopy:
      repeat[op.to] = repeat[op.a];
      std::memcpy(data[op.to], data[op.a], (repeat[op.a] ? 1 : n) * op.width);
      return;
    case Kind::kReduceRows: {
      const char* x = data[op.a];
      const int64_t row = group_.row_length * op.width;
      repeat[op.to] = repeat[op.a];
      if (repeat[op.a]) {
        CopyLine(op.width, x, 0, group_.row_length, state.spare);
        return group_.nodes[op.node].line.along(state.spare, group_.row_length, data[op.to]);
      }
      for (int64_t r = 0; r < n; ++r) {
        group_.nodes[op.node].line.along(x + r * row, group_.row_length, data[op.to] + r * op.width);
      }
      return;
    }
    case Kind::kExpand:
      repeat[op.to] = repeat[op.a] || block.rows == 1;
      if (repeat[op.to]) {
        data[op.to] = data[op.a];
        return;
      }
      if (!op.writes_output) data[op.to] = state.Slot(program_.registers[op.to]);
      for (int64_t r = 0; r < block.rows; ++r) {
        CopyLine(op.width, data[op.a] + r * op.width, 0, group_.row_length,
                 data[op.to] + r * group_.row_length * op.width);
      }
      return;
    case Kind::kFoldLines: {
      char* sums = data[op.a];
      if (block.first_of_unit) return CopyLine(op.width, data[op.b], repeat[op.b] ? 0 : 1, block.count, sums);
      return group_.nodes[op.node].fold(sums, data[op.b], sums, block.count,
                                        repeat[op.b] ? Repeat::kSecond : Repeat::kNone);
    }
    case Kind::kFoldPart: {
      const char* x = data[op.a];
      if (repeat[op.a]) {
        CopyLine(op.width, x, 0, block.count, state.spare);
        x = state.spare;
      }
      return group_.nodes[op.node].line.along(x, block.count, sums_[op.number] + block.unit * op.width);
    }
    default:
      return;
  }
}

// Asks for the part of the next block that this step's share of the time is for: the memory is read while others compute.
// g++ 12 takes a function that does no more for one without effects, and drops its calls.
[[gnu::noipa]] void BlockRunner::FetchAhead(const Block& block, size_t step) const {
  constexpr int64_t kLine = 64;
  const int64_t next = block.first + block.count, from = next + static_cast<int64_t>(step) * fetched_;
  const int64_t to = std::min({from + fetched_, next + block.count, layout_.total});
  for (const Source* stream : streams_) {
    const char* const end = stream->base + to * stream->width;
    for (const char* at = stream->base + from * stream->width; at < end; at += kLine) __builtin_prefetch(at);
  }
}

void BlockRunner::RunBlock(const Block& block, State& state) const {
  for (const int r : program_.output_registers) {
    const BlockProgram::Register& reg = program_.registers[r];
    state.data[r] = outputs_[reg.index] + (reg.per_row ? block.first_row : block.first) * reg.width;
  }
  for (size_t step = 0; step < steps_.size(); ++step) {
    if (!streams_.empty()) FetchAhead(block, step);
    if (steps_[step].chain != nullptr) {
      RunChain(*steps_[step].chain, block, state);
    } else {
      RunOp(*steps_[step].op, block, state);
    }
  }
}

inline void BlockRunner::RunOp(const BlockOp& op, const Block& block, State& state) const {
  if (IsOfElements(op.kind)) {
    Compute(op, op.per_row ? block.rows : block.count, state);
  } else {
    Step(op, block, state);
  }
  if (op.writes_output && state.repeat[op.to]) Spread(op.to, block, state);
}

// Memory outside holds every element.
void BlockRunner::Spread(int r, const Block& block, State& state) const {
  const BlockProgram::Register& reg = program_.registers[r];
  const int64_t n = reg.per_row ? block.rows : block.count;
  char* out = outputs_[reg.index] + (reg.per_row ? block.first_row : block.first) * reg.width;
  CopyLine(reg.width, state.data[r], 0, n, out);
  state.data[r] = out;
}

void BlockRunner::RunChain(const BlockChain& chain, const Block& block, State& state) const {
  const size_t inputs = chain.inputs.size();
  uint64_t repeats = 0;
  for (size_t i = 0; i < inputs; ++i) repeats |= uint64_t{state.repeat[chain.inputs[i]]} << i;
  const bool by_ops =
      std::popcount(repeats) == static_cast<int>(inputs) || (chain.folds && block.first_of_unit);
  const ChainCode* code = by_ops ? nullptr : chain.CodeFor(repeats);
  if (code == nullptr) {
    for (int o = chain.begin; o < chain.end; ++o) RunOp(program_.ops[o], block, state);
    return;
  }
  absl::InlinedVector<const char*, 16> in(inputs);
  absl::InlinedVector<char*, 16> out(chain.outputs.size());
  for (size_t i = 0; i < inputs; ++i) in[i] = state.data[chain.inputs[i]];
  for (size_t o = 0; o < out.size(); ++o) {
    out[o] = state.data[chain.outputs[o]];
    state.repeat[chain.outputs[o]] = false;
  }
  code->Run(in, out, chain.per_row ? block.rows : block.count);
}

void BlockRunner::Read(const BlockOp& op, int64_t first, int64_t n, State& state) const {
  const Source& source = sources_[op.number];
  char*& to = state.data[op.to];
  state.repeat[op.to] = source.kind == Source::Kind::kRepeat;
  if (source.kind == Source::Kind::kRepeat) {
    to = const_cast<char*>(source.base);
    return;
  }
  if (source.kind == Source::Kind::kDirect) {
    to = const_cast<char*>(source.base + first * source.width);
    return;
  }
  if (source.kept >= 0) {
    to = state.kept_memory + source.kept * state.slot_bytes;
    if (state.filled[source.kept] >= n) return;
    state.filled[source.kept] = n;
  }
  if (source.kept < 0) to = state.Slot(program_.registers[op.to]);
  ViewLines lines(source.dims, first);
  const bool counts = op.kind == Kind::kCount;
  if (lines.left() >= n && source.kept < 0) {
    if (counts) {
      state.repeat[op.to] = lines.stride() == 0;
      op.count(group_.nodes[op.node].view.offset + lines.offset(), lines.stride(),
               lines.stride() == 0 ? 1 : n, to);
      return;
    }
    if (lines.stride() == 0 || lines.stride() == 1 || n == 1) {
      state.repeat[op.to] = lines.stride() == 0;
      to = const_cast<char*>(source.base + lines.offset() * source.width);
      return;
    }
  }
  char* out = to;
  while (n > 0) {
    const int64_t some = std::min(n, lines.left());
    if (counts) {
      op.count(group_.nodes[op.node].view.offset + lines.offset(), lines.stride(), some, out);
    } else {
      CopyLine(source.width, source.base + lines.offset() * source.width, lines.stride(), some, out);
    }
    out += some * source.width;
    n -= some;
    if (n > 0) lines.Next();
  }
}

}  // namespace toroid
