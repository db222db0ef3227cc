// Numbers the ops of a program by what they compute: ops of one class differ in nothing that decides how they are cut.
//
// A program of many layers has few classes, so that what is found out for one op serves all others of its class.
// Example: the 36 products of f32[64,32] and f32[32,128] of a model of 36 layers are of one class.
#pragma once

#include <vector>

#include "partitioner/prepare/prepared_program.h"

namespace toroid {

// By op of the flow graph: its class. Two ops are of one class if their opcodes, sharding rules, attributes, shapes and manual
// axes are the same, and so are the constants that they take and the slices that they read through.
std::vector<int> OpClasses(const PreparedProgram& program);

// By tensor of the flow graph: a number that tensors of the same dimensions and width of elements share.
std::vector<int> TensorClasses(const FlowGraph& graph);

}  // namespace toroid
