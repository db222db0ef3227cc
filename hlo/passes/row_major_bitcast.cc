#include "hlo/passes/row_major_bitcast.h"

#include <algorithm>

#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/ir/untiled_shapes.h"
#include "hlo/passes/dce_pass.h"

namespace toroid {
namespace {

Dims MajorToMinor(const Shape& shape) {
  Dims order = shape.MinorToMajor();
  std::reverse(order.begin(), order.end());
  return order;
}

// The shape whose row-major order is the order of `shape` in memory.
Shape Physical(const Shape& shape) {
  Shape physical(shape.element_type(), {});
  const Dims order = MajorToMinor(shape);
  Dims dims;
  for (const int64_t d : order) dims.push_back(shape.dim(d));
  physical.set_dims(dims);
  for (size_t i = 0; i < order.size(); ++i) {
    if (shape.IsDynamic(order[i])) physical.set_dynamic(i, true);
  }
  return physical;
}

class Appender {
 public:
  Appender(const Instruction& bitcast, Computation* to) : bitcast_(bitcast), b_(to) {
    b_.set_metadata(bitcast.metadata());
  }

  const absl::Status& status() const { return b_.status(); }

  Instruction* FirstOf(Instruction* operand, absl::Span<const int64_t> sizes) {
    if (operand->shape().dims() == sizes) return operand;
    const Dims starts(sizes.size(), 0), strides(sizes.size(), 1);
    return b_.Slice(operand, starts, sizes, strides);
  }

  Instruction* Transpose(Instruction* operand, absl::Span<const int64_t> permutation, const Shape& shape) {
    return b_.Op(Opcode::kTranspose, shape, {operand}, b_.WithDimensions(permutation));
  }

  Instruction* Reshape(Instruction* operand, const Shape& shape) {
    return b_.Op(Opcode::kReshape, shape, {operand});
  }

  // `operand` and `shape` are row-major.
  Instruction* Bitcast(Instruction* operand, const Shape& shape) {
    const bool same_type = operand->shape().element_type() == shape.element_type();
    if (!same_type || operand->shape().IsDynamic() || shape.IsDynamic()) {
      // The operand may replace a call or parameter of another layout.
      if (!operand->shape().HasRowMajorLayout()) {
        operand = b_.Op(Opcode::kCopy, operand->shape().WithRowMajorLayout(), {operand});
      }
      return b_.Clone(bitcast_, shape, {operand});
    }
    Instruction* reshape = b_.Op(Opcode::kReshape, shape, {operand});
    reshape->set_frontend_attributes(bitcast_.frontend_attributes());
    return reshape;
  }

 private:
  const Instruction& bitcast_;
  InstructionBuilder b_;
};

}  // namespace

absl::StatusOr<Instruction*> AppendRowMajorBitcast(const Instruction& bitcast, Instruction* operand,
                                                   Computation* to) {
  const absl::StatusOr<UntiledShapes> sides = WithoutTiles(bitcast.operand(0)->shape(), bitcast.shape());
  if (!sides.ok()) return Annotate(sides.status(), bitcast.Path());
  Shape from = sides->from, shape = sides->to;
  Shape result = bitcast.shape().WithRowMajorLayout();
  if (from.element_type() == shape.element_type()) {
    const PrimitiveType type = operand->shape().element_type();
    for (Shape* side : {&from, &shape, &result}) side->set_element_type(type);
  }
  Appender append(bitcast, to);
  operand = append.FirstOf(operand, sides->kept);
  if (!from.SameDims(operand->shape())) operand = append.Reshape(operand, from.WithRowMajorLayout());
  if (!from.HasRowMajorLayout()) operand = append.Transpose(operand, MajorToMinor(from), Physical(from));
  if (shape.HasRowMajorLayout()) {
    operand = append.Bitcast(operand, shape);
  } else {
    const Dims order = MajorToMinor(shape);
    Dims back(order.size());
    for (size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<int64_t>(i);
    operand = append.Transpose(append.Bitcast(operand, Physical(shape)), back, shape.WithRowMajorLayout());
  }
  if (!shape.SameDims(result)) operand = append.Reshape(operand, result);
  RETURN_IF_ERROR(Annotate(append.status(), bitcast.name()));
  return operand;
}

Instruction* RowMajorBitcasts::Append(const Instruction& bitcast, Instruction* operand, Computation* to) {
  const absl::StatusOr<Instruction*> copy = AppendRowMajorBitcast(bitcast, operand, to);
  if (copy.ok()) return *copy;
  Instruction* as_it_is = to->AddClone(bitcast, bitcast.shape(), {operand});
  without_value_.emplace(as_it_is, copy.status());
  return as_it_is;
}

absl::Status RowMajorBitcasts::Finish(Module* copy) {
  if (without_value_.empty()) return absl::OkStatus();
  EliminateDeadCode(copy);
  for (const auto& computation : copy->computations()) {
    for (const auto& instruction : computation->instructions()) {
      const auto found = without_value_.find(instruction.get());
      if (found != without_value_.end()) return found->second;
    }
  }
  return absl::OkStatus();
}

}  // namespace toroid
