#include "simulator/simple/simple_core.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/analysis/work.h"
#include "hlo/ir/attribute_views.h"
#include "simulator/program/tiling.h"
#include "simulator/simple/kernel_time.h"

namespace toroid {
namespace {

// batch times [m, k] x [k, n].
struct ProductSizes {
  double batch = 1, m = 1, k = 1, n = 1;
};

// TPU compilers write products as convolutions, their further dimensions as windows of size n. Such a window
// - takes each index of a row dimension alone: size 1;
// - picks for each index of a batch dimension that one: stride n - 1, base dilation n;
// - or lays the kernel beside one element, so that each of n results reads another of its rows: padding n - 1 on both sides;
// - or spans the whole input for one result: a sum over n.
std::optional<ProductSizes> SizesOfWindowedProduct(const Instruction& op) {
  if (op.opcode() != Opcode::kConvolution || op.num_operands() != 2) return std::nullopt;
  const ConvolutionView view(op);
  if (view.feature_groups() != 1 || view.batch_groups() != 1) return std::nullopt;
  const Shape &lhs = op.operand(0)->shape(), &rhs = op.operand(1)->shape();
  ProductSizes sizes;
  sizes.m = static_cast<double>(lhs.dim(view.input_batch()));
  sizes.k = static_cast<double>(lhs.dim(view.input_feature()));
  sizes.n = static_cast<double>(rhs.dim(view.kernel_output_feature()));
  for (size_t i = 0; i < view.input_spatial().size(); ++i) {
    const WindowDim window = WindowView(op)[static_cast<int>(i)];
    const int64_t n = window.size;
    const int64_t read = lhs.dim(view.input_spatial()[i]), made = op.shape().dim(view.output_spatial()[i]);
    const bool is_dense = window.stride == 1 && window.base_dilation == 1 && window.window_dilation == 1;
    if (window.base_dilation == n && window.stride == std::max<int64_t>(1, n - 1) && read == n && made == n &&
        window.padding_low == 0) {
      sizes.batch *= static_cast<double>(n);
    } else if (window.IsTrivial() && read == made) {
      sizes.m *= static_cast<double>(made);
    } else if (is_dense && read == 1 && made == n && window.padding_low == n - 1) {
      sizes.n *= static_cast<double>(n);
    } else if (is_dense && read == n && made == 1 && window.padding_low == 0) {
      sizes.k *= static_cast<double>(n);
    } else {
      return std::nullopt;
    }
  }
  return sizes;
}

ProductSizes SizesOf(const Instruction& op) {
  ProductSizes sizes;
  if (op.opcode() == Opcode::kDot) {
    const DotView dot(op);
    const Shape &lhs = op.operand(0)->shape(), &rhs = op.operand(1)->shape();
    for (const int64_t d : dot.lhs_batch()) sizes.batch *= static_cast<double>(lhs.dim(d));
    for (const int64_t d : dot.lhs_contracting()) sizes.k *= static_cast<double>(lhs.dim(d));
    sizes.m = static_cast<double>(lhs.NumElements()) / std::max(1.0, sizes.batch * sizes.k);
    sizes.n = static_cast<double>(rhs.NumElements()) / std::max(1.0, sizes.batch * sizes.k);
    return sizes;
  }
  if (const std::optional<ProductSizes> product = SizesOfWindowedProduct(op); product.has_value())
    return *product;
  // Others by their work, as one product with rows enough.
  sizes.m = static_cast<double>(MatrixFlops(op)) / 2;
  return sizes;
}

double RoundedUp(double extent, double to) { return std::ceil(extent / to) * to; }

// A unit holds a tile of one operand, and rows of the other, eight at a time, pass it: whichever of both takes less.
double PaddedFlops(const ProductSizes& s, double tile, double rows) {
  const double k = s.k <= 1 ? 1 : RoundedUp(s.k, tile);
  const double n = s.n <= 1 ? 1 : RoundedUp(s.n, tile), m = s.m <= 1 ? 1 : RoundedUp(s.m, tile);
  return 2 * s.batch * k * std::min(RoundedUp(s.m, rows) * n, RoundedUp(s.n, rows) * m);
}

double PaddedTo(const Shape& shape, const Tiling& tiling) {
  if (!shape.IsTuple()) return shape.IsArray() ? static_cast<double>(LeastPaddedSize(tiling)(shape)) : 0;
  double bytes = 0;
  for (const Shape& element : shape.tuple_shapes()) bytes += PaddedTo(element, tiling);
  return bytes;
}

// In vector memory: S(1) in layouts.
bool IsOnChip(const Shape& shape) {
  constexpr int64_t kVectorMemory = 1;
  return shape.IsArray() && shape.custom_layout() != nullptr &&
         shape.custom_layout()->memory_space() == kVectorMemory;
}

// What a fused computation reads of parameter `number`: slices, if all that use it pick some.
int64_t BytesReadInside(const Computation& fused, int number) {
  int64_t picked = 0;
  const Instruction* parameter = fused.parameter(number);
  for (const auto& user : fused.instructions()) {
    if (!absl::c_linear_search(user->operands(), parameter)) continue;
    const bool picks = (user->opcode() == Opcode::kGather || user->opcode() == Opcode::kDynamicSlice) &&
                       user->operand(0) == parameter;
    if (!picks) return ArrayBytes(parameter->shape());
    picked += ArrayBytes(user->shape());
  }
  return std::min(picked, ArrayBytes(parameter->shape()));
}

// How much larger the arrays of a group are with their padding.
double PaddingOf(const Instruction& group, const Tiling& tiling) {
  double dense = static_cast<double>(ArrayBytes(group.shape())), padded = PaddedTo(group.shape(), tiling);
  for (const Instruction* operand : group.operands()) {
    dense += static_cast<double>(ArrayBytes(operand->shape()));
    padded += PaddedTo(operand->shape(), tiling);
  }
  return dense == 0 ? 1 : padded / dense;
}

// Of what WorkOf counts as read and written, what lies in memory on the chip.
double BytesOnChip(const Instruction& group) {
  double bytes = IsOnChip(group.shape()) ? static_cast<double>(ArrayBytes(group.shape())) : 0;
  if (group.shape().IsTuple()) {
    for (const Shape& element : group.shape().tuple_shapes()) {
      if (IsOnChip(element)) bytes += static_cast<double>(ArrayBytes(element));
    }
  }
  const bool is_fusion = group.opcode() == Opcode::kFusion && !group.called().empty();
  for (int i = 0; i < group.num_operands(); ++i) {
    const Shape& shape = group.operand(i)->shape();
    if (!IsOnChip(shape)) continue;
    bytes += static_cast<double>(is_fusion ? BytesReadInside(*group.called(0), i) : ArrayBytes(shape));
  }
  return bytes;
}

// How many times as fast as a product of bf16 this one is.
double SpeedOf(const Instruction& op, const MatrixUnitSpec& matrix) {
  const auto are_all = [&](bool (*is)(PrimitiveType)) {
    return absl::c_all_of(op.operands(), [&](const Instruction* o) {
      return ByteWidth(o->shape().element_type()) == 1 && is(o->shape().element_type());
    });
  };
  double speed = 0;
  if (are_all(IsFloat)) speed = matrix.float8_times();
  if (are_all(IsInt)) speed = matrix.int8_times();
  return speed > 0 ? speed : 1;
}

// Products as they are, not as the convolutions that stand for them; each op's flops times its weight.
double MatrixFlopsOf(const Instruction& group, absl::FunctionRef<double(const Instruction&)> weight) {
  const auto flops = [&](const Instruction& op) {
    const std::optional<ProductSizes> sizes = SizesOfWindowedProduct(op);
    return weight(op) * (sizes.has_value() ? 2 * sizes->batch * sizes->m * sizes->k * sizes->n
                                           : static_cast<double>(MatrixFlops(op)));
  };
  if (group.opcode() != Opcode::kFusion) return flops(group);
  double sum = 0;
  for (const auto& op : group.called(0)->instructions()) sum += flops(*op);
  return sum;
}

// TPU compilers write a reduction that is spread over its dimension again as a reduce-window whose windows hold all n
// elements, size 2 n - 1 with n - 1 on each side: one application for each element does.
double FlopsBeyondWholeWindows(const Instruction& op) {
  if (op.opcode() != Opcode::kReduceWindow || !op.operand(0)->shape().IsArray()) return 0;
  double whole = 1;
  for (int d = 0; d < op.attrs().window().dimensions_size(); ++d) {
    const auto& window = op.attrs().window().dimensions(d);
    const int64_t n = op.operand(0)->shape().dim(d);
    if (n > 1 && window.size() == 2 * n - 1 && window.padding_low() == n - 1 &&
        window.padding_high() == n - 1) {
      whole *= static_cast<double>(window.size());
    }
  }
  return static_cast<double>(WorkOf(op).vector_flops) * (1 - 1 / whole);
}

double VectorFlopsOf(const Instruction& group, const Work& work) {
  double flops = static_cast<double>(work.vector_flops);
  if (group.opcode() != Opcode::kFusion) return flops - FlopsBeyondWholeWindows(group);
  for (const auto& op : group.called(0)->instructions()) flops -= FlopsBeyondWholeWindows(*op);
  return flops;
}

bool TakesTime(const Instruction& op) {
  // What moves to and from the host's memory does so beside the core.
  if (IsIdentityTarget(op)) return false;
  switch (op.opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
    case Opcode::kOptimizationBarrier:
    case Opcode::kAfterAll:
    case Opcode::kPartitionId:
    case Opcode::kReplicaId:
    case Opcode::kAllReduceDone:
    case Opcode::kAllGatherDone:
    case Opcode::kCollectivePermuteDone:
    case Opcode::kCopyDone:
    case Opcode::kAsyncDone:
    case Opcode::kAsyncUpdate:
      return false;
    default:
      return !HasTrait(op.opcode(), kRunsBody) && !HasTrait(op.opcode(), kSideEffect) &&
             !IsCollective(op.opcode());
  }
}

}  // namespace

const GroupTime& SimpleCore::TimeOf(const Instruction& group) {
  const auto [found, is_new] = known_.try_emplace(&group);
  if (is_new && TakesTime(group)) found->second = Compute(group);
  return found->second;
}

double SimpleCore::ProductSeconds(const Instruction& group) const {
  const MatrixUnitSpec& matrix = core_.matrix();
  const double peak = PeakMatrixFlopsPerSecond(core_) * core_.simple().product_efficiency();
  const auto seconds = [&](const Instruction& op) {
    return PaddedFlops(SizesOf(op), static_cast<double>(matrix.tile()),
                       static_cast<double>(core_.vector().sublanes())) /
           (peak * SpeedOf(op, matrix));
  };
  if (group.opcode() != Opcode::kFusion) return IsMatrixOp(group.opcode()) ? seconds(group) : 0;
  double sum = 0;
  for (const auto& op : group.called(0)->instructions()) {
    if (IsMatrixOp(op->opcode())) sum += seconds(*op);
  }
  return sum;
}

GroupTime SimpleCore::Compute(const Instruction& group) const {
  const Work work = WorkOf(group);
  const double lanes = static_cast<double>(core_.vector().lanes() * core_.vector().sublanes());
  const double vector_flops = VectorFlopsOf(group, work);
  GroupTime time;
  time.flops = MatrixFlopsOf(group, [](const Instruction&) { return 1.0; }) + vector_flops;
  // As many flops of bf16 would take as long.
  double peak_flops = vector_flops + MatrixFlopsOf(group, [&](const Instruction& op) {
                        return 1 / SpeedOf(op, core_.matrix());
                      });
  const double on_chip = BytesOnChip(group);
  const double dense =
      std::max(0.0, static_cast<double>(work.bytes_read) + static_cast<double>(work.bytes_written) - on_chip);
  time.bytes = dense * PaddingOf(group, {core_.vector().sublanes(), core_.vector().lanes()});
  const double products = ProductSeconds(group);
  constexpr double kBytesOfElement = 4;
  const double slots = (vector_flops + on_chip / kBytesOfElement +
                        static_cast<double>(work.transcendentals) * core_.vector().slots_of().exponential()) /
                       lanes;
  const double vector = slots / static_cast<double>(core_.vector().slots()) / core_.clock_hertz();
  const double stream = StreamBytesPerSecond(core_);
  const double memory = time.bytes / stream;
  double seconds = std::max({products, vector, memory});
  time.bound = seconds == 0          ? Bound::kNothing
               : seconds == products ? Bound::kMatrix
               : seconds == memory   ? Bound::kMemory
                                     : Bound::kVector;
  if (const std::optional<KernelTime> kernel = KernelTimeOf(group, core_); kernel.has_value()) {
    if (kernel->bytes > 0) time.bytes = kernel->bytes;
    const double transfers = kernel->bytes > 0 ? kernel->bytes / stream : memory;
    seconds = std::max(kernel->seconds, transfers);
    peak_flops = time.flops = kernel->flops;
    time.kernel_cost = KernelCostSource::kModel;
    time.bound = seconds > kernel->seconds ? Bound::kMemory
                 : kernel->is_matrix_bound ? Bound::kMatrix
                                           : Bound::kVector;
  }
  const auto picoseconds = [](double s) { return static_cast<int64_t>(std::min(s * 1e12, 9e18)); };
  const double roofline =
      std::max(peak_flops / PeakMatrixFlopsPerSecond(core_), dense / core_.memory().bytes_per_second());
  time.roofline_picoseconds = picoseconds(roofline);
  time.unit_picoseconds = {picoseconds(products), picoseconds(vector), picoseconds(memory), 0};
  const double overhead = core_.group_cycles() / core_.clock_hertz();
  time.picoseconds = picoseconds(seconds + overhead);
  return time;
}

}  // namespace toroid
