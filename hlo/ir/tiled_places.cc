#include "hlo/ir/tiled_places.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hlo/base/math.h"

namespace toroid {
namespace {

int64_t Ceil(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

// The digits of an array's dimensions, split tile by tile.
class Splitter {
 public:
  explicit Splitter(const Shape& shape) : digits_of_(shape.rank()) {
    for (int d = 0; d < shape.rank(); ++d) digits_of_[d] = {Add({d, shape.dim(d), shape.dim(d)})};
    for (const int64_t d : shape.MinorToMajor()) memory_.insert(memory_.begin(), digits_of_[d][0]);
  }

  // The last digits in memory become the numbers of their tiles, then the places in a tile.
  bool Apply(const xla::TileProto& tile) {
    while (static_cast<int>(memory_.size()) < tile.dimensions_size()) {
      memory_.insert(memory_.begin(), Add({-1, 1, 1}));
    }
    const size_t outer = memory_.size() - tile.dimensions_size();
    for (int i = 0; i < tile.dimensions_size(); ++i) {
      const std::optional<int> inside = Split(memory_[outer + i], tile.dimensions(i));
      if (!inside) return false;
      memory_.push_back(*inside);
    }
    return true;
  }

  std::optional<TiledPlaces> Places(const Shape& shape) const {
    TiledPlaces places;
    std::vector<int64_t> strides(digits_.size());
    for (auto it = memory_.rbegin(); it != memory_.rend(); ++it) {
      strides[*it] = places.size;
      const std::optional<int64_t> size = CheckedMultiply(places.size, digits_[*it].places);
      if (!size) return std::nullopt;
      places.size = *size;
    }
    for (int d = 0; d < shape.rank(); ++d) {
      PlacedIndex& index = places.dims.emplace_back();
      index.count = shape.dim(d);
      for (const int digit : digits_of_[d]) index.digits.push_back({strides[digit], digits_[digit].count});
    }
    return places;
  }

 private:
  struct Digit {
    int dim;  // -1 for a dimension that only the tile has.
    int64_t count, places;
  };

  int Add(const Digit& digit) {
    digits_.push_back(digit);
    return static_cast<int>(digits_.size()) - 1;
  }

  // Leaves the number of the tile in `digit`, and returns the digit in a tile.
  std::optional<int> Split(int digit, int64_t size) {
    if (size < 1) return std::nullopt;
    const Digit whole = digits_[digit];
    Digit outer = whole, inner = whole;
    outer.places = Ceil(whole.places, size);
    outer.count = std::max<int64_t>(Ceil(whole.count, size), 1);
    inner.places = size;
    inner.count = std::min(whole.count, size);
    // The last tile may be partly filled if no digit before tells which one that is.
    if (outer.count > 1 && whole.count % size != 0 && !IsFirst(digit)) return std::nullopt;
    digits_[digit] = outer;
    const int inside = Add(inner);
    if (whole.dim >= 0) {
      std::vector<int>& digits = digits_of_[whole.dim];
      digits.insert(std::find(digits.begin(), digits.end(), digit) + 1, inside);
    }
    return inside;
  }

  // True if all digits before this one in its dimension have count 1.
  bool IsFirst(int digit) const {
    for (const int other : digits_of_[digits_[digit].dim]) {
      if (other == digit) return true;
      if (digits_[other].count > 1) return false;
    }
    return true;
  }

  std::vector<Digit> digits_;
  std::vector<std::vector<int>> digits_of_;  // By dimension, major to minor.
  std::vector<int> memory_;                  // In the order in memory, major to minor.
};

// Digits next to each other are one; the first takes no value that the index does not reach.
PlacedIndex Merged(const PlacedIndex& index) {
  PlacedIndex merged{index.count, {}};
  for (const PlacedIndex::Digit& digit : index.digits) {
    if (digit.count == 1) continue;
    std::vector<PlacedIndex::Digit>& digits = merged.digits;
    if (!digits.empty() && digits.back().stride == digit.stride * digit.count) {
      digits.back() = {digit.stride, digits.back().count * digit.count};
    } else {
      digits.push_back(digit);
    }
  }
  while (!merged.digits.empty()) {
    int64_t others = 1;
    for (size_t i = 1; i < merged.digits.size(); ++i) others *= merged.digits[i].count;
    merged.digits[0].count = Ceil(index.count, others);
    if (merged.digits[0].count > 1) break;
    merged.digits.erase(merged.digits.begin());
  }
  return merged;
}

}  // namespace

std::optional<TiledPlaces> PlacesOf(const Shape& array) {
  if (array.IsDynamic()) return std::nullopt;
  Splitter splitter(array);
  if (const xla::LayoutProto* layout = array.custom_layout()) {
    for (const xla::TileProto& tile : layout->tiles()) {
      if (!splitter.Apply(tile)) return std::nullopt;
    }
  }
  return splitter.Places(array);
}

std::vector<PlacedIndex> IndependentIndices(const std::vector<PlacedIndex>& indices) {
  std::vector<PlacedIndex> result;
  for (const PlacedIndex& index : indices) {
    PlacedIndex rest = Merged(index);
    // A common divisor of the last digit's count and the whole index's count is an independent index.
    std::vector<PlacedIndex> minor;
    while (rest.digits.size() > 1) {
      PlacedIndex::Digit& last = rest.digits.back();
      const int64_t part = std::gcd(rest.count, last.count);
      if (part == 1) break;
      minor.push_back({part, {{last.stride, part}}});
      rest.count /= part;
      last = {last.stride * part, last.count / part};
      rest = Merged(rest);
    }
    if (!rest.digits.empty()) result.push_back(std::move(rest));
    result.insert(result.end(), minor.rbegin(), minor.rend());
  }
  return result;
}

}  // namespace toroid
