// GShard's table 4 beside the simulator: how compute and communication of each partition grow with the number
// D of partitions when the dimensions named "grows" are O(D).
//
// Each row is a small module, built, partitioned and simulated on TPU v3 slices of 16 to 2,048 cores. An
// exponent is the slope of the least-squares line through (log D, log y) at the eight sizes; y is
//   simulated seconds of computation and of collectives
//   flops of one partition's program, and the bytes that its collectives carry per device. A byte counts once
//   per link that it crosses: the d*h of GShard's section 5.3 (bytes x mean hops), by which an all-to-all
//   grows with the root of D
// All rows follow one rule for sizes. The shard that a collective takes (for a halo exchange the halo;
// without a collective the result) has 2^20 elements per device (4 MiB in f32). Any other dimension has 512
// elements per device if it grows, and 2,048 if it does not. Twice as many would not fit into a core's memory
// in the rows that are O(D). Two programs cannot follow the rule in everything. The dispatch einsum has one
// group of 2,048 tokens per device and 4,096 / E slots per expert, as in the paper's model, hence M = 256;
// and, in another row, a group of 8,192 tokens, whose slots fill a tile's rows at any E. The convolution has
// 8 images of 128 features in and out, 1,024 columns and a window of 3 x 3.
// Source of the paper's exponents: GShard, arXiv:2006.16668, table 4.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace toroid {

struct Table4Point {
  int64_t cores = 0;
  double compute_seconds = 0, communication_seconds = 0;
  double flops = 0;
  double sent_bytes = 0;     // By one device.
  double carried_bytes = 0;  // The same, times the links crossed.
};

struct Table4Row {
  std::string op;                                     // "Matmul AB,BC->AC"
  std::string grows;                                  // "B"
  double paper_compute = 0, paper_communication = 0;  // Exponents of D.
  std::string paper_collective;                       // "all-reduce"; empty: none.
  std::vector<Table4Point> points;                    // For 16 to 2,048 cores.
  std::string collective;                             // The collective of the partitioned programs.
};

// Errors: those of the builder, the partitioner and the simulator.
absl::StatusOr<std::vector<Table4Row>> SimulateTable4();

// Slope of log y over log D; 0 if all y are 0.
double Exponent(const Table4Row& row, double Table4Point::*y);

}  // namespace toroid
