#include "examples/moe/random_bits.h"

#include <vector>

namespace toroid {
namespace {

Value Number(Value like, uint32_t number, InstructionBuilder* b) { return b->FullLike(like, number); }

Value Xor(Value x, Value y, InstructionBuilder* b) { return b->Binary(Opcode::kXor, x, y); }

Value Fold(Value x, uint32_t shift, InstructionBuilder* b) {
  return Xor(x, b->Binary(Opcode::kShiftRightLogical, x, Number(x, shift, b)), b);
}

Value Mix(Value x, InstructionBuilder* b) {
  x = b->Multiply(Fold(x, 16, b), Number(x, 0x7feb352d, b));
  x = b->Multiply(Fold(x, 15, b), Number(x, 0x846ca68b, b));
  return Fold(x, 16, b);
}

// The row-major index of each element in the array, modulo 2^32.
Value Places(absl::Span<const int64_t> dims, InstructionBuilder* b) {
  Value place = b->Zeros(xla::U32, dims);
  uint32_t stride = 1;
  for (int64_t d = static_cast<int64_t>(dims.size()) - 1; d >= 0; --d) {
    const Value along = b->Iota(xla::U32, dims, d);
    place = b->Add(place, b->Multiply(along, Number(along, stride, b)));
    stride *= static_cast<uint32_t>(dims[d]);
  }
  return place;
}

}  // namespace

Value RandomBits(Value seed, uint32_t site, absl::Span<const int64_t> dims, InstructionBuilder* b) {
  const absl::Span<const int64_t> rows = dims.first(dims.size() - 1);
  const int64_t last = static_cast<int64_t>(rows.size());
  const Value key1 = Mix(b->Add(seed, Number(seed, site * 0x9e3779b9u, b)), b);
  const Value key2 = Mix(Xor(key1, Number(key1, 0x85ebca6b, b), b), b);
  const Value row = Places(rows, b);
  const Value a = Mix(Xor(row, b->Broadcast(key1, rows), b), b);
  const Value c = Mix(b->Add(row, b->Broadcast(key2, rows)), b);
  const Value mixed = Xor(b->Iota(xla::U32, dims, last), b->BroadcastOver(a, dims, {last}), b);
  const Value folded = Fold(b->Multiply(mixed, Number(mixed, 0x9e3779b1, b)), 15, b);
  return Mix(b->Add(folded, b->BroadcastOver(c, dims, {last})), b);
}

Value RandomUniform(Value seed, uint32_t site, absl::Span<const int64_t> dims, InstructionBuilder* b) {
  const Value bits = RandomBits(seed, site, dims, b);
  // 24 bits, which s32 and f32 hold exactly.
  const Value top = b->Convert(b->Binary(Opcode::kShiftRightLogical, bits, Number(bits, 8, b)), xla::S32);
  return b->MultiplyNumber(b->Convert(top, xla::F32), 1.0 / (1 << 24));
}

Value SeedOfStep(Value seed, Value step, InstructionBuilder* b) {
  const Value number = b->Convert(step, xla::U32);
  return Mix(b->Add(seed, b->Multiply(number, Number(number, 0xc2b2ae35, b))), b);
}

}  // namespace toroid
