// The cost of work and communication, by which the partitioner chooses between programs.
//
// The unit of cost is the time in which a link carries one byte. In that unit a collective that sends v bytes
// costs v, so that sums stay exact and equal plans compare equal. SecondsPerLinkByte() converts the unit to
// seconds.
//
// Order of choices: less time, then fewer bytes sent, then a smaller intermediate, then fewer steps. If the
// model has no ContractionTime, a flop of a contraction counts as kBytesPerFlop (partitioner/assign) units of
// time.
// Example: gathering 3 MB over links of 70 GB/s costs 3e6, or 43 us; reading them from memory of 450 GB/s
// 4.7e5.
#pragma once

#include <cstdint>
#include <optional>

#include "hlo/analysis/collective.h"
#include "hlo/analysis/work.h"
#include "hlo/devices/mesh.h"

namespace toroid {

class CostModel {
 public:
  virtual ~CostModel() = default;

  // The cost of a collective over all groups of devices that differ only along `axes`. Every device
  // contributes `bytes`. A permute sends them to another device along the axes.
  virtual double CollectiveTime(CollectiveKind kind, int64_t bytes, const Mesh& mesh,
                                const AxisList& axes) const = 0;
  // A lower bound on the cost of any collectives that bring each device `bytes` bytes it does not hold; 0 if
  // unknown.
  virtual double LeastTime(int64_t /*bytes*/) const { return 0; }
  // The cost of `count` independent permutes that together exchange one halo, beyond the cost of their bytes.
  virtual double PermuteDelay(int64_t count) const = 0;
  // The cost of `count` collectives that the local program of one op runs one after the other, beyond their CollectiveTime.
  virtual double SerialDelay(int64_t /*count*/) const { return 0; }
  // The cost of reading or writing `bytes` of memory.
  virtual double MemoryTime(double bytes) const = 0;
  // The cost of `flops` flops of a contraction on one device; nullopt if the model does not price flops.
  virtual std::optional<double> ContractionTime(double /*flops*/) const { return std::nullopt; }
  // The same for whole programs that are compared in seconds.
  virtual double MatrixTime(double flops) const { return ContractionTime(flops).value_or(0); }
  // The fixed cost of a collective, if CollectiveTime leaves it out.
  virtual double StartTime() const { return 0; }
  // The cost of an op on one device.
  virtual double OpTime(const Work& work) const = 0;
  virtual double SecondsPerLinkByte() const = 0;
};

// A core of the target (target.h), known only by ratios. A collective costs the bytes that a bandwidth-optimal algorithm sends.
// Up to 8 collectives of one op overlap with other work; each beyond them delays it as sending 64 KiB does.
const CostModel& DefaultCostModel();

}  // namespace toroid
