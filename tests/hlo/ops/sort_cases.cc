#include "tests/hlo/ops/constraint_cases.h"

namespace toroid {

std::vector<ViolatingCase> SortCases() {
  return {
      {"C1", "f32[8,4] sort(x), dimensions={2}, to_apply=ge", "dimension: found 2"},
      {"C1", "f32[8,4] sort(x), dimensions={0,1}, to_apply=ge",
       "dimensions: found {0,1}, expected exactly one"},
      {"C2", "(f32[8,4], f32[8]) sort(x, v), dimensions={0}, to_apply=ge",
       "found f32[8,4] and f32[8], expected equal sizes"},
      {"C3", "f32[8,4] sort(x), dimensions={0}, to_apply=add",
       "result of comparator add: found f32[], expected pred[]"},
      {"C3", "s32[8,4] sort(n), dimensions={0}, to_apply=ge",
       "parameter 0 of comparator ge: found f32[], expected s32[]"},
      {"C1", "(f32[8,5], s32[8,5]) topk(x), k=5", "k: found 5, expected 0 .. the last size of f32[8,4]"},
      {"C1", "(f32[8,4], s32[8,4]) topk(x), k=-1", "k: found -1"},
      {"C1", "(f32[], s32[]) topk(s), k=0", "the last size of f32[]"},
      {"C2", "(c64[8,2], s32[8,2]) topk(c), k=2", "the operand: found c64[8,4], expected integers or floats"},
  };
}

}  // namespace toroid
