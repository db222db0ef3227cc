// BUILD: size = "medium"
// Gathers and scatters that are large enough for several threads, of several types: rows, parts of rows, single elements, and
// windows of two dimensions, against loops.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/index_loops.h"
#include "tests/runtime/kernels/number_format.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

const PrimitiveType kTypes[] = {xla::F32, xla::BF16, xla::F64, xla::C64, xla::S8, xla::S32, xla::U16};

// Windows of `window` elements of an operand of two dimensions, at starts in the dimensions `map`.
struct Program {
  Index operand, window, map;
  int64_t count;
  bool collapses;  // The window's first dimension, of size 1.

  std::string Numbers(bool gather) const {
    const Index offsets = collapses ? Index{1} : Index{1, 2};
    const std::string collapsed = collapses ? "{0}" : "{}";
    return gather ? absl::StrCat("offset_dims=", Braces(offsets), ", collapsed_slice_dims=", collapsed,
                                 ", start_index_map=", Braces(map),
                                 ", index_vector_dim=1, slice_sizes=", Braces(window))
                  : absl::StrCat("update_window_dims=", Braces(offsets), ", inserted_window_dims=", collapsed,
                                 ", scatter_dims_to_operand_dims=", Braces(map), ", index_vector_dim=1");
  }
  Index UpdateDims() const {
    return collapses ? Index{count, window[1]} : Index{count, window[0], window[1]};
  }
  // Some starts are out of bounds.
  Literal Starts(std::mt19937_64& random) const {
    Literal starts(Shape(xla::S32, {count, static_cast<int64_t>(map.size())}));
    for (int64_t i = 0; i < starts.shape().NumElements(); ++i) {
      const int64_t d = map[i % static_cast<int64_t>(map.size())];
      starts.mutable_data<int32_t>()[i] = static_cast<int32_t>(random() % (operand[d] - window[d] + 4)) - 1;
    }
    return starts;
  }
};

const Program kPrograms[] = {
    {{500, 128}, {1, 128}, {0}, 700, true},      // Rows.
    {{500, 100}, {1, 70}, {0}, 900, true},       // The first part of rows.
    {{500, 100}, {1, 64}, {0, 1}, 900, true},    // Parts of rows that begin anywhere.
    {{40000, 1}, {1, 1}, {0}, 70000, true},      // Elements.
    {{300, 200}, {1, 1}, {0, 1}, 50000, false},  // Elements, by two indices.
    {{300, 200}, {3, 50}, {0, 1}, 400, false},   // Windows that overlap.
    {{300, 64}, {2, 64}, {0}, 400, false},       // Pairs of rows.
    {{3, 20000}, {1, 16}, {1}, 3000, true},      // Pieces of one row.
    {{400, 40}, {1, 0}, {0}, 40, true},          // Nothing.
};

int64_t StartOf(const Literal& starts, const Program& p, int64_t window, int64_t d) {
  const auto at = std::find(p.map.begin(), p.map.end(), d);
  if (at == p.map.end()) return 0;
  return starts.data<int32_t>()[window * static_cast<int64_t>(p.map.size()) + (at - p.map.begin())];
}

TEST(LargeGatherTest, RowsElementsAndWindows) {
  std::mt19937_64 random(501);
  for (const Program& p : kPrograms) {
    for (const PrimitiveType type : kTypes) {
      const Literal x = RandomArray(type, p.operand, random), starts = p.Starts(random);
      const std::string text =
          absl::StrCat("x = ", x.shape().ToString(), " parameter(0) i = ", starts.shape().ToString(),
                       " parameter(1) ROOT y = ", TypedShape(type, p.UpdateDims()), " gather(x, i), ",
                       p.Numbers(/*gather=*/true));
      SCOPED_TRACE(text);
      ASSERT_OK_AND_ASSIGN(const Literal y, RunOnThreads(*MakeModule(text), {x, starts}));
      const int64_t parts = type == xla::C64 ? 2 : 1, size = p.window[0] * p.window[1];
      for (int64_t i = 0; i < p.count * size; ++i) {
        const int64_t window = i / size;
        Index at = {i % size / std::max<int64_t>(1, p.window[1]), i % std::max<int64_t>(1, p.window[1])};
        for (int64_t d = 0; d < 2; ++d) {
          at[d] += std::clamp<int64_t>(StartOf(starts, p, window, d), 0, p.operand[d] - p.window[d]);
        }
        for (int64_t part = 0; part < parts; ++part) {
          ASSERT_EQ(BitsAt(y, i * parts + part), BitsAt(x, Offset(p.operand, at) * parts + part)) << i;
        }
      }
    }
  }
}

double Combine(const std::string& op, double a, double b) {
  if (op == "add") return a + b;
  if (op == "maximum") return std::max(a, b);
  if (op == "minimum") return std::min(a, b);
  return b;
}

// Small whole numbers: sums are exact in every order, so overwriting shows a wrong order; integers wrap.
TEST(LargeScatterTest, RowsElementsAndWindows) {
  std::mt19937_64 random(502);
  for (const Program& p : kPrograms) {
    for (const PrimitiveType type : kTypes) {
      for (const std::string op : {"add", "maximum", "minimum", "overwrite"}) {
        if (type == xla::C64 && op[0] == 'm') continue;
        const Index update_dims = p.UpdateDims();
        const Literal x = RandomSmall(type, p.operand, random, 0, 3), starts = p.Starts(random),
                      updates = RandomSmall(type, update_dims, random, 0, 3);
        const std::string scalar = TypedShape(type, {}), name = scalar.substr(0, scalar.find('['));
        const std::string body =
            op == "overwrite"
                ? absl::StrCat("f { a = ", scalar, " parameter(0) ROOT b = ", scalar, " parameter(1) }")
                : ReducerText("f", name, op);
        const std::string text = absl::StrCat(
            "x = ", x.shape().ToString(), " parameter(0) i = ", starts.shape().ToString(),
            " parameter(1) u = ", updates.shape().ToString(), " parameter(2) ROOT y = ", x.shape().ToString(),
            " scatter(x, i, u), ", p.Numbers(/*gather=*/false), ", to_apply=f");
        SCOPED_TRACE(text);
        SCOPED_TRACE(op);
        ASSERT_OK_AND_ASSIGN(const Literal y, RunOnThreads(*MakeModule(text, body), {x, starts, updates}));
        const int64_t parts = type == xla::C64 ? 2 : 1, size = p.window[0] * p.window[1];
        const bool is_int = Has(Index(IntTypes().begin(), IntTypes().end()), type);
        const PrimitiveType part_type = type == xla::C64 ? xla::F32 : type;
        const auto value = [&](const Literal& literal, int64_t i) {
          return is_int ? static_cast<double>(IntAt(literal, i)) : FloatAt(literal, i);
        };
        std::vector<double> expected;
        for (int64_t i = 0; i < Count(p.operand) * parts; ++i) expected.push_back(value(x, i));
        for (int64_t i = 0; i < p.count * size; ++i) {
          const int64_t window = i / size;
          Index at = {i % size / p.window[1], i % p.window[1]};
          bool inside = true;
          for (int64_t d = 0; d < 2; ++d) {
            const int64_t start = StartOf(starts, p, window, d);
            inside &= start >= 0 && start <= p.operand[d] - p.window[d];
            at[d] += start;
          }
          for (int64_t part = 0; inside && part < parts; ++part) {
            double& e = expected[Offset(p.operand, at) * parts + part];
            e = Combine(op, e, value(updates, i * parts + part));
          }
        }
        for (size_t i = 0; i < expected.size(); ++i) {
          const uint64_t bits = is_int ? BitsOfInt(type, static_cast<__int128>(expected[i]))
                                       : BitsOfFloat(part_type, expected[i]);
          ASSERT_EQ(BitsAt(y, static_cast<int64_t>(i)), bits) << "element " << i;
        }
      }
    }
  }
}

// bf16 is rounded after each update: 256 + 1 is 256, however often.
TEST(LargeScatterTest, NarrowFloatsAreRoundedByEachUpdate) {
  const std::string add = ReducerText("f", "bf16", "add");
  EXPECT_EQ(
      Evaluate("x = bf16[2] constant({256, 0}) i = s32[4,1] constant({{0}, {0}, {0}, {1}}) "
               "u = bf16[4] constant({1, 1, 2, 5}) ROOT y = bf16[2] scatter(x, i, u), update_window_dims={}, "
               "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f",
               add),
      "{258, 5}");
  EXPECT_EQ(
      Evaluate(
          "x = f32[2] constant({-0, nan}) i = s32[2,1] constant({{0}, {1}}) u = f32[2] constant({-0, 1}) "
          "ROOT y = f32[2] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, "
          "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f",
          ReducerText("f", "f32", "maximum")),
      "{-0, nan}");
}

}  // namespace
}  // namespace toroid
