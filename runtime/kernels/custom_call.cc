#include "runtime/kernels/custom_call.h"

#include <cstring>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/kernels/topk.h"

namespace toroid {
namespace {

absl::Status Identity(OpCall& call) {
  if (call.num_operands() == 1) {
    if (!call.operand_shape(0).Compatible(call.shape())) {
      return absl::UnimplementedError(absl::StrCat(call.instruction().custom_call_target(), " from ",
                                                   call.operand_shape(0).ToString(), " to ",
                                                   call.shape().ToString(), ": partition the module first"));
    }
    call.result() = call.TakeOperand(0);
    return absl::OkStatus();
  }
  MeshBuffer tuple = MeshBuffer::Tuple(call.num_operands());
  for (int i = 0; i < call.num_operands(); ++i) tuple.mutable_element(i) = call.TakeOperand(i);
  call.result() = std::move(tuple);
  return absl::OkStatus();
}

// u64 = low | high << 32 from two u32 arrays (low first); s64 alike.
absl::Status X64Combine(OpCall& call) {
  if (call.num_operands() != 2 || ByteWidth(call.shape().element_type()) != 8) {
    return absl::InvalidArgumentError("X64Combine makes 64-bit values of two operands");
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
  if (ByteWidth(call.operand_shape(0).element_type()) != 8 || ByteWidth(call.shape().element_type()) != 4) {
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

const absl::flat_hash_map<absl::string_view, Kernel>& Registry() {
  static const auto* const registry = new absl::flat_hash_map<absl::string_view, Kernel>{
      {"Sharding", Identity},
      {"SPMDFullToShardShape", Identity},
      {"SPMDShardToFullShape", Identity},
      {"ShardBarrierFrom", Identity},
      {"ShardBarrierTo", Identity},
      {"annotate_device_placement", Identity},
      {"MoveToHost", Identity},
      {"MoveToDevice", Identity},
      {"PinToDevice", Identity},
      {"PinToDeviceSram", Identity},
      {"LayoutConstraint", Identity},
      {"InspectSharding", Identity},
      {"AssumeGatherIndicesInBound", Identity},
      {"TopK", ExecuteTopK},
      {"mhlo.topk", ExecuteTopK},
      {"X64Combine", X64Combine},
      {"X64SplitLow", X64Split},
      {"X64SplitHigh", X64Split},
  };
  return *registry;
}

}  // namespace

absl::Status ExecuteCustomCall(OpCall& call) {
  const absl::string_view target = call.instruction().custom_call_target();
  const auto it = Registry().find(target);
  if (it != Registry().end()) return it->second(call);
  if (absl::StartsWith(target, "xla.sdy.")) return Identity(call);
  return absl::UnimplementedError(absl::StrCat("custom-call target \"", target, "\" is not known"));
}

}  // namespace toroid
