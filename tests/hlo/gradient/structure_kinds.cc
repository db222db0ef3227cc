#include "tests/hlo/gradient/gradient_case.h"

namespace toroid {
namespace {

// A loop over rows of an array, as a scan writes it: a carried value, rows read, rows written, an integer.
Value Scan(GradientCase& c) {
  const int64_t n = c.Int(0, 4), width = c.Int(1, 3);
  InstructionBuilder& b = c.b;
  const Value rows = n == 0 ? b.Zeros(xla::F64, {1, width}) : c.Variable({n, width}, -1, 1);
  const Value init =
      b.Tuple({b.Zero(xla::S32), c.Variable({width}), rows, c.Variable({width, width}, -0.7, 0.7),
               b.Zeros(xla::F64, rows->shape().dims())});
  InstructionBuilder condition = b.InNewComputation("condition");
  const Value at = condition.GetTupleElement(condition.Parameter(init->shape(), "state"), 0);
  Computation* more = condition.Finish(condition.Compare(at, condition.IntScalar(n), "LT"));
  InstructionBuilder body = b.InNewComputation("body");
  const Value state = body.Parameter(init->shape(), "state");
  const Value i = body.GetTupleElement(state, 0), carry = body.GetTupleElement(state, 1),
              xs = body.GetTupleElement(state, 2);
  const Value weights = body.GetTupleElement(state, 3), ys = body.GetTupleElement(state, 4);
  const Value x = body.Reshape(body.DynamicSliceAlong(xs, 0, i, 1), {width});
  const Value y = body.Tanh(body.Add(body.Einsum("B,BC->C", carry, weights), x));
  const Value written =
      body.DynamicUpdateSlice(ys, body.Reshape(body.Multiply(y, x), {1, width}), {i, body.Zero(xla::S32)});
  Computation* step = body.Finish(body.Tuple({body.Add(i, body.IntScalar(1)), y, xs, weights, written}));
  const Value loop = b.While(init, more, step);
  return b.Tuple({b.GetTupleElement(loop, 1), b.GetTupleElement(loop, 4)});
}

// A loop in a loop.
Value Nested(GradientCase& c) {
  InstructionBuilder& b = c.b;
  const Value init = b.Tuple({b.Zero(xla::S32), c.Variable({2})});
  const auto loop_in = [](InstructionBuilder& in, Value state, int64_t n, Computation* body) {
    InstructionBuilder condition = in.InNewComputation("condition");
    const Value at = condition.GetTupleElement(condition.Parameter(state->shape(), "state"), 0);
    return in.While(state, condition.Finish(condition.Compare(at, condition.IntScalar(n), "LT")), body);
  };
  InstructionBuilder inner = b.InNewComputation("inner");
  const Value state = inner.Parameter(init->shape(), "state");
  const Value x = inner.GetTupleElement(state, 1);
  Computation* inner_body =
      inner.Finish(inner.Tuple({inner.Add(inner.GetTupleElement(state, 0), inner.IntScalar(1)),
                                inner.Unary(Opcode::kSin, inner.Multiply(x, x))}));
  InstructionBuilder outer = b.InNewComputation("outer");
  const Value outer_state = outer.Parameter(init->shape(), "state");
  const Value v = outer.GetTupleElement(outer_state, 1);
  const Value after = loop_in(outer, outer.Tuple({outer.Zero(xla::S32), v}), c.Int(1, 3), inner_body);
  Computation* outer_body =
      outer.Finish(outer.Tuple({outer.Add(outer.GetTupleElement(outer_state, 0), outer.IntScalar(1)),
                                outer.Add(outer.GetTupleElement(after, 1), v)}));
  return b.GetTupleElement(loop_in(b, init, c.Int(1, 3), outer_body), 1);
}

Value Conditional(GradientCase& c) {
  InstructionBuilder& b = c.b;
  const Dims dims = c.RandomDims(0, 2);
  const Value x = b.Tuple({c.Variable(dims), c.Variable({})}), y = c.Variable(dims);
  InstructionBuilder first = b.InNewComputation("first"), second = b.InNewComputation("second");
  const Value both = first.Parameter(x->shape(), "both");
  const Value scale = first.Broadcast(first.GetTupleElement(both, 1), dims);
  Computation* one = first.Finish(first.Exp(first.Multiply(first.GetTupleElement(both, 0), scale)));
  Computation* two = second.Finish(second.Unary(Opcode::kSin, second.Parameter(y->shape(), "y")));
  return b.Conditional(c.Coin() ? c.Predicates({}) : c.Indices({}, -1, 2), {x, y}, {one, two});
}

Value Call(GradientCase& c) {
  InstructionBuilder& b = c.b;
  const Dims dims = c.RandomDims(0, 2);
  const Value pair = b.Tuple({c.Variable(dims), c.Variable(dims)}), scale = c.Variable(dims);
  InstructionBuilder inner = b.InNewComputation("callee");
  const Value p = inner.Parameter(pair->shape(), "pair"), s = inner.Parameter(scale->shape(), "scale");
  const Value product = inner.Multiply(inner.GetTupleElement(p, 0), s);
  Computation* callee =
      inner.Finish(inner.Tuple({product, inner.Tuple({inner.Exp(product), inner.GetTupleElement(p, 1)})}));
  return b.Call(callee, {pair, scale});
}

Value BatchNorm(GradientCase& c, bool training) {
  const Dims dims = {c.Int(2, 3), c.Int(2, 3), c.Int(1, 3)};
  const int64_t feature = c.Int(0, 2), n = dims[feature];
  xla::HloInstructionProto* attrs = c.b.NewAttrs();
  attrs->set_epsilon(0.1f);
  attrs->set_feature_index(feature);
  const Value x = c.Variable(dims), scale = c.Variable({n}), offset = c.Variable({n});
  if (!training) {
    return c.b.Op(Opcode::kBatchNormInference, x->shape(),
                  {x, scale, offset, c.Variable({n}), c.Variable({n}, 0.5, 2)}, attrs);
  }
  return c.b.Op(Opcode::kBatchNormTraining, Shape::Tuple({x->shape(), offset->shape(), offset->shape()}),
                {x, scale, offset}, attrs);
}

// A layer that combines normalization, softmax and several uses of a value.
Value Attention(GradientCase& c) {
  InstructionBuilder& b = c.b;
  const int64_t n = c.Int(2, 4), d = c.Int(1, 3);
  const Value x = c.Variable({n, d});
  const Value scores = b.Einsum("QD,KD->QK", x, b.Tanh(x));
  const Value shifted = b.Subtract(scores, b.BroadcastOver(b.Max(scores, {1}), {n, n}, {1}));
  const Value weights = b.Exp(shifted);
  const Value shares = b.Divide(weights, b.BroadcastOver(b.Sum(weights, {1}), {n, n}, {1}));
  return b.Add(b.Einsum("QK,KD->QD", shares, x), x);
}

}  // namespace

std::vector<GradientKind> StructureKinds() {
  return {
      {"scan", Scan},
      {"nested loops", Nested},
      {"conditional", Conditional},
      {"call", Call},
      {"batch-norm-training", [](GradientCase& c) { return BatchNorm(c, true); }},
      {"batch-norm-inference", [](GradientCase& c) { return BatchNorm(c, false); }},
      {"attention", Attention},
  };
}

}  // namespace toroid
