// Kinds of random programs: elementwise ops and conversions.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/random/generator.h"

namespace toroid {

void Generator::Elementwise() {
  const Dims dims = RandomDims(0, 4);
  const std::string type = NumberType();
  const std::string a = Parameter(type, dims), b = Parameter(type, dims);
  switch (Uniform(0, 4)) {
    case 0:
      Result(type, dims,
             absl::StrCat(Of({"add", "subtract", "multiply", "maximum", "minimum"}), "(", a, ", ", b, ")"));
      return;
    case 1:
      Result(type, dims,
             absl::StrCat(type[0] == 'u' ? "copy" : Of({"negate", "abs", "sign", "copy"}), "(", a, ")"));
      return;
    case 2:
      Result("pred", dims,
             absl::StrCat("compare(", a, ", ", b, "), direction=", Of({"EQ", "NE", "LT", "LE", "GT", "GE"})));
      return;
    case 3: {
      const bool scalar = Chance(30);
      const std::string p = Parameter("pred", scalar ? Dims() : dims);
      Result(type, dims, absl::StrCat("select(", p, ", ", a, ", ", b, ")"));
      return;
    }
    default: {
      const bool scalar = Chance(50);
      const std::string lo = Parameter(type, scalar ? Dims() : dims, 0, 1);
      const std::string hi = Parameter(type, scalar ? Dims() : dims, 1, 3);
      Result(type, dims, absl::StrCat("clamp(", lo, ", ", a, ", ", hi, ")"));
      return;
    }
  }
}

void Generator::UnaryMath() {
  const Dims dims = RandomDims(0, 3);
  const std::string type = Of({"f32", "f32", "f64", "bf16", "f16"});
  const std::string x = Parameter(type, dims);
  const std::string opcode = Of({"floor",
                                 "ceil",
                                 "round-nearest-afz",
                                 "round-nearest-even",
                                 "is-finite",
                                 "exponential",
                                 "exponential-minus-one",
                                 "log",
                                 "log-plus-one",
                                 "sqrt",
                                 "rsqrt",
                                 "cbrt",
                                 "logistic",
                                 "sine",
                                 "cosine",
                                 "tan",
                                 "sinh",
                                 "cosh",
                                 "tanh",
                                 "asin",
                                 "acos",
                                 "asinh",
                                 "acosh",
                                 "atanh",
                                 "erf"});
  program_.exact = false;
  Result(opcode == "is-finite" ? "pred" : type, dims, absl::StrCat(opcode, "(", x, ")"));
}

void Generator::BinaryMath() {
  const Dims dims = RandomDims(0, 3);
  if (Chance(50)) {
    const std::string type = Of({"s32", "u32", "s8", "u8", "s64", "f32"});
    const std::string x = Parameter(type, dims), y = Parameter(type, dims);
    program_.exact = type != "f32";
    Result(type, dims, absl::StrCat(Of({"divide", "remainder"}), "(", x, ", ", y, ")"));
    return;
  }
  const std::string type = Of({"f32", "f64"});
  const std::string x = Parameter(type, dims), y = Parameter(type, dims);
  program_.exact = false;
  Result(type, dims, absl::StrCat(Of({"power", "atan2", "divide"}), "(", x, ", ", y, ")"));
}

void Generator::BitOps() {
  const Dims dims = RandomDims(0, 3);
  const std::string type = Of({"s32", "u32", "s8", "u8", "s64", "pred"});
  const std::string x = Parameter(type, dims), y = Parameter(type, dims);
  const std::string binary = absl::StrCat("(", x, ", ", y, ")"), unary = absl::StrCat("(", x, ")");
  if (type == "pred") {
    const bool negate = Chance(30);
    Result(type, dims, negate ? "not" + unary : absl::StrCat(Of({"and", "or", "xor"}), binary));
  } else if (Chance(30)) {
    Result(type, dims, absl::StrCat(Of({"not", "popcnt", "count-leading-zeros"}), unary));
  } else {
    Result(
        type, dims,
        absl::StrCat(Of({"and", "or", "xor", "shift-left", "shift-right-logical", "shift-right-arithmetic"}),
                     binary));
  }
}

void Generator::ComplexParts() {
  const Dims dims = RandomDims(0, 3);
  const bool wide = Chance(30);
  const std::string real = wide ? "f64" : "f32", complex = wide ? "c128" : "c64";
  if (Chance(40)) {
    const std::string x = Parameter(real, dims), y = Parameter(real, dims);
    Result(complex, dims, absl::StrCat("complex(", x, ", ", y, ")"));
    result_type_ = "pred";  // The tail ops do not support complex numbers.
    return;
  }
  const std::string x = Parameter(complex, dims), y = Parameter(complex, dims), product = Fresh("product");
  Line(absl::StrCat(product, " = ", ShapeText(complex, dims), " multiply(", x, ", ", y, ")"));
  Result(real, dims, absl::StrCat(Of({"real", "imag"}), "(", product, ")"));
}

void Generator::ReducePrecision() {
  const Dims dims = RandomDims(0, 3);
  const std::string x = Parameter("f32", dims, -1000, 1000);
  Result("f32", dims,
         absl::StrCat("reduce-precision(", x, "), exponent_bits=", Uniform(3, 8),
                      ", mantissa_bits=", Uniform(1, 10)));
  program_.exact = false;
}

void Generator::Identity() {
  const Dims dims = RandomDims(0, 3);
  const std::string type = NumberType();
  const std::string x = Parameter(type, dims);
  Result(type, dims, absl::StrCat(Of({"copy", "opt-barrier"}), "(", x, ")"));
}

void Generator::Convert() {
  const Dims dims = RandomDims(0, 3);
  const std::string from = NumberType(), to = NumberType();
  const std::string x = Parameter(from, dims);
  Result(to, dims, absl::StrCat("convert(", x, ")"));
}

void Generator::BitcastConvert() {
  Dims dims = NonEmptyDims(1, 3);
  const int pick = static_cast<int>(Uniform(0, 2));
  if (pick == 0) {
    const std::string x = Parameter("s32", dims);
    Result("u32", dims, absl::StrCat("bitcast-convert(", x, ")"));
    return;
  }
  Dims narrow = dims;
  narrow.push_back(4);
  if (pick == 1) {
    const std::string x = Parameter("s32", dims);
    Result("u8", narrow, absl::StrCat("bitcast-convert(", x, ")"));
  } else {
    const std::string x = Parameter("u8", narrow);
    Result("s32", dims, absl::StrCat("bitcast-convert(", x, ")"));
  }
}

void Generator::Map() {
  const Dims dims = RandomDims(1, 3);
  Dims all(dims.size());
  std::iota(all.begin(), all.end(), 0);
  const std::string f = Fresh("f");
  Computation(absl::StrCat(f,
                           " {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = f32[] multiply(a, "
                           "b)\n  ROOT d = f32[] add(c, a)\n}\n"));
  const std::string x = Parameter("f32", dims), y = Parameter("f32", dims);
  Result("f32", dims, absl::StrCat("map(", x, ", ", y, "), dimensions=", List(all), ", to_apply=", f));
}

void Generator::RareOps() {
  const Dims dims = RandomDims(0, 3);
  switch (Uniform(0, 2)) {
    case 0: {
      const std::string type = Of({"s32", "u32", "s64"});
      const std::string x = Parameter(type, dims, -1000, 1000), y = Parameter(type, dims);
      Result(type, dims, absl::StrCat("mulhi(", x, ", ", y, ")"));
      return;
    }
    case 1: {
      const std::string x = Parameter("f32", dims), random = Parameter("u32", dims, 0, 1 << 30);
      Result("s32", dims, absl::StrCat("stochastic-convert(", x, ", ", random, ")"));
      return;
    }
    default: {
      const std::string x = Parameter("f32", dims);
      Result(
          "f32", dims,
          absl::StrCat("domain(", x, "), domain={kind=\"sharding\", entry={replicated}, exit={replicated}}"));
      return;
    }
  }
}

}  // namespace toroid
