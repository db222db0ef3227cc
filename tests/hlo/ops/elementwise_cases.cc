#include "tests/hlo/ops/constraint_cases.h"

namespace toroid {

namespace {

// The same case for several ops.
std::vector<ViolatingCase> OfEach(const std::vector<std::string>& opcodes, const std::string& constraint,
                                  const std::string& shape, const std::string& operands,
                                  const std::string& words) {
  std::vector<ViolatingCase> cases;
  for (const std::string& opcode : opcodes) {
    cases.push_back({constraint, shape + " " + opcode + "(" + operands + ")", words});
  }
  return cases;
}

// Every op at least once.
std::vector<ViolatingCase> CasesOfTypes() {
  return Joined({
      OfEach({"ceil", "round-nearest-afz", "round-nearest-even", "cbrt", "erf"}, "C5", "s32[8,4]", "n",
             "found s32, expected floats"),
      OfEach({"exponential-minus-one", "log", "log-plus-one", "sqrt", "rsqrt", "logistic", "sine", "cosine",
              "tan", "sinh", "cosh", "tanh", "asin", "acos", "asinh", "acosh", "atanh", "imag"},
             "C6", "s32[8,4]", "n", "found s32, expected floats or complex numbers"),
      OfEach({"multiply", "divide", "power"}, "C3", "f32[8,4]", "x, y", "found f32[8,4] and f32[4,6]"),
      OfEach({"divide", "power"}, "C4", "pred[8,4]", "p, p", "found pred"),
      OfEach({"shift-right-logical", "shift-right-arithmetic"}, "C5", "f32[8,4]", "x, x",
             "found f32, expected integers"),
      OfEach({"minimum"}, "C7", "c64[8,4]", "c, c", "found c64"),
      OfEach({"and", "or"}, "C8", "c64[8,4]", "c, c", "found c64, expected booleans or integers"),
  });
}

std::vector<ViolatingCase> OtherCases() {
  return {
      {"C1", "u32[8,4] abs(u)", "the operand of abs: found u32, expected signed integers, floats"},
      {"C1", "pred[8,4] sign(p)", "found pred"},
      {"C2", "pred[8,4] negate(p)", "found pred"},
      {"C3", "f32[8,4] not(x)", "found f32, expected booleans or integers"},
      {"C4", "pred[8,4] popcnt(p)", "found pred, expected integers"},
      {"C4", "f32[8,4] count-leading-zeros(x)", "found f32"},
      {"C5", "s32[8,4] floor(n)", "the operand of floor: found s32, expected floats"},
      {"C5", "c64[8,4] cbrt(c)", "found c64"},
      {"C5", "pred[8,4] is-finite(c)", "found c64"},
      {"C6", "s32[8,4] exponential(n)", "found s32, expected floats or complex numbers"},
      {"C6", "pred[8,4] real(p)", "found pred"},
      {"C7", "f32[8,4] reduce-precision(x), exponent_bits=0, mantissa_bits=3",
       "found 0 exponent and 3 mantissa bits, expected 1 to 63"},
      {"C7", "f32[8,4] reduce-precision(x), exponent_bits=5, mantissa_bits=-1", "-1 mantissa bits"},
      {"C7", "f32[8,4] reduce-precision(x), exponent_bits=64, mantissa_bits=3", "64 exponent"},
      {"C1", "f32[8,4] add(x, n)", "found f32[8,4] and s32[8,4], expected one type; convert one of them"},
      {"C2", "s8[8,4] stochastic-convert(h, u)", "random bits for bf16[8,4]: found u32[8,4]"},
      {"C2", "pred[8,4] stochastic-convert(x, u)",
       "the result: found pred[8,4], expected integers or floats"},
      {"C3", "f32[8,4] add(x, v)", "found f32[8,4] and f32[8], expected equal sizes; broadcast one of them"},
      {"C4", "pred[8,4] subtract(p, p)", "found pred, expected integers, floats or complex numbers"},
      {"C5", "f32[8,4] shift-left(x, x)", "found f32, expected integers"},
      {"C5", "pred[8,4] mulhi(p, p)", "found pred"},
      {"C6", "c64[8,4] remainder(c, c)", "found c64, expected integers or floats"},
      {"C7", "c64[8,4] maximum(c, c)", "found c64, expected booleans, integers or floats"},
      {"C8", "f32[8,4] xor(x, x)", "found f32, expected booleans or integers"},
      {"C9", "s32[8,4] atan2(n, n)", "found s32, expected floats or complex numbers"},
      {"C10", "c64[8,4] complex(h, h)", "found bf16[8,4], expected f32 or f64"},
      {"C1", "pred[8,4] compare(n, n), direction=XX", "found XX, expected EQ, NE, GE, GT, LE or LT"},
      {"C2", "pred[8,4] compare(c, c), direction=LT", "found LT, expected EQ or NE"},
      {"C3", "pred[8,4] compare(x, n), direction=EQ", "one type"},
      {"C3", "pred[8,4] compare(x, v), direction=EQ", "equal sizes"},
      {"C4", "pred[8,4] compare(n, n), direction=LT, type=FLOAT", "found FLOAT of s32"},
      {"C4", "pred[8,4] compare(u, u), direction=LT, type=SIGNED", "found SIGNED of u32"},
      {"C1", "f32[8,4] select(n, x, x)", "found s32[8,4], expected pred of the sizes of f32[8,4], or pred[]"},
      {"C1", "(f32[8], s32[]) select(p, t, t)", "found pred[8,4]"},
      {"C2", "f32[8,4] select(p, x, n)", "operand 2: found s32[8,4], expected f32[8,4]"},
      {"C2", "token[] select(q, tok, tok)", "found token[], expected an array or a tuple"},
      {"C1", "c64[8,4] clamp(c, c, c)", "found c64[8,4]"},
      {"C2", "f32[8,4] clamp(i, x, s)", "found s32[] and f32[8,4], expected one type"},
      {"C3", "f32[8,4] clamp(s, x, v)",
       "operand 2: found f32[8], expected a scalar, or the sizes of f32[8,4]"},
      {"C1", "f32[8,5] convert(n)", "found f32[8,5], expected an array of the sizes of s32[8,4]"},
      {"C1", "f32[8,4] bitcast-convert(p)", "the bits of pred: found f32"},
      {"C1", "f64[8,4] bitcast-convert(c)", "the bits of c64: found f64"},
      {"C1", "pred[8,4] bitcast-convert(x)", "the bits of f32: found pred"},
      {"C2", "f64[8] bitcast-convert(x)", "the operand of a result of 64 bits: found f32[8,4]"},
      {"C2", "w = u16[3] iota(), iota_dimension=0\nf32[] bitcast-convert(w)", "found u16[3]"},
  };
}

}  // namespace

std::vector<ViolatingCase> ElementwiseCases() { return Joined({CasesOfTypes(), OtherCases()}); }

}  // namespace toroid
