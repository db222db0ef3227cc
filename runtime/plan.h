// A computation made ready to run: a flat list of steps over numbered slots, with the last use of every value
// known.
//
// Built once per computation (plan_builder.h); running it looks up no names and allocates nothing but
// results.
#ifndef TOROID_RUNTIME_PLAN_H_
#define TOROID_RUNTIME_PLAN_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "runtime/mesh_buffer.h"
#include "runtime/npy.h"
#include "runtime/outfeed.h"

namespace toroid {

class OpCall;
class Progress;
class Transport;
using Kernel = absl::Status (*)(OpCall& call);

// State of one run of a module, shared by all its computations.
struct RunState {
  // Most bytes of values, those included that the caller holds beside the run.
  int64_t max_bytes = INT64_MAX, held_bytes = 0;
  // Instructions that may still be executed.
  int64_t steps_left = INT64_MAX;
  // An error already names its instruction.
  bool located = false;
  // Of rng-get-and-update-state: a 128-bit counter, low word first.
  uint64_t rng_state[2] = {0, 0};
  // Draws made by rng so far.
  uint64_t rng_draws = 0;
  // What infeeds still take, in reverse order, and what outfeeds gave.
  std::vector<NpyArray> infeed;
  Outfeed outfeed;
  // Where to tell how far the run is, null for nowhere; and the part of the work, 0 to 1, that is being done.
  Progress* progress = nullptr;
  double progress_begin = 0, progress_width = 1;
  // What connects the ranks that share the devices; null if all devices are here.
  Transport* transport = nullptr;
  // Messages of send that no recv-done took yet, by channel and receiving device.
  absl::flat_hash_map<std::pair<int64_t, int64_t>, std::deque<MeshBuffer>> messages;
};

// The devices that run a computation, and which of them are here. Devices are numbered replica * num_partitions +
// partition; the active ones, in ascending order, have *places* 0, 1, ... Those here are consecutive places, and each
// has a row in every buffer that is not uniform. In one process all active devices are here: places are rows.
struct MeshContext {
  int64_t num_replicas = 1;
  int64_t num_partitions = 1;
  // The devices that run: how many, and which, ascending; null if place i is device i.
  int64_t num_active = 1;
  const std::vector<int64_t>* active = nullptr;
  // Of these, places [first_here, first_here + copies) are here: the rows of non-uniform buffers.
  int64_t first_here = 0;
  int64_t copies = 1;
  // Rows are elements that a scalar computation is applied to, not devices.
  bool lifted = false;
  RunState* run = nullptr;

  int64_t num_devices() const { return num_replicas * num_partitions; }
  int64_t DeviceAt(int64_t place) const { return active == nullptr ? place : (*active)[place]; }
  int64_t DeviceOfRow(int64_t row) const { return DeviceAt(first_here + row); }
  bool IsHere(int64_t place) const { return first_here <= place && place < first_here + copies; }
  // Other ranks run the same computation on devices of theirs: whatever depends on rows must not decide, without
  // their consent, what is done next.
  bool shared() const { return run->transport != nullptr && !lifted; }
};

// What a kernel keeps between calls.
struct KernelCache {
  virtual ~KernelCache() = default;
};

struct Plan;

struct Step {
  Kernel kernel = nullptr;
  const Instruction* instruction = nullptr;
  int result = 0;
  bool takes_element = false;  // See OpCall.
  uint64_t dying = 0;          // Bit i: operand i has no later use and stands only once among the operands.
  int64_t elements = 0;        // Of one row of an array result.
  int64_t bytes = 0;
  absl::InlinedVector<int, 3> operands;  // Slots.
  absl::InlinedVector<int, 2> frees;     // Slots not needed after this step.
  double work = 0;                       // Estimated, called computations included (progress.h).
  std::vector<Plan*> called;
  std::unique_ptr<KernelCache> cache;
};

// Values of one activation; slot i holds the result of instruction i.
using Frame = std::vector<MeshBuffer>;

struct Plan {
  const Computation* computation = nullptr;
  std::vector<Step> steps;
  std::vector<int> parameters;  // Slots, by parameter number.
  std::vector<bool> parameter_used;
  int root = 0;
  bool root_is_constant = false;
  Frame constants;  // A frame that holds the constants alone.
  std::vector<int> constant_slots;
  double work = 0;               // Of all steps.
  std::vector<std::unique_ptr<Frame>> idle_frames;
};

}  // namespace toroid

#endif  // TOROID_RUNTIME_PLAN_H_
