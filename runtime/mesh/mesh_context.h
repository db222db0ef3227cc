// The devices that run a computation, which of them are on this rank, and the state of a run.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/mesh/infeed.h"
#include "runtime/mesh/mesh_buffer.h"
#include "runtime/mesh/outfeed.h"

namespace toroid {

class Progress;
class StepTimer;
class Transport;

// State of one run of a module, shared by all its computations.
struct RunState {
  // Limit for the bytes of all values; bytes of the values that the caller holds, which count as well.
  int64_t max_bytes = INT64_MAX, held_bytes = 0;
  // Instructions that may still be executed.
  int64_t steps_left = INT64_MAX;
  // The error that ends the run already names its instruction.
  bool located = false;
  // State of rng-get-and-update-state: a 128-bit counter, low word first.
  uint64_t rng_state[2] = {0, 0};
  // Draws made by rng so far.
  uint64_t rng_draws = 0;
  // Values for infeeds, null for none; how many of them were taken; values that outfeeds gave.
  const Infeed* infeed = nullptr;
  int64_t infeed_taken = 0;
  Outfeed outfeed;
  // Receiver of progress, null for none; the step being executed covers [begin, begin + width) of the work, 0
  // to 1.
  Progress* progress = nullptr;
  double progress_begin = 0, progress_width = 1;
  // Takes the times of the steps, null for none.
  StepTimer* timer = nullptr;
  // Connects the ranks that share the devices; null if all devices are here.
  Transport* transport = nullptr;
  // Messages of send ops that no recv-done has taken, by channel and receiving device.
  absl::flat_hash_map<std::pair<int64_t, int64_t>, std::deque<MeshBuffer>> messages;
};

// The devices that run a computation, and which of them are here (on this rank). Devices are numbered replica
// * num_partitions + partition; the active ones, in ascending order, have *places* 0, 1, ... The places here
// are consecutive, and each has a row in every buffer that is not uniform. In one process all active devices
// are here: places are rows.
struct MeshContext {
  int64_t num_replicas = 1;
  int64_t num_partitions = 1;
  // The active devices: their number, and their ids, ascending; null if place i is device i.
  int64_t num_active = 1;
  const std::vector<int64_t>* active = nullptr;
  // Places [first_here, first_here + copies) are here: the rows of non-uniform buffers.
  int64_t first_here = 0;
  int64_t copies = 1;
  // Rows are elements that a scalar computation is applied to, not devices.
  bool lifted = false;
  RunState* run = nullptr;

  int64_t num_devices() const { return num_replicas * num_partitions; }
  int64_t DeviceAt(int64_t place) const { return active == nullptr ? place : (*active)[place]; }
  int64_t DeviceOfRow(int64_t row) const { return DeviceAt(first_here + row); }
  bool IsHere(int64_t place) const { return first_here <= place && place < first_here + copies; }
  // Other ranks run the same computation on their own devices, so a decision about the next step that depends
  // on the rows here needs their agreement.
  bool shared() const { return run->transport != nullptr && !lifted; }
};

}  // namespace toroid
