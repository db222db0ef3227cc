#include "hlo/ir/untiled_shapes.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/ir/tiled_places.h"

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
  if (from.element_type() != to.element_type() || from.NumElements() != to.NumElements() ||
      tiles != TilesOf(to))
    return false;
  return tiles.empty() || TiledSizes(from, tiles[0].size()) == TiledSizes(to, tiles[0].size());
}

Shape LeaveTilesOut(const Shape& shape) {
  Shape result = WithLayout(shape, shape.dims(), shape.MinorToMajor());
  for (int d = 0; d < shape.rank(); ++d) result.set_dynamic(d, shape.IsDynamic(d));
  return result;
}

Dims AllOf(const Shape& shape) { return Dims(shape.dims().begin(), shape.dims().end()); }

int64_t StoredBits(const Shape& shape) {
  return shape.element_type() == xla::PRED ? 8 : BitWidth(shape.element_type());
}

bool LiesBefore(const PlacedIndex& a, const PlacedIndex& b) {
  return a.digits[0].stride > b.digits[0].stride;
}

// The places that indices of one digit reach together: runs with gaps between.
std::vector<PlacedIndex::Digit> Runs(const std::vector<PlacedIndex>& descending) {
  std::vector<PlacedIndex::Digit> runs;
  for (const PlacedIndex& index : descending) {
    if (index.digits.size() > 1) continue;
    const PlacedIndex::Digit& digit = index.digits[0];
    if (!runs.empty() && runs.back().stride == digit.stride * digit.count) {
      runs.back() = {digit.stride, runs.back().count * digit.count};
    } else {
      runs.push_back(digit);
    }
  }
  return runs;
}

std::vector<PlacedIndex> OfSeveralDigits(std::vector<PlacedIndex> indices) {
  indices.erase(std::remove_if(indices.begin(), indices.end(),
                               [](const PlacedIndex& index) { return index.digits.size() == 1; }),
                indices.end());
  return indices;
}

// The place of the last element.
int64_t LastPlace(const std::vector<PlacedIndex>& dims) {
  int64_t place = 0;
  for (const PlacedIndex& index : dims) {
    int64_t rest = index.count - 1;
    for (auto digit = index.digits.rbegin(); digit != index.digits.rend(); ++digit) {
      place += rest % digit->count * digit->stride;
      rest /= digit->count;
    }
  }
  return place;
}

// The index of the element at a place; nullopt if there is none.
std::optional<Dims> ElementAt(const std::vector<PlacedIndex>& dims, int64_t place) {
  struct Value {
    PlacedIndex::Digit digit;
    size_t dim;
    int64_t value = 0;
  };
  std::vector<Value> values;
  for (size_t d = 0; d < dims.size(); ++d) {
    for (const PlacedIndex::Digit& digit : dims[d].digits) {
      if (digit.count > 1) values.push_back({digit, d});
    }
  }
  std::vector<Value*> descending;
  for (Value& value : values) descending.push_back(&value);
  std::sort(descending.begin(), descending.end(),
            [](const Value* a, const Value* b) { return a->digit.stride > b->digit.stride; });
  for (Value* value : descending) {
    value->value = place / value->digit.stride;
    place %= value->digit.stride;
    if (value->value >= value->digit.count) return std::nullopt;
  }
  if (place != 0) return std::nullopt;
  Dims element(dims.size(), 0);
  for (const Value& value : values) element[value.dim] = element[value.dim] * value.digit.count + value.value;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (element[d] >= dims[d].count) return std::nullopt;
  }
  return element;
}

// One side of a bitcast: an array, or the first elements of one.
class Side {
 public:
  Side(const Shape& shape, std::optional<TiledPlaces> places)
      : places_(std::move(places)), shape_(shape.element_type(), shape.dims()) {
    Split();
  }

  bool known() const { return places_.has_value(); }
  absl::Span<const int64_t> dims() const { return shape_.dims(); }

  // Keeps as much of each dimension as lies where the other side does.
  void KeepWhatIsIn(const Side& other) {
    if (!known() || !other.known() || shape_.NumElements() <= other.shape_.NumElements()) return;
    if (other.shape_.NumElements() == 0) return;
    const std::optional<Dims> last = ElementAt(places_->dims, LastPlace(other.places_->dims));
    if (!last) return;
    Dims kept = *last;
    for (size_t d = 0; d < kept.size(); ++d) places_->dims[d].count = ++kept[d];
    shape_ = Shape(shape_.element_type(), kept);
    Split();
  }

  bool LiesAs(const Side& other) const {
    if (!known() || !other.known() || shape_.NumElements() != other.shape_.NumElements()) return false;
    return Runs(descending_) == Runs(other.descending_) &&
           OfSeveralDigits(descending_) == OfSeveralDigits(other.descending_);
  }

  bool HasNoGaps() const {
    if (!known()) return false;
    const std::vector<PlacedIndex::Digit> runs = Runs(descending_);
    return OfSeveralDigits(descending_).empty() &&
           (runs.empty() || (runs.size() == 1 && runs[0].stride == 1));
  }

  // The array without tiles, beside the other side's. Where its elements lie in their order, it has the dimensions of the
  // shape.
  Shape UntiledBeside(const Side& other) const {
    const std::vector<Piece> pieces = PiecesBeside(other);
    std::vector<int64_t> strides;
    for (const Piece& piece : pieces) strides.push_back(piece.stride);
    std::sort(strides.begin(), strides.end(), std::greater<int64_t>());
    Dims sizes, ranks;
    int64_t before = -2;
    for (const Piece& piece : pieces) {
      const int64_t rank = std::find(strides.begin(), strides.end(), piece.stride) - strides.begin();
      if (rank == before + 1) {
        sizes.back() *= piece.count;
      } else {
        sizes.push_back(piece.count);
        ranks.push_back(rank);
      }
      before = rank;
    }
    if (sizes.size() < 2)
      return WithLayout(shape_, shape_.dims(), shape_.WithRowMajorLayout().MinorToMajor());
    Dims minor_to_major(sizes.size());
    std::iota(minor_to_major.begin(), minor_to_major.end(), 0);
    std::sort(minor_to_major.begin(), minor_to_major.end(),
              [&](int64_t a, int64_t b) { return ranks[a] > ranks[b]; });
    return WithLayout(shape_, sizes, minor_to_major);
  }

 private:
  void Split() {
    if (!known() || shape_.NumElements() == 0) return;
    indices_ = IndependentIndices(places_->dims);
    descending_ = indices_;
    std::sort(descending_.begin(), descending_.end(), LiesBefore);
  }

  // Indices that follow each other on both sides, in the order of the elements. The stride of the first says where they
  // stand in the order that both sides have.
  struct Piece {
    int64_t stride, count;
  };

  std::vector<Piece> PiecesBeside(const Side& other) const {
    std::vector<Piece> pieces;
    for (size_t i = 0; i < indices_.size(); ++i) {
      const PlacedIndex& index = indices_[i];
      if (i > 0 && other.HasInTurn(indices_[i - 1], index)) {
        pieces.back().count *= index.count;
      } else {
        pieces.push_back({index.digits[0].stride, index.count});
      }
    }
    return pieces;
  }

  bool HasInTurn(const PlacedIndex& a, const PlacedIndex& b) const {
    for (size_t i = 1; i < indices_.size(); ++i) {
      if (indices_[i - 1] == a && indices_[i] == b) return true;
    }
    return false;
  }

  std::optional<TiledPlaces> places_;
  Shape shape_;
  std::vector<PlacedIndex> indices_, descending_;
};

}  // namespace

absl::StatusOr<UntiledShapes> WithoutTiles(const Shape& from, const Shape& to) {
  if (TilesOf(from).empty() && TilesOf(to).empty()) return UntiledShapes{AllOf(from), from, to};
  if (HaveTheSameTiles(from, to)) return UntiledShapes{AllOf(from), LeaveTilesOut(from), LeaveTilesOut(to)};
  Side a(from, PlacesOf(from));
  const Side b(to, PlacesOf(to));
  if (StoredBits(from) == StoredBits(to)) a.KeepWhatIsIn(b);
  const bool legal = StoredBits(from) == StoredBits(to) ? a.LiesAs(b) : a.HasNoGaps() && b.HasNoGaps();
  if (legal)
    return UntiledShapes{Dims(a.dims().begin(), a.dims().end()), a.UntiledBeside(b), b.UntiledBeside(a)};
  const std::string what = absl::StrCat("bitcast of ", from.ToString(/*with_layout=*/true), " to ",
                                        to.ToString(/*with_layout=*/true), ": ");
  if (!a.known() || !b.known()) {
    return absl::UnimplementedError(absl::StrCat(
        what,
        "where elements lie under tiles that merge or cut each other or with dynamic sizes is not known; use "
        "the dump before the compiler assigns layouts"));
  }
  return absl::UnimplementedError(absl::StrCat(
      what,
      "an element of the result lies in padding of the operand, whose values are not defined; use "
      "the dump before the compiler assigns layouts"));
}

}  // namespace toroid
