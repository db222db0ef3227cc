#include "tests/hlo/ops/constraint_cases.h"

namespace toroid {

std::vector<ViolatingCase> DotCases() {
  return {
      {"C1", "f32[8,6] dot(x, y), lhs_contracting_dims={7}, rhs_contracting_dims={0}",
       "lhs batch or contracting dimension: found 7"},
      {"C1",
       "f32[2,3,2,5] dot(b, d), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={0}, "
       "rhs_contracting_dims={0}",
       "found 0 twice"},
      {"C1", "f32[8,6] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={-1}", "rhs"},
      {"C2", "f32[8,6] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
       "contracting dimensions: found 0 of f32[8,4] and 0 of f32[4,6], expected equal sizes"},
      {"C2", "f32[8,6] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={}",
       "found {1} of the lhs and {} of the rhs, expected equally many"},
      {"C2",
       "f32[8,6] ragged-dot(x, y, sizes), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
       "lhs_ragged_dims={0}",
       "equal sizes"},
      {"C3", "f32[8,6] dot(c, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
       "types: found c64 times f32 as f32, expected complex numbers in all three, or in none"},
      {"C4",
       "f32[8,5] ragged-dot(x, d, sizes), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
       "lhs_ragged_dims={}, rhs_group_dims={0}",
       "ragged dimensions: found {}, expected exactly one"},
      {"C4",
       "f32[8,5] ragged-dot(x, d, sizes), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
       "lhs_ragged_dims={2}, rhs_group_dims={0}",
       "ragged dimension: found 2"},
      {"C5",
       "f32[8,5] ragged-dot(x, d, sizes), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
       "lhs_ragged_dims={0}, rhs_group_dims={}",
       "expected exactly one, as the ragged dimension is free"},
      {"C5",
       "f32[8,5] ragged-dot(x, d, sizes), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
       "lhs_ragged_dims={0}, rhs_group_dims={1}",
       "found 1, a batch or contracting one, expected a free dimension"},
      {"C5",
       "f32[2,4,4] ragged-dot(x, x, sizes), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
       "lhs_ragged_dims={0}, rhs_group_dims={1}",
       "expected none"},
      {"C6",
       "f32[8,5] ragged-dot(x, d, v), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
       "lhs_ragged_dims={0}, rhs_group_dims={0}",
       "group sizes: found f32[8], expected integers [g] or [,g], g = 2"},
      {"C6",
       "f32[8,5] ragged-dot(x, d, idx), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
       "lhs_ragged_dims={0}, rhs_group_dims={0}",
       "found s32[3,1]"},
      {"C4", "f32[8,6] scaled-dot(x, y, v, s), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
       "operand 2: found f32[8], expected a scalar, or sizes that divide those of f32[8,4]"},
      {"C4", "f32[8,6] scaled-dot(x, y, s, upd), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
       "operand 3: found f32[3,4]"},
  };
}

}  // namespace toroid
