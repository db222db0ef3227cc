#include "tests/examples/training/linear_program.h"

#include <utility>

#include "examples/data/counter_random.h"
#include "hlo/base/status.h"
#include "hlo/builder/builder.h"
#include "hlo/gradient/gradient.h"

namespace toroid {
namespace {

constexpr int64_t kRows = 16, kIn = 8, kOut = 4;

Value Loss(Builder& b, Value x, Value y, Value w) {
  const Value error = b.Subtract(b.Einsum("BI,IO->BO", x, w), y);
  return b.MultiplyNumber(b.Sum(b.Multiply(error, error), {0, 1}), 1.0 / (kRows * kOut));
}

}  // namespace

absl::StatusOr<TrainingProgram> LinearProgram(int64_t devices, double learning_rate) {
  TrainingProgram program;
  program.configuration = {{"model", "linear"}, {"learning_rate", learning_rate}};
  program.state = {{"step", Shape(xla::S32, {})},
                   {"w", Shape(xla::F32, {kIn, kOut}), 0, 0.5},
                   {"momentum", Shape(xla::F32, {kIn, kOut})}};
  program.metrics = program.evaluation_metrics = {"loss", "tokens", "load"};
  {
    Builder b("step", devices);
    const Value step = b.Parameter(program.state[0].shape, "step");
    const Value w = b.Split(b.Parameter(program.state[1].shape, "w"), 0, devices);
    const Value momentum = b.Replicate(b.Parameter(program.state[2].shape, "momentum"));
    const Value seed = b.Parameter(Shape(xla::U32, {}), "seed");
    Value x = b.Split(b.Parameter(Shape(xla::F32, {kRows, kIn}), "x"), 0, devices);
    const Value y = b.Split(b.Parameter(Shape(xla::F32, {kRows, kOut}), "y"), 0, devices);
    const Value noise = b.AddNumber(b.MultiplyNumber(b.Convert(seed, xla::F32), 0x1p-36), 1);
    x = b.Multiply(x, b.Broadcast(noise, {kRows, kIn}));
    const Value loss = Loss(b, x, y, w);
    const std::vector<Value> by = {w};
    ASSIGN_OR_RETURN(const std::vector<Value> gradients, Gradients(loss, by, GradientOptions(), &b));
    const Value next = b.Add(b.MultiplyNumber(momentum, 0.5), gradients[0]);
    const Value updated = b.Subtract(w, b.MultiplyNumber(next, learning_rate));
    const Value load = b.Reshape(b.Sum(b.Multiply(y, y), {0}), {1, kOut});
    ASSIGN_OR_RETURN(program.step, b.Build(b.Tuple({b.Add(step, b.IntScalar(1)), updated, b.Replicate(next),
                                                    loss, b.Full(xla::F32, {}, kRows), load})));
  }
  Builder b("evaluation", devices);
  const Value w = b.Replicate(b.Parameter(program.state[1].shape, "w"));
  const Value x = b.Split(b.Parameter(Shape(xla::F32, {kRows, kIn}), "x"), 0, devices);
  const Value y = b.Split(b.Parameter(Shape(xla::F32, {kRows, kOut}), "y"), 0, devices);
  const Value load = b.Reshape(b.Sum(b.Multiply(y, y), {0}), {1, kOut});
  ASSIGN_OR_RETURN(program.evaluation,
                   b.Build(b.Tuple({Loss(b, x, y, w), b.Full(xla::F32, {}, kRows), load})));
  program.evaluation_state = {1};
  return program;
}

std::vector<Literal> LinearInputs(int64_t step) {
  CounterRandom random(5, {static_cast<uint64_t>(step)});
  Literal x(Shape(xla::F32, {kRows, kIn})), y(Shape(xla::F32, {kRows, kOut}));
  const absl::Span<float> in = x.mutable_data<float>(), out = y.mutable_data<float>();
  for (float& value : in) value = static_cast<float>(2 * random.Uniform() - 1);
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t o = 0; o < kOut; ++o) {
      for (int64_t i = 0; i < kIn; ++i) out[r * kOut + o] += in[r * kIn + i] * static_cast<float>(i - o);
    }
  }
  return {x, y};
}

}  // namespace toroid
