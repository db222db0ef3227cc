// BUILD: size = "medium"
// gather, scatter, dynamic-slice and dynamic-update-slice with random dimension numbers, index types and
// indices in and out of bounds, against loops that follow the definition.
#include <algorithm>
#include <limits>
#include <numeric>
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

// The values of an index array as wide integers; u64 is capped at 2^63 - 1, which is out of bounds as well.
int64_t StartAt(const Literal& indices, int64_t i) {
  const __int128 limit = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(IntAt(indices, i), limit));
}

PrimitiveType IndexType(std::mt19937_64& random) {
  const PrimitiveType types[] = {xla::S8,  xla::U8,  xla::S16, xla::U16,
                                 xla::S32, xla::U32, xla::S64, xla::U64};
  return types[random() % 8];
}

// A few indices below zero (for unsigned types: huge) and a few beyond `size`.
void SetStart(Literal* indices, int64_t i, int64_t size, std::mt19937_64& random) {
  const PrimitiveType type = indices->shape().element_type();
  SetBits(indices, i, BitsOfInt(type, static_cast<__int128>(random() % (size + 5)) - 2));
}

// Dimension numbers, named as for gather.
struct Numbers {
  Index operand;           // Sizes.
  Index batching;          // Operand dimensions.
  Index collapsed;         // Operand dimensions.
  Index window;            // Operand dimensions that a window walks.
  Index map;               // Operand dimension of each component.
  Index sizes;             // Slice sizes.
  Index batch;             // Sizes of the indices without the vectors.
  Index indices_batching;  // Dimensions of the indices.
  Index indices;           // Sizes.
  int64_t vector_dim = 0;
  Index offsets;  // Result dimensions of the window.
  Index result;   // Sizes.
  PrimitiveType index_type = xla::S32;

  Numbers(std::mt19937_64& random) {
    const int rank = 1 + static_cast<int>(random() % 4);
    for (int d = 0; d < rank; ++d) {
      operand.push_back(1 + random() % 5);
      const int role = static_cast<int>(random() % 5);
      (role == 0 ? batching : role == 1 ? collapsed : window).push_back(d);
      sizes.push_back(role <= 1 ? 1 : 1 + random() % operand[d]);
      if (role != 0 && random() % 3 != 0) map.push_back(d);
    }
    std::shuffle(map.begin(), map.end(), random);
    // Batch dimensions: those paired with the operand's, and up to two others, in any order.
    Index partner;  // Operand dimension; -1: none.
    for (const int64_t d : batching) partner.push_back(d);
    for (int more = static_cast<int>(random() % 3); more > 0; --more) partner.push_back(-1);
    std::shuffle(partner.begin(), partner.end(), random);
    for (const int64_t d : partner) batch.push_back(d < 0 ? 1 + random() % 4 : operand[d]);
    vector_dim = random() % (batch.size() + 1);
    indices = batch;
    // Vectors of one component may have no dimension.
    const bool implicit = map.size() == 1 && random() % 2 == 0;
    if (implicit) {
      vector_dim = static_cast<int64_t>(batch.size());
    } else {
      indices.insert(indices.begin() + vector_dim, static_cast<int64_t>(map.size()));
    }
    for (const int64_t d : batching) {
      const int64_t at = std::find(partner.begin(), partner.end(), d) - partner.begin();
      indices_batching.push_back(!implicit && at >= vector_dim ? at + 1 : at);
    }
    const int result_rank = static_cast<int>(batch.size() + window.size());
    Index order(result_rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    offsets.assign(order.begin(), order.begin() + window.size());
    std::sort(offsets.begin(), offsets.end());
    size_t next_window = 0, next_batch = 0;
    for (int d = 0; d < result_rank; ++d) {
      result.push_back(Has(offsets, d) ? sizes[window[next_window++]] : batch[next_batch++]);
    }
    index_type = IndexType(random);
  }

  Literal RandomIndices(std::mt19937_64& random) const {
    Literal values(Shape(index_type, indices));
    for (int64_t i = 0; i < Count(indices); ++i) SetStart(&values, i, 5, random);
    return values;
  }

  // Elements of the result (or of updates): batch coordinates in order, and for each its window in order.
  Index WindowByWindow() const {
    Index order(Count(result));
    std::iota(order.begin(), order.end(), 0);
    const auto of_batch = [&](int64_t i) {
      Index index = IndexOf(result, i);
      for (const int64_t d : offsets) index[d] = 0;
      return Offset(result, index);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return of_batch(a) < of_batch(b); });
    return order;
  }

  // The start of the window of a result index, unclamped, and the index's position in the window.
  void Locate(const Literal& values, const Index& at, Index* start, Index* inside) const {
    start->assign(operand.size(), 0);
    inside->assign(operand.size(), 0);
    Index of_batch;
    size_t next_window = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      if (Has(offsets, static_cast<int64_t>(d))) {
        (*inside)[window[next_window++]] = at[d];
      } else {
        of_batch.push_back(at[d]);
      }
    }
    const bool implicit = indices.size() == batch.size();
    for (size_t k = 0; k < map.size(); ++k) {
      Index position = of_batch;
      if (!implicit) position.insert(position.begin() + vector_dim, static_cast<int64_t>(k));
      (*start)[map[k]] = StartAt(values, Offset(indices, position));
    }
    for (size_t k = 0; k < batching.size(); ++k) {
      const int64_t d = indices_batching[k];
      (*start)[batching[k]] = of_batch[!implicit && d > vector_dim ? d - 1 : d];
    }
  }
};

TEST(GatherRandomTest, AnyDimensionNumbersAndClampedStarts) {
  std::mt19937_64 random(81);
  for (int round = 0; round < 400; ++round) {
    const Numbers n(random);
    const Literal x = Numbered(n.operand, 1), values = n.RandomIndices(random);
    const std::string text = absl::StrCat(
        "x = ", x.shape().ToString(), " parameter(0) i = ", values.shape().ToString(),
        " parameter(1) ROOT y = ", TypedShape(xla::S32, n.result),
        " gather(x, i), offset_dims=", Braces(n.offsets), ", collapsed_slice_dims=", Braces(n.collapsed),
        ", start_index_map=", Braces(n.map), ", operand_batching_dims=", Braces(n.batching),
        ", start_indices_batching_dims=", Braces(n.indices_batching), ", index_vector_dim=", n.vector_dim,
        ", slice_sizes=", Braces(n.sizes));
    SCOPED_TRACE(text);
    ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*MakeModule(text), {x, values}));
    for (int64_t i = 0; i < Count(n.result); ++i) {
      Index start, at;
      n.Locate(values, IndexOf(n.result, i), &start, &at);
      for (size_t d = 0; d < at.size(); ++d) {
        at[d] += std::clamp<int64_t>(start[d], 0, n.operand[d] - n.sizes[d]);
      }
      ASSERT_EQ(y.data<int32_t>()[i], x.data<int32_t>()[Offset(n.operand, at)]) << "element " << i;
    }
  }
}

// Window by window, in the order of the indices; windows that exceed the operand are dropped whole.
TEST(ScatterRandomTest, AnyDimensionNumbersAndDroppedWindows) {
  std::mt19937_64 random(82);
  for (int round = 0; round < 400; ++round) {
    const Numbers n(random);
    const Literal x = Numbered(n.operand, 1), values = n.RandomIndices(random),
                  updates = Numbered(n.result, 100);
    const std::string reducer = round % 3 == 0   ? ReducerText("f", "s32", "add")
                                : round % 3 == 1 ? ReducerText("f", "s32", "subtract")
                                                 : "f { a = s32[] parameter(0) ROOT b = s32[] parameter(1) }";
    const std::string text = absl::StrCat(
        "x = ", x.shape().ToString(), " parameter(0) i = ", values.shape().ToString(),
        " parameter(1) u = ", updates.shape().ToString(), " parameter(2) ROOT y = ", x.shape().ToString(),
        " scatter(x, i, u), update_window_dims=", Braces(n.offsets),
        ", inserted_window_dims=", Braces(n.collapsed), ", scatter_dims_to_operand_dims=", Braces(n.map),
        ", input_batching_dims=", Braces(n.batching),
        ", scatter_indices_batching_dims=", Braces(n.indices_batching), ", index_vector_dim=", n.vector_dim,
        ", to_apply=f");
    SCOPED_TRACE(text);
    ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*MakeModule(text, reducer), {x, values, updates}));
    std::vector<int32_t> expected(x.data<int32_t>().begin(), x.data<int32_t>().end());
    for (const int64_t i : n.WindowByWindow()) {
      Index start, at;
      n.Locate(values, IndexOf(n.result, i), &start, &at);
      bool inside = true;
      for (size_t d = 0; d < at.size(); ++d) {
        inside &= start[d] >= 0 && start[d] <= n.operand[d] - n.sizes[d];
      }
      if (!inside) continue;
      for (size_t d = 0; d < at.size(); ++d) at[d] += start[d];
      int32_t& value = expected[Offset(n.operand, at)];
      const int32_t update = updates.data<int32_t>()[i];
      value = round % 3 == 0 ? value + update : round % 3 == 1 ? value - update : update;
    }
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(y.data<int32_t>()[i], expected[i]) << "element " << i;
  }
}

TEST(DynamicSliceRandomTest, StartsOfEveryTypeClamp) {
  std::mt19937_64 random(83);
  for (int round = 0; round < 300; ++round) {
    const int rank = static_cast<int>(random() % 4);
    Index dims, sizes;
    for (int d = 0; d < rank; ++d) {
      dims.push_back(1 + random() % 6);
      sizes.push_back(random() % (dims[d] + 1));
    }
    const PrimitiveType type = IndexType(random);
    const Literal x = Numbered(dims, 1), update = Numbered(sizes, 1000);
    std::vector<Literal> slice_arguments = {x}, update_arguments = {x, update};
    std::string declared, names;
    Index starts;
    for (int d = 0; d < rank; ++d) {
      Literal start(Shape(type, {}));
      SetStart(&start, 0, dims[d], random);
      starts.push_back(std::clamp<int64_t>(StartAt(start, 0), 0, dims[d] - sizes[d]));
      slice_arguments.push_back(start);
      update_arguments.push_back(start);
      absl::StrAppend(&names, ", s", d);
    }
    const auto declare = [&](int first) {
      std::string text;
      for (int d = 0; d < rank; ++d)
        absl::StrAppend(&text, "s", d, " = ", TypedShape(type, {}), " parameter(", first + d, ") ");
      return text;
    };
    const std::string shape = TypedShape(xla::S32, dims), part = TypedShape(xla::S32, sizes);
    const std::string slice =
        absl::StrCat("x = ", shape, " parameter(0) ", declare(1), "ROOT y = ", part, " dynamic-slice(x",
                     names, "), dynamic_slice_sizes=", Braces(sizes));
    const std::string written =
        absl::StrCat("x = ", shape, " parameter(0) u = ", part, " parameter(1) ", declare(2),
                     "ROOT y = ", shape, " dynamic-update-slice(x, u", names, ")");
    SCOPED_TRACE(slice);
    ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*MakeModule(slice), slice_arguments));
    ASSERT_OK_AND_ASSIGN(const Literal z, RunSingle(*MakeModule(written), update_arguments));
    std::vector<int32_t> expected(x.data<int32_t>().begin(), x.data<int32_t>().end());
    for (int64_t i = 0; i < Count(sizes); ++i) {
      Index at = IndexOf(sizes, i);
      for (int d = 0; d < rank; ++d) at[d] += starts[d];
      ASSERT_EQ(y.data<int32_t>()[i], x.data<int32_t>()[Offset(dims, at)]);
      expected[Offset(dims, at)] = update.data<int32_t>()[i];
    }
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(z.data<int32_t>()[i], expected[i]);
  }
}

}  // namespace
}  // namespace toroid
