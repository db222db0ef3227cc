// BUILD: size = "small"
// convolution against its definition, over random shapes, windows, groups and layouts.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

TEST(ConvolutionTest, CrossCorrelationUnlessReversed) {
  const std::string operands =
      "x = f32[1,4,1] constant({{{1}, {2}, {3}, {4}}}) k = f32[2,1,1] constant({{{1}}, {{10}}}) ";
  EXPECT_EQ(
      Evaluate(operands + "ROOT y = f32[1,3,1] convolution(x, k), window={size=2}, dim_labels=b0f_0io->b0f"),
      "{ { {21}, {32}, {43} } }");
  EXPECT_EQ(
      Evaluate(
          operands +
          "ROOT y = f32[1,3,1] convolution(x, k), window={size=2 rhs_reversal=1}, dim_labels=b0f_0io->b0f"),
      "{ { {12}, {23}, {34} } }");
}

TEST(ConvolutionTest, NoSpatialDimensionsIsAMatrixProduct) {
  EXPECT_EQ(Evaluate("x = s32[2,2] constant({{1, 2}, {3, 4}}) k = s32[2,1] constant({{10}, {1}}) "
                     "ROOT y = s32[2,1] convolution(x, k), dim_labels=bf_io->bf"),
            "{ {12}, {34} }");
}

struct Case {
  int64_t batch, features, groups, batch_groups, out_features;
  int64_t n[2], size[2], stride[2], low[2], high[2], base[2], dilation[2], out[2];
  bool reversal[2];
};

Case RandomCase(std::mt19937& random) {
  Case c;
  c.groups = random() % 3 == 0 ? 1 + random() % 3 : 1;
  c.batch_groups = c.groups == 1 && random() % 3 == 0 ? 1 + random() % 3 : 1;
  c.batch = c.batch_groups * (1 + random() % 3);
  c.features = c.groups * (1 + random() % 3);
  c.out_features = c.groups * c.batch_groups * (1 + random() % 3);
  for (int d = 0; d < 2; ++d) {
    do {
      c.n[d] = 1 + random() % 7;
      c.size[d] = 1 + random() % 4;
      c.stride[d] = 1 + random() % 3;
      c.base[d] = 1 + random() % 3;
      c.dilation[d] = 1 + random() % 3;
      c.low[d] = static_cast<int64_t>(random() % 6) - 2;
      c.high[d] = static_cast<int64_t>(random() % 6) - 2;
      c.reversal[d] = random() % 4 == 0;
      const int64_t padded = (c.n[d] - 1) * c.base[d] + 1 + c.low[d] + c.high[d];
      const int64_t window = (c.size[d] - 1) * c.dilation[d] + 1;
      c.out[d] = padded < window ? 0 : (padded - window) / c.stride[d] + 1;
    } while (c.out[d] == 0);
  }
  return c;
}

// Sizes in the order of a label string of batch, input and output letters and spatial digits.
std::vector<int64_t> Order(const std::string& labels, char first, int64_t first_size, char second,
                           int64_t second_size, const int64_t* spatial) {
  std::vector<int64_t> dims;
  for (const char label : labels) {
    dims.push_back(label == first ? first_size : label == second ? second_size : spatial[label - '0']);
  }
  return dims;
}

float At(const Literal& literal, const std::string& labels, char first, int64_t i, char second, int64_t j,
         int64_t s0, int64_t s1) {
  int64_t at = 0;
  for (size_t d = 0; d < labels.size(); ++d) {
    const int64_t index = labels[d] == first ? i : labels[d] == second ? j : labels[d] == '0' ? s0 : s1;
    at = at * literal.shape().dim(d) + index;
  }
  return literal.data<float>()[at];
}

TEST(ConvolutionTest, AnyWindowGroupsAndLabels) {
  std::mt19937 random(21);
  for (int round = 0; round < 150; ++round) {
    const Case c = RandomCase(random);
    std::string lhs = "bf01", rhs = "io01", out = "bf01";
    std::shuffle(lhs.begin(), lhs.end(), random);
    std::shuffle(rhs.begin(), rhs.end(), random);
    std::shuffle(out.begin(), out.end(), random);
    Literal x(Shape(xla::F32, Order(lhs, 'b', c.batch, 'f', c.features, c.n)));
    Literal k(Shape(xla::F32, Order(rhs, 'i', c.features / c.groups, 'o', c.out_features, c.size)));
    const Shape shape(xla::F32, Order(out, 'b', c.batch / c.batch_groups, 'f', c.out_features, c.out));
    for (float& value : x.mutable_data<float>()) value = static_cast<float>(random() % 9) - 4;
    for (float& value : k.mutable_data<float>()) value = static_cast<float>(random() % 9) - 4;
    const auto pair = [](const int64_t* v) { return absl::StrCat(v[0], "x", v[1]); };
    const std::string text = absl::StrCat(
        "x = ", x.shape().ToString(), " parameter(0) k = ", k.shape().ToString(),
        " parameter(1) ROOT y = ", shape.ToString(), " convolution(x, k), window={size=", pair(c.size),
        " stride=", pair(c.stride), " pad=", c.low[0], "_", c.high[0], "x", c.low[1], "_", c.high[1],
        " lhs_dilate=", pair(c.base), " rhs_dilate=", pair(c.dilation), " rhs_reversal=", int{c.reversal[0]},
        "x", int{c.reversal[1]}, "}, dim_labels=", lhs, "_", rhs, "->", out,
        ", feature_group_count=", c.groups, ", batch_group_count=", c.batch_groups);
    SCOPED_TRACE(text);
    ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*MakeModule(text), {x, k}));
    const int64_t in_group = c.features / c.groups, out_batch = c.batch / c.batch_groups;
    for (int64_t b = 0; b < out_batch; ++b) {
      for (int64_t o = 0; o < c.out_features; ++o) {
        for (int64_t y0 = 0; y0 < c.out[0]; ++y0) {
          for (int64_t y1 = 0; y1 < c.out[1]; ++y1) {
            float sum = 0;
            for (int64_t i = 0; i < in_group; ++i) {
              for (int64_t k0 = 0; k0 < c.size[0]; ++k0) {
                for (int64_t k1 = 0; k1 < c.size[1]; ++k1) {
                  const int64_t p0 = y0 * c.stride[0] + k0 * c.dilation[0] - c.low[0];
                  const int64_t p1 = y1 * c.stride[1] + k1 * c.dilation[1] - c.low[1];
                  if (p0 < 0 || p1 < 0 || p0 % c.base[0] || p1 % c.base[1]) continue;
                  if (p0 / c.base[0] >= c.n[0] || p1 / c.base[1] >= c.n[1]) continue;
                  const int64_t image = o / (c.out_features / c.batch_groups) * out_batch + b;
                  const int64_t feature = o / (c.out_features / c.groups) * in_group + i;
                  sum += At(x, lhs, 'b', image, 'f', feature, p0 / c.base[0], p1 / c.base[1]) *
                         At(k, rhs, 'i', i, 'o', o, c.reversal[0] ? c.size[0] - 1 - k0 : k0,
                            c.reversal[1] ? c.size[1] - 1 - k1 : k1);
                }
              }
            }
            ASSERT_EQ(At(y, out, 'b', b, 'f', o, y0, y1), sum) << b << "," << o << "," << y0 << "," << y1;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace toroid
