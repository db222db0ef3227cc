#include "hlo/builder/counted_loop.h"

namespace toroid {

Value CountedLoop(InstructionBuilder& b, absl::Span<const Value> state, int64_t trips, Computation* body) {
  const Value init = b.Tuple(state);
  InstructionBuilder condition = b.InNewComputation("trips_left");
  const Value at = condition.GetTupleElement(condition.Parameter(init->shape(), "state"), 0);
  Computation* more = condition.Finish(condition.Compare(at, condition.IntScalar(trips), "LT"));
  return b.While(init, more, body);
}

}  // namespace toroid
