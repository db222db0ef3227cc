// The page of `hlo-diff --html`: where two programs differ, to look at in a browser. One file; it opens from disk without a
// network.
#pragma once

#include <string>

#include "explain/diff/program_diff.h"

namespace toroid {

std::string DiffPageText(const ProgramDiff& diff);

}  // namespace toroid
