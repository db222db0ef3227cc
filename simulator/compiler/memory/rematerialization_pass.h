// Makes large values a second time where they are read again, so that a program fits.
//
// If arguments, results and what is alive at a time need more than `most_bytes`, groups whose results nobody reads for a while
// run again later, those first that free most (repeated_steps.h). The order is depth first (depth_first_order.h), unless more
// is alive in that. Exchanges between devices, loops and branches never run again.
//   h = fusion(x, w), y = fusion(h), .., z = fusion(h, ..)
//   => h = fusion(x, w), y = fusion(h), .., h2 = fusion(x, w), z = fusion(h2, ..)
// Source: XLA's hlo_rematerialization, which takes what frees most, not what takes least time.
#pragma once

#include <cstdint>
#include <memory>

#include "hlo/passes/pass.h"
#include "simulator/program/tiling.h"

namespace toroid {

// Ends the names of what is made a second time.
inline constexpr char kRematerializedSuffix[] = ".remat";

class RematerializationPass : public Pass {
 public:
  // Groups whose results have fewer than `least_bytes` do not run again.
  RematerializationPass(int64_t most_bytes, int64_t least_bytes, const Tiling& tiling)
      : most_bytes_(most_bytes), least_bytes_(least_bytes), tiling_(tiling) {}
  absl::string_view name() const override { return "rematerialization"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  const int64_t most_bytes_, least_bytes_;
  const Tiling tiling_;
};

}  // namespace toroid
