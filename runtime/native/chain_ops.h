// The machine code of one op of a chain.
#pragma once

#include "absl/types/span.h"
#include "runtime/native/chain.h"
#include "runtime/native/vector_values.h"

namespace toroid {

// In a lane: F32, S32 and U32 as they are; smaller integers extended to 32 bits; BF16 and F16 their 16 bits, above them zeros;
// PRED all bits or none.
Lanes AppendOp(const ChainOp& op, absl::Span<const Lanes> operands);

// Eight elements of memory for each register, the first ones at `at`; or (Repeated) one element for all lanes.
Lanes AppendLoad(asmjit::x86::Compiler& code, PrimitiveType type, asmjit::x86::Mem at, int registers);
Lanes AppendRepeated(asmjit::x86::Compiler& code, PrimitiveType type, asmjit::x86::Mem at, int registers);
void AppendStore(PrimitiveType type, const Lanes& value, asmjit::x86::Mem at);

}  // namespace toroid
