// What a plan costs on one device, and which of two plans is better.
#ifndef TOROID_PARTITIONER_PLAN_PRICE_H_
#define TOROID_PARTITIONER_PLAN_PRICE_H_

#include "hlo/cost/cost_model.h"

namespace toroid {

// So many bytes more that are written, or held at the peak, are ignored: a TPU v3 core writes 128 KiB in 0.25 us, less than
// the start-up time of an op.
inline constexpr double kIgnoredBytes = 1 << 17;

// Sums over a whole run: every op counts with the trips of the loops it is in.
struct Price {
  double time = 0;        // Of collectives, and of contractions if the cost model prices flops; in its unit.
  double sent_bytes = 0;  // By collectives under bandwidth-optimal algorithms, and by halo exchanges.
  double flops = 0;       // Of contractions.
  double written_bytes = 0;  // The sizes of the results of ops.
  double collectives = 0;    // Their number.
  double replicated =
      0;  // The number of ops that every device computes on whole arrays though one of them is cut.
};

// Whether a program of price `a` improves on one of price `b`: it sends less or computes less, and neither more.
//
// With more collectives it must send at most 90 % of b's bytes, since each takes time to start; with more ops on whole arrays
// that write more at most 75 %, since their users may want parts. Repeated work shows as results written: the time to write
// and read them must not exceed the time saved in sending. A change that improves may be followed by others without end.
bool Improves(const Price& a, const Price& b, const CostModel& cost);

// Whether a program of price `a` is preferred to one of price `b`, as a whole: `a` sends less or computes less, and neither
// more, or
//
// - one of bytes and flops grows, by at most 9 %, and their product falls. Neither has a fixed price in the other: programs are
//   often tried with small arrays, where bytes count most, and used with large ones, where flops do;
// - or flops grow by at most 9 %, flops^3 x bytes falls, and `a` sends at most `usual_bytes`, those of the plan whose ops are
//   decided one by one: saving more of them is no reason to repeat work.
bool Better(const Price& a, const Price& b, double usual_bytes);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PLAN_PRICE_H_
