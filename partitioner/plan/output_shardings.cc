#include "partitioner/plan/output_shardings.h"

#include <cstdint>

namespace toroid {
namespace {

// By leaf of the result: whether it shares memory with an argument.
std::vector<bool> AliasedLeaves(const Module& module, const Shape& result) {
  std::vector<bool> aliased(result.NumLeaves(), false);
  for (const auto& entry : module.proto().input_output_alias().entries()) {
    const Shape* shape = &result;
    int64_t leaf = 0;
    bool inside = true;
    for (const int64_t index : entry.output_shape_index()) {
      inside = index >= 0 && index < static_cast<int64_t>(shape->tuple_shapes().size());
      if (!inside) break;
      for (int64_t i = 0; i < index; ++i) leaf += shape->tuple_shapes()[i].NumLeaves();
      shape = &shape->tuple_shapes()[index];
    }
    for (int64_t i = 0; inside && i < shape->NumLeaves(); ++i) aliased[leaf + i] = true;
  }
  return aliased;
}

}  // namespace

std::vector<bool> FreeOutputs(const PreparedProgram& program) {
  std::vector<bool> free = AliasedLeaves(*program.flat, program.flat->entry()->root()->shape());
  for (size_t i = 0; i < free.size(); ++i) {
    const int output = program.graph->outputs()[i];
    free[i] =
        !free[i] && !program.annotations.tensor[output].has_value() && program.graph->shape(output).IsArray();
  }
  return free;
}

Sharding OutputSharding(const PreparedProgram& program, int tensor, bool is_free, const Sharding& planned,
                        const ValuePlaces& values) {
  Sharding wanted = planned;
  wanted.manual = program.annotations.manual[tensor];
  if (!is_free || wanted.manual != 0 || values.IsFree(tensor)) return wanted;
  const Shape& shape = program.graph->shape(tensor);
  const Sharding* made = nullptr;
  for (const Sharding* place : values.PlacesOf(tensor)) {
    const ReshardPlan& plan =
        program.planner->Plan(shape.dims(), ByteWidth(shape.element_type()), *place, wanted);
    if (plan.sent_bytes == 0) return wanted;
    // Callers cannot always take tiles of unequal size.
    bool even = true;
    for (int d = 0; d < shape.rank(); ++d) {
      even &= shape.dim(d) % program.annotations.mesh.Product(place->dims[d]) == 0;
    }
    if (made == nullptr && even && place->partial == 0) made = place;
  }
  return made == nullptr ? wanted : *made;
}

}  // namespace toroid
