// Names by which a user can annotate the tensors of a program.
//
// The program of the flow graph is not the user's module: calls are inlined, and an op may have become several that keep its
// name. A value inside has a name here only if the module has one instruction of that name, and those of the program are the
// same op: several where the function is called several times. An annotation of that name means them all.
#pragma once

#include <string>
#include <vector>

#include "hlo/ir/module.h"
#include "partitioner/prepare/prepared_program.h"

namespace toroid {

// By tensor of the flow graph: a NAME of ../prepare/sharding_lines.h that means it in `module`, of which the program was
// prepared; empty: it has none. Arguments have one unless they are tuples or, as in manual regions, local to a device already.
std::vector<std::string> GivenNamesOfTensors(const Module& module, const PreparedProgram& program);

}  // namespace toroid
