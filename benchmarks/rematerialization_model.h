// Rematerialization in training steps that do not fit into memory: Toroid's beside that of Google's compiler
// for TPU v3.
//
// MoE(2048E) of examples/moe with 38 to 52 layers, in sequences of 256 tokens, which keep all values for the
// backward pass. Each step was given to the compiler (libtpu 0.0.52) as Toroid partitions it. The steps of 38
// and 40 layers calibrated the share of memory at which rematerialization begins (program_memory_share of
// simulator/machines/tpu_v3.textproto); the others were predicted. Further steps are other models on one
// core, by JAX (tests/corpus/tpu_v3/oversized). gpt_*, mlp_deep and resnet_f32 showed the order in which
// programs are scheduled (rematerialization_pass.h); the other four were made after that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace toroid {

struct RepeatedWork {
  double all_milliseconds = 0;  // The whole program, without communication.
  int64_t values = 0;           // Number of values made a second time.
  double milliseconds = 0;      // Spent on making them again.
  double gibibytes = 0;         // Allocated beside arguments and results.
  bool fits = true;             // If false, the compiler refuses the program, and states none of these.

  double Share() const { return milliseconds / all_milliseconds; }
};

struct OversizedProgram {
  std::string name;
  RepeatedWork compiler, ours;
};

// The MoE steps. Errors: those of building, partitioning and simulating.
absl::StatusOr<std::vector<OversizedProgram>> SimulateOversizedSteps();
// The steps of a folder like tests/corpus/tpu_v3/oversized. Errors: those of reading and simulating.
absl::StatusOr<std::vector<OversizedProgram>> SimulateOversizedPrograms(const std::string& folder);

}  // namespace toroid
