// Two programs side by side, as text: `hlo-diff A B`.
//
//   B (xla.hlo) sends 28.7 kB per device, 14.3 kB more than A (ours.hlo), +100.0 %; the largest difference, +14.3 kB, is at layer.py:12:
//   1 all-gather over 8 instead of 1 all-to-all over 8
//                            A             B
//     sent             14.3 kB       28.7 kB  +100.0 %
//     ...
//   sent, where it differs:
//     +14.3 kB  layer.py:12  mlp/dot_general
//       A  1 all-to-all over 8 sends 14.3 kB: mlp/dot_general.3: [{a8}, {}] -> [{}, {a8}]
//       B  1 all-gather over 8 sends 28.7 kB: mlp/dot_general
#pragma once

#include <string>

#include "explain/diff/program_diff.h"

namespace toroid {

// `width`: columns of a line. `full`: all rows, not only those that differ most.
std::string DiffText(const ProgramDiff& diff, int width, bool full = false);

// Its first line, without the line's end: what a person wants to know first.
std::string DiffSummary(const ProgramDiff& diff);

}  // namespace toroid
