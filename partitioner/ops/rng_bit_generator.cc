// Random bits from a counter: rng-bit-generator(state).
//
// Any dimension of the bits may be cut, without communication: element i of the global array depends on the
// state and i only, so each device computes its shard in elementwise ops. If no dimension is cut, the local
// program is the op itself. The state is replicated.
// Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (SC11), for Threefry and Philox; XLA's
//          RngBitGenerator, for how their words fill arrays.
#include <cstdint>

#include "hlo/base/math.h"
#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

// How the 32-bit words of the generator's blocks fill the array of bits.
struct WordLayout {
  bool is_threefry = false;
  bool is_wide = false;   // True if an element has 64 bits: two words.
  int64_t per_block = 1;  // Elements per block.
  int along = -1;         // The dimension along which a block's elements are neighbours; -1: a scalar.
  // True if blocks reach across rows: their elements are neighbours in row-major order.
  bool is_linear = false;

  explicit WordLayout(const Instruction& op) {
    const Shape& bits = op.shape().tuple_shape(1);
    is_threefry = op.attrs().rng_algorithm() == xla::RNG_THREE_FRY;
    is_wide = ByteWidth(bits.element_type()) == 8;
    per_block = is_threefry ? (is_wide ? 1 : 2) : (is_wide ? 2 : 4);
    if (!is_threefry || is_wide) {
      along = bits.rank() - 1;
      is_linear = along >= 0 && bits.dim(along) % per_block != 0;
      return;
    }
    // Threefry fills the first even dimension, or the largest if all are odd.
    for (int d = 0; d < bits.rank() && along < 0; ++d) {
      if (bits.dim(d) % 2 == 0) along = d;
    }
    if (along >= 0) return;
    for (int d = 0; d < bits.rank(); ++d) {
      if (along < 0 || bits.dim(d) > bits.dim(along)) along = d;
    }
  }

  int64_t BlocksOf(int64_t elements) const { return CeilOfRatio(elements, per_block); }
};

bool CanBeCut(const Instruction& op) {
  const Shape& state = op.operand(0)->shape();
  if (!op.shape().IsTuple() || op.shape().tuple_shapes().size() != 2 || state.element_type() != xla::U64 ||
      state.rank() != 1) {
    return false;
  }
  const PrimitiveType type = op.shape().tuple_shape(1).element_type();
  const bool is_threefry = op.attrs().rng_algorithm() == xla::RNG_THREE_FRY;
  return (state.dim(0) == 2 || (state.dim(0) == 3 && !is_threefry)) && IsInt(type) && BitWidth(type) >= 8;
}

// Emits integer arithmetic on arrays of the dimensions `dims`.
class Words {
 public:
  Words(SpmdBuilder& b, absl::Span<const int64_t> dims) : b_(b), dims_(dims.begin(), dims.end()) {}

  Instruction* Full(uint64_t value, PrimitiveType type) {
    return b_.Broadcast(
        type == xla::U64 ? b_.Scalar<uint64_t>(value) : b_.Scalar<uint32_t>(static_cast<uint32_t>(value)),
        dims_);
  }
  Instruction* Spread(Instruction* scalar) { return b_.Broadcast(scalar, dims_); }
  Instruction* Low(Instruction* x) { return b_.Convert(x, xla::U32); }
  Instruction* High(Instruction* x) { return b_.Convert(ShiftRight(x, 32), xla::U32); }
  Instruction* Join(Instruction* low, Instruction* high) {
    Instruction* above = b_.Binary(Opcode::kShiftLeft, b_.Convert(high, xla::U64), Full(32, xla::U64));
    return b_.Or(b_.Convert(low, xla::U64), above);
  }
  Instruction* ShiftRight(Instruction* x, int bits) {
    return b_.Binary(Opcode::kShiftRightLogical, x, Full(bits, x->shape().element_type()));
  }
  Instruction* Xor(Instruction* x, Instruction* y) { return b_.Binary(Opcode::kXor, x, y); }
  Instruction* RotateLeft(Instruction* x, int bits) {
    return b_.Or(b_.Binary(Opcode::kShiftLeft, x, Full(bits, xla::U32)), ShiftRight(x, 32 - bits));
  }

  // u32[dims] each: the two words of Threefry-2x32, 20 rounds, of counters u64[dims] under a key u64[].
  std::vector<Instruction*> Threefry(Instruction* key, Instruction* counters) {
    constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    Instruction* wide = Spread(key);
    Instruction* k[3] = {Low(wide), High(wide), nullptr};
    k[2] = Xor(Xor(k[0], k[1]), Full(0x1BD11BDA, xla::U32));
    Instruction *x0 = b_.Add(Low(counters), k[0]), *x1 = b_.Add(High(counters), k[1]);
    for (uint32_t block = 1; block <= 5; ++block) {
      for (const int rotation : kRotations[(block - 1) % 2]) {
        x0 = b_.Add(x0, x1);
        x1 = Xor(RotateLeft(x1, rotation), x0);
      }
      x0 = b_.Add(x0, k[block % 3]);
      x1 = b_.Add(x1, b_.Add(k[(block + 1) % 3], Full(block, xla::U32)));
    }
    return {x0, x1};
  }

  // The four words of Philox-4x32, 10 rounds, of the 128-bit counters (low, high) + blocks.
  std::vector<Instruction*> Philox(Instruction* key, Instruction* low, Instruction* high,
                                   Instruction* blocks) {
    Instruction *first = Spread(low), *sum = b_.Add(first, blocks);
    Instruction* carry = b_.Convert(b_.Compare(sum, first, "LT"), xla::U64);
    Instruction* carried = b_.Add(Spread(high), carry);
    std::vector<Instruction*> c = {Low(sum), High(sum), Low(carried), High(carried)};
    Instruction* wide = Spread(key);
    Instruction *k0 = Low(wide), *k1 = High(wide);
    for (int round = 0; round < 10; ++round) {
      Instruction* a = b_.Multiply(Full(0xD2511F53, xla::U64), b_.Convert(c[0], xla::U64));
      Instruction* d = b_.Multiply(Full(0xCD9E8D57, xla::U64), b_.Convert(c[2], xla::U64));
      c = {Xor(Xor(High(d), c[1]), k0), Low(d), Xor(Xor(High(a), c[3]), k1), Low(a)};
      k0 = b_.Add(k0, Full(0x9E3779B9, xla::U32));
      k1 = b_.Add(k1, Full(0xBB67AE85, xla::U32));
    }
    return c;
  }

 private:
  SpmdBuilder& b_;
  const Dims dims_;
};

Instruction* Component(SpmdBuilder& b, Instruction* state, int64_t i) {
  return b.Reshape(b.SliceAlong(state, 0, i, i + 1), {});
}

// Emits this device's shard of the bits.
class LocalBits {
 public:
  explicit LocalBits(OpContext& context)
      : b_(*context.b),
        layout_(*context.op),
        global_(context.op->shape().tuple_shape(1)),
        local_(context.ResultShape(1)),
        axes_(context.results[1].dims.begin(), context.results[1].dims.end()),
        state_(context.operands[0]) {}

  Instruction* Build() {
    const int64_t k = layout_.per_block;
    // If a tile holds whole blocks, each block is computed once, and its elements are interleaved.
    const bool in_blocks =
        k > 1 && !layout_.is_linear && layout_.along >= 0 && local_.dim(layout_.along) % k == 0;
    Dims dims(local_.dims().begin(), local_.dims().end());
    if (in_blocks) dims[layout_.along] /= k;
    Words words(b_, dims);
    Instruction *block = nullptr, *word = nullptr;
    if (layout_.is_linear || k == 1) {
      block = Position(words, dims, /*elements=*/1, /*in_blocks=*/false);
      if (k > 1) {
        Instruction* size = words.Full(k, xla::U64);
        word = b_.Binary(Opcode::kRemainder, block, size);
        block = b_.Divide(block, size);
      }
    } else {
      block = Position(words, dims, k, in_blocks);
      if (!in_blocks && layout_.along >= 0) {
        word = Coordinate(words, dims, layout_.along, local_.dim(layout_.along));
        word = b_.Binary(Opcode::kRemainder, word, words.Full(k, xla::U64));
      }
    }
    std::vector<Instruction*> elements = Elements(words, block);
    if (in_blocks) return Interleave(elements, dims);
    Instruction* result = elements[0];
    for (int64_t i = 1; i < k && word != nullptr; ++i) {
      result = b_.Select(b_.Compare(word, words.Full(i, xla::U64), "EQ"), elements[i], result);
    }
    return result;
  }

 private:
  // The global coordinate of each element along dimension d, cut in tiles of `tile`: u64[dims].
  Instruction* Coordinate(Words& words, absl::Span<const int64_t> dims, int d, int64_t tile) {
    Instruction* own = b_.Iota(xla::U64, dims, d);
    if (axes_[d].empty()) return own;
    return b_.Add(own, words.Spread(b_.Offset(axes_[d], tile, xla::U64)));
  }

  // The number of each element's block, counted in row-major order; a block has `elements` elements along
  // layout_.along. in_blocks: `dims` counts blocks rather than elements along that dimension.
  Instruction* Position(Words& words, absl::Span<const int64_t> dims, int64_t elements, bool in_blocks) {
    Instruction* sum = nullptr;
    int64_t stride = 1;
    for (int d = global_.rank() - 1; d >= 0; --d) {
      const bool along = d == layout_.along && elements > 1;
      Instruction* at =
          Coordinate(words, dims, d, along && in_blocks ? local_.dim(d) / elements : local_.dim(d));
      if (along && !in_blocks) at = b_.Divide(at, words.Full(elements, xla::U64));
      at = b_.Multiply(at, words.Full(stride, xla::U64));
      sum = sum == nullptr ? at : b_.Add(sum, at);
      stride *= along ? CeilOfRatio(global_.dim(d), elements) : global_.dim(d);
    }
    return sum == nullptr ? words.Full(0, xla::U64) : sum;
  }

  // Element i of each block for every i, in the type of the bits.
  std::vector<Instruction*> Elements(Words& words, Instruction* blocks) {
    Instruction *key = Component(b_, state_, 0), *low = Component(b_, state_, 1);
    std::vector<Instruction*> all;
    if (layout_.is_threefry) {
      all = words.Threefry(key, b_.Add(words.Spread(low), blocks));
    } else {
      all = words.Philox(key, low, state_->shape().dim(0) == 3 ? Component(b_, state_, 2) : key, blocks);
    }
    if (layout_.is_wide) {
      for (size_t i = 0; i < all.size() / 2; ++i) all[i] = words.Join(all[2 * i], all[2 * i + 1]);
    }
    all.resize(layout_.per_block);
    for (Instruction*& element : all) element = b_.Convert(element, local_.element_type());
    return all;
  }

  Instruction* Interleave(const std::vector<Instruction*>& elements, absl::Span<const int64_t> dims) {
    Dims unit(dims.begin(), dims.end());
    unit.insert(unit.begin() + layout_.along + 1, 1);
    std::vector<Instruction*> columns;
    for (Instruction* element : elements) columns.push_back(b_.Reshape(element, unit));
    return b_.Reshape(b_.Concatenate(columns, layout_.along + 1), local_.dims());
  }

  SpmdBuilder& b_;
  const WordLayout layout_;
  const Shape& global_;
  const Shape local_;
  const std::vector<AxisList> axes_;
  Instruction* const state_;
};

// The state after `blocks` blocks have been drawn.
Instruction* NextState(SpmdBuilder& b, const WordLayout& layout, Instruction* state, int64_t blocks) {
  Instruction* low = b.SliceAlong(state, 0, 1, 2);
  Instruction* sum = b.Add(low, b.Broadcast(b.Scalar<uint64_t>(blocks), {1}));
  std::vector<Instruction*> words = {b.SliceAlong(state, 0, 0, 1), sum};
  if (!layout.is_threefry && state->shape().dim(0) == 3) {
    words.push_back(b.Add(b.SliceAlong(state, 0, 2, 3), b.Convert(b.Compare(sum, low, "LT"), xla::U64)));
  }
  return b.Concatenate(words, 0);
}

ShardingRule RngBitGeneratorShardingRule(const Instruction& op) {
  if (!CanBeCut(op)) return OpaqueRule(op);
  ShardingRule rule;
  rule.operands.emplace_back(TensorFactors(1));
  rule.results.emplace_back(TensorFactors(1));
  TensorFactors bits;
  for (const int64_t size : op.shape().tuple_shape(1).dims()) bits.push_back(rule.AddFactor(size));
  rule.results.push_back(bits);
  return rule;
}

std::vector<Instruction*> PartitionRngBitGenerator(OpContext& context) {
  bool is_cut = false;
  for (const AxisList& axes : context.results.back().dims) is_cut |= !axes.empty();
  if (!is_cut || context.op->shape().tuple_shape(1).NumElements() == 0) return context.CloneLocal();
  const WordLayout layout(*context.op);
  const Shape& bits = context.op->shape().tuple_shape(1);
  int64_t blocks = layout.BlocksOf(bits.NumElements());
  if (layout.is_threefry && !layout.is_wide) {
    blocks = bits.NumElements() / bits.dim(layout.along) * layout.BlocksOf(bits.dim(layout.along));
  }
  Instruction* next = NextState(*context.b, layout, context.operands[0], blocks);
  return {next, LocalBits(context).Build()};
}

}  // namespace

const OpFamily families::kRngBitGenerator = {RngBitGeneratorShardingRule, PartitionRngBitGenerator};

}  // namespace toroid
