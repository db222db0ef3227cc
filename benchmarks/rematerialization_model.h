// What is made a second time of training steps that do not fit into memory, beside what Google's compiler for TPU v3 makes twice.
//
// MoE(2048E) of examples/moe with 38 to 52 layers, in sequences of 256 tokens, that keep all for the backward pass; each as Toroid
// partitions it was given to the compiler (libtpu 0.0.52). Those of 38 and 40 layers calibrated the share of memory at which either
// begins (program_memory_share of simulator/machines/tpu_v3.textproto); the others were predicted. And steps of other models on one core,
// by JAX (tests/corpus/tpu_v3/oversized): on gpt_*, mlp_deep and resnet_f32 it was found which order programs are put into
// (rematerialization_pass.h); the other four were made after that.
#ifndef TOROID_BENCHMARKS_REMATERIALIZATION_MODEL_H_
#define TOROID_BENCHMARKS_REMATERIALIZATION_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace toroid {

struct RepeatedWork {
  double all_milliseconds = 0;  // Of the program, without what is sent.
  int64_t values = 0;           // Made a second time.
  double milliseconds = 0;      // Of them, where each is made again.
  double gibibytes = 0;         // Handed out beside arguments and results.
  bool fits = true;             // Else the compiler refuses the program, and states none of these.

  double Share() const { return milliseconds / all_milliseconds; }
};

struct OversizedProgram {
  std::string name;
  RepeatedWork compiler, ours;
};

// The MoE steps. Errors: those of building, partitioning and simulating.
absl::StatusOr<std::vector<OversizedProgram>> SimulateOversizedSteps();
// Those of a folder like tests/corpus/tpu_v3/oversized. Errors: those of reading and simulating.
absl::StatusOr<std::vector<OversizedProgram>> SimulateOversizedPrograms(const std::string& folder);

}  // namespace toroid

#endif  // TOROID_BENCHMARKS_REMATERIALIZATION_MODEL_H_
