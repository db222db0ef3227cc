#include "runtime/native/chain_code.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "runtime/loops/processor_level.h"
#include "runtime/native/chain_ops.h"

namespace toroid {
namespace {

using asmjit::x86::Compiler;
using asmjit::x86::Gp;

constexpr int64_t kLanes = 8;                                  // Of a register.
constexpr int64_t kElements = kLanes * Lanes::kMostRegisters;  // That the code computes at a time.

asmjit::JitRuntime& Runtime() {
  static auto& runtime =
      *new asmjit::JitRuntime;  // Lives as long as the process: threads may run code at its end.
  return runtime;
}

// Writes the code of one chain.
class Writer {
 public:
  Writer(const Chain& chain, uint64_t repeats, asmjit::CodeHolder* code)
      : chain_(chain), repeats_(repeats), code_(code), values_(chain.inputs.size() + chain.ops.size()) {}

  // False if the assembler refuses, for want of memory.
  bool Write() {
    code_.addEncodingOptions(asmjit::EncodingOptions::kOptimizedAlign);
    asmjit::FuncNode* function =
        code_.addFunc(asmjit::FuncSignatureT<void, const char* const*, char* const*, int64_t>());
    function->frame().setAvxEnabled();
    function->frame().setAvxCleanup();
    const Gp in = code_.newIntPtr(), out = code_.newIntPtr(), count = code_.newInt64();
    function->setArg(0, in);
    function->setArg(1, out);
    function->setArg(2, count);
    std::vector<Gp> inputs, outputs;
    for (size_t i = 0; i < chain_.inputs.size(); ++i) inputs.push_back(Pointer(in, i));
    for (size_t o = 0; o < chain_.outputs.size(); ++o) outputs.push_back(Pointer(out, o));
    // What depends on repeats alone.
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (Repeats(i))
        values_[i] =
            AppendRepeated(code_, chain_.inputs[i], At(inputs[i], chain_.inputs[i]), Lanes::kMostRegisters);
    }
    AppendOps(/*of_repeats=*/true);

    const Gp at = code_.newInt64();
    const asmjit::Label loop = code_.newLabel();
    code_.xor_(at, at);
    code_.bind(loop);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!Repeats(i))
        values_[i] =
            AppendLoad(code_, chain_.inputs[i], At(inputs[i], chain_.inputs[i], at), Lanes::kMostRegisters);
    }
    AppendOps(/*of_repeats=*/false);
    // Last, for an output may be the memory of an input.
    for (size_t o = 0; o < outputs.size(); ++o) {
      const PrimitiveType type = chain_.TypeOf(chain_.outputs[o]);
      AppendStore(type, values_[chain_.outputs[o]], At(outputs[o], type, at));
    }
    code_.add(at, kElements);
    code_.cmp(at, count);
    code_.jl(loop);
    code_.ret();
    code_.endFunc();
    return code_.finalize() == asmjit::kErrorOk;
  }

 private:
  bool Repeats(size_t input) const { return ((repeats_ >> input) & 1) != 0; }

  Gp Pointer(const Gp& list, size_t i) {
    const Gp pointer = code_.newIntPtr();
    code_.mov(pointer, asmjit::x86::ptr(list, static_cast<int32_t>(i * sizeof(void*))));
    return pointer;
  }

  static asmjit::x86::Mem At(const Gp& pointer, PrimitiveType type) {
    return asmjit::x86::Mem(pointer, 0, static_cast<uint32_t>(ByteWidth(type)));
  }
  // The first eight elements from element `at`.
  static asmjit::x86::Mem At(const Gp& pointer, PrimitiveType type, const Gp& at) {
    const auto width = static_cast<uint32_t>(ByteWidth(type));
    const uint32_t shift = width == 4 ? 2 : width == 2 ? 1 : 0;
    return asmjit::x86::Mem(pointer, at, shift, 0, static_cast<uint32_t>(kLanes) * width);
  }

  void AppendOps(bool of_repeats) {
    for (size_t i = 0; i < chain_.ops.size(); ++i) {
      const ChainOp& op = chain_.ops[i];
      Lanes& value = values_[chain_.inputs.size() + i];
      if (value.code != nullptr) continue;
      absl::InlinedVector<Lanes, 3> operands;
      bool ready = true;
      for (const int operand : op.operands) {
        if (operand < 0) break;
        operands.push_back(values_[operand]);
        ready &= values_[operand].code != nullptr;
      }
      if (of_repeats && !ready) continue;
      value = AppendOp(op, operands);
    }
  }

  const Chain& chain_;
  const uint64_t repeats_;
  Compiler code_;
  std::vector<Lanes> values_;
};

}  // namespace

bool CanMakeCode() {
  static const bool lets_write = [] {
    void* page = nullptr;
    void* writable = nullptr;
    asmjit::JitAllocator allocator;
    return allocator.alloc(&page, &writable, 64) == asmjit::kErrorOk;
  }();
  return lets_write && CurrentProcessorLevel() != ProcessorLevel::kV2;
}

std::unique_ptr<const ChainCode> ChainCode::Make(const Chain& chain, uint64_t repeats) {
  if (!CanMakeCode()) return nullptr;
  asmjit::CodeHolder code;
  if (code.init(Runtime().environment()) != asmjit::kErrorOk) return nullptr;
  Function function = nullptr;
  if (!Writer(chain, repeats, &code).Write() || Runtime().add(&function, &code) != asmjit::kErrorOk)
    return nullptr;
  return std::unique_ptr<const ChainCode>(new ChainCode(chain, repeats, function));
}

ChainCode::ChainCode(const Chain& chain, uint64_t repeats, Function function) : function_(function) {
  for (size_t i = 0; i < chain.inputs.size(); ++i) {
    input_widths_.push_back(((repeats >> i) & 1) != 0 ? 0 : static_cast<int8_t>(ByteWidth(chain.inputs[i])));
  }
  for (const int value : chain.outputs)
    output_widths_.push_back(static_cast<int8_t>(ByteWidth(chain.TypeOf(value))));
}

ChainCode::~ChainCode() { Runtime().release(function_); }

void ChainCode::Run(absl::Span<const char* const> in, absl::Span<char* const> out, int64_t n) const {
  const int64_t whole = n / kElements * kElements, rest = n - whole;
  if (whole > 0) function_(in.data(), out.data(), whole);
  if (rest == 0) return;
  // The last few elements by way of memory that has room for as many as the code computes at a time.
  using Piece = std::array<char, kElements * sizeof(uint32_t)>;
  absl::InlinedVector<Piece, 16> pieces(in.size() + out.size(), Piece{});
  absl::InlinedVector<const char*, 16> from(in.size());
  absl::InlinedVector<char*, 16> to(out.size());
  for (size_t i = 0; i < in.size(); ++i) {
    from[i] = in[i];
    if (input_widths_[i] == 0) continue;
    std::memcpy(pieces[i].data(), in[i] + whole * input_widths_[i], rest * input_widths_[i]);
    from[i] = pieces[i].data();
  }
  for (size_t o = 0; o < out.size(); ++o) to[o] = pieces[in.size() + o].data();
  function_(from.data(), to.data(), kElements);
  for (size_t o = 0; o < out.size(); ++o) {
    std::memcpy(out[o] + whole * output_widths_[o], to[o], rest * output_widths_[o]);
  }
}

}  // namespace toroid
