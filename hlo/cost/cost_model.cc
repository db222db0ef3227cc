#include "hlo/cost/cost_model.h"

#include <algorithm>

#include "hlo/cost/target.h"

namespace toroid {
namespace {

// Bytes that a link carries in the time of one byte of memory traffic, and of one flop.
constexpr double kLinkBytesPerMemoryByte = kTarget.link_bytes_per_second / kTarget.memory_bytes_per_second;
constexpr double kLinkBytesPerMatrixFlop = kTarget.link_bytes_per_second / kTarget.matrix_flops_per_second;
constexpr double kLinkBytesPerVectorFlop = kTarget.link_bytes_per_second / kTarget.vector_flops_per_second;
constexpr int64_t kFreePermutes = 8;
constexpr double kPermuteBytes = 65536;

class Ratios : public CostModel {
 public:
  double CollectiveTime(CollectiveKind kind, int64_t bytes, const Mesh& mesh,
                        const AxisList& axes) const override {
    return static_cast<double>(SentBytes(kind, bytes, mesh.Product(axes)));
  }
  double LeastTime(int64_t bytes) const override { return static_cast<double>(bytes); }
  double PermuteDelay(int64_t count) const override {
    return kPermuteBytes * static_cast<double>(std::max<int64_t>(0, count - kFreePermutes));
  }
  double SerialDelay(int64_t count) const override { return PermuteDelay(count); }
  double MemoryTime(double bytes) const override { return bytes * kLinkBytesPerMemoryByte; }
  double OpTime(const Work& work) const override {
    const double memory =
        MemoryTime(static_cast<double>(work.bytes_read) + static_cast<double>(work.bytes_written));
    const double matrix = static_cast<double>(work.matrix_flops) * kLinkBytesPerMatrixFlop;
    const double vector =
        (static_cast<double>(work.vector_flops) + static_cast<double>(work.transcendentals)) *
        kLinkBytesPerVectorFlop;
    return std::max({memory, matrix, vector});
  }
  double MatrixTime(double flops) const override { return flops * kLinkBytesPerMatrixFlop; }
  double StartTime() const override { return kTarget.collective_seconds * kTarget.link_bytes_per_second; }
  double SecondsPerLinkByte() const override { return 1 / kTarget.link_bytes_per_second; }
};

}  // namespace

const CostModel& DefaultCostModel() {
  static const Ratios model;
  return model;
}

}  // namespace toroid
