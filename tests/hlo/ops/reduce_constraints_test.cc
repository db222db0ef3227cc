// BUILD: size = "small"
// BUILD: data = ["//hlo/ops:reduce.h"]
#include "gtest/gtest.h"
#include "tests/hlo/ops/constraint_cases.h"

namespace toroid {
namespace {

TEST(ReduceConstraintsTest, EachIsViolated) {
  const std::string scatter = "f32[8,4] select-and-scatter(x, upd, s), ", folds = ", select=ge, scatter=add";
  ExpectViolated(
      "hlo/ops/reduce.h",
      {
          {"C1", "f32[4] reduce(x), dimensions={0}, to_apply=add", "operands: found 1"},
          {"C1", "f32[4] reduce(x, x, s), dimensions={0}, to_apply=add",
           "operands: found 3, expected n arrays"},
          {"C1", "f32[4] reduce(), dimensions={0}, to_apply=add", "operands: found 0"},
          {"C2", "(f32[4], f32[4]) reduce(x, v, s, s), dimensions={0}, to_apply=add",
           "operand 1: found f32[8], expected the sizes of f32[8,4]"},
          {"C3", "f32[4] reduce(x, i), dimensions={0}, to_apply=add",
           "initial value 0: found s32[], expected f32[]"},
          {"C3", "f32[4] reduce(x, v4), dimensions={0}, to_apply=add", "found f32[4], expected f32[]"},
          {"C4", "f32[4] reduce(x, s), dimensions={0}, to_apply=ge",
           "result of reducer ge: found pred[], expected f32[]"},
          {"C4", "f32[4] reduce(x, s), dimensions={0}, to_apply=add_s32",
           "parameter 0 of reducer add_s32: found s32[], expected f32[]"},
          {"C4", "f32[8,4] reduce-window(x, s), window={size=1x1}, to_apply=body",
           "parameters of reducer body: found 1, expected 2"},
          {"C5", "f32[4] reduce(x, s), dimensions={2}, to_apply=add", "dimension: found 2"},
          {"C5", "f32[4] reduce(x, s), dimensions={0,0}, to_apply=add", "found 0 twice"},
          {"C5", "f32[8,4] reduce-window(x, s), window={size=1}, to_apply=add",
           "window dimensions: found 1, expected one per dimension of f32[8,4]"},
          {"C5", "f32[4,4] reduce-window(x, s), window={size=0x1}, to_apply=add",
           "window size of dimension 0: found 0"},
          {"C6", "f32[4,4] reduce-window(x, s), window={size=1x1 stride=0x1}, to_apply=add", "stride 0"},
          {"C6",
           "f32[4,4] reduce-window(x, s), window={size=1x1 lhs_dilate=9223372036854775807x1}, to_apply=add",
           "do not overflow"},
          {"C7",
           "f32[1,1] reduce-window(x, s), window={size=4294967296x4294967296 "
           "pad=4294967288_0x4294967292_0}, to_apply=add",
           "the number of elements in all windows: found 16 * 1 * 4294967296 * 1 * 4294967296"},
          {"C7",
           "f32[1,1] reduce-window(x, s), window={size=1x1 stride=1099511627776x1099511627776 "
           "pad=1073741824_1073741824x1073741824_1073741824}, to_apply=add",
           "the bytes of the padded array"},
          {"C1", scatter + "window={size=2}" + folds, "window dimensions: found 1"},
          {"C2", scatter + "window={size=2x1 rhs_dilate=2x1}" + folds,
           "window dilations: found 1 and 2, expected 1"},
          {"C2", scatter + "window={size=2x1 stride=0x1}" + folds, "stride 0"},
          {"C3", scatter + "window={size=4294967296x4294967296 pad=4294967288_0x4294967292_0}" + folds,
           "the number of elements in all windows"},
          {"C4", scatter + "window={size=2x1 stride=2x1}" + folds,
           "the source: found f32[3,4], expected f32[4,4]"},
          {"C5", "f32[8,4] select-and-scatter(x, x, i), window={size=1x1}" + folds,
           "the initial value: found s32[], expected f32[]"},
          {"C6", "f32[8,4] select-and-scatter(x, x, s), window={size=1x1}, select=add, scatter=add",
           "result of select add: found f32[], expected pred[]"},
          {"C7", "f32[8,4] select-and-scatter(x, x, s), window={size=1x1}, select=ge, scatter=ge",
           "result of scatter ge: found pred[], expected f32[]"},
          {"C1", "f32[8,4] map(x, v), dimensions={0,1}, to_apply=add",
           "found f32[8,4] and f32[8], expected equal sizes"},
          {"C2", "f32[8,4] map(x, n), dimensions={0,1}, to_apply=add",
           "parameter 1 of computation add: found f32[], expected s32[]"},
          {"C2", "f32[8] map(v, v), dimensions={0}, to_apply=two",
           "result of two: found (f32[], f32[]), expected a scalar"},
          {"C3", "f32[8,4] map(x, x), dimensions={1,0}, to_apply=add",
           "found {1,0}, expected none, or all 2 in their order"},
          {"C1", "(f32[8,4], f32[]) scan(x, s), dimensions={0}, num_carries=2, to_apply=step",
           "num_carries: found 2, expected 0 or more, and fewer than the 2 operands"},
          {"C1", "(f32[8,4], f32[]) scan(x, s), dimensions={0}, num_carries=-1, to_apply=step", "found -1"},
          {"C2", "(f32[8,4], f32[]) scan(x, s), dimensions={2}, num_carries=1, to_apply=step",
           "dimension: found 2"},
          {"C3", "(f32[8,4], f32[]) scan(x, y, s), dimensions={0}, num_carries=1, to_apply=step",
           "operand 1: found f32[4,6], expected size 8 in dimension 0"},
          {"C4", "(f32[8,4], f32[]) scan(x, i), dimensions={0}, num_carries=1, to_apply=step",
           "parameter 1 of computation step: found f32[], expected s32[]"},
          {"C5", "(f32[8,4], f32[]) scan(x, s), dimensions={0}, num_carries=1, to_apply=add",
           "result of add: found f32[]"},
          {"C5",
           "(f32[8], f32[8]) scan(v, v4), dimensions={0}, num_carries=1, to_apply={ a = f32[] parameter(0) "
           "b = f32[4] parameter(1) ROOT r = (f32[4], f32[]) tuple(b, a) }",
           "found f32[], expected f32[4]"},
          {"C5",
           "(f32[8,4,1]) scan(x), dimensions={1}, num_carries=0, to_apply={ a = f32[8] parameter(0) "
           "z = f32[] constant(0) ROOT r = (f32[]) tuple(z) }",
           "found f32[], expected an array of rank 1 or more"},
      });
}

}  // namespace
}  // namespace toroid
