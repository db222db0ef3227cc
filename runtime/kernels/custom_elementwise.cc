#include "runtime/kernels/custom_elementwise.h"

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/base/status.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/kernels/one_op.h"
#include "runtime/loops/convert_loops.h"

namespace toroid {
namespace {

struct ElementwiseOp : OneOp {
  explicit ElementwiseOp(const OpCall& call) {
    const absl::string_view name = absl::StripPrefix(call.instruction().custom_call_target(), "mhlo.");
    atan = name == "atan";
    Instruction* x = computation().AddParameter(call.operand_shape(0));
    if (atan) {
      Instruction* one = computation().AddParameter(call.operand_shape(0));
      Set(ExecuteBinary, *computation().Add(Opcode::kAtan2, call.shape(), {x, one}));
    } else {
      Set(ExecuteUnary, *computation().Add(*OpcodeFromName(name), call.shape(), {x}));
    }
  }
  bool atan;
};

}  // namespace

absl::Status ElementwiseCall(OpCall& call) {
  if (call.num_operands() != 1 || !call.operand_shape(0).IsArray() ||
      !call.operand_shape(0).SameDims(call.shape()) ||
      call.operand_shape(0).element_type() != call.shape().element_type()) {
    return absl::InvalidArgumentError("takes one array and gives one like it");
  }
  ElementwiseOp& op = call.Cache<ElementwiseOp>();
  std::vector<MeshBuffer> operands = {call.operand(0)};
  if (op.atan) {
    MeshBuffer ones;
    RETURN_IF_ERROR(call.New(call.result_bytes(), /*uniform=*/true, &ones));
    const std::vector<int8_t> values(call.result_elements(), 1);
    FindConvertLoop(xla::S8, call.shape().element_type())(values.data(), ones.mutable_data(),
                                                          call.result_elements());
    operands.push_back(std::move(ones));
  }
  MeshBuffer result;
  RETURN_IF_ERROR(op.Run(call.mesh(), std::move(operands), &result));
  call.result() = std::move(result);
  return absl::OkStatus();
}

absl::Status X64Combine(OpCall& call) {
  if (call.num_operands() != 2 || ByteWidth(call.shape().element_type()) != 8 ||
      !call.operand_shape(0).SameDims(call.shape()) || !call.operand_shape(1).SameDims(call.shape()) ||
      ByteWidth(call.operand_shape(0).element_type()) != 4 ||
      ByteWidth(call.operand_shape(1).element_type()) != 4) {
    return absl::InvalidArgumentError("X64Combine makes 64-bit values of two arrays of 32-bit ones");
  }
  const bool uniform = call.AllUniform();
  const int64_t n = call.result_elements();
  RETURN_IF_ERROR(call.NewResult(uniform));
  uint64_t* out = reinterpret_cast<uint64_t*>(call.result().mutable_data());
  for (int64_t row = 0; row < (uniform ? 1 : call.copies()); ++row) {
    const uint32_t* low = reinterpret_cast<const uint32_t*>(call.data(0)) + (call.uniform(0) ? 0 : row * n);
    const uint32_t* high = reinterpret_cast<const uint32_t*>(call.data(1)) + (call.uniform(1) ? 0 : row * n);
    for (int64_t i = 0; i < n; ++i) out[row * n + i] = low[i] | static_cast<uint64_t>(high[i]) << 32;
  }
  return absl::OkStatus();
}

absl::Status X64Split(OpCall& call) {
  if (call.num_operands() != 1 || ByteWidth(call.operand_shape(0).element_type()) != 8 ||
      ByteWidth(call.shape().element_type()) != 4 || !call.operand_shape(0).SameDims(call.shape())) {
    return absl::InvalidArgumentError("splits 64-bit values into 32-bit halves");
  }
  const int shift = call.instruction().custom_call_target() == "X64SplitHigh" ? 32 : 0;
  const uint64_t* in = reinterpret_cast<const uint64_t*>(call.data(0));
  const int64_t n = call.rows(0) * call.result_elements();
  RETURN_IF_ERROR(call.NewResult(call.uniform(0)));
  uint32_t* out = reinterpret_cast<uint32_t*>(call.result().mutable_data());
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<uint32_t>(in[i] >> shift);
  return absl::OkStatus();
}

}  // namespace toroid
