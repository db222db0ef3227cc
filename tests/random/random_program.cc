#include "tests/random/random_program.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ir/mesh.h"
#include "hlo/ops/verify_module.h"
#include "runtime/compare.h"
#include "runtime/executor.h"
#include "tests/partition_and_run.h"

namespace toroid {
namespace {

std::string ShapeText(absl::string_view type, const Dims& dims) {
  return absl::StrCat(type, "[", absl::StrJoin(dims, ","), "]");
}

std::string List(const Dims& values) { return absl::StrCat("{", absl::StrJoin(values, ","), "}"); }

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  RandomProgram Make(absl::string_view kind);

  int64_t Uniform(int64_t low, int64_t high) {  // Both ends included.
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  bool Chance(int percent) { return Uniform(1, 100) <= percent; }
  template <typename T>
  const T& Pick(const std::vector<T>& values) {
    return values[Uniform(0, static_cast<int64_t>(values.size()) - 1)];
  }
  const char* Of(std::initializer_list<const char*> names) {
    return *(names.begin() + Uniform(0, static_cast<int64_t>(names.size()) - 1));
  }

  // A size that is uneven for most device counts; now and then 1 or 0.
  int64_t Size() { return Chance(4) ? 0 : Chance(12) ? 1 : Uniform(2, 9); }
  Dims RandomDims(int low, int high) {
    Dims dims;
    for (int64_t rank = Uniform(low, high); rank > 0; --rank) dims.push_back(Size());
    return dims;
  }
  Dims NonEmptyDims(int low, int high) {
    Dims dims = RandomDims(low, high);
    for (int64_t& size : dims) size = std::max<int64_t>(size, 1);
    return dims;
  }
  std::string NumberType() { return Of({"f32", "f32", "f32", "s32", "f64", "s8", "u8", "u32", "bf16", "s64"}); }

  // A sharding attribute for an array, or nothing.
  std::string ShardingText(const Dims& dims, int percent = 80) {
    if (!Chance(percent)) return "";
    Sharding sharding = Sharding::Replicated(static_cast<int>(dims.size()));
    for (int axis = 0; axis < mesh_.num_axes(); ++axis) {
      if (dims.empty() || Chance(25)) continue;
      sharding.dims[Uniform(0, static_cast<int64_t>(dims.size()) - 1)].push_back(axis);
    }
    for (AxisList& dim : sharding.dims) {
      std::vector<int> axes(dim.begin(), dim.end());
      std::shuffle(axes.begin(), axes.end(), random_);
      dim = AxisList();
      for (const int axis : axes) dim.push_back(axis);
    }
    HloSharding hlo = mesh_.ToHlo(sharding);
    if (hlo.IsTiled() && Chance(6)) {
      // The same tiles on devices in an order of their own.
      std::vector<int64_t> devices(mesh_.num_devices());
      std::iota(devices.begin(), devices.end(), 0);
      std::shuffle(devices.begin(), devices.end(), random_);
      hlo = HloSharding::Tiled({hlo.tiles().begin(), hlo.tiles().end()},
                               {hlo.subgroups().begin(), hlo.subgroups().end()}, *DeviceOrder::Explicit(devices));
    }
    return absl::StrCat(", sharding=", hlo.ToString());
  }

  // Adds a parameter and returns its name. Values: integers in [low, high].
  std::string Parameter(const std::string& type, const Dims& dims, int64_t low = -4, int64_t high = 4) {
    const std::string name = absl::StrCat("p", program_.arguments.size());
    absl::StrAppend(&body_, "  ", name, " = ", ShapeText(type, dims), " parameter(", program_.arguments.size(), ")",
                    ShardingText(dims), "\n");
    Literal literal(Shape(*TypeFromName(type), dims));
    if (low < 0 && (type[0] == 'u')) low = 0;
    VisitArrayType(
        literal.shape().element_type(),
        [&](auto tag) {
          using T = typename decltype(tag)::type;
          for (T& value : literal.mutable_data<T>()) {
            if constexpr (std::is_same_v<T, bool>) {
              value = Chance(50);
            } else if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
              value = T(Uniform(low, high), Uniform(low, high));
            } else {
              value = T(static_cast<double>(Uniform(low, high)));
            }
          }
          return 0;
        },
        0);
    program_.arguments.push_back(std::move(literal));
    return name;
  }

  // Adds `name = SHAPE op`, and makes it the result so far.
  void Result(const std::string& type, const Dims& dims, const std::string& op) {
    result_ = absl::StrCat("r", next_result_++);
    result_type_ = type;
    result_dims_ = dims;
    absl::StrAppend(&body_, "  ", result_, " = ", ShapeText(type, dims), " ", op, "\n");
  }
  void Line(const std::string& text) { absl::StrAppend(&body_, "  ", text, "\n"); }
  // Adds a computation of two scalars and returns its name.
  std::string Reducer(const std::string& opcode, const std::string& type) {
    const std::string name = absl::StrCat(opcode, "_", type, "_", next_result_++);
    absl::StrAppend(&computations_, name, " {\n  a = ", type, "[] parameter(0)\n  b = ", type,
                    "[] parameter(1)\n  ROOT c = ", type, "[] ", opcode, "(a, b)\n}\n\n");
    return name;
  }
  void Computation(const std::string& text) { absl::StrAppend(&computations_, text, "\n"); }
  std::string Fresh(const std::string& base) { return absl::StrCat(base, next_result_++); }

  void Elementwise();
  void UnaryMath();
  void BinaryMath();
  void BitOps();
  void ComplexParts();
  void ReducePrecision();
  void Identity();
  void Fft();
  void Cholesky();
  void TriangularSolve();
  void TopKCall();
  void VariadicReduce();
  void CallOp();
  std::string DominantMatrices(const std::string& type, const Dims& dims);
  void Broadcast();
  void Reshape();
  void Transpose();
  void Reverse();
  void Slice();
  void Pad();
  void Concatenate();
  void IotaAndConstant();
  void Convert();
  void BitcastConvert();
  void Dot();
  void Convolution();
  void Reduce();
  void ArgMax();
  void ReduceWindow();
  void SelectAndScatter();
  void DynamicSlice();
  void DynamicUpdateSlice();
  void Gather();
  void Scatter();
  void Sort();
  void TopK();
  void Map();
  void Annotation();
  void While();
  void Conditional();
  void Tail();

 private:
  std::mt19937_64 random_;
  Mesh mesh_;
  RandomProgram program_;
  std::string computations_, body_;
  std::string result_, result_type_;
  Dims result_dims_;
  int next_result_ = 0;
};

void Generator::Elementwise() {
  const Dims dims = RandomDims(0, 4);
  const std::string type = NumberType();
  const std::string a = Parameter(type, dims), b = Parameter(type, dims);
  switch (Uniform(0, 4)) {
    case 0:
      Result(type, dims, absl::StrCat(Of({"add", "subtract", "multiply", "maximum", "minimum"}), "(", a, ", ", b, ")"));
      return;
    case 1:
      Result(type, dims, absl::StrCat(type[0] == 'u' ? "copy" : Of({"negate", "abs", "sign", "copy"}), "(", a, ")"));
      return;
    case 2:
      Result("pred", dims, absl::StrCat("compare(", a, ", ", b, "), direction=", Of({"EQ", "NE", "LT", "LE", "GT", "GE"})));
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
  const std::string opcode =
      Of({"floor", "ceil", "round-nearest-afz", "round-nearest-even", "is-finite", "exponential",
          "exponential-minus-one", "log", "log-plus-one", "sqrt", "rsqrt", "cbrt", "logistic", "sine", "cosine", "tan",
          "sinh", "cosh", "tanh", "asin", "acos", "asinh", "acosh", "atanh", "erf"});
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
    Result(type, dims,
           absl::StrCat(Of({"and", "or", "xor", "shift-left", "shift-right-logical", "shift-right-arithmetic"}), binary));
  }
}

void Generator::ComplexParts() {
  const Dims dims = RandomDims(0, 3);
  const bool wide = Chance(30);
  const std::string real = wide ? "f64" : "f32", complex = wide ? "c128" : "c64";
  if (Chance(40)) {
    const std::string x = Parameter(real, dims), y = Parameter(real, dims);
    Result(complex, dims, absl::StrCat("complex(", x, ", ", y, ")"));
    result_type_ = "pred";  // No tail: it knows no complex numbers.
    return;
  }
  const std::string x = Parameter(complex, dims), y = Parameter(complex, dims), product = Fresh("product");
  Line(absl::StrCat(product, " = ", ShapeText(complex, dims), " multiply(", x, ", ", y, ")"));
  Result(real, dims, absl::StrCat(Of({"real", "imag"}), "(", product, ")"));
}

void Generator::ReducePrecision() {
  const Dims dims = RandomDims(0, 3);
  const std::string x = Parameter("f32", dims, -1000, 1000);
  Result("f32", dims, absl::StrCat("reduce-precision(", x, "), exponent_bits=", Uniform(3, 8), ", mantissa_bits=", Uniform(1, 10)));
  program_.exact = false;
}

void Generator::Identity() {
  const Dims dims = RandomDims(0, 3);
  const std::string type = NumberType();
  const std::string x = Parameter(type, dims);
  Result(type, dims, absl::StrCat(Of({"copy", "opt-barrier"}), "(", x, ")"));
}

void Generator::Fft() {
  Dims in = NonEmptyDims(1, 3);
  const bool inverse = Chance(40);
  const int64_t n = in.back();
  const std::string x = Parameter("c64", in);
  Result("c64", in, absl::StrCat("fft(", x, "), fft_type=", inverse ? "IFFT" : "FFT", ", fft_length={", n, "}"));
  program_.exact = false;
  result_type_ = "pred";
}

// Square matrices with small integers off a large diagonal, so that they have inverses and Cholesky factors.
std::string Generator::DominantMatrices(const std::string& type, const Dims& dims) {
  const int64_t rank = static_cast<int64_t>(dims.size());
  const std::string x = Parameter(type, dims), rows = Fresh("rows"), columns = Fresh("columns"), same = Fresh("same"),
                    twenty = Fresh("twenty"), diagonal = Fresh("diagonal"), matrices = Fresh("matrices");
  Line(absl::StrCat(rows, " = ", ShapeText("s32", dims), " iota(), iota_dimension=", rank - 2));
  Line(absl::StrCat(columns, " = ", ShapeText("s32", dims), " iota(), iota_dimension=", rank - 1));
  Line(absl::StrCat(same, " = ", ShapeText("pred", dims), " compare(", rows, ", ", columns, "), direction=EQ"));
  Line(absl::StrCat(twenty, " = ", type, "[] constant(20)"));
  Line(absl::StrCat(diagonal, " = ", ShapeText(type, dims), " broadcast(", twenty, "), dimensions={}"));
  Line(absl::StrCat(matrices, " = ", ShapeText(type, dims), " select(", same, ", ", diagonal, ", ", x, ")"));
  return matrices;
}

void Generator::Cholesky() {
  Dims dims = RandomDims(0, 2);
  const int64_t n = Uniform(1, 4);
  dims.push_back(n);
  dims.push_back(n);
  const std::string a = DominantMatrices("f32", dims);
  Result("f32", dims, absl::StrCat("cholesky(", a, "), lower=", Chance(50) ? "true" : "false"));
  program_.exact = false;
}

void Generator::TriangularSolve() {
  Dims dims = RandomDims(0, 2), right = dims;
  const int64_t n = Uniform(1, 4), m = Size();
  const bool left = Chance(50);
  dims.push_back(n);
  dims.push_back(n);
  right.push_back(left ? n : m);
  right.push_back(left ? m : n);
  const std::string a = DominantMatrices("f64", dims), b = Parameter("f64", right);
  Result("f64", right,
         absl::StrCat("triangular-solve(", a, ", ", b, "), left_side=", left ? "true" : "false", ", lower=",
                      Chance(50) ? "true" : "false", ", unit_diagonal=false, transpose_a=",
                      Of({"NO_TRANSPOSE", "TRANSPOSE"})));
  program_.exact = false;
}

void Generator::TopKCall() {
  Dims dims = NonEmptyDims(1, 3);
  const int64_t k = Uniform(1, dims.back());
  const std::string x = Parameter("f32", dims), both = Fresh("top");
  dims.back() = k;
  Line(absl::StrCat(both, " = (", ShapeText("f32", dims), ", ", ShapeText("s32", dims), ") custom-call(", x,
                    "), custom_call_target=\"TopK\""));
  const bool first = Chance(50);
  Result(first ? "f32" : "s32", dims, absl::StrCat("get-tuple-element(", both, "), index=", first ? 0 : 1));
}

// Sums and maxima in one reduction. It starts from neutral elements: reducers of several arrays are opaque, and from
// other init values HLO leaves open how often they count.
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
  const std::string both = Fresh("both"), f = Fresh("f"), zero = Fresh("zero"), low = Fresh("low");
  Computation(absl::StrCat(f, R"( {
  a0 = f32[] parameter(0)
  b0 = s32[] parameter(1)
  a1 = f32[] parameter(2)
  b1 = s32[] parameter(3)
  a = f32[] add(a0, a1)
  b = s32[] maximum(b0, b1)
  ROOT t = (f32[], s32[]) tuple(a, b)
}
)"));
  const std::string x = Parameter("f32", in), y = Parameter("s32", in);
  Line(absl::StrCat(zero, " = f32[] constant(0)"));
  Line(absl::StrCat(low, " = s32[] constant(-2147483648)"));
  Line(absl::StrCat(both, " = (", ShapeText("f32", out), ", ", ShapeText("s32", out), ") reduce(", x, ", ", y, ", ", zero,
                    ", ", low, "), dimensions=", List(reduced), ", to_apply=", f));
  const bool first = Chance(50);
  Result(first ? "f32" : "s32", out, absl::StrCat("get-tuple-element(", both, "), index=", first ? 0 : 1));
}

void Generator::CallOp() {
  const Dims dims = RandomDims(0, 3);
  const std::string f = Fresh("callee"), shape = ShapeText("s32", dims);
  Computation(absl::StrCat(f, " {\n  a = ", shape, " parameter(0)\n  b = ", shape, " parameter(1)\n  ROOT c = ", shape,
                           " subtract(a, b)", ShardingText(dims, 30), "\n}\n"));
  const std::string x = Parameter("s32", dims), y = Parameter("s32", dims);
  Result("s32", dims, absl::StrCat("call(", x, ", ", y, "), to_apply=", f));
}

void Generator::Broadcast() {
  const Dims out = RandomDims(1, 4);
  Dims dims, in;
  for (int64_t d = 0; d < static_cast<int64_t>(out.size()); ++d) {
    if (!Chance(50)) continue;
    dims.push_back(d);
    in.push_back(out[d]);
  }
  const std::string type = NumberType();
  const std::string x = Parameter(type, in);
  Result(type, out, absl::StrCat("broadcast(", x, "), dimensions=", List(dims)));
}

void Generator::Reshape() {
  // The same list of factors cut into dimensions twice.
  std::vector<int64_t> factors;
  for (int64_t n = Uniform(1, 5); n > 0; --n) factors.push_back(Pick(std::vector<int64_t>{1, 2, 2, 2, 3, 3, 4, 5}));
  const auto group = [&] {
    Dims dims = {1};
    for (const int64_t factor : factors) {
      if (Chance(50)) dims.push_back(1);
      dims.back() *= factor;
    }
    return dims;
  };
  const Dims in = group();
  if (Chance(30)) std::shuffle(factors.begin(), factors.end(), random_);
  const Dims out = group();
  const std::string type = NumberType();
  const std::string x = Parameter(type, in);
  Result(type, out, absl::StrCat("reshape(", x, ")"));
}

void Generator::Transpose() {
  const Dims in = RandomDims(1, 4);
  Dims permutation(in.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::shuffle(permutation.begin(), permutation.end(), random_);
  Dims out;
  for (const int64_t d : permutation) out.push_back(in[d]);
  const std::string type = NumberType();
  const std::string x = Parameter(type, in);
  Result(type, out, absl::StrCat("transpose(", x, "), dimensions=", List(permutation)));
}

void Generator::Reverse() {
  const Dims dims = RandomDims(1, 3);
  Dims reversed;
  for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d) {
    if (Chance(60)) reversed.push_back(d);
  }
  const std::string type = NumberType();
  const std::string x = Parameter(type, dims);
  Result(type, dims, absl::StrCat("reverse(", x, "), dimensions=", List(reversed)));
}

void Generator::Slice() {
  Dims in = RandomDims(1, 3);
  if (Chance(40)) in[0] = Uniform(8, 30);
  Dims out;
  std::vector<std::string> bounds;
  for (const int64_t size : in) {
    const int64_t start = Chance(30) ? 0 : Uniform(0, size);
    const int64_t limit = Chance(30) ? size : Uniform(start, size);
    const int64_t stride = Chance(60) ? 1 : Uniform(1, 3);
    out.push_back((limit - start + stride - 1) / stride);
    bounds.push_back(absl::StrCat("[", start, ":", limit, ":", stride, "]"));
  }
  const std::string type = NumberType();
  const std::string x = Parameter(type, in);
  Result(type, out, absl::StrCat("slice(", x, "), slice={", absl::StrJoin(bounds, ", "), "}"));
}

void Generator::Pad() {
  const Dims in = RandomDims(1, 3);
  Dims out;
  std::vector<std::string> padding;
  for (const int64_t size : in) {
    int64_t low = Chance(40) ? 0 : Uniform(-2, 6), high = Chance(40) ? 0 : Uniform(-2, 6);
    const int64_t interior = Chance(70) ? 0 : Uniform(0, 2);
    const int64_t spread = size == 0 ? 0 : size + (size - 1) * interior;
    if (spread + low + high < 0) low = high = 0;
    out.push_back(spread + low + high);
    padding.push_back(absl::StrCat(low, "_", high, "_", interior));
  }
  const std::string type = NumberType();
  const std::string x = Parameter(type, in), v = Parameter(type, {});
  Result(type, out, absl::StrCat("pad(", x, ", ", v, "), padding=", absl::StrJoin(padding, "x")));
}

void Generator::Concatenate() {
  Dims dims = RandomDims(1, 3);
  const int64_t d = Uniform(0, static_cast<int64_t>(dims.size()) - 1);
  const std::string type = NumberType();
  std::vector<std::string> operands;
  int64_t total = 0;
  for (int64_t n = Uniform(1, 4); n > 0; --n) {
    dims[d] = Size();
    total += dims[d];
    operands.push_back(Parameter(type, dims));
  }
  dims[d] = total;
  Result(type, dims, absl::StrCat("concatenate(", absl::StrJoin(operands, ", "), "), dimensions={", d, "}"));
}

void Generator::IotaAndConstant() {
  const Dims dims = NonEmptyDims(1, 3);
  const std::string type = Of({"f32", "s32", "u8", "bf16", "s64"});
  const std::string x = Parameter(type, dims, 0, 4);
  if (Chance(60)) {
    const std::string iota = Fresh("iota");
    Line(absl::StrCat(iota, " = ", ShapeText(type, dims), " iota(), iota_dimension=",
                      Uniform(0, static_cast<int64_t>(dims.size()) - 1)));
    Result(type, dims, absl::StrCat("add(", x, ", ", iota, ")"));
    return;
  }
  const int64_t n = dims[0];
  std::vector<int64_t> values(n);
  for (int64_t& value : values) value = Uniform(0, 4);
  const std::string constant = Fresh("constant"), wide = Fresh("wide");
  Line(absl::StrCat(constant, " = ", ShapeText(type, {n}), " constant({", absl::StrJoin(values, ", "), "})"));
  Line(absl::StrCat(wide, " = ", ShapeText(type, dims), " broadcast(", constant, "), dimensions={0}"));
  Result(type, dims, absl::StrCat("multiply(", x, ", ", wide, ")"));
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

void Generator::Dot() {
  const Dims batch = RandomDims(0, 2), contract = RandomDims(0, 2), m = RandomDims(0, 2), n = RandomDims(0, 2);
  // Each side's dimensions in a random order; lists name where batch and contracting ones went.
  const auto side = [&](const Dims& free, Dims* batch_at, Dims* contract_at) {
    std::vector<int> order(batch.size() + contract.size() + free.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    Dims dims(order.size());
    batch_at->resize(batch.size());
    contract_at->resize(contract.size());
    std::vector<std::pair<int, int64_t>> rest;  // (position, index of the free dimension)
    for (size_t at = 0; at < order.size(); ++at) {
      const size_t k = order[at];
      if (k < batch.size()) {
        dims[at] = batch[k];
        (*batch_at)[k] = static_cast<int64_t>(at);
      } else if (k < batch.size() + contract.size()) {
        dims[at] = contract[k - batch.size()];
        (*contract_at)[k - batch.size()] = static_cast<int64_t>(at);
      } else {
        rest.emplace_back(static_cast<int>(at), 0);
      }
    }
    for (size_t i = 0; i < rest.size(); ++i) dims[rest[i].first] = free[i];
    return dims;
  };
  Dims lb, lc, rb, rc;
  const Dims lhs = side(m, &lb, &lc), rhs = side(n, &rb, &rc);
  Dims out = batch;
  out.insert(out.end(), m.begin(), m.end());
  out.insert(out.end(), n.begin(), n.end());
  const std::string type = Of({"f32", "f32", "s32", "f64", "u8"});
  const std::string a = Parameter(type, lhs, -2, 2), b = Parameter(type, rhs, -2, 2);
  Result(type, out,
         absl::StrCat("dot(", a, ", ", b, "), lhs_batch_dims=", List(lb), ", rhs_batch_dims=", List(rb),
                      ", lhs_contracting_dims=", List(lc), ", rhs_contracting_dims=", List(rc)));
}

void Generator::Convolution() {
  const int64_t spatial = Uniform(1, 2);
  const int64_t groups = Chance(75) ? 1 : 2;
  const int64_t batch_groups = groups == 1 && Chance(15) ? 2 : 1;
  const int64_t in = Uniform(1, 4) * groups, out = Uniform(1, 3) * groups * batch_groups;
  const int64_t batch = Uniform(1, 5) * batch_groups;
  Dims lhs = {batch}, rhs, result = {batch / batch_groups};
  std::string window_size, stride, pad, lhs_dilate, rhs_dilate, reversal;
  std::string lhs_labels = "b", rhs_labels, out_labels = "b";
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t n = Uniform(1, 12), k = Uniform(1, 4);
    const int64_t s = Chance(60) ? 1 : Uniform(1, 3), ld = Chance(75) ? 1 : Uniform(1, 3), rd = Chance(75) ? 1 : Uniform(1, 2);
    int64_t low = Uniform(-1, 3), high = Uniform(-1, 3);
    const int64_t spread = (n - 1) * ld + 1, reach = (k - 1) * rd + 1;
    if (spread + low + high < reach) low = high = reach;
    lhs.push_back(n);
    rhs.push_back(k);
    result.push_back((spread + low + high - reach) / s + 1);
    const char* x = i > 0 ? "x" : "";
    absl::StrAppend(&window_size, x, k);
    absl::StrAppend(&stride, x, s);
    absl::StrAppend(&pad, x, low, "_", high);
    absl::StrAppend(&lhs_dilate, x, ld);
    absl::StrAppend(&rhs_dilate, x, rd);
    absl::StrAppend(&reversal, x, Chance(20) ? 1 : 0);
    absl::StrAppend(&lhs_labels, i);
    absl::StrAppend(&rhs_labels, i);
    absl::StrAppend(&out_labels, i);
  }
  lhs.push_back(in);
  rhs.push_back(in / groups);
  rhs.push_back(out);
  result.push_back(out);
  const std::string type = Of({"f32", "f32", "s32"});
  const std::string a = Parameter(type, lhs, -2, 2), b = Parameter(type, rhs, -2, 2);
  Result(type, result,
         absl::StrCat("convolution(", a, ", ", b, "), window={size=", window_size, " stride=", stride, " pad=", pad,
                      " lhs_dilate=", lhs_dilate, " rhs_dilate=", rhs_dilate, " rhs_reversal=", reversal,
                      "}, dim_labels=", lhs_labels, "f_", rhs_labels, "io->", out_labels, "f, feature_group_count=",
                      groups, ", batch_group_count=", batch_groups));
}

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
  const std::string opcode = std::vector<std::string>{"add", "maximum", "minimum", "multiply", "and", "or"}[op];
  const std::string type = op >= 4 ? Of({"pred", "s32", "u8"}) : op == 3 ? Of({"f32", "s32"}) : NumberType();
  const std::string x = op == 3 ? Parameter(type, in, 1, 1) : Parameter(type, in);
  std::string init = Fresh("init");
  if (Chance(50)) {
    init = Parameter(type, {}, 0, 3);
  } else {
    const std::string value = op == 3 ? "1" : type == "pred" ? (op == 4 ? "true" : "false") : op == 4 ? "15" : "0";
    Line(absl::StrCat(init, " = ", type, "[] constant(", value, ")"));
  }
  Result(type, out,
         absl::StrCat("reduce(", x, ", ", init, "), dimensions=", List(reduced), ", to_apply=", Reducer(opcode, type)));
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
  Line(absl::StrCat(pair, " = (", ShapeText("f32", out), ", ", ShapeText("s32", out), ") reduce(", x, ", ", iota, ", ",
                    low, ", ", none, "), dimensions={", d, "}, to_apply=", name));
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
  Line(absl::StrCat(init, " = ", type, "[] constant(", opcode == "add" ? "0" : opcode == "maximum" ? "-100" : "100", ")"));
  Result(type, out,
         absl::StrCat("reduce-window(", x, ", ", init, "), window={size=", size, " stride=", stride, " pad=", pad,
                      " lhs_dilate=", base, " rhs_dilate=", dilation, "}, to_apply=", Reducer(opcode, type)));
}

void Generator::SelectAndScatter() {
  const Dims in = NonEmptyDims(1, 3);
  Dims source;
  std::string size, stride;
  for (size_t i = 0; i < in.size(); ++i) {
    const int64_t k = Uniform(1, std::min<int64_t>(in[i], 3)), s = Uniform(1, 2);
    source.push_back((in[i] - k) / s + 1);
    absl::StrAppend(&size, i > 0 ? "x" : "", k);
    absl::StrAppend(&stride, i > 0 ? "x" : "", s);
  }
  const std::string ge = Fresh("ge");
  Computation(absl::StrCat(ge, " {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=GE\n}\n"));
  const std::string x = Parameter("f32", in), y = Parameter("f32", source), init = Fresh("init");
  Line(absl::StrCat(init, " = f32[] constant(0)"));
  Result("f32", in,
         absl::StrCat("select-and-scatter(", x, ", ", y, ", ", init, "), window={size=", size, " stride=", stride,
                      "}, select=", ge, ", scatter=", Reducer("add", "f32")));
}

void Generator::DynamicSlice() {
  const Dims in = RandomDims(1, 3);
  Dims out;
  const std::string index_type = Of({"s32", "s64", "u8", "u32", "s8"});
  const std::string type = NumberType();
  std::vector<std::string> operands = {Parameter(type, in)};
  for (const int64_t size : in) {
    out.push_back(Chance(40) ? size : Uniform(std::min<int64_t>(size, 1), size));
    operands.push_back(Parameter(index_type, {}, index_type[0] == 'u' ? 0 : -3, 12));
  }
  Result(type, out, absl::StrCat("dynamic-slice(", absl::StrJoin(operands, ", "), "), dynamic_slice_sizes=", List(out)));
}

void Generator::DynamicUpdateSlice() {
  const Dims in = RandomDims(1, 3);
  Dims update;
  for (const int64_t size : in) update.push_back(Chance(40) ? size : Uniform(0, size));
  const std::string index_type = Of({"s32", "s64", "u8", "u32", "s8"});
  const std::string type = NumberType();
  std::vector<std::string> operands = {Parameter(type, in), Parameter(type, update)};
  for (size_t i = 0; i < in.size(); ++i) operands.push_back(Parameter(index_type, {}, index_type[0] == 'u' ? 0 : -3, 12));
  Result(type, in, absl::StrCat("dynamic-update-slice(", absl::StrJoin(operands, ", "), ")"));
}

void Generator::Gather() {
  const Dims in = NonEmptyDims(1, 3);
  const int64_t rank = static_cast<int64_t>(in.size());
  const Dims batch = RandomDims(0, 2);
  // Dimensions that indices address; single elements of them, or windows.
  Dims map, collapsed, slice(in.begin(), in.end()), offset_sizes;
  for (int64_t d = 0; d < rank; ++d) {
    const bool indexed = Chance(60);
    if (indexed) map.push_back(d);
    if (Chance(indexed ? 70 : 20)) {
      collapsed.push_back(d);
      slice[d] = 1;
    } else {
      if (indexed && Chance(50)) slice[d] = Uniform(1, in[d]);
      offset_sizes.push_back(slice[d]);
    }
  }
  std::shuffle(map.begin(), map.end(), random_);
  Dims indices = batch;
  indices.push_back(static_cast<int64_t>(map.size()));
  // Offset dimensions at random places of the result.
  Dims out, offset_dims;
  size_t b = 0, o = 0;
  while (b < batch.size() || o < offset_sizes.size()) {
    if (o < offset_sizes.size() && (b == batch.size() || Chance(50))) {
      offset_dims.push_back(static_cast<int64_t>(out.size()));
      out.push_back(offset_sizes[o++]);
    } else {
      out.push_back(batch[b++]);
    }
  }
  const std::string type = NumberType(), index_type = Of({"s32", "s64", "u8", "u32"});
  const std::string x = Parameter(type, in), i = Parameter(index_type, indices, index_type[0] == 'u' ? 0 : -2, 11);
  Result(type, out,
         absl::StrCat("gather(", x, ", ", i, "), offset_dims=", List(offset_dims), ", collapsed_slice_dims=",
                      List(collapsed), ", start_index_map=", List(map), ", index_vector_dim=", batch.size(),
                      ", slice_sizes=", List(slice)));
}

void Generator::Scatter() {
  const Dims in = NonEmptyDims(1, 3);
  const Dims batch = RandomDims(0, 2);
  Dims map, inserted, window;
  for (int64_t d = 0; d < static_cast<int64_t>(in.size()); ++d) {
    const bool indexed = Chance(60);
    if (indexed) map.push_back(d);
    if (Chance(indexed ? 75 : 20)) {
      inserted.push_back(d);
    } else {
      window.push_back(indexed && Chance(50) ? Uniform(1, in[d]) : in[d]);
    }
  }
  Dims indices = batch;
  indices.push_back(static_cast<int64_t>(map.size()));
  Dims updates = batch, window_dims;
  for (const int64_t size : window) {
    window_dims.push_back(static_cast<int64_t>(updates.size()));
    updates.push_back(size);
  }
  const std::string type = Of({"f32", "s32", "u8"}), opcode = Of({"add", "add", "maximum", "minimum"});
  const std::string index_type = Of({"s32", "s64", "u8"});
  const std::string x = Parameter(type, in);
  const std::string i = Parameter(index_type, indices, index_type[0] == 'u' ? 0 : -2, 11);
  const std::string u = Parameter(type, updates);
  Result(type, in,
         absl::StrCat("scatter(", x, ", ", i, ", ", u, "), update_window_dims=", List(window_dims),
                      ", inserted_window_dims=", List(inserted), ", scatter_dims_to_operand_dims=", List(map),
                      ", index_vector_dim=", batch.size(), ", to_apply=", Reducer(opcode, type)));
}

void Generator::Sort() {
  const Dims dims = RandomDims(1, 3);
  const int64_t d = Uniform(0, static_cast<int64_t>(dims.size()) - 1);
  const std::string less = Fresh("less");
  Computation(absl::StrCat(less, " {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = s32[] parameter(2)\n  d = s32[] parameter(3)\n  ROOT r = pred[] compare(a, b), direction=LT\n}\n"));
  const std::string x = Parameter("f32", dims), y = Parameter("s32", dims), both = Fresh("both");
  Line(absl::StrCat(both, " = (", ShapeText("f32", dims), ", ", ShapeText("s32", dims), ") sort(", x, ", ", y,
                    "), dimensions={", d, "}, is_stable=true, to_apply=", less));
  const bool first = Chance(50);
  Result(first ? "f32" : "s32", dims, absl::StrCat("get-tuple-element(", both, "), index=", first ? 0 : 1));
}

void Generator::TopK() {
  Dims dims = NonEmptyDims(1, 3);
  const int64_t k = Uniform(1, dims.back());
  const std::string x = Parameter("f32", dims), both = Fresh("top");
  dims.back() = k;
  Line(absl::StrCat(both, " = (", ShapeText("f32", dims), ", ", ShapeText("s32", dims), ") topk(", x, "), k=", k,
                    ", largest=", Chance(50) ? "true" : "false"));
  const bool first = Chance(50);
  Result(first ? "f32" : "s32", dims, absl::StrCat("get-tuple-element(", both, "), index=", first ? 0 : 1));
}

void Generator::Map() {
  const Dims dims = RandomDims(1, 3);
  Dims all(dims.size());
  std::iota(all.begin(), all.end(), 0);
  const std::string f = Fresh("f");
  Computation(absl::StrCat(f, " {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = f32[] multiply(a, b)\n  ROOT d = f32[] add(c, a)\n}\n"));
  const std::string x = Parameter("f32", dims), y = Parameter("f32", dims);
  Result("f32", dims, absl::StrCat("map(", x, ", ", y, "), dimensions=", List(all), ", to_apply=", f));
}

void Generator::Annotation() {
  const Dims dims = RandomDims(1, 4);
  const std::string type = NumberType();
  const std::string x = Parameter(type, dims);
  Result(type, dims, absl::StrCat("custom-call(", x, "), custom_call_target=\"Sharding\"", ShardingText(dims, 100)));
}

void Generator::While() {
  const Dims dims = NonEmptyDims(2, 2);
  const int64_t trips = Uniform(0, 4);
  const std::string state = absl::StrCat("(s32[], ", ShapeText("f32", dims), ", ", ShapeText("f32", {dims[1]}), ")");
  const std::string body = Fresh("body"), condition = Fresh("condition");
  Computation(absl::StrCat(body, " {\n  s = ", state, " parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  x = ",
                           ShapeText("f32", dims), " get-tuple-element(s), index=1\n  v = ", ShapeText("f32", {dims[1]}),
                           " get-tuple-element(s), index=2\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  w = ",
                           ShapeText("f32", dims), " broadcast(v), dimensions={1}\n  y = ", ShapeText("f32", dims),
                           " subtract(w, x)", ShardingText(dims, 40), "\n  ROOT t = ", state, " tuple(j, y, v)\n}\n"));
  Computation(absl::StrCat(condition, " {\n  s = ", state, " parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(", trips,
                           ")\n  ROOT c = pred[] compare(i, n), direction=LT\n}\n"));
  const std::string x = Parameter("f32", dims), v = Parameter("f32", {dims[1]});
  const std::string zero = Fresh("zero"), init = Fresh("init"), loop = Fresh("loop");
  Line(absl::StrCat(zero, " = s32[] constant(0)"));
  Line(absl::StrCat(init, " = ", state, " tuple(", zero, ", ", x, ", ", v, ")"));
  Line(absl::StrCat(loop, " = ", state, " while(", init, "), condition=", condition, ", body=", body));
  Result("f32", dims, absl::StrCat("get-tuple-element(", loop, "), index=1"));
}

void Generator::Conditional() {
  const Dims dims = RandomDims(1, 3);
  const std::string a = Fresh("then"), b = Fresh("else"), shape = ShapeText("f32", dims);
  Computation(absl::StrCat(a, " {\n  x = ", shape, " parameter(0)\n  ROOT y = ", shape, " negate(x)\n}\n"));
  Computation(absl::StrCat(b, " {\n  x = ", shape, " parameter(0)\n  ROOT y = ", shape, " add(x, x)", ShardingText(dims, 40), "\n}\n"));
  const std::string p = Parameter("pred", {}), x = Parameter("f32", dims), y = Parameter("f32", dims);
  Result("f32", dims, absl::StrCat("conditional(", p, ", ", x, ", ", y, "), true_computation=", a, ", false_computation=", b));
}

// A second op behind the first, where partial sums, padding and layouts of the first meet it.
void Generator::Tail() {
  const std::string type = result_type_;
  const Dims dims = result_dims_;
  if (!program_.exact || type == "pred" || !Chance(60)) return;
  const std::string x = result_;
  switch (Uniform(0, 6)) {
    case 0:
      Result(type, dims, absl::StrCat("add(", x, ", ", x, ")"));
      return;
    case 1: {
      const std::string y = Parameter(type, dims);
      Result(type, dims, absl::StrCat(Of({"add", "multiply", "subtract", "maximum"}), "(", x, ", ", y, ")"));
      return;
    }
    case 2: {
      Dims reduced, out;
      for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d) {
        if (Chance(50)) {
          reduced.push_back(d);
        } else {
          out.push_back(dims[d]);
        }
      }
      if (type == "bf16") return;
      const std::string zero = Fresh("zero");
      Line(absl::StrCat(zero, " = ", type, "[] constant(0)"));
      Result(type, out, absl::StrCat("reduce(", x, ", ", zero, "), dimensions=", List(reduced), ", to_apply=", Reducer("add", type)));
      return;
    }
    case 3: {
      Dims permutation(dims.size());
      std::iota(permutation.begin(), permutation.end(), 0);
      std::shuffle(permutation.begin(), permutation.end(), random_);
      Dims out;
      for (const int64_t d : permutation) out.push_back(dims[d]);
      Result(type, out, absl::StrCat("transpose(", x, "), dimensions=", List(permutation)));
      return;
    }
    case 4: {
      int64_t n = 1;
      for (const int64_t size : dims) n *= size;
      Result(type, {n}, absl::StrCat("reshape(", x, ")"));
      return;
    }
    case 5: {
      if (type[0] == 'u') return;
      Result(type, dims, absl::StrCat("abs(", x, ")"));
      return;
    }
    default: {
      Dims out = dims, map(dims.size());
      std::iota(map.begin(), map.end(), 0);
      out.push_back(Uniform(1, 4));
      Result(type, out, absl::StrCat("broadcast(", x, "), dimensions=", List(map)));
      return;
    }
  }
}

const std::vector<std::pair<std::string, void (Generator::*)()>>& Kinds() {
  static const auto* const kinds = new std::vector<std::pair<std::string, void (Generator::*)()>>{
      {"elementwise", &Generator::Elementwise},
      {"unary-math", &Generator::UnaryMath},
      {"binary-math", &Generator::BinaryMath},
      {"bit-ops", &Generator::BitOps},
      {"complex", &Generator::ComplexParts},
      {"reduce-precision", &Generator::ReducePrecision},
      {"identity", &Generator::Identity},
      {"fft", &Generator::Fft},
      {"cholesky", &Generator::Cholesky},
      {"triangular-solve", &Generator::TriangularSolve},
      {"topk-call", &Generator::TopKCall},
      {"variadic-reduce", &Generator::VariadicReduce},
      {"call", &Generator::CallOp},
      {"broadcast", &Generator::Broadcast},
      {"reshape", &Generator::Reshape},
      {"transpose", &Generator::Transpose},
      {"reverse", &Generator::Reverse},
      {"slice", &Generator::Slice},
      {"pad", &Generator::Pad},
      {"concatenate", &Generator::Concatenate},
      {"iota", &Generator::IotaAndConstant},
      {"convert", &Generator::Convert},
      {"bitcast-convert", &Generator::BitcastConvert},
      {"dot", &Generator::Dot},
      {"convolution", &Generator::Convolution},
      {"reduce", &Generator::Reduce},
      {"argmax", &Generator::ArgMax},
      {"reduce-window", &Generator::ReduceWindow},
      {"select-and-scatter", &Generator::SelectAndScatter},
      {"dynamic-slice", &Generator::DynamicSlice},
      {"dynamic-update-slice", &Generator::DynamicUpdateSlice},
      {"gather", &Generator::Gather},
      {"scatter", &Generator::Scatter},
      {"sort", &Generator::Sort},
      {"topk", &Generator::TopK},
      {"map", &Generator::Map},
      {"annotation", &Generator::Annotation},
      {"while", &Generator::While},
      {"conditional", &Generator::Conditional},
  };
  return *kinds;
}

RandomProgram Generator::Make(absl::string_view kind) {
  const int64_t devices = Pick(std::vector<int64_t>{1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16});
  std::vector<int64_t> cuts;
  if (devices == 6 || devices == 12) cuts.push_back(Chance(50) ? 2 : 3);
  mesh_ = Mesh(devices, cuts, DeviceOrder(devices));
  program_.options.num_partitions = devices;
  if (Chance(40)) program_.options.device_order_seed = random_() % 1000;
  program_.options.poison_padding = Chance(40);
  program_.options.replicate_outputs = Chance(10);
  const auto* chosen = &Pick(Kinds());
  for (const auto& entry : Kinds()) {
    if (entry.first == kind) chosen = &entry;
  }
  program_.kind = chosen->first;
  (this->*chosen->second)();
  Tail();
  // The last line is the root.
  const size_t root = body_.rfind("\n  ", body_.size() - 2);
  const size_t at = root == std::string::npos ? 0 : root + 1;
  body_.insert(at + 2, "ROOT ");
  const std::string sharding = body_.find("sharding=", at) == std::string::npos ? ShardingText(result_dims_, 60) : "";
  body_.insert(body_.size() - 1, sharding);
  program_.text = absl::StrCat("HloModule random\n\n", computations_, "ENTRY main {\n", body_, "}\n");
  return std::move(program_);
}

}  // namespace

const std::vector<std::string>& RandomProgramKinds() {
  static const auto* const names = [] {
    auto* list = new std::vector<std::string>;
    for (const auto& entry : Kinds()) list->push_back(entry.first);
    return list;
  }();
  return *names;
}

RandomProgram MakeRandomProgram(uint64_t seed, absl::string_view kind) { return Generator(seed).Make(kind); }

std::string CheckRandomProgram(const RandomProgram& program) {
  const auto failure = [&](absl::string_view what) {
    return absl::StrCat(program.kind, ": ", what, "\npartitions ", program.options.num_partitions, ", device order ",
                        program.options.device_order_seed ? absl::StrCat(*program.options.device_order_seed) : "plain",
                        program.options.poison_padding ? ", poisoned" : "",
                        program.options.replicate_outputs ? ", outputs replicated" : "", "\n", program.text);
  };
  const auto module = ParseModule(program.text);
  if (!module.ok()) return failure(absl::StrCat("does not parse: ", module.status().message()));
  const absl::Status verified = VerifyModule(**module);
  if (!verified.ok()) return failure(absl::StrCat("does not verify: ", verified.message()));
  const auto expected = RunSingle(**module, program.arguments);
  if (!expected.ok()) return failure(absl::StrCat("unpartitioned: ", expected.status().message()));
  const auto actual = PartitionAndRun(**module, program.options, program.arguments);
  if (!actual.ok()) return failure(absl::StrCat("partitioned: ", actual.status().message()));
  const Comparison comparison = Compare(*actual, *expected, /*tolerance=*/program.exact ? 1e-30 : 0);
  if (comparison.equal) return "";
  return failure(absl::StrCat("differs at ", comparison.outputs.empty() ? "" : comparison.outputs[0].difference));
}

}  // namespace toroid
