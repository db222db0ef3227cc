// Chooses the values to recompute so that a training step fits into a memory limit in the least additional
// time.
//
//   MemoryFit fit{.limit_bytes = int64_t{16} << 30, .seconds = OpSeconds(*machine_costs)};
//   ASSIGN_OR_RETURN(const MemoryFitted fitted, FitMemory(*loss, weights, fit, &options));
//   ASSIGN_OR_RETURN(std::vector<Value> gradients, Gradients(loss, weights, options, &b));
//
// The method has two levels.
// - Layers: only the inputs of layers are kept. Candidates are the layers of `options` (remat_policy.h), and
//   stretches of the program of several lengths, cut where the fewest bytes are handed on. (Chen et al.: n
//   values in stretches of sqrt(n) need memory for 2 sqrt(n).)
// - Filling: the memory left is given to values that the backward pass needs, those first that save the most
//   time per byte. A value is kept together with the unneeded values it is made from. This is the greedy
//   solution of a knapsack (Dantzig 1957); for independent values it misses the optimum by at most one value.
//   The integer program of Checkmate (Jain et al., arXiv:1910.02653) also models dependencies between values,
//   and takes minutes.
// Predicted times decide only the order. For each candidate the step is differentiated and its memory
// computed. A bisection finds the longest prefix of the order that fits; a few more rounds try the remaining
// values.
// Source: Chen et al., Training deep nets with sublinear memory cost, arXiv:1604.06174.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/cost/cost_model.h"
#include "hlo/gradient/sweep/gradient_options.h"
#include "hlo/ir/module.h"

namespace toroid {

struct MemoryFit {
  int64_t limit_bytes = 0;
  // The search ends when this share of the limit is used. Set it below 1 if `peak_bytes` takes seconds.
  double enough = 1;
  // Seconds of one execution of a forward op on a device. Empty: OpSeconds(DefaultCostModel()).
  std::function<double(const Instruction&)> seconds;
  // Bytes of a forward array or tuple on a device. Empty: the size of a shard, by the instruction's sharding.
  std::function<int64_t(const Instruction&)> bytes;
  // Makes the program whose memory is limited, differentiated with these options: for example, the training
  // step with its optimizer. Empty: the program whose results are the scalar and its gradients.
  std::function<absl::StatusOr<std::unique_ptr<Module>>(const GradientOptions& options)> step;
  // Peak memory of that program on a device: for example, after partitioning. Empty: peak_memory.h.
  std::function<absl::StatusOr<int64_t>(const Module& step)> peak_bytes;
};

struct MemoryFitted {
  int64_t peak_bytes = 0;
  int64_t peak_bytes_keeping_all = 0;
  double seconds_again = 0;  // Time of recomputation.
};

// Sets `keep` and `layer` of `options`, for the gradients of `of` by `by`. These are values of one
// computation, which may still be under construction. Values that options->keep already keeps stay kept.
// Changes nothing if everything fits.
// Errors: kResourceExhausted if no choice fits (the message has the smallest peak found); those of Gradients,
// `step` and `peak_bytes`.
absl::StatusOr<MemoryFitted> FitMemory(const Instruction& of, absl::Span<const Instruction* const> by,
                                       const MemoryFit& fit, GradientOptions* options);

// Seconds of an op by its work, of a loop by its trips and body. `model` must outlive the function.
std::function<double(const Instruction&)> OpSeconds(const CostModel& model);

}  // namespace toroid
