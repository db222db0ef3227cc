// What a simulation says of one execution of a program, as plain data: the source of every report.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace toroid {

// Units of a core, as reports name them.
inline constexpr std::array<const char*, 4> kUnits = {"matrix", "vector", "memory", "movement"};

struct PredictedGroup {
  std::string instruction;  // "computation/name"
  std::string opcode;
  std::string op_class;  // "dot", "elementwise", "reduce", "copy", ...
  // What limits the group, the unit that is busy longest or the fixed cost of starting it: "matrix", "vector", "memory",
  // "movement", "latency".
  std::string bound;
  std::string source;       // "file:line", empty if unknown
  std::string op_name;      // What the author's framework calls it; empty if unknown.
  int64_t picoseconds = 0;  // One execution.
  int64_t roofline_ps = 0;
  double executions = 1;  // In one step; a fraction below a branch.
  int64_t flops = 0;      // One execution, as are bytes.
  int64_t bytes = 0;
  std::array<int64_t, kUnits.size()> unit_ps = {};  // What each would take if it waited for nothing.
  double windows = 1;                               // Of on-chip memory, in which the group passes.
  // Of a group with several products of matrices: what each of them is called and its part of the time.
  struct Part {
    std::string op_name;
    int64_t picoseconds = 0;
  };
  std::vector<Part> parts;
  std::vector<std::string>
      rules;  // That decided what it is and how its time is counted (simulator/rules/rules.inc).
};

// Kinds of copies between host and device, and between the device's memory and memory on the chip, beside those of collectives.
inline constexpr char kToHostKind[] = "to-host", kToDeviceKind[] = "to-device", kToChipKind[] = "prefetch";

// Also of such a copy.
struct PredictedCollective {
  std::string instruction;
  std::string kind;  // "all-reduce", ...; "to-host", "to-device", "prefetch"
  std::string algorithm;
  std::string source;
  std::string op_name;
  std::string cause;  // Which step of partitioning needed it; empty if unknown.
  int64_t picoseconds = 0;
  int64_t roofline_ps = 0;
  double executions = 1;
  int64_t bytes = 0;   // Of one device's operands.
  int link_load = -1;  // In PredictedNetwork::link_loads.
};

inline bool IsHostCopy(const PredictedCollective& row) {
  return row.kind == kToHostKind || row.kind == kToDeviceKind;
}

// Streams of a core.
enum class Stream { kCompute = 0, kCommunication = 1, kToHost = 2, kToDevice = 3, kToChip = 4 };

// One execution, loops unrolled.
struct PredictedEvent {
  int64_t start_ps = 0;
  int64_t picoseconds = 0;
  Stream stream = Stream::kCompute;
  int row = 0;  // In groups or collectives.
};

struct PredictedNetwork {
  std::vector<int64_t> axes;  // Chips along each.
  std::vector<bool> wrap;
  std::vector<bool> far_wrap;  // Links that wrap carry more than exchanges between neighbours.
  int64_t cores_per_chip = 1;
  // Of the time of the step, over all links: the busiest, and the mean.
  double max_utilization = 0;
  double mean_utilization = 0;
  // Of each pattern of traffic: the share of its time in which each directed link carries bytes; index
  // (chip * axes + axis) * 2 + direction, chips in row-major order, direction 0 towards the higher coordinate; -1: none.
  std::vector<std::vector<float>> link_loads;
};

// Parts of what a program holds, as reports name them (MemoryClass).
inline constexpr std::array<const char*, 5> kMemoryParts = {"parameters", "state", "slots", "activations",
                                                            "workspace"};

struct PredictedMemory {
  struct Value {
    std::string instruction;
    std::string shape;
    std::string memory_class;
    std::string source;
    std::string op_name;
    int64_t bytes = 0;
  };
  struct Sample {
    int64_t start_ps;
    std::array<int64_t, kMemoryParts.size()>
        bytes;  // By part, until the next sample; slots are no state here.
  };
  int64_t capacity = 0;
  int64_t parameters = 0, state = 0, activations = 0, workspace = 0, peak = 0;
  int64_t slots = 0;  // Of `state`: what no product reads.
  // Beside arguments and results, places that nothing fits in included; and all of it together.
  int64_t temporary = 0, allocated = 0;
  // The peak of the host's memory, and the bytes that one step moves between host and device.
  int64_t host_peak = 0, to_host = 0, to_device = 0;
  std::string peak_at;
  std::vector<Value> largest;  // At the peak, largest first.
  std::vector<Sample> samples;
};

struct Prediction {
  struct Class {
    std::string name;
    double picoseconds;
  };

  std::string module;
  std::string machine;
  std::string rates;  // "compiler" or "measured" (simulator/machines/machine.h).
  int64_t devices = 1;
  bool overlap = false;
  int64_t step_ps = 0;
  // If every unit and link ran at its full rate: the sum over groups and collectives of their roofline times.
  int64_t roofline_ps = 0;
  std::vector<Class> breakdown;                  // Largest first. Sum: step_ps, unless streams overlap.
  std::vector<PredictedGroup> groups;            // Costliest first, all executions together.
  std::vector<PredictedCollective> collectives;  // Likewise.
  std::vector<PredictedEvent> events;            // By start.
  bool events_truncated = false;
  PredictedNetwork network;
  PredictedMemory memory;
  double flops_per_second = 0, bytes_per_second = 0;  // The machine's roofline.
  std::vector<std::string> notes;                     // What was assumed.
  // Share of the step in which the core does nothing but communicate with others.
  double communication_share = 0;
  // Times in a step of collectives, and of copies between host and device; of these what nothing hides.
  int64_t communication_ps = 0, exposed_communication_ps = 0;
  int64_t host_ps = 0, exposed_host_ps = 0;
};

}  // namespace toroid
