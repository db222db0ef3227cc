// What the author of a program calls a parameter of its entry.
#ifndef TOROID_HLO_IR_PARAMETER_NAME_H_
#define TOROID_HLO_IR_PARAMETER_NAME_H_

#include <string>

#include "hlo/ir/instruction.h"

namespace toroid {

// The op_name that JAX gives it, "params['w_down']"; its own name, "Arg_3.4", without one.
inline std::string ParameterName(const Instruction& parameter) {
  if (parameter.metadata() != nullptr && !parameter.metadata()->op_name().empty()) {
    return parameter.metadata()->op_name();
  }
  return parameter.name().empty() ? std::string(parameter.opcode_name()) : parameter.name();
}

}  // namespace toroid

#endif  // TOROID_HLO_IR_PARAMETER_NAME_H_
