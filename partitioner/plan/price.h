// What a plan costs on one device, and which of two plans is better.
#pragma once

#include "hlo/cost/cost_model.h"
#include "hlo/cost/objective.h"
#include "hlo/ir/module.h"

namespace toroid {

// Programs are not told apart by this many bytes that are written, or held at the peak: writing them takes 0.3 us, less than
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

// What a written program of one partition costs; `replicated` is 0.
Price PriceOf(const Module& written, const CostModel& cost);

// How plans, and programs, are compared.
struct Comparison {
  Objective objective = Objective::kBytes;
  const CostModel* cost = &DefaultCostModel();
  double usual_bytes = 0;  // Sent by the plan whose ops are decided one by one (../search/find_plans.cc).
};

// The seconds of one step on one device: of collectives with their start-up times, of contractions, and of writing and reading
// results in memory.
double SecondsOf(const Price& price, const CostModel& cost);

// Whether a program of price `a` improves on one of price `b`. In seconds: it takes less. In bytes: it sends less or computes
// less, and neither more.
//
// With more collectives it must send at most 90 % of b's bytes, since each takes time to start; with more ops on whole arrays
// that write more at most 75 %, since their users may want parts. Repeated work shows as results written: the time to write
// and read them must not exceed the time saved in sending. A change that improves may be followed by others without end.
bool Improves(const Price& a, const Price& b, const Comparison& by);

// Whether a program of price `a` is preferred to one of price `b`, as a whole. In seconds: it takes less. In bytes: `a` sends
// less or computes less, and neither more, or
//
// - one of bytes and flops grows, by at most 9 %, and their product falls;
// - or flops grow by at most 9 %, flops^3 x bytes falls, and `a` sends at most the usual bytes: saving more of them is no
//   reason to repeat work.
bool Better(const Price& a, const Price& b, const Comparison& by);

}  // namespace toroid
