// The program author's name for a parameter of the entry.
#pragma once

#include <string>

#include "hlo/ir/instruction.h"

namespace toroid {

// The op_name that JAX gives the parameter, "params['w_down']"; without one, its own name, "Arg_3.4".
inline std::string ParameterName(const Instruction& parameter) {
  if (parameter.metadata() != nullptr && !parameter.metadata()->op_name().empty()) {
    return parameter.metadata()->op_name();
  }
  return parameter.name().empty() ? std::string(parameter.opcode_name()) : parameter.name();
}

}  // namespace toroid
