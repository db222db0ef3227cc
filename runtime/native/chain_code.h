// Chains as machine code of this processor.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "runtime/native/chain.h"

namespace toroid {

// Whether machine code can be made and run: the loops in use are those of a processor with AVX2 (../loops/processor_level.h),
// and the operating system lets a process write code.
bool CanMakeCode();

class ChainCode {
 public:
  // Bit i of `repeats`: input i is one value, used for all elements. Null if CanMakeCode() is false, or the code could not be
  // made: the ops then run one by one.
  static std::unique_ptr<const ChainCode> Make(const Chain& chain, uint64_t repeats);

  ChainCode(const ChainCode&) = delete;
  ChainCode& operator=(const ChainCode&) = delete;
  ~ChainCode();

  // Computes n elements. `in` and `out` are the memory of inputs and outputs; an output may be the memory of an input whose
  // elements have its width, and that does not repeat.
  void Run(absl::Span<const char* const> in, absl::Span<char* const> out, int64_t n) const;

 private:
  // `count` elements, a multiple of those that the code computes at a time.
  using Function = void (*)(const char* const* in, char* const* out, int64_t count);

  ChainCode(const Chain& chain, uint64_t repeats, Function function);

  std::vector<int8_t> input_widths_, output_widths_;  // 0: a repeat.
  Function function_;
};

}  // namespace toroid
