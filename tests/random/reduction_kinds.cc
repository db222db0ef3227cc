// Kinds of random programs: reductions, windows and sorting.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/random/generator.h"

namespace toroid {

void Generator::Reduce() {
  const Dims in = RandomDims(1, 4);
  Dims reduced, out;
  for (int64_t d = 0; d < static_cast<int64_t>(in.size()); ++d) {
    if (Chance(50)) {
      reduced.push_back(d);
    } else {
      out.push_back(in[d]);
    }
  }
  const int op = static_cast<int>(Uniform(0, 5));
  const std::string opcode =
      std::vector<std::string>{"add", "maximum", "minimum", "multiply", "and", "or"}[op];
  const std::string type = op >= 4 ? Of({"pred", "s32", "u8"}) : op == 3 ? Of({"f32", "s32"}) : NumberType();
  const std::string x = op == 3 ? Parameter(type, in, 1, 1) : Parameter(type, in);
  const std::string init = InitValue(opcode, type);
  Result(type, out,
         absl::StrCat("reduce(", x, ", ", init, "), dimensions=", List(reduced),
                      ", to_apply=", ReducerText(opcode, type)));
}

// An init value that may not be neutral: it must be used exactly once.
std::string Generator::InitValue(const std::string& opcode, const std::string& type) {
  if (Chance(40)) return Parameter(type, {}, opcode == "multiply" ? 1 : 0, 3);
  const std::string init = Fresh("init");
  std::string value = "0";
  const bool real = type[0] == 'f' || type == "bf16";
  if (Chance(30)) {
    value = type == "pred" ? "true" : "2";
  } else if (opcode == "multiply") {
    value = "1";
  } else if (opcode == "and") {
    value = type == "pred" ? "true" : type == "s32" ? "-1" : "255";
  } else if (opcode == "or") {
    value = type == "pred" ? "false" : "0";
  } else if (opcode == "maximum") {
    value = real ? "-inf" : type == "s32" ? "-2147483648" : "0";
  } else if (opcode == "minimum") {
    value = real ? "inf" : type == "s32" ? "2147483647" : "100";
  }
  Line(absl::StrCat(init, " = ", type, "[] constant(", value, ")"));
  return init;
}

// Two arrays reduced separately in one reduction.
void Generator::VariadicReduce() {
  const Dims in = RandomDims(1, 3);
  Dims reduced, out;
  for (int64_t d = 0; d < static_cast<int64_t>(in.size()); ++d) {
    if (Chance(50)) {
      reduced.push_back(d);
    } else {
      out.push_back(in[d]);
    }
  }
  const std::string both = Fresh("both"), f = Fresh("f");
  const std::string first_op = Of({"add", "maximum", "minimum"}), second_op = Of({"add", "maximum", "or"});
  Computation(absl::StrCat(f, R"( {
  a0 = f32[] parameter(0)
  b0 = s32[] parameter(1)
  a1 = f32[] parameter(2)
  b1 = s32[] parameter(3)
  a = f32[] )",
                           first_op, R"((a0, a1)
  b = s32[] )",
                           second_op, R"((b0, b1)
  ROOT t = (f32[], s32[]) tuple(a, b)
}
)"));
  const std::string x = Parameter("f32", in), y = Parameter("s32", in);
  const std::string i = InitValue(first_op, "f32"), j = InitValue(second_op, "s32");
  Line(absl::StrCat(both, " = (", ShapeText("f32", out), ", ", ShapeText("s32", out), ") reduce(", x, ", ", y,
                    ", ", i, ", ", j, "), dimensions=", List(reduced), ", to_apply=", f));
  const bool first = Chance(50);
  Result(first ? "f32" : "s32", out, absl::StrCat("get-tuple-element(", both, "), index=", first ? 0 : 1));
}

// Reducers that only their computation identifies: products of complex numbers kept in two arrays, and a + b
// + a b. Both are associative and commutative, and exact in integers.
void Generator::OpaqueReduce() {
  const Dims in = RandomDims(1, 3);
  Dims reduced, out;
  for (int64_t d = 0; d < static_cast<int64_t>(in.size()); ++d) {
    if (Chance(50)) {
      reduced.push_back(d);
    } else {
      out.push_back(in[d]);
    }
  }
  const std::string f = Fresh("f"), x = Parameter("s32", in), i = Parameter("s32", {});
  if (Chance(40)) {
    Computation(absl::StrCat(f, R"( {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  product = s32[] multiply(a, b)
  sum = s32[] add(a, b)
  ROOT c = s32[] add(sum, product)
}
)"));
    Result("s32", out,
           absl::StrCat("reduce(", x, ", ", i, "), dimensions=", List(reduced), ", to_apply=", f));
    return;
  }
  Computation(absl::StrCat(f, R"( {
  a0 = s32[] parameter(0)
  b0 = s32[] parameter(1)
  a1 = s32[] parameter(2)
  b1 = s32[] parameter(3)
  aa = s32[] multiply(a0, a1)
  bb = s32[] multiply(b0, b1)
  ab = s32[] multiply(a0, b1)
  ba = s32[] multiply(b0, a1)
  real = s32[] subtract(aa, bb)
  imag = s32[] add(ab, ba)
  ROOT t = (s32[], s32[]) tuple(real, imag)
}
)"));
  const std::string y = Parameter("s32", in), j = Parameter("s32", {}), both = Fresh("both");
  Line(absl::StrCat(both, " = (", ShapeText("s32", out), ", ", ShapeText("s32", out), ") reduce(", x, ", ", y,
                    ", ", i, ", ", j, "), dimensions=", List(reduced), ", to_apply=", f));
  Result("s32", out, absl::StrCat("get-tuple-element(", both, "), index=", Uniform(0, 1)));
}

// Windows as long as the dimension: sums of all rows up to each row, or from each row on.
void Generator::CumulativeWindow() {
  Dims in = NonEmptyDims(1, 3);
  if (Chance(50)) in[0] = Uniform(8, 40);
  const int64_t along = Uniform(0, static_cast<int64_t>(in.size()) - 1);
  std::string size, pad;
  for (int64_t d = 0; d < static_cast<int64_t>(in.size()); ++d) {
    const bool forward = Chance(60);
    const int64_t n = d == along ? in[d] : 1;
    absl::StrAppend(&size, d > 0 ? "x" : "", n);
    absl::StrAppend(&pad, d > 0 ? "x" : "", forward ? n - 1 : 0, "_", forward ? 0 : n - 1);
  }
  const std::string opcode = Of({"add", "add", "maximum", "minimum", "multiply"});
  // Products of dozens of init values are exact only in integers.
  const std::string type = opcode == "multiply" ? "s32" : Of({"s32", "s32", "f32"});
  const std::string x = opcode == "multiply" ? Parameter(type, in, -1, 1) : Parameter(type, in);
  const std::string init = InitValue(opcode, type);
  Result(type, in,
         absl::StrCat("reduce-window(", x, ", ", init, "), window={size=", size, " pad=", pad,
                      "}, to_apply=", ReducerText(opcode, type)));
}

void Generator::ArgMax() {
  const Dims in = NonEmptyDims(1, 3);
  const int64_t d = Uniform(0, static_cast<int64_t>(in.size()) - 1);
  Dims out = in;
  out.erase(out.begin() + d);
  const std::string name = Fresh("argmax");
  Computation(absl::StrCat(name, R"( {
  v0 = f32[] parameter(0)
  i0 = s32[] parameter(1)
  v1 = f32[] parameter(2)
  i1 = s32[] parameter(3)
  more = pred[] compare(v0, v1), direction=GT
  same = pred[] compare(v0, v1), direction=EQ
  first = pred[] compare(i0, i1), direction=LT
  tie = pred[] and(same, first)
  take = pred[] or(more, tie)
  v = f32[] select(take, v0, v1)
  i = s32[] select(take, i0, i1)
  ROOT t = (f32[], s32[]) tuple(v, i)
}
)"));
  const std::string x = Parameter("f32", in);
  const std::string iota = Fresh("iota"), low = Fresh("low"), none = Fresh("none"), pair = Fresh("pair");
  Line(absl::StrCat(iota, " = ", ShapeText("s32", in), " iota(), iota_dimension=", d));
  Line(absl::StrCat(low, " = f32[] constant(-inf)"));
  Line(absl::StrCat(none, " = s32[] constant(1000)"));
  Line(absl::StrCat(pair, " = (", ShapeText("f32", out), ", ", ShapeText("s32", out), ") reduce(", x, ", ",
                    iota, ", ", low, ", ", none, "), dimensions={", d, "}, to_apply=", name));
  Result("s32", out, absl::StrCat("get-tuple-element(", pair, "), index=1"));
}

void Generator::ReduceWindow() {
  const Dims in = NonEmptyDims(1, 3);
  Dims out;
  std::string size, stride, pad, base, dilation;
  for (size_t i = 0; i < in.size(); ++i) {
    int64_t k = Chance(40) ? 1 : Uniform(1, 4), s = Chance(60) ? 1 : Uniform(1, 3);
    int64_t low = k == 1 && Chance(70) ? 0 : Uniform(0, 3), high = k == 1 && Chance(70) ? 0 : Uniform(0, 3);
    const int64_t bd = Chance(85) ? 1 : 2, wd = Chance(80) ? 1 : 2;
    const int64_t spread = (in[i] - 1) * bd + 1;
    const int64_t reach = (k - 1) * wd + 1;
    if (spread + low + high < reach) low = high = reach;
    out.push_back((spread + low + high - reach) / s + 1);
    const char* x = i > 0 ? "x" : "";
    absl::StrAppend(&size, x, k);
    absl::StrAppend(&stride, x, s);
    absl::StrAppend(&pad, x, low, "_", high);
    absl::StrAppend(&base, x, bd);
    absl::StrAppend(&dilation, x, wd);
  }
  const std::string type = Of({"f32", "s32"}), opcode = Of({"add", "maximum", "minimum"});
  const std::string x = Parameter(type, in);
  const std::string init = Fresh("init");
  Line(absl::StrCat(init, " = ", type, "[] constant(",
                    opcode == "add"       ? "0"
                    : opcode == "maximum" ? "-100"
                                          : "100",
                    ")"));
  Result(type, out,
         absl::StrCat("reduce-window(", x, ", ", init, "), window={size=", size, " stride=", stride,
                      " pad=", pad, " lhs_dilate=", base, " rhs_dilate=", dilation,
                      "}, to_apply=", ReducerText(opcode, type)));
}

void Generator::SelectAndScatter() {
  Dims in = NonEmptyDims(1, 3);
  Dims source;
  std::string size, stride, pad;
  const bool padded = Chance(60);
  for (size_t i = 0; i < in.size(); ++i) {
    if (Chance(40)) in[i] = Uniform(4, 24);
    const int64_t k = Uniform(1, std::min<int64_t>(in[i], 4)), s = Uniform(1, 3);
    const int64_t low = padded ? Uniform(0, 3) : 0, high = padded ? Uniform(0, 3) : 0;
    source.push_back((in[i] + low + high - k) / s + 1);
    absl::StrAppend(&size, i > 0 ? "x" : "", k);
    absl::StrAppend(&stride, i > 0 ? "x" : "", s);
    absl::StrAppend(&pad, i > 0 ? "x" : "", low, "_", high);
  }
  const std::string ge = Fresh("ge");
  Computation(absl::StrCat(ge,
                           " {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = pred[] "
                           "compare(a, b), direction=GE\n}\n"));
  const std::string x = Parameter("f32", in), y = Parameter("f32", source), init = Fresh("init");
  Line(absl::StrCat(init, " = f32[] constant(0)"));
  Result("f32", in,
         absl::StrCat("select-and-scatter(", x, ", ", y, ", ", init, "), window={size=", size, " stride=",
                      stride, " pad=", pad, "}, select=", ge, ", scatter=", ReducerText("add", "f32")));
}

void Generator::Sort() {
  Dims dims = RandomDims(1, 3);
  const int64_t d = Uniform(0, static_cast<int64_t>(dims.size()) - 1);
  if (Chance(50)) dims[d] = Uniform(1, 30);
  const bool is_long = Chance(15);
  // Long enough for tiles to be sorted together.
  if (is_long) {
    for (int64_t& size : dims) size = std::min<int64_t>(size, 3);
    dims[d] = Chance(50) ? Uniform(30, 400) : Uniform(1024, 1200);
  }
  const std::string less = Fresh("less");
  Computation(
      absl::StrCat(less,
                   " {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = s32[] parameter(2)\n  d = "
                   "s32[] parameter(3)\n  ROOT r = pred[] compare(a, b), direction=LT\n}\n"));
  const std::string x = Parameter("f32", dims), both = Fresh("both");
  std::string y;
  if (Chance(30)) {
    y = Fresh("counter");
    Line(absl::StrCat(y, " = ", ShapeText("s32", dims), " iota(), iota_dimension=", d));
  } else {
    y = Parameter("s32", dims);
  }
  Line(absl::StrCat(both, " = (", ShapeText("f32", dims), ", ", ShapeText("s32", dims), ") sort(", x, ", ", y,
                    "), dimensions={", d, "}, is_stable=true, to_apply=", less));
  const bool first = Chance(50), second = Chance(30), sliced = Chance(is_long ? 20 : 50);
  const auto take = [&](bool values) {
    const std::string type = values ? "f32" : "s32";
    Result(type, dims, absl::StrCat("get-tuple-element(", both, "), index=", values ? 0 : 1));
    if (!sliced || dims[d] < 1) return;
    Dims some = dims;
    const int64_t begin = Chance(70) ? 0 : Uniform(0, std::min<int64_t>(2, dims[d] - 1));
    some[d] = Uniform(1, std::min<int64_t>(4, dims[d] - begin));
    std::vector<std::string> bounds;
    for (int64_t k = 0; k < static_cast<int64_t>(dims.size()); ++k) {
      const int64_t from = k == d ? begin : 0;
      bounds.push_back(absl::StrCat("[", from, ":", from + some[k], "]"));
    }
    Result(type, some, absl::StrCat("slice(", result_, "), slice={", absl::StrJoin(bounds, ", "), "}"));
  };
  if (second) take(!first);  // Perhaps nothing uses it.
  take(first);
}

void Generator::TopK() { FirstOfLines("topk", absl::StrCat(", largest=", Chance(50) ? "true" : "false")); }

void Generator::TopKCall() { FirstOfLines("custom-call", ", custom_call_target=\"TopK\""); }

void Generator::FirstOfLines(const std::string& op, const std::string& attributes) {
  Dims dims = NonEmptyDims(1, 3);
  if (Chance(50)) dims.back() = Uniform(1, 30);
  const int64_t k = Uniform(1, Chance(50) ? std::min<int64_t>(dims.back(), 3) : dims.back());
  const std::string type = Of({"f32", "f32", "s32", "u8", "bf16"});
  const std::string x = Parameter(type, dims), both = Fresh("top");
  dims.back() = k;
  Line(absl::StrCat(both, " = (", ShapeText(type, dims), ", ", ShapeText("s32", dims), ") ", op, "(", x, ")",
                    op == "topk" ? absl::StrCat(", k=", k) : "", attributes));
  const bool first = Chance(50);
  Result(first ? type : "s32", dims, absl::StrCat("get-tuple-element(", both, "), index=", first ? 0 : 1));
}

}  // namespace toroid
