// Kinds of random programs: ops of several parts, products of groups and blocks, random bits, values derived
// from iotas.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/random/generator.h"

namespace toroid {

void Generator::RaggedDot() {
  const int64_t m = Size(), k = Size(), n = Size(), groups = Uniform(1, 9);
  const bool contracts = Chance(40), by_batch = Chance(30);
  const int64_t batch = by_batch ? Uniform(1, 5) : 1;
  const std::string type = Of({"f32", "f32", "f64"});
  Dims lhs = {m, k}, rhs = contracts ? Dims{m, n} : Dims{groups, k, n},
       out = contracts ? Dims{groups, k, n} : Dims{m, n};
  Dims sizes = {groups};
  if (by_batch) {
    lhs.insert(lhs.begin(), batch);
    rhs.insert(rhs.begin() + (contracts ? 0 : 1), batch);
    out.insert(out.begin() + (contracts ? 1 : 0), batch);
    if (Chance(60)) sizes.insert(sizes.begin(), batch);
  }
  const std::string a = Parameter(type, lhs, -2, 2), b = Parameter(type, rhs, -2, 2),
                    s = Parameter("s32", sizes, -1, 3);
  const int64_t rows = by_batch ? 1 : 0, inner = rows + 1;
  std::string attributes =
      absl::StrCat("lhs_contracting_dims={", contracts ? rows : inner, "}, rhs_contracting_dims={",
                   contracts ? rows : inner, "}, lhs_ragged_dims={", rows, "}");
  if (!contracts) {
    attributes = absl::StrCat("lhs_contracting_dims={", inner, "}, rhs_contracting_dims={", by_batch ? 2 : 1,
                              "}, lhs_ragged_dims={", rows, "}, rhs_group_dims={0}");
  }
  if (by_batch)
    absl::StrAppend(&attributes, ", lhs_batch_dims={0}, rhs_batch_dims={", contracts ? 0 : 1, "}");
  Result(type, out, absl::StrCat("ragged-dot(", a, ", ", b, ", ", s, "), ", attributes));
}

void Generator::ScaledDot() {
  const int64_t blocks = Uniform(1, 6), block = Pick<int64_t>({1, 2, 4}), k = blocks * block;
  const int64_t m = std::max<int64_t>(1, Size()), n = std::max<int64_t>(1, Size());
  const auto scale = [&](int64_t rows, int64_t columns, bool contracts_rows) {
    if (Chance(15)) return Parameter("f32", {}, 1, 1);
    const int64_t along = Chance(60) ? blocks : Chance(50) ? k : 1;
    const int64_t free = Chance(50) ? 1 : contracts_rows ? columns : rows;
    return Parameter("f32", contracts_rows ? Dims{along, free} : Dims{free, along}, 1, 3);
  };
  const std::string a = Parameter("f32", {m, k}, -2, 2), b = Parameter("f32", {k, n}, -2, 2);
  const std::string s = scale(m, k, false), t = scale(k, n, true);
  Result("f32", {m, n},
         absl::StrCat("scaled-dot(", a, ", ", b, ", ", s, ", ", t,
                      "), lhs_contracting_dims={1}, rhs_contracting_dims={0}"));
}

void Generator::RandomBits() {
  const Dims dims = RandomDims(0, 3);
  const std::string type = Of({"u32", "u32", "u64", "s8", "u16", "s32"}),
                    algorithm = Of({"rng_three_fry", "rng_philox", "rng_default"});
  const int64_t words = algorithm == "rng_three_fry" || Chance(50) ? 2 : 3;
  huge_ = Chance(30);
  const std::string state = ShapeText("u64", {words}), s = Parameter("u64", {words}), both = Fresh("both");
  huge_ = false;
  Line(absl::StrCat(both, " = (", state, ", ", ShapeText(type, dims), ") rng-bit-generator(", s,
                    "), algorithm=", algorithm));
  Result(type, dims, absl::StrCat("get-tuple-element(", both, "), index=1"));
}

void Generator::BatchNorm() {
  const Dims dims = NonEmptyDims(1, 4);
  const int64_t feature = Uniform(0, static_cast<int64_t>(dims.size()) - 1);
  const Dims of_feature = {dims[feature]};
  const std::string x = Parameter("f32", dims), scale = Parameter("f32", of_feature);
  const std::string attributes = absl::StrCat("epsilon=0.5, feature_index=", feature);
  const std::string three =
      absl::StrCat("(", ShapeText("f32", dims), ", f32[", dims[feature], "], f32[", dims[feature], "])");
  const std::string all = Fresh("all");
  program_.exact = false;
  if (Chance(35)) {
    const std::string offset = Parameter("f32", of_feature);
    Line(absl::StrCat(all, " = ", three, " batch-norm-training(", x, ", ", scale, ", ", offset, "), ",
                      attributes));
  } else {
    const std::string mean = Parameter("f32", of_feature), variance = Parameter("f32", of_feature, 0, 4);
    if (Chance(50)) {
      const std::string offset = Parameter("f32", of_feature);
      Result("f32", dims,
             absl::StrCat("batch-norm-inference(", x, ", ", scale, ", ", offset, ", ", mean, ", ", variance,
                          "), ", attributes));
      return;
    }
    const std::string cotangent = Parameter("f32", dims);
    Line(absl::StrCat(all, " = ", three, " batch-norm-grad(", x, ", ", scale, ", ", mean, ", ", variance,
                      ", ", cotangent, "), ", attributes));
  }
  const int64_t element = Uniform(0, 2);
  Result("f32", element == 0 ? dims : of_feature,
         absl::StrCat("get-tuple-element(", all, "), index=", element));
}

void Generator::Scan() {
  Dims dims = NonEmptyDims(1, 3);
  const int64_t d = Uniform(0, static_cast<int64_t>(dims.size()) - 1);
  Dims row = dims;
  row.erase(row.begin() + d);
  const std::string step = Fresh("step"), shape = ShapeText("s32", row), all = Fresh("all");
  const bool is_fold = Chance(50);
  const std::string op = Of({"add", "maximum", "minimum"});
  Computation(absl::StrCat(step, " {\n  x = ", shape, " parameter(0)\n  c = ", shape,
                           " parameter(1)\n  n = ", shape, " negate(c)\n  s = ", shape, " ", op, "(x, ",
                           is_fold ? "c" : "n", ")\n  ROOT t = (", shape, ", ", shape, ") tuple(s, s)\n}\n"));
  const std::string x = Parameter("s32", dims), c = Parameter("s32", row);
  Line(absl::StrCat(all, " = (", ShapeText("s32", dims), ", ", shape, ") scan(", x, ", ", c,
                    "), dimensions={", d, "}, num_carries=1, to_apply=", step,
                    Chance(40) ? ", is_reverse=true" : "",
                    is_fold && Chance(60) ? ", is_associative=true" : ""));
  const bool rows = Chance(70);
  Result("s32", rows ? dims : row, absl::StrCat("get-tuple-element(", all, "), index=", rows ? 0 : 1));
}

void Generator::Fusion() {
  const Dims dims = RandomDims(1, 3);
  const std::string fused = Fresh("fused"), shape = ShapeText("s32", dims);
  Computation(absl::StrCat(fused, " {\n  p = ", shape, " parameter(0)\n  q = ", shape,
                           " parameter(1)\n  a = ", shape, " add(p, q)\n  ROOT m = ", shape,
                           " multiply(a, p)\n}\n"));
  const std::string x = Parameter("s32", dims), y = Parameter("s32", dims);
  Result("s32", dims, absl::StrCat("fusion(", x, ", ", y, "), kind=kLoop, calls=", fused));
}

// An array combined with a mask or weights that are derived from iotas alone.
void Generator::FreeValue() {
  const Dims dims = NonEmptyDims(1, 3);
  const std::string shape = ShapeText("s32", dims);
  std::string value;
  for (int64_t i = Uniform(1, 4); i > 0; --i) {
    const std::string iota = Fresh("iota"), next = Fresh("free");
    Line(absl::StrCat(iota, " = ", shape,
                      " iota(), iota_dimension=", Uniform(0, static_cast<int64_t>(dims.size()) - 1)));
    if (value.empty() && Chance(40)) {  // An iota over all elements in order, perhaps transposed.
      int64_t elements = 1;
      for (const int64_t size : dims) elements *= size;
      const std::string flat = Fresh("flat"), shaped = Fresh("shaped");
      Line(absl::StrCat(flat, " = ", ShapeText("s32", {elements}), " iota(), iota_dimension=0"));
      Line(absl::StrCat(shaped, " = ", shape, " reshape(", flat, ")"));
      value = shaped;
    }
    if (value.empty()) {
      value = iota;
      continue;
    }
    Line(absl::StrCat(next, " = ", shape, " ", Of({"add", "subtract", "multiply", "maximum"}), "(", value,
                      ", ", iota, ")"));
    value = next;
  }
  if (Chance(40)) {
    const int64_t d = Uniform(0, static_cast<int64_t>(dims.size()) - 1);
    Dims out = dims, kept;
    out.erase(out.begin() + d);
    for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
      if (i != d) kept.push_back(i);
    }
    const std::string sum = Fresh("sum"), spread = Fresh("spread"), init = Fresh("init");
    Line(absl::StrCat(init, " = s32[] constant(1)"));
    Line(absl::StrCat(sum, " = ", ShapeText("s32", out), " reduce(", value, ", ", init, "), dimensions={", d,
                      "}, to_apply=", ReducerText("add", "s32")));
    Line(absl::StrCat(spread, " = ", shape, " broadcast(", sum, "), dimensions=", List(kept)));
    value = spread;
  }
  const std::string x = Parameter("s32", dims);
  if (Chance(50)) {
    Result("s32", dims, absl::StrCat("multiply(", x, ", ", value, ")"));
    return;
  }
  const std::string mask = Fresh("mask");
  Line(absl::StrCat(mask, " = ", ShapeText("pred", dims), " compare(", value, ", ", x, "), direction=LT"));
  Result("s32", dims, absl::StrCat("select(", mask, ", ", value, ", ", x, ")"));
}

}  // namespace toroid
