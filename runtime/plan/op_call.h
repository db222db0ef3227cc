// A kernel's view of the instruction it executes: operands, attributes, the mesh, and the place of the
// result.
//
// A kernel runs one instruction for all devices at once. Operand rows are the devices of the mesh; a uniform
// operand has one row. When every operand is uniform the result is too, except for ops whose result depends
// on the device's id; otherwise the result has one row per device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "hlo/ir/instruction.h"
#include "runtime/mesh/mesh_buffer.h"
#include "runtime/plan/plan.h"

namespace toroid {

class OpCall {
 public:
  OpCall(Step& step, MeshBuffer* slots, const MeshContext& mesh)
      : step_(step), slots_(slots), mesh_(mesh), last_uses_(step.last_uses) {}

  const Instruction& instruction() const { return *step_.instruction; }
  const xla::HloInstructionProto& attrs() const { return step_.instruction->attrs(); }
  Opcode opcode() const { return step_.instruction->opcode(); }
  const MeshContext& mesh() const { return mesh_; }
  // Rows of non-uniform buffers.
  int64_t copies() const { return mesh_.copies; }

  int num_operands() const { return static_cast<int>(step_.operands.size()); }
  const MeshBuffer& operand(int i) const { return slots_[step_.operands[i]]; }
  const Shape& operand_shape(int i) const { return step_.instruction->operand(i)->shape(); }
  MeshBuffer& mutable_operand(int i) { return slots_[step_.operands[i]]; }
  const char* data(int i) const { return operand(i).data(); }
  bool uniform(int i) const { return operand(i).uniform(); }
  // Rows of operand i: 1 or copies().
  int64_t rows(int i) const { return uniform(i) ? 1 : copies(); }
  // All operands (from number `first` on) are uniform arrays.
  bool AllUniform(int first = 0) const;
  // No later instruction needs operand i.
  bool last_use(int i) const { return i < 64 && ((last_uses_ >> i) & 1); }
  // This call, with all operands used again later.
  OpCall WithoutLastUses() const {
    OpCall call = *this;
    call.last_uses_ = 0;
    return call;
  }
  // The operand's buffer, moved out of its slot if this is its last use.
  MeshBuffer TakeOperand(int i) {
    MeshBuffer& slot = slots_[step_.operands[i]];
    return last_use(i) ? std::move(slot) : slot;
  }

  const Shape& shape() const { return step_.instruction->shape(); }
  // Elements and bytes of one row of an array result.
  int64_t result_elements() const { return step_.elements; }
  int64_t result_bytes() const { return step_.bytes; }
  MeshBuffer& result() { return slots_[step_.result]; }
  // Result i of a group.
  MeshBuffer& result(int i) { return slots_[i == 0 ? step_.result : step_.more_results[i - 1]]; }
  // Makes result() an uninitialized array.
  // Errors: kResourceExhausted.
  absl::Status NewResult(bool uniform) { return New(step_.bytes, uniform, &result()); }
  // Makes result() the storage of operand i, contents kept, if this is the operand's last use, no other
  // handle shares the storage, and the size is the result's. Afterwards operand(i) is empty, so take data
  // pointers before the call.
  bool ReuseOperand(int i, bool uniform);
  // ReuseOperand of the first operand below `count` that allows it, else NewResult.
  absl::Status ReuseOrNewResult(int count, bool uniform);
  // An uninitialized array of `row_bytes` per device.
  // Errors: kResourceExhausted.
  absl::Status New(int64_t row_bytes, bool uniform, MeshBuffer* buffer) const;
  // A kernel calls this before it allocates `bytes` of scratch memory that grow with its operands.
  // Errors: kResourceExhausted beyond the limit of the run.
  absl::Status CheckMemory(int64_t bytes) const;

  // Computations the instruction calls, in the order of Instruction::called().
  Plan& called(int i) const { return *step_.called[i]; }
  int num_called() const { return static_cast<int>(step_.called.size()); }

  // The kernel of the op on arrays of static sizes.
  Kernel static_kernel() const { return step_.static_kernel; }

  // This get-tuple-element is the last use of its element.
  bool takes_element() const { return step_.takes_element; }

  // What the plan keeps for the kernel.
  template <typename C>
  C& Kept() {
    return static_cast<C&>(*step_.cache);
  }
  // Values that a kernel derives from the instruction alone; C(const OpCall&) makes them at the first call.
  template <typename C>
  C& Cache() {
    if (step_.cache == nullptr) step_.cache = std::make_unique<C>(*this);
    return static_cast<C&>(*step_.cache);
  }

 private:
  Step& step_;
  MeshBuffer* const slots_;
  const MeshContext& mesh_;
  uint64_t last_uses_;
};

}  // namespace toroid
