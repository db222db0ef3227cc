// What the outputs of a program are called in the author's tree.
#pragma once

#include <string>
#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// Where JAX says which leaf of the returned tree an output is: on `value`, or on what it annotates.
std::string ResultInfo(const Instruction& value);

// By output, an element of the root's tuple or the root alone: result['w'], or "" where the module does not say it.
std::vector<std::string> OutputNames(const Module& module);

}  // namespace toroid
