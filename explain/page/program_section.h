// The instructions of a program as columns of JSON, for pages that draw the surroundings of a collective.
//
//   instructions  of the whole program
//   opcode, shape, computation, op_name, source
//                 for each instruction an index into the text lists opcodes, shapes, computations, op_names, sources
//   name, bytes   for each instruction its name, as in HLO text, and the bytes of its result
//   operands      for each instruction a list of places in these columns
//   sharding      pairs of a place and an index into shardings, for those that say how the array of which they hold a part is cut
//   carried       pairs (from, to) of places: a value that enters or leaves a called computation. The state of a loop is carried
//                 element by element, from its first value to the get-tuple-element in the body, and from the body's root to
//                 the get-tuple-element behind the loop.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"
#include "nlohmann/json.hpp"

namespace toroid {

// A page with so many instructions has some ten megabytes and opens within two seconds.
inline constexpr int64_t kMostPageInstructions = 150000;

struct ProgramSection {
  nlohmann::ordered_json json;
  absl::flat_hash_map<const Instruction*, int> place;  // In the columns.
};

// Of a program with more than `most` instructions, those nearest to `around` are taken, along operands and users.
ProgramSection MakeProgramSection(const Module& module, absl::Span<const Instruction* const> around,
                                  int64_t most = kMostPageInstructions);

}  // namespace toroid
