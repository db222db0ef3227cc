// What work and communication cost, for whoever chooses between programs.
//
// Costs are times in link bytes: the time in which a link carries one byte. In that unit a collective that sends v
// bytes costs v, so that sums stay exact and equal plans compare equal; SecondsPerLinkByte() turns it into seconds.
//
// Order of choices: fewer flops of a contraction before less time, unless they are few (kBytesPerFlop of
// partitioner/assign) or the model says what flops take, less time before fewer bytes sent, those before a smaller intermediate,
// that before fewer steps.
// Example: gathering 3 MB over links of 70 GB/s costs 3e6, or 43 us; reading them from memory of 450 GB/s 4.7e5.
#ifndef TOROID_HLO_COST_COST_MODEL_H_
#define TOROID_HLO_COST_COST_MODEL_H_

#include <cstdint>
#include <optional>

#include "hlo/analysis/collective.h"
#include "hlo/analysis/work.h"
#include "hlo/ir/mesh.h"

namespace toroid {

class CostModel {
 public:
  virtual ~CostModel() = default;

  // A collective in which every device has `bytes` of its own, in all groups of devices that differ along `axes` alone.
  // A permute sends them to another device along the axes.
  virtual double CollectiveTime(CollectiveKind kind, int64_t bytes, const Mesh& mesh,
                                const AxisList& axes) const = 0;
  // No collectives take less by which every device gets `bytes` of what it has not; 0 where nothing is known.
  virtual double LeastTime(int64_t /*bytes*/) const { return 0; }
  // What `count` independent permutes, which together exchange one halo, take beyond what their bytes do.
  virtual double PermuteDelay(int64_t count) const = 0;
  // Reading or writing memory.
  virtual double MemoryTime(double bytes) const = 0;
  // What `flops` of a contraction take on one device; nullopt where fewer are better than any time.
  virtual std::optional<double> ContractionTime(double /*flops*/) const { return std::nullopt; }
  // An op on one device.
  virtual double OpTime(const Work& work) const = 0;
  virtual double SecondsPerLinkByte() const = 0;
};

// A core of TPU v3, by ratios alone: links of 70 GB/s one way, memory of 450 GB/s, 61.5 Tflop/s in matrix units, and a
// twentieth of that elsewhere. A collective costs the bytes that a bandwidth-optimal algorithm sends. Up to 8
// permutes overlap with other work; each beyond them delays it as sending 64 KiB does.
const CostModel& DefaultCostModel();

}  // namespace toroid

#endif  // TOROID_HLO_COST_COST_MODEL_H_
