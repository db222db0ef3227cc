// Collectives between slices, over the data-centre network: what is left of them when each slice has done its part.
//
// A group has m members in each of n slices. Within the slices it runs as everywhere; between them the members at the same
// place of each slice form a ring of n, all such rings at the same time, and the cores of a host share its rate B. Of a
// payload p (of an all-gather what a core ends with), c cores of a host taking part:
//   all-reduce       2 (n - 1) (step + c p / (m n B))      after a reduce-scatter, before an all-gather within each slice
//   reduce-scatter     (n - 1) (step + c p / (m n B))      after one within each slice
//   all-gather         (n - 1) (step + c p / (m n B))      before one within each slice
//   all-to-all         step + c p (n - 1) / (n B)          every core sends to every other slice
//   broadcast          (n - 1) step + c p / (m B)          from slice to slice as it comes in
//   permute            step + c p / B
// Example: all-reduce of 1 MiB, m = 1, n = 4, B = 25 GB/s, c = 8, step 53 us: 6 (53 + 83.9 us) = 821 us.
// Source: hierarchical collectives as Google's Multislice runs them (Cloud TPU documentation, "Multislice overview").
#pragma once

#include <cstdint>

#include "hlo/analysis/collective.h"
#include "simulator/machines/network.pb.h"

namespace toroid {

// How a group lies in slices.
struct SliceSpread {
  int64_t slices = 1;
  int64_t members = 1;     // In one slice.
  int64_t host_cores = 1;  // That take part and share a host.
};

struct BetweenSlicesTime {
  double seconds = 0;
  double roofline_seconds = 0;  // Without steps.
};

BetweenSlicesTime TimeBetweenSlices(const DataCentreSpec& network, CollectiveKind kind, double payload,
                                    const SliceSpread& spread);

}  // namespace toroid
