// Which line of one program is which line of another, where the author's files changed in between.
#pragma once

#include "explain/diff/cost_diff.h"
#include "hlo/diff/match.h"
#include "hlo/ir/module.h"

namespace toroid {

// A line of A is the line of B that most partners of its instructions are from. Partners of one op_name count, which are the same
// by themselves at least. Has only lines that moved: a line that may have stayed is taken to have stayed.
LineMap MovedLines(const Module& a, const Module& b, const ModuleMatch& match);

}  // namespace toroid
