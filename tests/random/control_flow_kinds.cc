// Kinds of random programs: calls, loops and branches.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/random/generator.h"

namespace toroid {

void Generator::CallOp() {
  const Dims dims = RandomDims(0, 3);
  const std::string f = Fresh("callee"), shape = ShapeText("s32", dims);
  Computation(absl::StrCat(f, " {\n  a = ", shape, " parameter(0)", ShardingText(dims, 20), "\n  b = ", shape,
                           " parameter(1)\n  ROOT c = ", shape, " subtract(a, b)", ShardingText(dims, 30),
                           "\n}\n"));
  const std::string x = Parameter("s32", dims), y = Parameter("s32", dims);
  Result("s32", dims, absl::StrCat("call(", x, ", ", y, "), to_apply=", f, ShardingText(dims, 30)));
}

// The state of the loops: a counter, an array, and a vector that no trip changes.
std::string Generator::LoopState(const Dims& dims) {
  return absl::StrCat("(s32[], ", ShapeText("f32", dims), ", ", ShapeText("f32", {dims[1]}), ")");
}

// Adds body and condition of a loop; returns the attributes that name them.
std::string Generator::LoopComputations(const Dims& dims) {
  const int64_t trips = Uniform(0, 4);
  const std::string state = LoopState(dims), body = Fresh("body"), condition = Fresh("condition");
  Computation(absl::StrCat(
      body, " {\n  s = ", state, " parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  x = ",
      ShapeText("f32", dims), " get-tuple-element(s), index=1\n  v = ", ShapeText("f32", {dims[1]}),
      " get-tuple-element(s), index=2\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  w = ",
      ShapeText("f32", dims), " broadcast(v), dimensions={1}\n  y = ", ShapeText("f32", dims),
      " subtract(w, x)", ShardingText(dims, 40), "\n  ROOT t = ", state, " tuple(j, y, v)\n}\n"));
  Computation(absl::StrCat(condition, " {\n  s = ", state,
                           " parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(",
                           trips, ")\n  ROOT c = pred[] compare(i, n), direction=LT\n}\n"));
  return absl::StrCat("condition=", condition, ", body=", body);
}

// The lines of a loop over `x` and `v`; its array is called `result`.
std::string Generator::LoopText(const Dims& dims, const std::string& x, const std::string& v,
                                const std::string& computations, const std::string& result) {
  const std::string state = LoopState(dims);
  return absl::StrCat("  zero_", result, " = s32[] constant(0)\n  init_", result, " = ", state,
                      " tuple(zero_", result, ", ", x, ", ", v, ")\n  loop_", result, " = ", state,
                      " while(init_", result, "), ", computations, "\n  ", result, " = ",
                      ShapeText("f32", dims), " get-tuple-element(loop_", result, "), index=1\n");
}

void Generator::While() {
  const Dims dims = NonEmptyDims(2, 2);
  const std::string computations = LoopComputations(dims);
  const std::string x = Parameter("f32", dims), v = Parameter("f32", {dims[1]}), y = Fresh("y");
  Text(LoopText(dims, x, v, computations, y));
  Result("f32", dims, absl::StrCat("copy(", y, ")"));
}

// Two loops over one body, whose arguments are cut in two ways.
void Generator::SharedWhile() {
  const Dims dims = NonEmptyDims(2, 2);
  const std::string computations = LoopComputations(dims);
  std::vector<std::string> results;
  for (int i = 0; i < 2; ++i) {
    const std::string x = Parameter("f32", dims), v = Parameter("f32", {dims[1]});
    results.push_back(Fresh("y"));
    Text(LoopText(dims, x, v, computations, results.back()));
  }
  Result("f32", dims, absl::StrCat("subtract(", results[0], ", ", results[1], ")"));
}

// A function with a loop, called twice.
void Generator::CalledWhile() {
  const Dims dims = NonEmptyDims(2, 2);
  const std::string computations = LoopComputations(dims), f = Fresh("callee");
  Computation(absl::StrCat(f, " {\n  a = ", ShapeText("f32", dims), " parameter(0)", ShardingText(dims, 20),
                           "\n  v = ", ShapeText("f32", {dims[1]}), " parameter(1)\n",
                           LoopText(dims, "a", "v", computations, "b"), "  ROOT c = ", ShapeText("f32", dims),
                           " negate(b)\n}\n"));
  std::vector<std::string> results;
  for (int i = 0; i < 2; ++i) {
    const std::string x = Parameter("f32", dims), v = Parameter("f32", {dims[1]});
    results.push_back(Fresh("y"));
    Line(absl::StrCat(results.back(), " = ", ShapeText("f32", dims), " call(", x, ", ", v, "), to_apply=", f,
                      ShardingText(dims, 20)));
  }
  Result("f32", dims, absl::StrCat("subtract(", results[0], ", ", results[1], ")"));
}

void Generator::Conditional() {
  const Dims dims = RandomDims(1, 3);
  const std::string a = Fresh("then"), b = Fresh("else"), shape = ShapeText("f32", dims);
  Computation(absl::StrCat(a, " {\n  x = ", shape, " parameter(0)\n  ROOT y = ", shape, " negate(x)\n}\n"));
  Computation(absl::StrCat(b, " {\n  x = ", shape, " parameter(0)\n  ROOT y = ", shape, " add(x, x)",
                           ShardingText(dims, 40), "\n}\n"));
  const std::string& otherwise = Chance(25) ? a : b;  // In some programs both branches are one computation.
  const std::string p = Parameter("pred", {}), x = Parameter("f32", dims), y = Parameter("f32", dims);
  Result("f32", dims,
         absl::StrCat("conditional(", p, ", ", x, ", ", y, "), true_computation=", a,
                      ", false_computation=", otherwise));
}

}  // namespace toroid
