#include "tests/hlo/ops/constraint_cases.h"

namespace toroid {

std::vector<ViolatingCase> RandomCases() {
  return {
      {"C1", "c64[8] rng(s, s), distribution=rng_uniform",
       "the result: found c64[8], expected integers, floats or booleans"},
      {"C2", "f32[8] rng(i, s), distribution=rng_uniform", "operand 0: found s32[], expected f32[]"},
      {"C2", "f32[8] rng(s, v), distribution=rng_normal", "operand 1: found f32[8], expected f32[]"},
      {"C3", "f32[8] rng(s, s), distribution=rng_uniform",
       "distribution: found 0, expected rng_uniform or rng_normal",
       [](Instruction* it) { it->MutableAttrs()->set_distribution(xla::RNG_INVALID); }},
      {"C4", "s32[8] rng(i, i), distribution=rng_normal",
       "the result of rng_normal: found s32[8], expected floats"},
      {"C1", "(u64[2], u32[8]) rng-bit-generator(state), algorithm=rng_default",
       "algorithm: found 9, expected rng_default, rng_three_fry or rng_philox",
       [](Instruction* it) { it->MutableAttrs()->set_rng_algorithm(static_cast<xla::RandomAlgorithm>(9)); }},
      {"C2", "(f32[8], u32[8]) rng-bit-generator(v), algorithm=rng_default",
       "the state: found f32[8], expected u64[2], or u64[3] but for rng_three_fry"},
      {"C2",
       "w = u64[3] iota(), iota_dimension=0\n(u64[3], u32[8]) rng-bit-generator(w), algorithm=rng_three_fry",
       "the state: found u64[3]"},
      {"C3", "(u64[2], f32[8]) rng-bit-generator(state), algorithm=rng_philox",
       "the result: found (u64[2], f32[8]), expected (state, array of integers of 8 to 64 bits)"},
      {"C3", "(u64[2], u4[8]) rng-bit-generator(state), algorithm=rng_philox", "found (u64[2], u4[8])"},
      {"C3", "u32[8] rng-bit-generator(state), algorithm=rng_philox", "found u32[8]"},
  };
}

}  // namespace toroid
