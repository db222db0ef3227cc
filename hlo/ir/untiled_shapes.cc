#include "hlo/ir/untiled_shapes.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

// Tiles of a layout, outermost first; none for a layout without.
std::vector<Dims> TilesOf(const Shape& shape) {
  std::vector<Dims> tiles;
  if (shape.custom_layout() == nullptr) return tiles;
  for (const xla::TileProto& tile : shape.custom_layout()->tiles()) {
    tiles.emplace_back(tile.dimensions().begin(), tile.dimensions().end());
  }
  return tiles;
}

Shape WithLayout(const Shape& shape, absl::Span<const int64_t> dims,
                 absl::Span<const int64_t> minor_to_major) {
  Shape result(shape.element_type(), dims);
  xla::LayoutProto layout;
  for (const int64_t d : minor_to_major) layout.add_minor_to_major(d);
  result.set_layout(layout);
  return result;
}

// The sizes that the first tile covers, in the order in memory; 1 where the array has fewer dimensions.
Dims TiledSizes(const Shape& shape, size_t count) {
  Dims sizes;
  for (const int64_t d : shape.MinorToMajor()) {
    if (sizes.size() < count) sizes.push_back(shape.dim(d));
  }
  while (sizes.size() < count) sizes.push_back(1);
  std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

bool HaveTheSameTiles(const Shape& from, const Shape& to) {
  const std::vector<Dims> tiles = TilesOf(from);
  if (from.element_type() != to.element_type() || tiles != TilesOf(to)) return false;
  return tiles.empty() || TiledSizes(from, tiles[0].size()) == TiledSizes(to, tiles[0].size());
}

Shape LeaveTilesOut(const Shape& shape) {
  Shape result = WithLayout(shape, shape.dims(), shape.MinorToMajor());
  for (int d = 0; d < shape.rank(); ++d) result.set_dynamic(d, shape.IsDynamic(d));
  return result;
}

// Splits the dimensions of an array by the tiles of its layout; nullopt where a tile does not divide its dimension.
class Splitter {
 public:
  explicit Splitter(const Shape& shape) : parts_of_(shape.rank()) {
    for (int d = 0; d < shape.rank(); ++d) parts_of_[d].push_back(AddPart(shape.dim(d), d));
    for (const int64_t d : shape.MinorToMajor()) memory_.insert(memory_.begin(), parts_of_[d][0]);
  }

  std::optional<Shape> Split(const Shape& shape) {
    for (const Dims& tile : TilesOf(shape)) {
      if (!Apply(tile)) return std::nullopt;
    }
    Dims dims, number(parts_.size());
    for (const std::vector<int>& parts : parts_of_) {
      for (const int part : parts) {
        number[part] = static_cast<int64_t>(dims.size());
        dims.push_back(parts_[part].size);
      }
    }
    if (dims.size() > Shape::kMaxRank) return std::nullopt;
    Dims minor_to_major;
    for (auto it = memory_.rbegin(); it != memory_.rend(); ++it) minor_to_major.push_back(number[*it]);
    return WithLayout(shape, dims, minor_to_major);
  }

 private:
  // A part of a dimension of the array.
  struct Part {
    int64_t size;
    int dim;
  };

  int AddPart(int64_t size, int dim) {
    parts_.push_back({size, dim});
    return static_cast<int>(parts_.size()) - 1;
  }

  // The last parts in memory become how many tiles there are, then what is in a tile.
  bool Apply(const Dims& tile) {
    if (tile.size() > memory_.size()) return false;
    const size_t outer = memory_.size() - tile.size();
    std::vector<int> next(memory_.begin(), memory_.begin() + static_cast<int64_t>(outer)), inside;
    for (size_t i = 0; i < tile.size(); ++i) {
      const int part = memory_[outer + i];
      if (tile[i] < 1 || parts_[part].size % tile[i] != 0) return false;
      const int minor = AddPart(tile[i], parts_[part].dim);
      parts_[part].size /= tile[i];
      std::vector<int>& parts = parts_of_[parts_[part].dim];
      parts.insert(std::find(parts.begin(), parts.end(), part) + 1, minor);
      next.push_back(part);
      inside.push_back(minor);
    }
    next.insert(next.end(), inside.begin(), inside.end());
    memory_ = std::move(next);
    return true;
  }

  std::vector<Part> parts_;
  std::vector<std::vector<int>> parts_of_;  // By dimension, major to minor.
  std::vector<int> memory_;                 // Parts in the order in memory, major to minor.
};

}  // namespace

absl::StatusOr<UntiledShapes> WithoutTiles(const Shape& from, const Shape& to) {
  if (TilesOf(from).empty() && TilesOf(to).empty()) return UntiledShapes{from, to};
  if (HaveTheSameTiles(from, to)) return UntiledShapes{LeaveTilesOut(from), LeaveTilesOut(to)};
  std::optional<Shape> split_from, split_to;
  if (!from.IsDynamic() && !to.IsDynamic()) {
    split_from = Splitter(from).Split(from);
    split_to = Splitter(to).Split(to);
  }
  if (split_from && split_to) return UntiledShapes{*std::move(split_from), *std::move(split_to)};
  return absl::UnimplementedError(absl::StrCat(
      "bitcast of ", from.ToString(/*with_layout=*/true), " to ", to.ToString(/*with_layout=*/true),
      ": what one side has in the padding of its tiles is not defined"));
}

}  // namespace toroid
