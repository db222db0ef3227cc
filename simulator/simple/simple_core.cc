#include "simulator/simple/simple_core.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

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

ProductSizes SizesOf(const Instruction& product) {
  ProductSizes sizes;
  if (product.opcode() == Opcode::kDot) {
    const DotView dot(product);
    const Shape &lhs = product.operand(0)->shape(), &rhs = product.operand(1)->shape();
    for (const int64_t d : dot.lhs_batch()) sizes.batch *= static_cast<double>(lhs.dim(d));
    for (const int64_t d : dot.lhs_contracting()) sizes.k *= static_cast<double>(lhs.dim(d));
    sizes.m = static_cast<double>(lhs.NumElements()) / std::max(1.0, sizes.batch * sizes.k);
    sizes.n = static_cast<double>(rhs.NumElements()) / std::max(1.0, sizes.batch * sizes.k);
    return sizes;
  }
  // Others by their work, as one product with rows enough.
  sizes.m = static_cast<double>(MatrixFlops(product)) / 2;
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
  if (!shape.IsTuple()) return shape.IsArray() ? PaddedBytes(shape, tiling) : 0;
  double bytes = 0;
  for (const Shape& element : shape.tuple_shapes()) bytes += PaddedTo(element, tiling);
  return bytes;
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
           peak;
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
  GroupTime time;
  time.flops = static_cast<double>(work.matrix_flops) + static_cast<double>(work.vector_flops);
  const double dense = static_cast<double>(work.bytes_read) + static_cast<double>(work.bytes_written);
  time.bytes = dense * PaddingOf(group, {core_.vector().sublanes(), core_.vector().lanes()});
  const double products = ProductSeconds(group);
  const double slots = (static_cast<double>(work.vector_flops) +
                        static_cast<double>(work.transcendentals) * core_.vector().slots_of().exponential()) /
                       lanes;
  const double vector = slots / static_cast<double>(core_.vector().slots()) / core_.clock_hertz();
  const double stream = core_.memory().bytes_per_second() * core_.memory().stream_efficiency();
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
    time.flops = kernel->flops;
    time.kernel_cost = KernelCostSource::kModel;
    time.bound = seconds > kernel->seconds ? Bound::kMemory
                 : kernel->is_matrix_bound ? Bound::kMatrix
                                           : Bound::kVector;
  }
  const double roofline =
      std::max(time.flops / PeakMatrixFlopsPerSecond(core_), dense / core_.memory().bytes_per_second());
  time.roofline_picoseconds = static_cast<int64_t>(std::min(roofline * 1e12, 9e18));
  const double overhead = core_.group_cycles() / core_.clock_hertz();
  time.picoseconds = static_cast<int64_t>(std::min((seconds + overhead) * 1e12, 9e18));
  return time;
}

}  // namespace toroid
