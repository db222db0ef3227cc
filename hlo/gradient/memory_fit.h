// Which values to compute again so that the backward pass fits into a memory limit at the least added time.
//
//   MemoryFit fit{.limit_bytes = int64_t{16} << 30, .seconds = OpSeconds(*machine_costs)};
//   ASSIGN_OR_RETURN(const MemoryFitted fitted, FitMemory(*loss, weights, fit, &options));
//   ASSIGN_OR_RETURN(std::vector<Value> gradients, Gradients(loss, weights, options, &b));
//
// Method: two levels. First layers, of which inputs alone are kept: those that `options` has
// (remat_policy.h), or stretches of the program cut where least is handed on, of several lengths (Chen et
// al.: with n values in stretches of sqrt(n), memory of 2 sqrt(n)). Then the limit is filled up: of the
// values that the backward pass asks for, those come back first that save most time per byte, with what they
// are made from by way of values that nobody asks for. That is the greedy solution of a knapsack (Dantzig
// 1957), at most one value from the best where values are independent; the integer program of Checkmate (Jain
// et al., arXiv:1910.02653) also knows how they depend on each other, and takes minutes. Predictions decide
// the order alone: each step is differentiated and its memory measured, and the longest beginning of the
// order that fits is found by bisection, a few times over what is left.
// Source: Chen et al., Training deep nets with sublinear memory cost, arXiv:1604.06174.
#ifndef TOROID_HLO_GRADIENT_MEMORY_FIT_H_
#define TOROID_HLO_GRADIENT_MEMORY_FIT_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/cost/cost_model.h"
#include "hlo/gradient/gradient_options.h"
#include "hlo/ir/module.h"

namespace toroid {

struct MemoryFit {
  int64_t limit_bytes = 0;
  // The search ends where this share of the limit is used: where `peak_bytes` takes seconds, below 1.
  double enough = 1;
  // What one execution of an op of the forward pass takes on a device. Empty: OpSeconds(DefaultCostModel()).
  std::function<double(const Instruction&)> seconds;
  // What a device holds of an array or tuple of the forward pass. Empty: its share, by the instruction's own
  // sharding.
  std::function<int64_t(const Instruction&)> bytes;
  // The program whose memory counts, differentiated with these options: the training step with its optimizer,
  // say. Empty: the one whose results are the scalar and its gradients.
  std::function<absl::StatusOr<std::unique_ptr<Module>>(const GradientOptions& options)> step;
  // Most memory that it takes on a device: of what partitioning makes of it, say. Empty: peak_memory.h.
  std::function<absl::StatusOr<int64_t>(const Module& step)> peak_bytes;
};

struct MemoryFitted {
  int64_t peak_bytes = 0;
  int64_t peak_bytes_keeping_all = 0;
  double seconds_again = 0;  // Of what is computed again.
};

// Sets `keep` and `layer` of `options`, for gradients of `of` by `by`, values of one computation, which may
// still be built. A `keep` that is there says what is kept at least. Nothing changes if all fits.
// Errors: kResourceExhausted if no choice fits, with the least that was reached; those of Gradients, `step`
// and `peak_bytes`.
absl::StatusOr<MemoryFitted> FitMemory(const Instruction& of, absl::Span<const Instruction* const> by,
                                       const MemoryFit& fit, GradientOptions* options);

// An op by its work, loops by their trips and bodies. `model` outlives the function.
std::function<double(const Instruction&)> OpSeconds(const CostModel& model);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_MEMORY_FIT_H_
