// The machine that programs are made for unless another one is named: one core of a TPU v3.
//
// Choices that need a machine's rates without a simulator take them from here, and nowhere else. The figures are those of
// simulator/machines/tpu_v3.textproto, which states their sources; a test compares the two.
#pragma once

#include <cstdint>

namespace toroid {

struct Target {
  int64_t memory_bytes = 0;
  double memory_bytes_per_second = 0;
  double link_bytes_per_second = 0;  // One way; what a collective of large arrays gets of the link's 82 GB/s.
  double matrix_flops_per_second = 0;  // bfloat16 operands.
  double vector_flops_per_second = 0;
  double collective_seconds = 0;  // The fixed time of a collective.
};

inline constexpr Target kTarget = {
    .memory_bytes = int64_t{16} << 30,
    .memory_bytes_per_second = 450e9,
    .link_bytes_per_second = 70e9,
    .matrix_flops_per_second = 61.5e12,
    .vector_flops_per_second = 61.5e12 / 20,
    .collective_seconds = 18e-6,
};

}  // namespace toroid
