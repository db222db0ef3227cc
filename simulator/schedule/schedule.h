// When each op of a program starts and ends on a core.
//
// All cores run one program, so one schedule stands for all. A core does one thing at a time, in the order of the
// instructions, and waits in a collective until its bytes have arrived:
//   step = sum over ops of executions * time
// With `overlap`, or if they are asynchronous, collectives have a stream of their own: each stream takes its ops in program
// order, and an op starts when its stream is free and its operands are there:
//   start = max(end of the previous op of its stream, ends of its operands)
// Copies between host and device have a stream for each direction, always. In a trip of a loop nothing waits for copies to the
// host, which may last into the next trip, nor for copies to the device of arrays whose place is known when the trip begins,
// which are made in the trip before; but no trip is shorter than all its copies of one direction.
// Copies between the device's memory and memory on the chip, where a program has them, have a stream as well.
// A loop, branch or call waits for all streams and holds them. An iteration is condition, then body.
// Example: a = dot (10 us), b = all-reduce(a) (30 us), c = dot (20 us, not of b): 60 us, with overlap 40.
// Source: no overlap is what GShard figure 8 shows, where dispatch and combine stand on top of the rest (section 5.3).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// kToChip: between the device's memory and memory on the chip, either way.
enum class HostCopy : uint8_t { kNone, kToHost, kToDevice, kToChip };

// One execution of one op, that runs no body, on the core that takes longest.
struct OpTime {
  int64_t picoseconds = 0;
  bool is_communication = false;
  bool is_asynchronous =
      false;  // A collective that other ops run beside, also without ScheduleOptions::overlap.
  HostCopy host_copy = HostCopy::kNone;
};
using OpTimes = std::function<absl::StatusOr<OpTime>(const Instruction& instruction)>;

struct ScheduleOptions {
  bool overlap = false;
  // Trips of a loop whose length the program does not show.
  int64_t unknown_trip_count = 1;
  // How often a conditional takes its costliest branch; the other branches share the rest evenly.
  double costliest_branch_probability = 1.0;
};

struct ScheduledOp {
  const Instruction* instruction = nullptr;
  int64_t start_ps = 0;  // Within one run of its computation.
  int64_t end_ps = 0;    // All trips and branches included.
  bool is_communication = false;
  HostCopy host_copy = HostCopy::kNone;
  int64_t trips = 1;
};

// One run of a computation.
struct ComputationSchedule {
  std::vector<ScheduledOp> ops;  // Those that take time or run bodies, in program order.
  int64_t duration_ps = 0;
  double executions = 0;  // In one step; a fraction below a branch.
};

struct Schedule {
  std::vector<ComputationSchedule> computations;  // By index; empty for those inside of fusions and reducers.
  int64_t step_ps = 0;
  std::vector<const Instruction*> unknown_loops;  // Their trips were assumed.
};

// Errors: those of `times`; kInvalidArgument for a sum beyond 2^63 ps (106 days).
absl::StatusOr<Schedule> ComputeSchedule(const Module& module, const OpTimes& times,
                                         const ScheduleOptions& options);

}  // namespace toroid
