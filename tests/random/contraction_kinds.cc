// Kinds of random programs: contractions, transforms and linear algebra.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/random/generator.h"

namespace toroid {

void Generator::Dot() {
  const Dims batch = RandomDims(0, 2), contract = RandomDims(0, 2), m = RandomDims(0, 2),
             n = RandomDims(0, 2);
  // The dimensions of each side in a random order; the lists hold the places of batch and contracting
  // dimensions.
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
  const int64_t groups = Chance(65) ? 1 : Uniform(2, 8);
  const int64_t batch_groups = groups == 1 && Chance(20) ? Uniform(2, 8) : 1;
  const int64_t in = Uniform(1, 4) * groups, out = Uniform(1, 3) * groups * batch_groups;
  const int64_t batch = Uniform(1, 5) * batch_groups;
  Dims lhs = {batch}, rhs, result = {batch / batch_groups};
  std::string window_size, stride, pad, lhs_dilate, rhs_dilate, reversal;
  std::string lhs_labels = "b", rhs_labels, out_labels = "b";
  for (int64_t i = 0; i < spatial; ++i) {
    // k may be larger than the result.
    const int64_t n = Uniform(1, 12), k = Chance(75) ? Uniform(1, 4) : Uniform(1, 12);
    const int64_t s = Chance(60) ? 1 : Uniform(1, 3), ld = Chance(75) ? 1 : Uniform(1, 3),
                  rd = Chance(75) ? 1 : Uniform(1, 2);
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
         absl::StrCat("convolution(", a, ", ", b, "), window={size=", window_size, " stride=", stride,
                      " pad=", pad, " lhs_dilate=", lhs_dilate, " rhs_dilate=", rhs_dilate,
                      " rhs_reversal=", reversal, "}, dim_labels=", lhs_labels, "f_", rhs_labels, "io->",
                      out_labels, "f, feature_group_count=", groups, ", batch_group_count=", batch_groups));
}

void Generator::Fft() {
  Dims in = NonEmptyDims(1, 3);
  // Sizes that allow a four-step transform.
  if (Chance(30)) in.back() = Pick<int64_t>({16, 36, 64});
  const std::string type = Of({"FFT", "IFFT", "RFFT", "IRFFT"});
  if (type == "IRFFT") in.back() = std::max<int64_t>(in.back(), 2);
  Dims out = in, length(in.end() - Uniform(1, static_cast<int64_t>(in.size())), in.end());
  if (type == "RFFT") out.back() = in.back() / 2 + 1;
  if (type == "IRFFT") out.back() = length.back() = 2 * in.back() - 2;
  const std::string x = Parameter(type == "RFFT" ? "f32" : "c64", in);
  Result(type == "IRFFT" ? "f32" : "c64", out,
         absl::StrCat("fft(", x, "), fft_type=", type, ", fft_length=", List(length)));
  program_.exact = false;
  result_type_ = "pred";
}

// Square matrices with small integers off a large diagonal, so they have inverses and Cholesky factors.
std::string Generator::DominantMatrices(const std::string& type, const Dims& dims, int64_t large) {
  const int64_t rank = static_cast<int64_t>(dims.size());
  const std::string x = Parameter(type, dims), rows = Fresh("rows"), columns = Fresh("columns"),
                    same = Fresh("same"), twenty = Fresh("twenty"), diagonal = Fresh("diagonal"),
                    matrices = Fresh("matrices");
  Line(absl::StrCat(rows, " = ", ShapeText("s32", dims), " iota(), iota_dimension=", rank - 2));
  Line(absl::StrCat(columns, " = ", ShapeText("s32", dims), " iota(), iota_dimension=", rank - 1));
  Line(absl::StrCat(same, " = ", ShapeText("pred", dims), " compare(", rows, ", ", columns,
                    "), direction=EQ"));
  Line(absl::StrCat(twenty, " = ", type, "[] constant(", large, ")"));
  Line(absl::StrCat(diagonal, " = ", ShapeText(type, dims), " broadcast(", twenty, "), dimensions={}"));
  Line(absl::StrCat(matrices, " = ", ShapeText(type, dims), " select(", same, ", ", diagonal, ", ", x, ")"));
  return matrices;
}

void Generator::Cholesky() {
  Dims dims = RandomDims(0, 2);
  const int64_t n = Chance(50) ? Uniform(1, 4) : Uniform(5, 14);
  dims.push_back(n);
  dims.push_back(n);
  const std::string a = DominantMatrices("f32", dims, 20 + 4 * n);
  Result("f32", dims, absl::StrCat("cholesky(", a, "), lower=", Chance(50) ? "true" : "false"));
  program_.exact = false;
}

void Generator::TriangularSolve() {
  Dims dims = RandomDims(0, 2), right = dims;
  const int64_t n = Chance(50) ? Uniform(1, 4) : Uniform(5, 14), m = Size();
  const bool left = Chance(50);
  dims.push_back(n);
  dims.push_back(n);
  right.push_back(left ? n : m);
  right.push_back(left ? m : n);
  const std::string a = DominantMatrices("f64", dims, 20 + 4 * n), b = Parameter("f64", right);
  Result("f64", right,
         absl::StrCat("triangular-solve(", a, ", ", b, "), left_side=", left ? "true" : "false",
                      ", lower=", Chance(50) ? "true" : "false",
                      ", unit_diagonal=false, transpose_a=", Of({"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"})));
  program_.exact = false;
}

// A contraction times something infinite, undefined or zero: NaN must be at the same places as in the
// unpartitioned program.
// it.
void Generator::InfiniteFactor() {
  const int64_t m = Size(), k = Size(), n = Size();
  const std::string a = Parameter("f32", {m, k}, -2, 2), b = Parameter("f32", {k, n}, -2, 2);
  const std::string product = Fresh("product"), scalar = Fresh("scalar"), wide = Fresh("wide");
  Line(absl::StrCat(product, " = ", ShapeText("f32", {m, n}), " dot(", a, ", ", b,
                    "), lhs_contracting_dims={1}, rhs_contracting_dims={0}"));
  Line(absl::StrCat(scalar, " = f32[] constant(", Of({"inf", "-inf", "nan", "0", "2"}), ")"));
  Line(absl::StrCat(wide, " = ", ShapeText("f32", {m, n}), " broadcast(", scalar, "), dimensions={}"));
  switch (Uniform(0, 3)) {
    case 0:
      Result("f32", {m, n}, absl::StrCat("multiply(", wide, ", ", product, ")"));
      return;
    case 1:
      Result("f32", {m, n}, absl::StrCat("divide(", product, ", ", wide, ")"));
      return;
    case 2: {
      const std::string mask = Parameter("pred", {m, n}), other = Parameter("f32", {m, n}),
                        factor = Fresh("factor");
      Line(absl::StrCat(factor, " = ", ShapeText("f32", {m, n}), " select(", mask, ", ", other, ", ", wide,
                        ")"));
      Result("f32", {m, n}, absl::StrCat("multiply(", product, ", ", factor, ")"));
      return;
    }
    default: {
      const int64_t l = Size();
      const std::string right = Fresh("right");
      Line(absl::StrCat(right, " = ", ShapeText("f32", {n, l}), " broadcast(", scalar, "), dimensions={}"));
      Result("f32", {m, l},
             absl::StrCat("dot(", product, ", ", right,
                          "), lhs_contracting_dims={1}, rhs_contracting_dims={0}"));
      return;
    }
  }
}

}  // namespace toroid
