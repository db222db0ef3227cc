// The shardings in which a program returns its results.
#pragma once

#include <vector>

#include "partitioner/plan/value_places.h"
#include "partitioner/prepare/prepared_program.h"

namespace toroid {

// By output: whether it is an array without an annotation that shares no memory with an argument. A free output may keep the
// sharding it was computed in.
std::vector<bool> FreeOutputs(const PreparedProgram& program);

// The sharding in which an output is returned whose value is `tensor` of the graph: `planned`, unless the output is free and
// bringing its value there would send something. The value then stays as it was made, if it is cut into equal parts.
Sharding OutputSharding(const PreparedProgram& program, int tensor, bool is_free, const Sharding& planned,
                        const ValuePlaces& values);

}  // namespace toroid
