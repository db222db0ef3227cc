// BUILD: size = "small"
#include "hlo/ir/untiled_shapes.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

Shape ParseShape(const std::string& text) {
  return MakeModule("ROOT x = " + text + " parameter(0)")->entry()->root()->shape();
}

std::string Untiled(const std::string& from, const std::string& to) {
  const auto shapes = WithoutTiles(ParseShape(from), ParseShape(to));
  if (!shapes.ok()) return std::string(shapes.status().message());
  const std::string sides = shapes->from.ToString(true) + " -> " + shapes->to.ToString(true);
  const Shape operand = ParseShape(from);
  if (operand.dims() == absl::MakeConstSpan(shapes->kept)) return sides;
  return Shape(operand.element_type(), shapes->kept).ToString() + " of it, " + sides;
}

TEST(UntiledShapesTest, TheSameTilesOverTheSameSizesAreLeftOut) {
  EXPECT_EQ(Untiled("bf16[100,64]{1,0:T(8,128)(2,1)}", "bf16[100,64,1]{1,0,2:T(8,128)(2,1)}"),
            "bf16[100,64]{1,0} -> bf16[100,64,1]{1,0,2}");
  EXPECT_EQ(Untiled("f32[256,2,60]{0,2,1:T(8,128)}", "f32[2,256,60]{1,2,0:T(8,128)}"),
            "f32[256,2,60]{0,2,1} -> f32[2,256,60]{1,2,0}");
}

TEST(UntiledShapesTest, TilesWithoutPaddingAreDimensions) {
  EXPECT_EQ(Untiled("f32[16,256]{1,0:T(8,128)}", "f32[4096]{0:T(1024)}"),
            "f32[2,8,2,128]{3,1,2,0} -> f32[4096]{0}");
  EXPECT_EQ(Untiled("bf16[16,128]{1,0:T(8,128)(2,1)}", "bf16[2048]{0}"),
            "bf16[8,2,128]{1,2,0} -> bf16[2048]{0}");
}

TEST(UntiledShapesTest, PaddingThatLiesWhereItLayMakesAReshape) {
  EXPECT_EQ(Untiled("f32[2,16,130]{2,1,0:T(8,128)}", "f32[32,130]{1,0:T(8,128)}"),
            "f32[2,16,130]{2,1,0} -> f32[32,130]{1,0}");
  EXPECT_EQ(Untiled("f32[4,24,130]{2,0,1:T(4,128)}", "f32[96,130]{1,0:T(4,128)}"),
            "f32[4,3120]{0,1} -> f32[24,4,130]{1,2,0}");
  EXPECT_EQ(Untiled("f32[1000]{0:T(1024)}", "f32[1,1000]{1,0:T(1,1024)}"),
            "f32[1000]{0} -> f32[1,1000]{1,0}");
}

TEST(UntiledShapesTest, AResultWithoutTheLastElementsIsASlice) {
  EXPECT_EQ(Untiled("f32[32,130]{1,0:T(8,128)}", "f32[30,129]{1,0:T(8,128)}"),
            "f32[30,129] of it, f32[30,129]{1,0} -> f32[30,129]{1,0}");
  EXPECT_EQ(Untiled("f32[2,16,130]{2,1,0:T(8,128)}", "f32[17,130]{1,0:T(8,128)}").substr(0, 10),
            "bitcast of");
  EXPECT_EQ(Untiled("f32[2,16,130]{2,1,0:T(8,128)}", "f32[16,130]{1,0:T(8,128)}"),
            "f32[1,16,130] of it, f32[1,16,130]{2,1,0} -> f32[16,130]{1,0}");
  const std::string x = "x = f32[4,3]{1,0:T(2,4)} constant({{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}}) ";
  EXPECT_EQ(Evaluate(x + "ROOT b = f32[3,2]{1,0:T(2,4)} bitcast(x)"), "{ { 0, 1 }, { 3, 4 }, { 6, 7 } }");
  EXPECT_EQ(Evaluate(x + "ROOT b = f32[2,3]{0,1:T(2,4)} bitcast(x)"), "{ { 0, 3, 6 }, { 1, 4, 7 } }");
}

TEST(UntiledShapesTest, ElementsAtOtherPlacesAreAnError) {
  EXPECT_EQ(
      Untiled("f32[4,6]{1,0:T(2,128)}", "f32[24]{0}"),
      "bitcast of f32[4,6]{1,0:T(2,128)} to f32[24]{0}: an element of the result lies in padding of the operand, "
      "whose values are not defined; use the dump before the compiler assigns layouts");
  EXPECT_THAT(Untiled("f32[3,5,100]{2,1,0:T(8,128)}", "f32[15,100]{1,0:T(8,128)}"), HasSubstr("padding"));
  EXPECT_THAT(Untiled("f32[30,130]{1,0:T(8,128)}", "f32[32,130]{1,0:T(8,128)}"), HasSubstr("padding"));
  EXPECT_THAT(Untiled("f32[12]{0:T(6)(4)}", "f32[12]{0}"), HasSubstr("cut each other"));
  EXPECT_THAT(Untiled("f32[12,4]{1,0:T(*,4)}", "f32[48]{0}"), HasSubstr("merge"));
  EXPECT_THAT(Untiled("f32[10,130]{1,0:T(8,128)}", "f32[130,10]{1,0:T(8,128)}"), HasSubstr("padding"));
}

TEST(UntiledShapesTest, BitcastsOfTilesGiveTheElementsInTheirOrderInMemory) {
  const std::string x = "x = f32[4,2]{1,0:T(2,1)} constant({{0, 1}, {2, 3}, {4, 5}, {6, 7}}) ";
  EXPECT_EQ(Evaluate(x + "ROOT b = f32[8] bitcast(x)"), "{0, 2, 1, 3, 4, 6, 5, 7}");
  EXPECT_EQ(
      Evaluate("x = f32[8] constant({0, 1, 2, 3, 4, 5, 6, 7}) ROOT b = f32[4,2]{1,0:T(2,1)} bitcast(x)"),
      "{ { 0, 2 }, { 1, 3 }, { 4, 6 }, { 5, 7 } }");
  EXPECT_EQ(Evaluate("x = f32[3,2]{1,0:T(8,128)} constant({{0, 1}, {2, 3}, {4, 5}}) "
                     "ROOT b = f32[2,3]{0,1:T(8,128)} bitcast(x)"),
            "{ { 0, 2, 4 }, { 1, 3, 5 } }");
}

TEST(UntiledShapesTest, PaddingThatIsReadIsAnErrorWhereItRuns) {
  const std::string x =
      "x = f32[3,2]{1,0:T(2,4)} constant({{0, 1}, {2, 3}, {4, 5}}) b = f32[4,2]{1,0:T(2,4)} bitcast(x) ";
  EXPECT_EQ(Evaluate(x + "ROOT n = f32[3,2] negate(x)"), "{ { -0, -1 }, { -2, -3 }, { -4, -5 } }");
  EXPECT_THAT(Evaluate(x + "ROOT n = f32[4,2] negate(b)"),
              HasSubstr("b: bitcast of f32[3,2]{1,0:T(2,4)} to f32[4,2]"));
}

// Places by the definition of tiles, one element at a time.
struct ByDefinition {
  std::vector<int64_t> sizes;                 // In memory, major to minor.
  std::vector<std::vector<int64_t>> indices;  // One per element, in row-major order.

  explicit ByDefinition(const Shape& shape) {
    const Dims minor_to_major = shape.MinorToMajor();
    for (int i = shape.rank() - 1; i >= 0; --i) sizes.push_back(shape.dim(minor_to_major[i]));
    for (int64_t e = 0; e < shape.NumElements(); ++e) {
      std::vector<int64_t> index(shape.rank());
      int64_t rest = e;
      for (int d = shape.rank() - 1; d >= 0; --d) {
        const int64_t at =
            std::find(minor_to_major.rbegin(), minor_to_major.rend(), d) - minor_to_major.rbegin();
        index[at] = rest % shape.dim(d);
        rest /= shape.dim(d);
      }
      indices.push_back(index);
    }
    if (shape.custom_layout() == nullptr) return;
    for (const xla::TileProto& tile : shape.custom_layout()->tiles()) {
      Tile({tile.dimensions().begin(), tile.dimensions().end()});
    }
  }

  void Tile(const std::vector<int64_t>& tile) {
    const size_t missing = tile.size() > sizes.size() ? tile.size() - sizes.size() : 0;
    sizes.insert(sizes.begin(), missing, 1);
    const size_t outer = sizes.size() - tile.size();
    for (size_t i = 0; i < tile.size(); ++i) sizes[outer + i] = (sizes[outer + i] + tile[i] - 1) / tile[i];
    sizes.insert(sizes.end(), tile.begin(), tile.end());
    for (std::vector<int64_t>& index : indices) {
      index.insert(index.begin(), missing, 0);
      for (size_t i = 0; i < tile.size(); ++i) {
        index.push_back(index[outer + i] % tile[i]);
        index[outer + i] /= tile[i];
      }
    }
  }

  // By element.
  std::vector<int64_t> Places() const {
    std::vector<int64_t> places;
    for (const std::vector<int64_t>& index : indices) {
      int64_t place = 0;
      for (size_t i = 0; i < sizes.size(); ++i) place = place * sizes[i] + index[i];
      places.push_back(place);
    }
    return places;
  }
};

// For each element of the result, which one of the operand it is; nullopt if one has no place there.
std::optional<std::vector<int64_t>> Sources(const Shape& from, const Shape& to) {
  const std::vector<int64_t> operand = ByDefinition(from).Places();
  std::vector<int64_t> sources;
  for (const int64_t place : ByDefinition(to).Places()) {
    const auto found = std::find(operand.begin(), operand.end(), place);
    if (found == operand.end()) return std::nullopt;
    sources.push_back(found - operand.begin());
  }
  return sources;
}

// The number in an array of sizes `whole` of an element of its first parts.
int64_t Whole(int64_t element, absl::Span<const int64_t> part, absl::Span<const int64_t> whole) {
  int64_t number = 0, stride = 1;
  for (size_t d = part.size(); d-- > 0;) {
    number += element % part[d] * stride;
    element /= part[d];
    stride *= whole[d];
  }
  return number;
}

class RandomLayouts {
 public:
  // An array of a few tiles, sometimes whole ones.
  Shape Array() {
    const std::vector<std::vector<int64_t>> tiles = Tiles();
    std::vector<int64_t> dims(Below(4));
    for (int64_t& size : dims) size = 1 + Below(6);
    if (!dims.empty() && Below(3) == 0) dims.back() *= 1 + Below(4);
    return WithTiles(dims, Permutation(dims.size()), tiles);
  }

  // One of as many elements, or a few less, often by a split or merge of dimensions next to each other in memory.
  Shape Like(const Shape& shape) {
    Dims order = shape.MinorToMajor();
    std::reverse(order.begin(), order.end());
    std::vector<int64_t> sizes;
    for (const int64_t d : order) sizes.push_back(shape.dim(d));
    for (int64_t edits = Below(4); edits > 0; --edits) {
      const size_t at = sizes.empty() ? 0 : Below(sizes.size());
      const int64_t factor = 2 + Below(3);
      if (sizes.empty() || Below(3) == 0) {
        sizes.insert(sizes.begin() + at, 1);
      } else if (Below(2) == 0 && at + 1 < sizes.size()) {
        sizes[at] *= sizes[at + 1];
        sizes.erase(sizes.begin() + at + 1);
      } else if (sizes[at] % factor == 0) {
        sizes[at] /= factor;
        sizes.insert(sizes.begin() + at + 1, factor);
      }
    }
    std::vector<std::vector<int64_t>> tiles;
    if (Below(3) > 0 && shape.custom_layout() != nullptr) {
      for (const xla::TileProto& t : shape.custom_layout()->tiles()) {
        tiles.emplace_back(t.dimensions().begin(), t.dimensions().end());
      }
    } else {
      tiles = Tiles();
    }
    if (!sizes.empty() && Below(6) == 0) {
      int64_t& size = sizes[Below(sizes.size())];
      size = std::max<int64_t>(size - 1 - Below(2), 1);
    }
    // sizes[i] becomes dimension permutation[i].
    const std::vector<int64_t> permutation = Permutation(sizes.size());
    std::vector<int64_t> dims(sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i) dims[permutation[i]] = sizes[i];
    return WithTiles(dims, permutation, tiles);
  }

 private:
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % n); }

  std::vector<int64_t> Permutation(size_t n) {
    std::vector<int64_t> permutation(n);
    for (size_t i = 0; i < n; ++i) permutation[i] = static_cast<int64_t>(i);
    for (size_t i = n; i > 1; --i) std::swap(permutation[i - 1], permutation[Below(i)]);
    return permutation;
  }

  std::vector<std::vector<int64_t>> Tiles() {
    switch (Below(6)) {
      case 0:
        return {};
      case 1:
        return {{2 + Below(7)}};
      case 2:
        return {{8}, {4}, {2, 1}};
      case 3:
        return {{1 + Below(4), 2 + Below(4)}};
      case 4:
        return {{1, 6}};
      default:
        return {{4, 4}, {2, 1}};
    }
  }

  static Shape WithTiles(const std::vector<int64_t>& dims, const std::vector<int64_t>& major_to_minor,
                         const std::vector<std::vector<int64_t>>& tiles) {
    Shape shape(xla::F32, dims);
    xla::LayoutProto layout;
    layout.set_tail_padding_alignment_in_elements(1);
    for (auto it = major_to_minor.rbegin(); it != major_to_minor.rend(); ++it) layout.add_minor_to_major(*it);
    for (const std::vector<int64_t>& tile : tiles) {
      xla::TileProto* added = layout.add_tiles();
      for (const int64_t size : tile) added->add_dimensions(size);
    }
    shape.set_layout(layout);
    return shape;
  }

  std::mt19937 random_{20261126};
};

TEST(UntiledShapesTest, RandomBitcastsAreThoseOfTheirPlaces) {
  RandomLayouts layouts;
  int given = 0, padded = 0, smaller = 0, refused = 0;
  for (int i = 0; i < 40000; ++i) {
    const Shape from = layouts.Array(), to = layouts.Like(from);
    SCOPED_TRACE(from.ToString(true) + " to " + to.ToString(true));
    const std::optional<std::vector<int64_t>> sources = Sources(from, to);
    const absl::StatusOr<UntiledShapes> sides = WithoutTiles(from, to);
    if (!sides.ok()) {
      // The first 17 rows of f32[2,16,..] are legal as well, but no slice.
      refused += sources.has_value() && to.NumElements() == from.NumElements();
      continue;
    }
    ASSERT_TRUE(sources.has_value());
    // Neither side of the answer has tiles.
    std::vector<int64_t> of_kept = *Sources(sides->from, sides->to);
    for (int64_t& source : of_kept) source = Whole(source, sides->kept, from.dims());
    ASSERT_EQ(of_kept, *sources);
    smaller += to.NumElements() < from.NumElements();
    ++given;
    padded += ByDefinition(from).Places() != ByDefinition(sides->from).Places();
  }
  EXPECT_GT(given, 20000);
  EXPECT_GT(padded, 5000);
  EXPECT_GT(smaller, 500);
  // Nine elements of T(8)(4)(2,1) lie in nine places in a row, yet in no order that a transpose makes.
  EXPECT_LT(refused, 20);
}

}  // namespace
}  // namespace toroid
