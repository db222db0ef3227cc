// The cost interface of hlo/cost by a machine's predicted times: what --machine gives the partitioner.
//
// Device d of the mesh runs on core d of the slice. All groups of a collective communicate at the same time and share
// links, so that axes along which neighbours lie close cost less than those along which they do not; fixed costs count.
// Example: tpu-v3-128, an all-to-all of 8 MiB over all 128 devices costs what figure 9 of the GShard paper shows, 0.7 ms,
// 57e6 link bytes; by bytes alone it would be 8.3e6.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo/cost/cost_model.h"
#include "simulator/collectives/collective_simulator.h"
#include "simulator/machines/machine.h"

namespace toroid {

// For one program: its mesh stays the same.
class MachineCostModel : public CostModel {
 public:
  // Errors: those of CollectiveSimulator::Create.
  static absl::StatusOr<std::unique_ptr<MachineCostModel>> Create(const Machine& machine);

  // What would be sent if the mesh has more devices than the slice has cores, or dead links leave no way.
  double CollectiveTime(CollectiveKind kind, int64_t bytes, const Mesh& mesh,
                        const AxisList& axes) const override;
  // Each permute takes the fixed time of a collective; the one that moves the bytes has been counted.
  double PermuteDelay(int64_t count) const override;
  double MemoryTime(double bytes) const override;
  std::optional<double> ContractionTime(double flops) const override;
  double OpTime(const Work& work) const override;
  double SecondsPerLinkByte() const override { return 1 / link_bytes_per_second_; }

 private:
  using Key = std::tuple<CollectiveKind, int64_t, AxisList>;

  MachineCostModel(const Machine& machine, std::unique_ptr<CollectiveSimulator> simulator);

  double Simulate(CollectiveKind kind, int64_t bytes, const Mesh& mesh, const AxisList& axes) const;

  const CoreSpec core_;
  const int64_t cores_;
  const double link_bytes_per_second_;
  const double permute_seconds_;  // Of one without bytes worth speaking of, between neighbours.
  const std::unique_ptr<CollectiveSimulator> simulator_;
  mutable absl::flat_hash_map<Key, double> known_;  // In link bytes.
};

}  // namespace toroid
