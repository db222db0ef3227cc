// Random programs for differential tests: one op (or a loop, or a branch) on random shapes, element types and
// shardings, perhaps followed by a second op, as HLO text with arguments.
//
// Floats hold small integers, so that sums in any order are exact and results must be equal bit for bit
// (except for the sign of zero). Transcendental functions, division, transforms and linear algebra are
// exceptions. A program depends on its seed alone.
// BUILD: srcs += "generator.h", "elementwise_kinds.cc", "movement_kinds.cc", "contraction_kinds.cc"
// BUILD: srcs += "reduction_kinds.cc", "indexing_kinds.cc", "control_flow_kinds.cc"
// BUILD: srcs += "tuple_kinds.cc", "composite_kinds.cc", "manual_kinds.cc"
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "hlo/ir/literal.h"
#include "partitioner/prepare/partition_options.h"

namespace toroid {

struct RandomProgram {
  std::string kind;  // The op under test.
  std::string text;
  // The unpartitioned program, if it is another one: without regions written per device.
  std::string reference;
  std::vector<Literal> arguments;
  bool exact = true;         // If false, results are equal up to the tolerance of their type.
  PartitionOptions options;  // Device count, device order, poison.
};

// Names of the kinds of programs.
const std::vector<std::string>& RandomProgramKinds();

// `kind` empty: any kind.
RandomProgram MakeRandomProgram(uint64_t seed, absl::string_view kind = "");

}  // namespace toroid
