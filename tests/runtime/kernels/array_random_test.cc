// BUILD: size = "medium"
// Ops on whole arrays, with random values of every type they allow, against loops over indices: data
// movement, indexing, reductions, windows, products, sorting.
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "hlo/base/status.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/number_format.h"

namespace toroid {
namespace {

// Wraps.
__int128 Product(__int128 a, __int128 b) {
  return static_cast<__int128>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
}

// %T in the text is the element type; parameters p0, p1, .. are declared for the operands.
Literal Apply(std::string text, PrimitiveType type, const std::vector<Literal>& operands,
              const std::string& computations = "") {
  std::string body;
  for (size_t i = 0; i < operands.size(); ++i) {
    absl::StrAppend(&body, "p", i, " = ", operands[i].shape().ToString(), " parameter(", i, ") ");
  }
  const auto fill = [&](std::string from) {
    for (size_t at; (at = from.find("%T")) != std::string::npos;)
      from.replace(at, 2, std::string(TypeName(type)));
    return from;
  };
  const auto module = MakeModule(body + fill(text), fill(computations));
  absl::StatusOr<Literal> result = RunSingle(*module, operands);
  TOROID_CHECK(result.ok(), fill(text), ": ", result.status().ToString());
  return *std::move(result);
}

// Elements are compared by all of their bits.
struct Element {
  uint64_t bits[2] = {0, 0};
  bool operator==(const Element&) const = default;
};
Element ElementAt(const Literal& x, int64_t i) {
  if (!IsComplex(x.shape().element_type())) return {{BitsAt(x, i), 0}};
  return {{BitsAt(x, 2 * i), BitsAt(x, 2 * i + 1)}};
}

// Calls f(index) for every index below the sizes, in order.
template <typename F>
void ForEachIndex(const Dims& dims, F f) {
  int64_t n = 1;
  for (const int64_t size : dims) n *= size;
  for (int64_t i = 0; i < n; ++i) {
    Dims index(dims.size());
    int64_t rest = i;
    for (int d = static_cast<int>(dims.size()) - 1; d >= 0; --d) {
      index[d] = rest % dims[d];
      rest /= dims[d];
    }
    f(index, i);
  }
}
TEST(MovementRandomTest, EveryTypeMovesBitForBit) {
  std::mt19937_64 random(51);
  for (const PrimitiveType type : AllTypes()) {
    SCOPED_TRACE(std::string(TypeName(type)));
    const Dims dims = {3, 4, 5};
    const Literal x = RandomArray(type, dims, random), y = RandomArray(type, {3, 2, 5}, random),
                  v = RandomArray(type, {}, random);
    struct Case {
      std::string text;
      std::vector<Literal> operands;
      Dims result;
      // The element of x (or y, or v) that belongs to an index of the result.
      std::function<Element(Dims)> expected;
    };
    const auto at = [&](int64_t i, int64_t j, int64_t k) { return ElementAt(x, (i * 4 + j) * 5 + k); };
    const std::vector<Case> cases = {
        {"ROOT r = %T[3,4,5] copy(p0)", {x}, dims, [&](Dims i) { return at(i[0], i[1], i[2]); }},
        {"ROOT r = %T[3,2,4,5] broadcast(p0), dimensions={0,2,3}",
         {x},
         {3, 2, 4, 5},
         [&](Dims i) { return at(i[0], i[2], i[3]); }},
        {"ROOT r = %T[5,3,4] transpose(p0), dimensions={2,0,1}",
         {x},
         {5, 3, 4},
         [&](Dims i) { return at(i[1], i[2], i[0]); }},
        {"ROOT r = %T[3,4,5] reverse(p0), dimensions={0,2}",
         {x},
         dims,
         [&](Dims i) { return at(2 - i[0], i[1], 4 - i[2]); }},
        {"ROOT r = %T[6,10] reshape(p0)",
         {x},
         {6, 10},
         [&](Dims i) { return ElementAt(x, i[0] * 10 + i[1]); }},
        {"ROOT r = %T[3,2,2] slice(p0), slice={[0:3], [1:4:2], [2:4]}",
         {x},
         {3, 2, 2},
         [&](Dims i) { return at(i[0], 1 + 2 * i[1], 2 + i[2]); }},
        {"ROOT r = %T[3,6,5] concatenate(p0, p1), dimensions={1}",
         {x, y},
         {3, 6, 5},
         [&](Dims i) {
           return i[1] < 4 ? at(i[0], i[1], i[2]) : ElementAt(y, (i[0] * 2 + i[1] - 4) * 5 + i[2]);
         }},
        {"ROOT r = %T[4,6,9] pad(p0, p1), padding=1_0x3_-1x0_0_1",
         {x, v},
         {4, 6, 9},
         [&](Dims i) {
           const bool inside = i[0] >= 1 && i[1] >= 3 && i[2] % 2 == 0;
           return inside ? at(i[0] - 1, i[1] - 3, i[2] / 2) : ElementAt(v, 0);
         }},
        {"s = s8[] constant(9) z = s8[] constant(-3) ROOT r = %T[2,4,3] dynamic-slice(p0, s, z, s), "
         "dynamic_slice_sizes={2,4,3}",
         {x},
         {2, 4, 3},
         [&](Dims i) { return at(1 + i[0], i[1], 2 + i[2]); }},
        {"s = u64[] constant(1) z = u64[] constant(0) ROOT r = %T[3,4,5] dynamic-update-slice(p0, p1, z, s, "
         "z)",
         {x, y},
         dims,
         [&](Dims i) {
           return i[1] >= 1 && i[1] < 3 ? ElementAt(y, (i[0] * 2 + i[1] - 1) * 5 + i[2])
                                        : at(i[0], i[1], i[2]);
         }},
        {"s = s32[2,2] constant({{2, 0}, {0, 99}}) ROOT r = %T[2,4,3] gather(p0, s), offset_dims={1,2}, "
         "collapsed_slice_dims={0}, "
         "start_index_map={0,2}, index_vector_dim=1, slice_sizes={1,4,3}",
         {x},
         {2, 4, 3},
         [&](Dims i) { return at(i[0] == 0 ? 2 : 0, i[1], (i[0] == 0 ? 0 : 2) + i[2]); }},
        {"s = s32[1,1] constant({{1}}) ROOT r = %T[3,4,5] scatter(p0, s, p1), update_window_dims={1,2,3}, "
         "inserted_window_dims={}, "
         "scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=last",
         {x, Literal(y).Reshaped(Shape(type, {1, 3, 2, 5}))},
         dims,
         [&](Dims i) {
           return i[1] >= 1 && i[1] < 3 ? ElementAt(y, (i[0] * 2 + i[1] - 1) * 5 + i[2])
                                        : at(i[0], i[1], i[2]);
         }},
    };
    const std::string last = "last { a = %T[] parameter(0) ROOT b = %T[] parameter(1) }";
    for (const Case& c : cases) {
      const Literal r = Apply(c.text, type, c.operands, last);
      ForEachIndex(c.result, [&](const Dims& index, int64_t i) {
        ASSERT_EQ(ElementAt(r, i), c.expected(index)) << c.text << " at " << absl::StrJoin(index, ",");
      });
    }
  }
}

TEST(IotaRandomTest, CountsAndConverts) {
  for (const PrimitiveType type : AllTypes()) {
    if (type == xla::PRED) continue;
    const Literal r = Apply("ROOT r = %T[2,300] iota(), iota_dimension=1", type, {});
    for (int64_t i = 0; i < 600; ++i) {
      if (IsInt(type)) {
        ASSERT_EQ(BitsAt(r, i), BitsOfInt(type, i % 300)) << TypeName(type);
      } else {
        ASSERT_TRUE(IsNear(type, BitsAt(r, IsComplex(type) ? 2 * i : i), static_cast<double>(i % 300)))
            << TypeName(type) << " " << i;
      }
    }
  }
}

// Folds in double or __int128; the values are small, so sums are exact until they are rounded to the type.
TEST(ReduceRandomTest, EveryTypeAndReducer) {
  std::mt19937_64 random(52);
  for (const PrimitiveType type : AllTypes()) {
    for (const std::string op : {"add", "multiply", "maximum", "minimum", "and", "or", "xor"}) {
      const bool bitwise = op == "and" || op == "or" || op == "xor",
                 order = op == "maximum" || op == "minimum";
      if ((bitwise && !IsInt(type) && type != xla::PRED) || (order && IsComplex(type))) continue;
      // Narrow floats accumulate in f32 and are rounded at the end; with few factors products are exact.
      const bool narrow = IsFloat(type) && BitWidth(type) < 32;
      const Literal x = RandomSmall(type, {4, 6}, random, narrow ? 0 : -2, 2),
                    init = RandomSmall(type, {}, random, 1, 1);
      for (const int d : {0, 1}) {
        const int64_t n = d == 0 ? 6 : 4, steps = d == 0 ? 4 : 6;
        const Literal r =
            Apply(absl::StrCat("ROOT r = %T[", n, "] reduce(p0, p1), dimensions={", d, "}, to_apply=f"), type,
                  {x, init}, ReducerText("f", "%T", op));
        for (int64_t i = 0; i < n; ++i) {
          if (IsInt(type) || type == xla::PRED) {
            __int128 value = type == xla::PRED ? BitsAt(init, 0) : IntAt(init, 0);
            for (int64_t s = 0; s < steps; ++s) {
              const int64_t at = d == 0 ? s * 6 + i : i * 6 + s;
              const __int128 e = type == xla::PRED ? static_cast<__int128>(BitsAt(x, at)) : IntAt(x, at);
              const bool logic = type == xla::PRED;
              value = op == "add"        ? (logic ? value | e : value + e)
                      : op == "multiply" ? (logic ? value & e : Product(value, e))
                      : op == "maximum"  ? std::max(value, e)
                      : op == "minimum"  ? std::min(value, e)
                      : op == "and"      ? value & e
                      : op == "or"       ? value | e
                                         : value ^ e;
            }
            ASSERT_EQ(BitsAt(r, i), type == xla::PRED ? static_cast<uint64_t>(value) : BitsOfInt(type, value))
                << TypeName(type) << op;
          } else {
            const int parts = IsComplex(type) ? 2 : 1;
            std::complex<double> value = parts == 2 ? ComplexAt(init, 0) : FloatAt(init, 0);
            for (int64_t s = 0; s < steps; ++s) {
              const int64_t at = d == 0 ? s * 6 + i : i * 6 + s;
              const std::complex<double> e = parts == 2 ? ComplexAt(x, at) : FloatAt(x, at);
              value = op == "add"        ? value + e
                      : op == "multiply" ? value * e
                      : op == "maximum"  ? std::max(value.real(), e.real())
                                         : std::min(value.real(), e.real());
            }
            // Zeros may have either sign.
            ASSERT_TRUE(IsNear(type, BitsAt(r, parts * i), value.real(), narrow ? 1 : 0, 1e-30))
                << TypeName(type) << " " << op << " gives " << FloatAt(r, parts * i) << ", expected "
                << value.real();
            if (parts == 2) {
              ASSERT_EQ(FloatAt(r, 2 * i + 1), value.imag());
            }
          }
        }
      }
    }
  }
}

TEST(ReduceWindowRandomTest, SumsOfEveryNumericType) {
  std::mt19937_64 random(53);
  for (const PrimitiveType type : AllTypes()) {
    if (type == xla::PRED || type == xla::F8E8M0FNU) continue;
    const Literal x = RandomSmall(type, {9}, random, 0, 1), zero = RandomSmall(type, {}, random, 0, 0);
    // Positions -1 .. 9 (two at a time), windows of 3 with holes of 1: sizes (9 + 2 - 5) / 2 + 1.
    const Literal r = Apply(
        "ROOT r = %T[4] reduce-window(p0, p1), window={size=3 pad=1_1 stride=2 rhs_dilate=2}, to_apply=f",
        type, {x, zero}, ReducerText("f", "%T", "add"));
    for (int64_t i = 0; i < 4; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < 3; ++k) {
        const int64_t at = 2 * i + 2 * k - 1;
        if (at < 0 || at >= 9) continue;
        sum += IsInt(type) ? static_cast<double>(IntAt(x, at)) : FloatAt(x, IsComplex(type) ? 2 * at : at);
      }
      if (IsInt(type)) {
        ASSERT_EQ(BitsAt(r, i), BitsOfInt(type, static_cast<__int128>(sum))) << TypeName(type);
      } else {
        ASSERT_TRUE(IsNear(type, BitsAt(r, IsComplex(type) ? 2 * i : i), sum))
            << TypeName(type) << " " << sum;
      }
    }
  }
}

TEST(DotRandomTest, EveryTypeAndWiderResults) {
  std::mt19937_64 random(54);
  for (const PrimitiveType type : AllTypes()) {
    const Literal x = RandomSmall(type, {3, 7}, random, type == xla::PRED ? 0 : -1, 1);
    const Literal y = RandomSmall(type, {7, 4}, random, type == xla::PRED ? 0 : -1, 1);
    std::vector<PrimitiveType> results = {type};
    if (IsInt(type)) results.push_back(xla::S32);
    if (IsFloat(type)) results.push_back(xla::F32);
    for (const PrimitiveType result : results) {
      const Literal r =
          Apply(absl::StrCat("ROOT r = ", TypeName(result),
                             "[3,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
                type, {x, y});
      const Literal c = Apply(
          absl::StrCat("ROOT r = ", TypeName(result), "[3,4] convolution(p0, p1), dim_labels=bf_io->bf"),
          type, {x, y});
      for (int64_t i = 0; i < 12; ++i) {
        std::complex<double> sum = 0;
        unsigned __int128 whole = 0;  // Wraps around, as the sum of integers does.
        for (int64_t k = 0; k < 7; ++k) {
          const int64_t a = i / 4 * 7 + k, b = k * 4 + i % 4;
          if (IsComplex(type)) {
            sum += ComplexAt(x, a) * ComplexAt(y, b);
          } else if (IsFloat(type)) {
            sum += FloatAt(x, a) * FloatAt(y, b);
          } else if (type == xla::PRED) {
            whole |= BitsAt(x, a) & BitsAt(y, b);
          } else {
            whole +=
                static_cast<unsigned __int128>(IntAt(x, a)) * static_cast<unsigned __int128>(IntAt(y, b));
          }
        }
        for (const Literal* literal : {&r, &c}) {
          if (literal == &c && type == xla::PRED) continue;
          if (IsInt(type) || type == xla::PRED) {
            ASSERT_EQ(BitsAt(*literal, i), type == xla::PRED
                                               ? static_cast<uint64_t>(whole)
                                               : BitsOfInt(result, static_cast<__int128>(whole)))
                << TypeName(type);
          } else {
            const int parts = IsComplex(type) ? 2 : 1;
            ASSERT_TRUE(IsNear(result, BitsAt(*literal, parts * i), sum.real(), 0, 1e-30))
                << TypeName(type) << " as " << TypeName(result) << " " << FloatAt(*literal, parts * i) << " "
                << sum;
          }
        }
      }
    }
  }
}

// Sorted values are those of the standard library, and equal ones keep their order.
TEST(SortRandomTest, EveryOrderedTypeStably) {
  std::mt19937_64 random(55);
  for (const PrimitiveType type : AllTypes()) {
    if (IsComplex(type)) continue;
    const int64_t n = 50;
    Literal x = RandomSmall(type, {n}, random, 0, 1);
    if (BitWidth(type) > 2) x = RandomArray(type, {n}, random);
    const auto key = [&](int64_t i) -> __int128 {
      const uint64_t bits = BitsAt(x, i);
      if (!IsFloat(type)) return type == xla::PRED ? static_cast<__int128>(bits) : IntAt(x, i);
      if (type == xla::F8E8M0FNU) return bits;
      const uint64_t magnitude = bits & ((uint64_t{1} << (BitWidth(type) - 1)) - 1);
      return bits >> (BitWidth(type) - 1) ? -static_cast<__int128>(magnitude) - 1
                                          : static_cast<__int128>(magnitude);
    };
    std::vector<int32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return key(a) < key(b); });
    const std::string less = absl::StrCat(
        "lt { a = %T[] parameter(0) b = %T[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3) "
        "ROOT p = pred[] compare(a, b), direction=LT",
        IsFloat(type) ? ", type=TOTALORDER" : "", " }");
    const Literal r = Apply(
        "i = s32[50] iota(), iota_dimension=0 "
        "ROOT r = (%T[50], s32[50]) sort(p0, i), dimensions={0}, is_stable=true, to_apply=lt",
        type, {x}, less);
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(IntAt(r.element(1), i), order[i]) << TypeName(type);
      ASSERT_EQ(BitsAt(r.element(0), i), BitsAt(x, order[i])) << TypeName(type);
    }
    if (type == xla::PRED) continue;  // topk is not defined on pred.
    const Literal top = Apply("ROOT r = (%T[5], s32[5]) topk(p0), k=5, largest=true", type, {x});
    std::stable_sort(order.begin(), order.end(), [](int32_t a, int32_t b) { return a < b; });
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return key(a) > key(b); });
    for (int64_t i = 0; i < 5; ++i) ASSERT_EQ(IntAt(top.element(1), i), order[i]) << TypeName(type);
  }
}

TEST(MapRandomTest, AComputationOnEveryElementOfEveryType) {
  std::mt19937_64 random(56);
  for (const PrimitiveType type : AllTypes()) {
    const Literal x = RandomArray(type, {3, 5}, random), y = RandomArray(type, {3, 5}, random),
                  p = RandomArray(xla::PRED, {3, 5}, random);
    const Literal r =
        Apply("ROOT r = %T[3,5] map(p0, p1, p2), dimensions={0,1}, to_apply=pick", type, {p, x, y},
              "pick { c = pred[] parameter(0) a = %T[] parameter(1) b = %T[] parameter(2) ROOT s = %T[] "
              "select(c, a, b) }");
    for (int64_t i = 0; i < 15; ++i) ASSERT_EQ(ElementAt(r, i), ElementAt(BitsAt(p, i) ? x : y, i));
  }
}

}  // namespace
}  // namespace toroid
