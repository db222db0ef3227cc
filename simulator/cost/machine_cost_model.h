// The cost interface of hlo/cost by a machine's predicted times: what --machine gives the partitioner.
//
// The time of a collective depends on where its groups lie, which is not known when shardings are compared. Assumed is
// the order in which devices are numbered: groups of g are devices 0 .. g-1, g .. 2g-1, ..., all at the same time; a
// permute goes from each device to the next.
// Example: tpu-v3-128, an all-to-all of 8 MiB over all 128 devices costs what figure 9 of the GShard paper shows, 0.7 ms,
// 57e6 link bytes; by bytes alone it would be 8.3e6.
#ifndef TOROID_SIMULATOR_COST_MACHINE_COST_MODEL_H_
#define TOROID_SIMULATOR_COST_MACHINE_COST_MODEL_H_

#include <cstdint>
#include <memory>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo/cost/cost_model.h"
#include "simulator/collectives/collective_simulator.h"
#include "simulator/machines/machine.h"

namespace toroid {

class MachineCostModel : public CostModel {
 public:
  // For a program on the first `devices` cores of the slice.
  // Errors: kInvalidArgument for more devices than cores; those of CollectiveSimulator::Create.
  static absl::StatusOr<std::unique_ptr<MachineCostModel>> Create(const Machine& machine, int64_t devices);

  double CollectiveTime(CollectiveKind kind, int64_t bytes, int64_t group) const override;
  // Each permute takes the fixed time of a collective; the one that moves the bytes has been counted.
  double PermuteDelay(int64_t count) const override;
  double MemoryTime(double bytes) const override;
  double OpTime(const Work& work) const override;
  double SecondsPerLinkByte() const override { return 1 / link_bytes_per_second_; }

 private:
  MachineCostModel(const Machine& machine, int64_t devices, std::unique_ptr<CollectiveSimulator> simulator);

  double Simulate(CollectiveKind kind, int64_t bytes, int64_t group) const;

  const CoreSpec core_;
  const int64_t devices_;
  const double link_bytes_per_second_;
  const std::unique_ptr<CollectiveSimulator> simulator_;
  mutable absl::flat_hash_map<std::tuple<CollectiveKind, int64_t, int64_t>, double> known_;  // In link bytes.
};

}  // namespace toroid

#endif  // TOROID_SIMULATOR_COST_MACHINE_COST_MODEL_H_
