#include "tests/runtime/kernels/op_programs.h"

#include "tests/runtime/evaluate.h"

namespace toroid {
namespace {

// y = op(x) on two floats.
OpProgram OfFloats(const std::string& opcode, const std::string& x, const std::string& expected) {
  return {opcode, "x = f32[2] constant({" + x + "}) ROOT y = f32[2] " + opcode + "(x)", "{" + expected + "}",
          ""};
}

// z = op(x, y) on two integers each.
OpProgram OfInts(const std::string& opcode, const std::string& x, const std::string& y,
                 const std::string& expected, const std::string& type = "s32") {
  const std::string shape = type + "[2] ";
  return {opcode,
          "x = " + shape + "constant({" + x + "}) y = " + shape + "constant({" + y + "}) ROOT z = " + shape +
              opcode + "(x, y)",
          "{" + expected + "}", ""};
}

// u32[2] {10 i, 10 i + 1} on device i.
const char kPerDevice[] =
    "i = u32[] partition-id() ten = u32[] constant(10) b = u32[] multiply(i, ten) bb = u32[2] broadcast(b), "
    "dimensions={} "
    "io = u32[2] iota(), iota_dimension=0 x = u32[2] add(bb, io) ";

std::vector<OpProgram> Elementwise() {
  return {
      OfFloats("abs", "-1.5, -0", "1.5, 0"),
      OfFloats("negate", "0, -2", "-0, 2"),
      OfFloats("sign", "-3, -0", "-1, -0"),
      {"not", "x = s8[2] constant({0, 5}) ROOT y = s8[2] not(x)", "{-1, -6}", ""},
      {"popcnt", "x = u8[2] constant({255, 5}) ROOT y = u8[2] popcnt(x)", "{8, 2}", ""},
      {"count-leading-zeros", "x = s16[2] constant({0, 1}) ROOT y = s16[2] count-leading-zeros(x)",
       "{16, 15}", ""},
      OfFloats("floor", "-1.5, -0", "-2, -0"),
      OfFloats("ceil", "-1.5, 1.25", "-1, 2"),
      OfFloats("round-nearest-afz", "2.5, -2.5", "3, -3"),
      OfFloats("round-nearest-even", "2.5, -3.5", "2, -4"),
      {"is-finite", "x = f32[3] constant({1, inf, nan}) ROOT y = pred[3] is-finite(x)", "{1, 0, 0}", ""},
      OfFloats("exponential", "0, -inf", "1, 0"),
      OfFloats("exponential-minus-one", "0, 1e-20", "0, 1e-20"),
      OfFloats("log", "0, -1", "-inf, nan"),
      OfFloats("log-plus-one", "1e-20, -1", "1e-20, -inf"),
      OfFloats("sqrt", "9, -1", "3, nan"),
      OfFloats("rsqrt", "4, 0", "0.5, inf"),
      OfFloats("cbrt", "-8, 27", "-2, 3"),
      OfFloats("logistic", "0, -inf", "0.5, 0"),
      OfFloats("sine", "0, -0", "0, -0"),
      OfFloats("cosine", "0, -0", "1, 1"),
      OfFloats("tan", "0, -0", "0, -0"),
      OfFloats("sinh", "0, inf", "0, inf"),
      OfFloats("cosh", "0, -inf", "1, inf"),
      OfFloats("tanh", "0, -inf", "0, -1"),
      OfFloats("asin", "0, 1", "0, 1.5707964"),
      OfFloats("acos", "1, 0", "0, 1.5707964"),
      OfFloats("asinh", "0, -inf", "0, -inf"),
      OfFloats("acosh", "1, inf", "0, inf"),
      OfFloats("atanh", "0, 1", "0, inf"),
      OfFloats("erf", "0, inf", "0, 1"),
      {"real", "x = c64[2] constant({(1, 2), (3, 4)}) ROOT y = f32[2] real(x)", "{1, 3}", ""},
      {"imag", "x = c64[2] constant({(1, 2), (3, 4)}) ROOT y = f32[2] imag(x)", "{2, 4}", ""},
      {"reduce-precision",
       "x = f32[3] constant({1.2, 1e30, 1e-30}) ROOT y = f32[3] reduce-precision(x), exponent_bits=5, "
       "mantissa_bits=2",
       "{1.25, inf, 0}", ""},
      OfInts("add", "2147483647, -1", "1, 1", "-2147483648, 0"),
      OfInts("subtract", "-2147483648, 5", "1, 7", "2147483647, -2"),
      OfInts("multiply", "65536, -3", "65536, 4", "0, -12"),
      OfInts("mulhi", "-2147483648, 3", "2, 4", "-1, 0"),
      OfInts("divide", "-7, -2147483648", "0, -1", "-1, -2147483648"),
      OfInts("remainder", "-7, -7", "3, 0", "-1, -7"),
      OfInts("power", "0, 2", "0, -1", "1, 0"),
      OfInts("maximum", "-1, 3", "2, -4", "2, 3"),
      OfInts("minimum", "-1, 3", "2, -4", "-1, -4"),
      OfInts("and", "12, -1", "10, 7", "8, 7"),
      OfInts("or", "12, 0", "10, 7", "14, 7"),
      OfInts("xor", "12, -1", "10, 7", "6, -8"),
      OfInts("shift-left", "1, 1", "31, 32", "-2147483648, 0"),
      OfInts("shift-right-logical", "-1, -1", "31, 32", "1, 0"),
      OfInts("shift-right-arithmetic", "-8, -8", "1, 99", "-4, -1"),
      {"atan2", "y = f32[2] constant({0, 1}) x = f32[2] constant({1, 0}) ROOT z = f32[2] atan2(y, x)",
       "{0, 1.5707964}", ""},
      {"complex", "x = f32[2] constant({1, 3}) y = f32[2] constant({2, 4}) ROOT z = c64[2] complex(x, y)",
       "{(1, 2), (3, 4)}", ""},
      {"stochastic-convert",
       "x = f32[3] constant({1.5, 1.5, nan}) r = u32[3] constant({2147483647, 2147483648, 0}) "
       "ROOT y = s8[3] stochastic-convert(x, r)",
       "{2, 1, 0}", ""},
      {"compare",
       "x = f32[2] constant({nan, -0}) y = f32[2] constant({nan, 0}) ROOT z = pred[2] compare(x, y), "
       "direction=EQ",
       "{0, 1}", ""},
      {"select",
       "p = pred[2] constant({1, 0}) x = s32[2] constant({1, 2}) y = s32[2] constant({3, 4}) "
       "ROOT z = s32[2] select(p, x, y)",
       "{1, 4}", ""},
      {"clamp",
       "l = f32[] constant(0) x = f32[3] constant({-5, 0.5, nan}) h = f32[] constant(1) ROOT z = f32[3] "
       "clamp(l, x, h)",
       "{0, 0.5, nan}", ""},
      {"convert", "x = f32[4] constant({-1.7, 300, nan, 2.5}) ROOT y = u8[4] convert(x)", "{0, 255, 0, 2}",
       ""},
      {"bitcast-convert", "x = u32[2] constant({16909060, 5}) ROOT y = u8[2,4] bitcast-convert(x)",
       "{ { 4, 3, 2, 1 }, { 5, 0, 0, 0 } }", ""},
      {"bitcast", "x = s32[2,2] constant({{1, 2}, {3, 4}}) ROOT y = s32[4] bitcast(x)", "{1, 2, 3, 4}", ""},
  };
}

std::vector<OpProgram> Movement() {
  const std::string matrix = "x = s32[2,3] constant({{1, 2, 3}, {4, 5, 6}}) ";
  const std::string line = "x = s32[4] constant({1, 2, 3, 4}) ";
  return {
      {"broadcast", "x = s32[2] constant({1, 2}) ROOT y = s32[2,2] broadcast(x), dimensions={0}",
       "{ { 1, 1 }, { 2, 2 } }", ""},
      {"reshape", matrix + "ROOT y = s32[6] reshape(x)", "{1, 2, 3, 4, 5, 6}", ""},
      {"transpose", matrix + "ROOT y = s32[3,2] transpose(x), dimensions={1,0}",
       "{ { 1, 4 }, { 2, 5 }, { 3, 6 } }", ""},
      {"reverse", matrix + "ROOT y = s32[2,3] reverse(x), dimensions={1}", "{ { 3, 2, 1 }, { 6, 5, 4 } }",
       ""},
      {"concatenate", line + "y = s32[1] constant({9}) ROOT z = s32[5] concatenate(x, y), dimensions={0}",
       "{1, 2, 3, 4, 9}", ""},
      {"slice", line + "ROOT y = s32[2] slice(x), slice={[0:3:2]}", "{1, 3}", ""},
      {"pad", "x = s32[2] constant({1, 2}) v = s32[] constant(9) ROOT y = s32[5] pad(x, v), padding=2_-1_2",
       "{9, 9, 1, 9, 9}", ""},
      {"copy", line + "ROOT y = s32[4] copy(x)", "{1, 2, 3, 4}", ""},
      {"opt-barrier", line + "ROOT y = s32[4] opt-barrier(x)", "{1, 2, 3, 4}", ""},
      {"domain",
       line + "ROOT y = s32[4] domain(x), domain={kind=\"sharding\", entry={replicated}, exit={replicated}}",
       "{1, 2, 3, 4}", ""},
      {"iota", "ROOT y = u2[6] iota(), iota_dimension=0", "{0, 1, 2, 3, 0, 1}", ""},
      {"tuple", "a = s32[2] constant({1, 2}) b = pred[] constant(1) ROOT t = (s32[2], pred[]) tuple(a, b)",
       "( {1, 2}, true )", ""},
      {"get-tuple-element",
       "a = s32[] constant(1) b = s32[2] constant({2, 3}) t = (s32[], s32[2]) tuple(a, b) "
       "ROOT y = s32[2] get-tuple-element(t), index=1",
       "{2, 3}", ""},
      {"constant", "ROOT c = f8e4m3fn[2] constant({1.5, nan})", "{1.5, nan}", ""},
      {"parameter", "x = s32[2] constant({3, 4}) ROOT y = s32[2] call(x), to_apply=same", "{3, 4}",
       "same { ROOT p = s32[2] parameter(0) }"},
      {"dynamic-slice",
       line + "i = s32[] constant(9) ROOT y = s32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}", "{3, 4}",
       ""},
      {"dynamic-update-slice",
       line + "u = s32[2] constant({8, 9}) j = s32[] constant(7) i = s32[] negate(j) "
              "ROOT y = s32[4] dynamic-update-slice(x, u, i)",
       "{8, 9, 3, 4}", ""},
      {"gather",
       matrix + "i = s32[3] constant({1, -5, 7}) ROOT y = s32[3,3] gather(x, i), offset_dims={1}, "
                "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}",
       "{ { 4, 5, 6 }, { 1, 2, 3 }, { 4, 5, 6 } }", ""},
      {"scatter",
       line + "i = s32[3,1] constant({{1}, {1}, {7}}) u = s32[3] constant({10, 20, 30}) "
              "ROOT y = s32[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, "
              "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
       "{1, 32, 3, 4}", ReducerText("add", "s32", "add")},
  };
}

std::vector<OpProgram> Computing() {
  const std::string norm = "x = f32[2,1] constant({{1}, {3}}) s = f32[1] constant({2}) ";
  return {
      {"dot",
       "x = s8[1,2] constant({{100, 100}}) y = s8[2,1] constant({{2}, {3}}) "
       "ROOT z = s32[1,1] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
       "{ {500} }", ""},
      {"ragged-dot",
       "x = s32[3,1] constant({{1}, {2}, {3}}) w = s32[2,1,1] constant({{{10}}, {{100}}}) "
       "g = s32[2] constant({1, 1}) ROOT y = s32[3,1] ragged-dot(x, w, g), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
       "{ {10}, {200}, {0} }", ""},
      {"scaled-dot",
       "x = f8e4m3fn[1,2] constant({{1, 2}}) y = f8e4m3fn[2,1] constant({{3}, {4}}) "
       "s = f8e8m0fnu[1,2] constant({{2, 0.5}}) one = f8e8m0fnu[] constant(1) "
       "ROOT z = f32[1,1] scaled-dot(x, y, s, one), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
       "{ {10} }", ""},
      {"convolution",
       "x = s32[1,1,4] constant({{{1, 2, 3, 4}}}) w = s32[1,1,2] constant({{{1, 10}}}) "
       "ROOT y = s32[1,1,3] convolution(x, w), window={size=2}, dim_labels=bf0_oi0->bf0",
       "{ { { 21, 32, 43 } } }", ""},
      {"reduce",
       "x = s32[2,2] constant({{1, 2}, {3, 4}}) z = s32[] constant(10) "
       "ROOT y = s32[2] reduce(x, z), dimensions={0}, to_apply=add",
       "{14, 16}", ReducerText("add", "s32", "add")},
      {"reduce-window",
       "x = s32[4] constant({1, 2, 3, 4}) z = s32[] constant(0) "
       "ROOT y = s32[4] reduce-window(x, z), window={size=4 pad=3_0}, to_apply=add",
       "{1, 3, 6, 10}", ReducerText("add", "s32", "add")},
      {"select-and-scatter",
       "x = s32[4] constant({1, 5, 5, 2}) s = s32[2] constant({10, 20}) z = s32[] constant(0) "
       "ROOT y = s32[4] select-and-scatter(x, s, z), window={size=2 stride=2}, select=ge, scatter=add",
       "{0, 10, 20, 0}",
       ReducerText("add", "s32", "add") + "ge { a = s32[] parameter(0) b = s32[] parameter(1) "
                                          "ROOT c = pred[] compare(a, b), direction=GE }\n"},
      {"map",
       "x = s32[2] constant({1, 2}) y = s32[2] constant({5, 7}) ROOT z = s32[2] map(x, y), dimensions={0}, "
       "to_apply=sub",
       "{-4, -5}", ReducerText("sub", "s32", "subtract")},
      {"scan",
       "x = s32[3] constant({1, 2, 3}) c = s32[] constant(10) "
       "ROOT y = (s32[3], s32[]) scan(x, c), dimensions={0}, num_carries=1, to_apply=step",
       "( {11, 13, 16}, 16 )",
       "step { x = s32[] parameter(0) c = s32[] parameter(1) s = s32[] add(x, c) ROOT t = (s32[], s32[]) "
       "tuple(s, s) }"},
      {"sort",
       "x = s32[2,3] constant({{2, 3, 1}, {4, 6, 5}}) y = s32[2,3] constant({{20, 30, 10}, {40, 60, 50}}) "
       "ROOT z = (s32[2,3], s32[2,3]) sort(x, y), dimensions={1}, to_apply=gt",
       "( { { 3, 2, 1 }, { 6, 5, 4 } }, { { 30, 20, 10 }, { 60, 50, 40 } } )",
       "gt { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3) "
       "ROOT p = pred[] compare(a, b), direction=GT }"},
      {"topk",
       "x = f32[2,4] constant({{1, nan, 3, 3}, {0, -1, 7, -0}}) ROOT y = (f32[2,3], s32[2,3]) topk(x), k=3, "
       "largest=true",
       "( { { nan, 3, 3 }, { 7, 0, -0 } }, { { 1, 2, 3 }, { 2, 0, 3 } } )", ""},
      {"batch-norm-training",
       norm + "o = f32[1] constant({5}) ROOT y = (f32[2,1], f32[1], f32[1]) batch-norm-training(x, s, o), "
              "epsilon=0, feature_index=1",
       "( { {3}, {7} }, {2}, {1} )", ""},
      {"batch-norm-inference",
       norm + "o = f32[1] constant({5}) m = f32[1] constant({1}) v = f32[1] constant({3}) "
              "ROOT y = f32[2,1] batch-norm-inference(x, s, o, m, v), epsilon=1, feature_index=1",
       "{ {5}, {7} }", ""},
      // r = 1, sum dy = 3, sum dy (x - mean) = 1; dx = 2/2 (2 dy - 3 - (x - 2) 1).
      {"batch-norm-grad",
       norm +
           "m = f32[1] constant({2}) v = f32[1] constant({1}) d = f32[2,1] constant({{1}, {2}}) "
           "ROOT y = (f32[2,1], f32[1], f32[1]) batch-norm-grad(x, s, m, v, d), epsilon=0, feature_index=1",
       "( { {0}, {0} }, {1}, {3} )", ""},
      {"fft",
       "x = c64[2,2] constant({{(1, 0), (2, 0)}, {(0, 1), (0, 3)}}) ROOT y = c64[2,2] fft(x), fft_type=FFT, "
       "fft_length={2}",
       "{ { (3, 0), (-1, 0) }, { (0, 4), (0, -2) } }", ""},
      {"cholesky",
       "a = f32[2,2,2] constant({{{4, 2}, {2, 10}}, {{1, 0}, {0, 9}}}) ROOT l = f32[2,2,2] cholesky(a), "
       "lower=true",
       "{ { { 2, 0 }, { 1, 3 } }, { { 1, 0 }, { 0, 3 } } }", ""},
      {"triangular-solve",
       "a = f32[2,2,2] constant({{{2, nan}, {1, 4}}, {{1, 0}, {0, 1}}}) b = f32[2,2,1] constant({{{2}, {9}}, "
       "{{5}, {6}}}) "
       "ROOT x = f32[2,2,1] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
       "{ { {1}, {2} }, { {5}, {6} } }", ""},
      {"rng",
       "a = f32[] constant(3) b = f32[] constant(3) ROOT y = f32[2] rng(a, b), distribution=rng_uniform",
       "{3, 3}", ""},
      {"rng-get-and-update-state",
       "a = u64[2] rng-get-and-update-state(), delta=5 b = u64[2] rng-get-and-update-state(), delta=1 "
       "ROOT d = u64[2] subtract(b, a)",
       "{5, 0}", ""},
      {"rng-bit-generator",
       "s = u64[2] constant({0, 0}) "
       "ROOT y = (u64[2], u32[2]) rng-bit-generator(s), algorithm=rng_three_fry",
       "( {0, 1}, {1797259609, 2579123966} )", ""},
  };
}

std::vector<OpProgram> Structure() {
  const std::string twice = "twice { x = s32[2] parameter(0) ROOT y = s32[2] add(x, x) }";
  const std::string four = "x = s32[2] constant({4, 5}) ";
  return {
      {"call", four + "ROOT y = s32[2] call(x), to_apply=twice", "{8, 10}", twice},
      {"fusion", four + "ROOT y = s32[2] fusion(x), kind=kLoop, calls=twice", "{8, 10}", twice},
      {"while",
       four + "one = s32[] constant(1) t = (s32[], s32[2]) tuple(one, x) "
              "w = (s32[], s32[2]) while(t), condition=small, body=step "
              "ROOT y = s32[2] get-tuple-element(w), index=1",
       "{16, 20}",
       "step { t = (s32[], s32[2]) parameter(0) i = s32[] get-tuple-element(t), index=0 "
       "x = s32[2] get-tuple-element(t), index=1 j = s32[] add(i, i) y = s32[2] add(x, x) "
       "ROOT u = (s32[], s32[2]) tuple(j, y) } "
       "small { t = (s32[], s32[2]) parameter(0) i = s32[] get-tuple-element(t), index=0 "
       "c = s32[] constant(3) ROOT y = pred[] compare(i, c), direction=LT }"},
      {"conditional",
       "i = s32[] constant(-1) a = s32[2] constant({5, 6}) b = s32[2] constant({7, 8}) "
       "ROOT y = s32[2] conditional(i, a, b), branch_computations={twice, same}",
       "{7, 8}", twice + " same { ROOT x = s32[2] parameter(0) }"},
      {"after-all", four + "t = token[] after-all() ROOT y = s32[2] add-dependency(x, t)", "{4, 5}", ""},
      {"add-dependency", four + "t = token[] after-all() ROOT y = s32[2] add-dependency(x, t)", "{4, 5}", ""},
      {"replica-id", "ROOT r = u32[] replica-id()", "0 | 0", "", 2},
      {"partition-id", "ROOT r = u32[] partition-id()", "0 | 1", "", 2},
      {"custom-call", four + "ROOT y = s32[2] custom-call(x), custom_call_target=\"Sharding\"", "{4, 5}", ""},
  };
}

std::vector<OpProgram> Collectives() {
  const std::string add = ReducerText("add", "u32", "add");
  const std::string groups = "replica_groups={{0,1}}, channel_id=1";
  return {
      {"all-reduce",
       std::string(kPerDevice) + "ROOT y = u32[2] all-reduce(x), " + groups +
           ", use_global_device_ids=true, to_apply=add",
       "{10, 12} | {10, 12}", add, 2},
      {"all-gather",
       std::string(kPerDevice) + "ROOT y = u32[4] all-gather(x), " + groups +
           ", use_global_device_ids=true, dimensions={0}",
       "{0, 1, 10, 11} | {0, 1, 10, 11}", "", 2},
      {"reduce-scatter",
       std::string(kPerDevice) + "ROOT y = u32[1] reduce-scatter(x), " + groups +
           ", use_global_device_ids=true, dimensions={0}, to_apply=add",
       "{10} | {12}", add, 2},
      {"all-to-all",
       std::string(kPerDevice) + "ROOT y = u32[2] all-to-all(x), " + groups + ", dimensions={0}",
       "{0, 10} | {1, 11}", "", 2},
      {"ragged-all-to-all",
       std::string(kPerDevice) +
           "o = u32[3] constant({7, 7, 7}) in = s32[2] constant({0, 1}) n = s32[2] constant({1, 1}) "
           "p = s32[] convert(i) out = s32[2] broadcast(p), dimensions={} "
           "ROOT y = u32[3] ragged-all-to-all(x, o, in, n, out, n), replica_groups={{0,1}}, channel_id=1",
       "{0, 10, 7} | {1, 11, 7}", "", 2},
      {"collective-broadcast",
       std::string(kPerDevice) +
           "ROOT y = u32[2] collective-broadcast(x), replica_groups={{1,0}}, channel_id=1",
       "{10, 11} | {10, 11}", "", 2},
      {"collective-permute",
       std::string(kPerDevice) +
           "ROOT y = u32[2] collective-permute(x), source_target_pairs={{0,1}}, channel_id=1",
       "{0, 0} | {0, 1}", "", 2},
      {"all-reduce-start",
       std::string(kPerDevice) + "s = u32[2] all-reduce-start(x), " + groups +
           ", use_global_device_ids=true, to_apply=add ROOT y = u32[2] all-reduce-done(s)",
       "{10, 12} | {10, 12}", add, 2},
      {"all-reduce-done",
       "x = u32[1] constant({3}) s = u32[1] all-reduce-start(x), replica_groups={}, to_apply=add "
       "ROOT y = u32[1] all-reduce-done(s)",
       "{3}", add},
      {"all-gather-start",
       std::string(kPerDevice) + "s = (u32[2], u32[4]) all-gather-start(x), " + groups +
           ", use_global_device_ids=true, dimensions={0} ROOT y = u32[4] all-gather-done(s)",
       "{0, 1, 10, 11} | {0, 1, 10, 11}", "", 2},
      {"all-gather-done",
       "x = u32[1] constant({3}) s = (u32[1], u32[1]) all-gather-start(x), replica_groups={}, dimensions={0} "
       "ROOT y = u32[1] all-gather-done(s)",
       "{3}", ""},
      {"collective-permute-start",
       std::string(kPerDevice) +
           "s = (u32[2], u32[2], u32[], u32[]) collective-permute-start(x), source_target_pairs={{1,0}}, "
           "channel_id=1 ROOT y = u32[2] collective-permute-done(s)",
       "{10, 11} | {0, 0}", "", 2},
      {"collective-permute-done",
       std::string(kPerDevice) +
           "s = (u32[2], u32[2]) collective-permute-start(x), source_target_pairs={{0,1},{1,0}}, "
           "channel_id=1 ROOT y = u32[2] collective-permute-done(s)",
       "{10, 11} | {0, 1}", "", 2},
  };
}

std::vector<OpProgram> Transfer() {
  const std::string pairs = "frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,1},{1,0}}\"}";
  const std::string exchange =
      std::string(kPerDevice) +
      "t = token[] after-all() s = (u32[2], u32[], token[]) send(x, t), channel_id=4, " + pairs +
      " r = (u32[2], u32[], token[]) recv(t), channel_id=4, " + pairs +
      " sd = token[] send-done(s), channel_id=4 d = (u32[2], token[]) recv-done(r), channel_id=4 "
      "ROOT y = u32[2] get-tuple-element(d), index=0";
  const std::string async =
      "x = s32[2] constant({4, 5}) a = ((s32[2]), s32[2], u32[]) async-start(x), calls=twice "
      "u = ((s32[2]), s32[2], u32[]) async-update(a) ROOT y = s32[2] async-done(u)";
  const std::string twice = "twice { x = s32[2] parameter(0) ROOT y = s32[2] add(x, x) }";
  const std::string feed = "t = token[] after-all() ";
  const std::string sized =
      "x = s32[4] constant({1, 2, 3, 4}) n = s32[] constant(3) "
      "d = s32[<=4] set-dimension-size(x, n), dimensions={0} ";
  return {
      // The infeed of these programs holds the array {5, 6}.
      {"infeed", feed + "i = (s32[2], token[]) infeed(t) ROOT y = s32[2] get-tuple-element(i), index=0",
       "{5, 6}", ""},
      {"outfeed",
       feed + "x = s32[1] constant({1}) o = token[] outfeed(x, t), outfeed_shape=s32[1] ROOT y = s32[1] "
              "add-dependency(x, o)",
       "{1}", ""},
      {"send", exchange, "{10, 11} | {0, 1}", "", 2},
      {"send-done", exchange, "{10, 11} | {0, 1}", "", 2},
      {"recv", exchange, "{10, 11} | {0, 1}", "", 2},
      {"recv-done", exchange, "{10, 11} | {0, 1}", "", 2},
      {"copy-start",
       "x = s32[2] constant({1, 2}) c = (s32[2], s32[2], u32[]) copy-start(x) ROOT y = s32[2] copy-done(c)",
       "{1, 2}", ""},
      {"copy-done",
       "x = s32[2] constant({1, 2}) c = (s32[2], s32[2], u32[]) copy-start(x) ROOT y = s32[2] copy-done(c)",
       "{1, 2}", ""},
      {"async-start", async, "{8, 10}", twice},
      {"async-update", async, "{8, 10}", twice},
      {"async-done", async, "{8, 10}", twice},
      {"get-dimension-size", sized + "ROOT y = s32[] get-dimension-size(d), dimensions={0}", "3", ""},
      {"set-dimension-size",
       sized + "z = s32[] constant(0) ROOT y = s32[] reduce(d, z), dimensions={0}, to_apply=add", "6",
       ReducerText("add", "s32", "add")},
      {"dynamic-reshape", sized + "one = s32[] constant(1) ROOT y = s32[<=4,<=1] dynamic-reshape(d, n, one)",
       "{ {1}, {2}, {3} }", ""},
  };
}

}  // namespace

const std::vector<OpProgram>& OpPrograms() {
  static const auto* const programs = [] {
    auto* all = new std::vector<OpProgram>;
    for (const auto& some :
         {Elementwise(), Movement(), Computing(), Structure(), Collectives(), Transfer()}) {
      all->insert(all->end(), some.begin(), some.end());
    }
    return all;
  }();
  return *programs;
}

}  // namespace toroid
