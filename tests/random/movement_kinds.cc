// Kinds of random programs: ops that move data, and values made without operands.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/random/generator.h"

namespace toroid {

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
  // One list of factors, cut into dimensions in two ways.
  std::vector<int64_t> factors;
  if (Chance(8)) {
    factors.assign(static_cast<size_t>(Uniform(7, 11)), 2);
  } else {
    for (int64_t n = Uniform(1, 5); n > 0; --n)
      factors.push_back(Pick(std::vector<int64_t>{1, 2, 2, 2, 3, 3, 4, 5}));
  }
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

// A slice with those dimensions of an array that is a little larger.
std::string Generator::MostOf(const std::string& type, const Dims& dims) {
  Dims all;
  std::vector<std::string> bounds;
  for (const int64_t size : dims) {
    const int64_t before = Chance(70) ? 0 : Uniform(0, 1), behind = Chance(70) ? 0 : Uniform(0, 1);
    all.push_back(before + size + behind);
    bounds.push_back(absl::StrCat("[", before, ":", before + size, "]"));
  }
  const std::string x = Parameter(type, all);
  Result(type, dims, absl::StrCat("slice(", x, "), slice={", absl::StrJoin(bounds, ", "), "}"));
  return result_;
}

// Parts of one array in any order, perhaps with parts of others between them.
void Generator::Roll() {
  Dims dims = NonEmptyDims(1, 3);
  const int64_t d = Uniform(0, static_cast<int64_t>(dims.size()) - 1), n = Uniform(2, 24);
  const std::string type = NumberType();
  dims[d] = n;
  const std::string x = Parameter(type, dims);
  Dims ends = {0, Uniform(0, n), Chance(30) ? Uniform(0, n) : n, n};
  std::sort(ends.begin(), ends.end());
  std::vector<std::string> operands;
  int64_t total = 0;
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    std::vector<std::string> bounds;
    for (int64_t k = 0; k < static_cast<int64_t>(dims.size()); ++k) {
      bounds.push_back(k == d ? absl::StrCat("[", ends[i], ":", ends[i + 1], "]")
                              : absl::StrCat("[0:", dims[k], "]"));
    }
    Dims part = dims;
    part[d] = ends[i + 1] - ends[i];
    Result(type, part, absl::StrCat("slice(", x, "), slice={", absl::StrJoin(bounds, ", "), "}"));
    operands.push_back(result_);
    total += part[d];
  }
  if (Chance(20)) {
    Dims other = dims;
    other[d] = Size();
    total += other[d];
    operands.push_back(Parameter(type, other));
  }
  std::shuffle(operands.begin(), operands.end(), random_);
  dims[d] = total;
  Result(type, dims, absl::StrCat("concatenate(", absl::StrJoin(operands, ", "), "), dimensions={", d, "}"));
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
  const std::string x = Chance(30) ? MostOf(type, in) : Parameter(type, in), v = Parameter(type, {});
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
    Line(absl::StrCat(iota, " = ", ShapeText(type, dims),
                      " iota(), iota_dimension=", Uniform(0, static_cast<int64_t>(dims.size()) - 1)));
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

void Generator::Annotation() {
  const Dims dims = RandomDims(1, 4);
  const std::string type = NumberType();
  const std::string x = Parameter(type, dims);
  Result(type, dims,
         absl::StrCat("custom-call(", x, "), custom_call_target=\"Sharding\"", ShardingText(dims, 100)));
}

}  // namespace toroid
