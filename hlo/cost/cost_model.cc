#include "hlo/cost/cost_model.h"

#include <algorithm>

namespace toroid {
namespace {

constexpr double kLinkBytesPerSecond = 70e9;
// Bytes that a link carries in the time memory moves one byte.
constexpr double kLinkBytesPerMemoryByte = 70.0 / 450.0;
constexpr double kLinkBytesPerMatrixFlop = kLinkBytesPerSecond / 61.5e12;
constexpr double kLinkBytesPerVectorFlop = 20 * kLinkBytesPerMatrixFlop;
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
  double SecondsPerLinkByte() const override { return 1 / kLinkBytesPerSecond; }
};

}  // namespace

const CostModel& DefaultCostModel() {
  static const Ratios model;
  return model;
}

}  // namespace toroid
