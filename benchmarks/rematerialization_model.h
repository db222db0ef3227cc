// What is made a second time of training steps that do not fit into memory, beside what Google's compiler for TPU v3 makes twice.
//
// The programs are MoE(2048E) of examples/moe with 38 to 52 layers, in sequences of 256 tokens, that keep all for the backward pass;
// each as Toroid partitions it was given to the compiler (libtpu 0.0.52). Those of 38 and 40 layers calibrated the share of memory at
// which either begins (program_memory_share of simulator/machines/tpu_v3.textproto); the others were predicted.
#ifndef TOROID_BENCHMARKS_REMATERIALIZATION_MODEL_H_
#define TOROID_BENCHMARKS_REMATERIALIZATION_MODEL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace toroid {

struct RepeatedWork {
  int64_t values = 0;
  double milliseconds = 0;  // Of them, where each is made again.
  double share = 0;         // Of all but what is sent.
  double gibibytes = 0;     // Handed out beside arguments and results.
  bool fits = true;         // Else the compiler refuses the program, and states none of these.
};

struct StepThatDoesNotFit {
  int64_t layers;
  RepeatedWork compiler, ours;
};

// With at most so many layers. Errors: those of building, partitioning and simulating.
absl::StatusOr<std::vector<StepThatDoesNotFit>> SimulateStepsThatDoNotFit(int64_t most_layers = 52);

}  // namespace toroid

#endif  // TOROID_BENCHMARKS_REMATERIALIZATION_MODEL_H_
