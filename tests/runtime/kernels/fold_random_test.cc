// BUILD: size = "medium"
// scan, select-and-scatter, ragged-dot and scaled-dot of random shapes and attributes, against their
// definitions.
#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/number_format.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

Literal Values(const std::vector<int64_t>& dims, int low, int high, std::mt19937_64& random) {
  return RandomSmall(xla::S32, dims, random, low, high);
}

// y_t = 3 carry + x_t, carry = y_t: neither associative nor commutative, so a wrong order shows.
TEST(ScanRandomTest, EitherDirectionAlongEitherDimension) {
  std::mt19937_64 random(91);
  for (int round = 0; round < 60; ++round) {
    const int64_t rows = random() % 6, columns = 1 + random() % 5;
    const bool along_rows = random() % 2 == 0, reverse = random() % 2 == 0;
    const int64_t steps = along_rows ? rows : columns, lines = along_rows ? columns : rows;
    const Literal x = Values({rows, columns}, -3, 3, random), carry = Values({lines}, -3, 3, random);
    const std::string line = absl::StrCat("s32[", lines, "]"),
                      array = absl::StrCat("s32[", rows, ",", columns, "]");
    const std::string step = absl::StrCat(
        "step { x = ", line, " parameter(0) c = ", line, " parameter(1) three = s32[] constant(3) b = ", line,
        " broadcast(three), dimensions={} p = ", line, " multiply(b, c) s = ", line, " add(p, x) ROOT t = (",
        line, ", ", line, ") tuple(s, s) }");
    // Outputs are stacked along the dimension.
    const std::string text =
        absl::StrCat("x = ", array, " parameter(0) c = ", line, " parameter(1) ROOT y = (", array, ", ", line,
                     ") scan(x, c), dimensions={", along_rows ? 0 : 1,
                     "}, num_carries=1, is_reverse=", reverse ? "true" : "false", ", to_apply=step");
    SCOPED_TRACE(text);
    ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*MakeModule(text, step), {x, carry}));
    for (int64_t l = 0; l < lines; ++l) {
      int32_t value = carry.data<int32_t>()[l];
      for (int64_t s = 0; s < steps; ++s) {
        const int64_t t = reverse ? steps - 1 - s : s;
        const int64_t at = along_rows ? t * columns + l : l * columns + t;
        value = static_cast<int32_t>(3u * static_cast<uint32_t>(value) +
                                     static_cast<uint32_t>(x.data<int32_t>()[at]));
        ASSERT_EQ(y.element(0).data<int32_t>()[at], value);
      }
      ASSERT_EQ(y.element(1).data<int32_t>()[l], value);
    }
  }
}

TEST(SelectAndScatterRandomTest, TheFirstPickOfEachWindowReceivesItsSource) {
  std::mt19937_64 random(92);
  for (int round = 0; round < 200; ++round) {
    int64_t n[2], size[2], stride[2], low[2], high[2], out[2];
    for (int d = 0; d < 2; ++d) {
      do {
        n[d] = 1 + random() % 7;
        size[d] = 1 + random() % 3;
        stride[d] = 1 + random() % 3;
        low[d] = random() % size[d];
        high[d] = random() % size[d];
        out[d] = (n[d] + low[d] + high[d] - size[d]) / stride[d] + 1;
      } while (n[d] + low[d] + high[d] < size[d]);
    }
    const Literal x = Values({n[0], n[1]}, 0, 3, random), source = Values({out[0], out[1]}, 1, 9, random);
    const int32_t init = static_cast<int32_t>(random() % 3);
    const bool smallest = random() % 2 == 0;
    const std::string text = absl::StrCat(
        "x = s32[", n[0], ",", n[1], "] parameter(0) s = s32[", out[0], ",", out[1],
        "] parameter(1) z = s32[] constant(", init, ") ROOT y = s32[", n[0], ",", n[1],
        "] select-and-scatter(x, s, z), window={size=", size[0], "x", size[1], " stride=", stride[0], "x",
        stride[1], " pad=", low[0], "_", high[0], "x", low[1], "_", high[1], "}, select=pick, scatter=add");
    SCOPED_TRACE(text);
    const std::string computations =
        ReducerText("add", "s32", "add") +
        absl::StrCat(
            "pick { a = s32[] parameter(0) b = s32[] parameter(1) ROOT p = pred[] compare(a, b), direction=",
            smallest ? "LE" : "GE", " }\n");
    ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*MakeModule(text, computations), {x, source}));
    std::vector<int32_t> expected(n[0] * n[1], init);
    for (int64_t i = 0; i < out[0] * out[1]; ++i) {
      int64_t pick = -1;
      for (int64_t k = 0; k < size[0] * size[1]; ++k) {
        const int64_t r = i / out[1] * stride[0] + k / size[1] - low[0];
        const int64_t c = i % out[1] * stride[1] + k % size[1] - low[1];
        if (r < 0 || r >= n[0] || c < 0 || c >= n[1]) continue;
        const int64_t at = r * n[1] + c;
        const auto value = x.data<int32_t>();
        if (pick < 0 || (smallest ? value[pick] > value[at] : value[pick] < value[at])) pick = at;
      }
      expected[pick] += source.data<int32_t>()[i];
    }
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(y.data<int32_t>()[i], expected[i]) << "element " << i;
  }
}

// Group g of batch b holds rows [begin, end) of the ragged dimension, cut at its end.
struct Groups {
  std::vector<std::pair<int64_t, int64_t>> ranges;

  Groups(const Literal& sizes, int64_t first, int64_t groups, int64_t dimension) {
    int64_t begin = 0;
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t end = std::min<int64_t>(dimension, begin + sizes.data<int32_t>()[first + g]);
      ranges.push_back({begin, end});
      begin = end;
    }
  }
};

TEST(RaggedDotRandomTest, FreeAndContractingDimensions) {
  std::mt19937_64 random(93);
  for (int round = 0; round < 120; ++round) {
    const int64_t b = 1 + random() % 2, m = 1 + random() % 7, k = 1 + random() % 6, n = 1 + random() % 4,
                  g = 1 + random() % 3;
    const bool free = round % 2 == 0, shared = random() % 2 == 0;
    const Literal x = Values({b, m, k}, -3, 3, random);
    const Literal y = free ? Values({g, b, k, n}, -3, 3, random) : Values({b, k, n}, -3, 3, random);
    const Literal sizes = shared ? Values({g}, 0, 4, random) : Values({b, g}, 0, 4, random);
    const std::string result = free ? absl::StrCat("s32[", b, ",", m, ",", n, "]")
                                    : absl::StrCat("s32[", g, ",", b, ",", m, ",", n, "]");
    const std::string text =
        absl::StrCat("x = ", x.shape().ToString(), " parameter(0) y = ", y.shape().ToString(),
                     " parameter(1) s = ", sizes.shape().ToString(), " parameter(2) ROOT r = ", result,
                     " ragged-dot(x, y, s), lhs_batch_dims={0}, rhs_batch_dims={", free ? 1 : 0,
                     "}, lhs_contracting_dims={2}, rhs_contracting_dims={", free ? 2 : 1,
                     "}, lhs_ragged_dims={", free ? 1 : 2, "}", free ? ", rhs_group_dims={0}" : "");
    SCOPED_TRACE(text);
    ASSERT_OK_AND_ASSIGN(const Literal r, RunSingle(*MakeModule(text), {x, y, sizes}));
    std::vector<int32_t> expected(r.shape().NumElements(), 0);
    for (int64_t i = 0; i < b; ++i) {
      const Groups groups(sizes, shared ? 0 : i * g, g, free ? m : k);
      for (int64_t group = 0; group < g; ++group) {
        const auto [begin, end] = groups.ranges[group];
        for (int64_t row = 0; row < m; ++row) {
          for (int64_t inner = 0; inner < k; ++inner) {
            const int64_t ragged = free ? row : inner;
            if (ragged < begin || ragged >= end) continue;
            for (int64_t column = 0; column < n; ++column) {
              const int64_t of_y = ((free ? group * b : 0) + i) * k * n + inner * n + column;
              const int64_t at = (((free ? 0 : group * b) + i) * m + row) * n + column;
              expected[at] += x.data<int32_t>()[(i * m + row) * k + inner] * y.data<int32_t>()[of_y];
            }
          }
        }
      }
    }
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(r.data<int32_t>()[i], expected[i]) << "element " << i;
  }
}

// A scalar scale means none, whatever its value.
TEST(ScaledDotRandomTest, OneScalePerBlockOfEitherDimension) {
  std::mt19937_64 random(94);
  for (const PrimitiveType type : {xla::F8E4M3FN, xla::F8E5M2, xla::BF16, xla::F4E2M1FN}) {
    for (int round = 0; round < 30; ++round) {
      const int64_t row_blocks = 1 + random() % 2, m = row_blocks * (1 + random() % 3);
      const int64_t blocks = 1 + random() % 3, k = blocks * (1 + random() % 4), n = 1 + random() % 4;
      const bool scalar = random() % 3 == 0;
      const Literal x = RandomSmall(type, {m, k}, random, 0, 3), y = RandomSmall(type, {k, n}, random, 0, 3);
      const Literal s = RandomSmall(xla::F8E8M0FNU, {row_blocks, blocks}, random, 1, 2);
      const Literal t = scalar ? RandomSmall(xla::F8E8M0FNU, {}, random, 1, 2)
                               : RandomSmall(xla::F8E8M0FNU, {blocks, 1}, random, 1, 2);
      std::string text;
      const Literal* operands[] = {&x, &y, &s, &t};
      for (int i = 0; i < 4; ++i)
        absl::StrAppend(&text, "p", i, " = ", operands[i]->shape().ToString(), " parameter(", i, ") ");
      absl::StrAppend(&text, "ROOT r = f32[", m, ",", n,
                      "] scaled-dot(p0, p1, p2, p3), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
      SCOPED_TRACE(text);
      ASSERT_OK_AND_ASSIGN(const Literal r, RunSingle(*MakeModule(text), {x, y, s, t}));
      for (int64_t row = 0; row < m; ++row) {
        for (int64_t column = 0; column < n; ++column) {
          double sum = 0;
          for (int64_t i = 0; i < k; ++i) {
            const double of_x = FloatAt(s, row / (m / row_blocks) * blocks + i / (k / blocks));
            const double of_y = scalar ? 1 : FloatAt(t, i / (k / blocks));
            sum += FloatAt(x, row * k + i) * of_x * FloatAt(y, i * n + column) * of_y;
          }
          ASSERT_EQ(r.data<float>()[row * n + column], sum);
        }
      }
    }
  }
}

}  // namespace
}  // namespace toroid
