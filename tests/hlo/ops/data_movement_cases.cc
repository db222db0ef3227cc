#include "tests/hlo/ops/constraint_cases.h"

namespace toroid {

std::vector<ViolatingCase> DataMovementCases() {
  return {
      {"C1", "f32[8,5] broadcast(v), dimensions={}",
       "dimensions: found 0 entries, expected one per dimension of f32[8]"},
      {"C1", "f32[8,5] broadcast(v), dimensions={2}", "dimension of the result: found 2"},
      {"C1", "f32[8,4] broadcast(x), dimensions={0,0}", "found 0 twice, expected distinct ones"},
      {"C2", "f32[8,5] broadcast(v), dimensions={1}",
       "dimension 1 of the result f32[8,5]: found 5, expected 8, as dimension 0 of the operand"},
      {"C2", "w = f32[1] broadcast(s), dimensions={}\nf32[8] broadcast(w), dimensions={0}",
       "found 8, expected 1"},
      {"C3", "s32[8,4] broadcast(v4), dimensions={1}", "found s32[8,4], expected type f32"},
      {"C1", "f32[33] reshape(x)", "found f32[33], expected an array of 32 elements, as f32[8,4]"},
      {"C2", "s32[32] reshape(x)", "found s32[32], expected type f32"},
      {"C1", "f32[33] bitcast(x)", "found f32[33], expected an array of as many bits as f32[8,4]"},
      {"C1", "u8[4] bitcast(p)", "as many bits as pred[8,4]"},
      {"C1", "f32[8,4] transpose(x), dimensions={0,0}", "found 0 twice"},
      {"C1", "f32[8] transpose(x), dimensions={0}",
       "found {0}, expected a permutation of the dimensions of f32[8,4]"},
      {"C1", "f32[8,4] transpose(x), dimensions={0,-1}", "found -1"},
      {"C1", "f32[8,4] reverse(x), dimensions={2}", "found 2, expected one of the 2 dimensions"},
      {"C1", "f32[8,4] concatenate(x), dimensions={-1}", "dimension: found -1"},
      {"C1", "f32[8,4] concatenate(x), dimensions={0,1}", "dimensions: found {0,1}, expected exactly one"},
      {"C2", "f32[16,4] concatenate(x, n), dimensions={0}", "operand 1: found s32[8,4], expected type f32"},
      {"C3", "f32[8,10] concatenate(x, y), dimensions={1}",
       "operand 1: found f32[4,6], expected the sizes of f32[8,4] but for dimension 1"},
      {"C3", "f32[8,10] concatenate(x, v), dimensions={0}", "operand 1: found f32[8]"},
      {"C1", "f32[8,4] slice(x), slice={[0:8]}",
       "slice: found 1 entries, expected one per dimension of f32[8,4]"},
      {"C2", "f32[9,4] slice(x), slice={[0:9], [0:4]}",
       "slice of dimension 0: found [0:9], expected 0 <= start <= limit <= 8"},
      {"C2", "f32[1,4] slice(x), slice={[-1:0], [0:4]}", "found [-1:0]"},
      {"C2", "f32[1,4] slice(x), slice={[3:2], [0:4]}", "found [3:2]"},
      {"C3", "f32[8,4] slice(x), slice={[0:8:0], [0:4]}",
       "slice stride of dimension 0: found 0, expected 1 or more"},
      {"C3", "f32[1,4] slice(x), slice={[0:8:9223372036854775807], [0:4]}", "found 9223372036854775807"},
      {"C1", "f32[8,4] pad(x, s), padding=0_0", "padding: found 1 entries"},
      {"C2", "f32[8,4] pad(x, i), padding=0_0x0_0", "the padding value: found s32[], expected f32[]"},
      {"C3", "f32[8,4] pad(x, s), padding=0_0_-1x0_0_0",
       "interior padding of dimension 0: found -1, expected 0 or more"},
      {"C4", "f32[8,4] pad(x, s), padding=-9_0x0_0", "padding of dimension 0 of size 8: found -9_0_0"},
      {"C4", "f32[8,4] pad(x, s), padding=9223372036854775807_0x0_0", "a size of 0 or more"},
      {"C4", "w = f32[1] broadcast(s), dimensions={}\nf32[1] pad(w, s), padding=0_0_9223372036854775807",
       "found 0_0_9223372036854775807"},
      {"C1", "s32[4] iota(), iota_dimension=1", "dimension: found 1"},
      {"C1", "s32[] iota(), iota_dimension=0", "expected one of the 0 dimensions"},
      {"C2", "pred[4] iota(), iota_dimension=0", "found pred, expected integers, floats or complex numbers"},
  };
}

}  // namespace toroid
