// BUILD: size = "small"
// slice, pad, concatenate, reverse and broadcast of random shapes and attributes, against index arithmetic.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/index_loops.h"
#include "tests/runtime/kernels/number_format.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

Index RandomDims(std::mt19937_64& random, int least) {
  Index dims(least + random() % 4);
  for (int64_t& size : dims) size = random() % 8;
  return dims;
}

// Runs `y = RESULT TEXT` on x (and more), of type s32; expects element i to be expected(index of i).
template <typename Expected>
void ExpectElements(const std::string& text, const Index& result, const std::vector<Literal>& operands,
                    Expected expected) {
  std::string body;
  for (size_t i = 0; i < operands.size(); ++i) {
    absl::StrAppend(&body, "x", i, " = ", operands[i].shape().ToString(), " parameter(", i, ") ");
  }
  absl::StrAppend(&body, "ROOT y = ", TypedShape(xla::S32, result), " ", text);
  SCOPED_TRACE(body);
  ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*MakeModule(body), operands));
  for (int64_t i = 0; i < Count(result); ++i) {
    ASSERT_EQ(y.data<int32_t>()[i], expected(IndexOf(result, i))) << "element " << i;
  }
}

TEST(SliceRandomTest, StartsLimitsAndStrides) {
  std::mt19937_64 random(101);
  for (int round = 0; round < 200; ++round) {
    const Index dims = RandomDims(random, 0);
    Index starts, strides, result;
    std::vector<std::string> parts;
    for (const int64_t size : dims) {
      const int64_t start = random() % (size + 1), limit = start + random() % (size - start + 1),
                    stride = 1 + random() % 3;
      starts.push_back(start);
      strides.push_back(stride);
      result.push_back((limit - start + stride - 1) / stride);
      parts.push_back(absl::StrCat("[", start, ":", limit, ":", stride, "]"));
    }
    const Literal x = Numbered(dims, 1);
    ExpectElements(absl::StrCat("slice(x0), slice={", absl::StrJoin(parts, ", "), "}"), result, {x},
                   [&](Index at) {
                     for (size_t d = 0; d < at.size(); ++d) at[d] = starts[d] + at[d] * strides[d];
                     return x.data<int32_t>()[Offset(dims, at)];
                   });
  }
}

TEST(PadRandomTest, NegativeEdgesAndInteriors) {
  std::mt19937_64 random(102);
  for (int round = 0; round < 300; ++round) {
    const Index dims = RandomDims(random, 1);
    Index low, interior, result;
    std::vector<std::string> parts;
    for (const int64_t size : dims) {
      const int64_t inner = random() % 3, full = size == 0 ? 0 : size + (size - 1) * inner;
      int64_t before, after;
      do {
        before = static_cast<int64_t>(random() % 8) - 4;
        after = static_cast<int64_t>(random() % 8) - 4;
      } while (full + before + after < 0);
      low.push_back(before);
      interior.push_back(inner);
      result.push_back(full + before + after);
      parts.push_back(absl::StrCat(before, "_", after, "_", inner));
    }
    const Literal x = Numbered(dims, 1), value = Numbered({}, -7);
    ExpectElements(absl::StrCat("pad(x0, x1), padding=", absl::StrJoin(parts, "x")), result, {x, value},
                   [&](Index at) {
                     for (size_t d = 0; d < at.size(); ++d) {
                       const int64_t from = at[d] - low[d];
                       if (from < 0 || from % (interior[d] + 1) != 0 || from / (interior[d] + 1) >= dims[d])
                         return -7;
                       at[d] = from / (interior[d] + 1);
                     }
                     return x.data<int32_t>()[Offset(dims, at)];
                   });
  }
}

TEST(ConcatenateRandomTest, AnyDimensionAndEmptyParts) {
  std::mt19937_64 random(103);
  for (int round = 0; round < 200; ++round) {
    Index result = RandomDims(random, 1);
    const size_t along = random() % result.size();
    std::vector<Literal> operands;
    std::vector<int> part_of;  // Part of each row along the dimension.
    std::vector<int64_t> first;
    std::vector<std::string> names;
    const int count = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < count; ++i) {
      Index dims = result;
      dims[along] = random() % 5;
      first.push_back(static_cast<int64_t>(part_of.size()));
      part_of.insert(part_of.end(), dims[along], i);
      operands.push_back(Numbered(dims, 1000 * i));
      names.push_back(absl::StrCat("x", i));
    }
    result[along] = static_cast<int64_t>(part_of.size());
    ExpectElements(absl::StrCat("concatenate(", absl::StrJoin(names, ", "), "), dimensions={", along, "}"),
                   result, operands, [&](Index at) {
                     const int part = part_of[at[along]];
                     at[along] -= first[part];
                     const auto dims = operands[part].shape().dims();
                     return operands[part].data<int32_t>()[Offset(Index(dims.begin(), dims.end()), at)];
                   });
  }
}

TEST(ReverseRandomTest, AnyDimensions) {
  std::mt19937_64 random(104);
  for (int round = 0; round < 100; ++round) {
    const Index dims = RandomDims(random, 1);
    Index reversed;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (random() % 2 == 0) reversed.push_back(static_cast<int64_t>(d));
    }
    const Literal x = Numbered(dims, 1);
    ExpectElements(absl::StrCat("reverse(x0), dimensions=", Braces(reversed)), dims, {x}, [&](Index at) {
      for (const int64_t d : reversed) at[d] = dims[d] - 1 - at[d];
      return x.data<int32_t>()[Offset(dims, at)];
    });
  }
}

TEST(BroadcastRandomTest, OperandDimensionsAnywhere) {
  std::mt19937_64 random(105);
  for (int round = 0; round < 200; ++round) {
    const Index result = RandomDims(random, 0);
    Index places, dims;
    for (size_t d = 0; d < result.size(); ++d) {
      if (random() % 2 == 0) places.push_back(static_cast<int64_t>(d));
    }
    for (const int64_t d : places) dims.push_back(result[d]);
    const Literal x = Numbered(dims, 1);
    ExpectElements(absl::StrCat("broadcast(x0), dimensions=", Braces(places)), result, {x},
                   [&](const Index& at) {
                     Index from;
                     for (const int64_t d : places) from.push_back(at[d]);
                     return x.data<int32_t>()[Offset(dims, from)];
                   });
  }
}

}  // namespace
}  // namespace toroid
