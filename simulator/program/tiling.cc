#include "simulator/program/tiling.h"

#include <algorithm>
#include <cmath>

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

double RoundUp(double n, double multiple) { return std::ceil(n / multiple) * multiple; }

// Minor to major: dimensions that take a place in tiles.
Dims TiledOrder(const Shape& shape) {
  Dims order = PhysicalOrder(shape);
  const Dims all = shape.MinorToMajor();
  const bool keeps_lane = shape.custom_layout() != nullptr && shape.custom_layout()->tiles_size() > 0 &&
                          !all.empty() && shape.dim(all[0]) == 1;
  if (keeps_lane) order.insert(order.begin(), all[0]);
  return order;
}

double PaddedVector(int64_t n, const Tiling& tiling) {
  const double whole = static_cast<double>(tiling.sublanes) * tiling.lanes;
  double tile = tiling.lanes;
  while (tile < n && tile < whole) tile *= 2;
  return RoundUp(static_cast<double>(n), std::min(tile, whole));
}

}  // namespace

bool IsFirstOfTiles(const Instruction& op, const Tiling& tiling) {
  if (op.opcode() != Opcode::kSlice) return false;
  const SliceView view(op);
  for (int d = 0; d < op.shape().rank(); ++d) {
    if (view[d].start != 0 || view[d].stride != 1) return false;
  }
  const Dims before = PhysicalOrder(op.operand(0)->shape()), after = PhysicalOrder(op.shape());
  return before == after && !before.empty() &&
         PaddedElements(op.operand(0)->shape(), tiling) == PaddedElements(op.shape(), tiling);
}

bool IsConcatenatedInPlace(const Instruction& op) {
  return op.opcode() == Opcode::kConcatenate && op.num_operands() > Thresholds().most_joined_arrays() &&
         IsOn(Rule::kManyJoinedInPlace);
}

int64_t RowsOfTile(int64_t second_minor, int64_t element_bytes, const Tiling& tiling) {
  const int64_t half = std::max<int64_t>(1, tiling.sublanes / 2),
                quarter = std::max<int64_t>(1, tiling.sublanes / 4);
  if (second_minor <= quarter && element_bytes >= 4) return quarter;
  if (second_minor <= half && element_bytes >= 2) return half;
  return tiling.sublanes;
}

double PaddedElements(double outer, int64_t second_minor, int64_t minor, int64_t element_bytes,
                      const Tiling& tiling) {
  return outer * RoundUp(static_cast<double>(second_minor), RowsOfTile(second_minor, element_bytes, tiling)) *
         RoundUp(static_cast<double>(minor), tiling.lanes);
}

double PaddedElements(const Shape& shape, const Tiling& tiling) {
  if (shape.IsTuple()) {
    double sum = 0;
    for (const Shape& element : shape.tuple_shapes()) sum += PaddedElements(element, tiling);
    return sum;
  }
  if (!shape.IsArray() || !shape.IsBounded()) return 0;
  if (shape.rank() == 0) return 1;
  if (shape.NumElements() == 0) return 0;
  const int64_t width = ByteWidth(shape.element_type());
  // Dimensions of one element have no place among the tiles' where others can take it.
  const Dims order = TiledOrder(shape);
  if (order.empty()) return 1;
  if (order.size() == 1) return PaddedVector(shape.dim(order[0]), tiling);
  double outer = 1;
  for (size_t i = 2; i < order.size(); ++i) outer *= static_cast<double>(shape.dim(order[i]));
  return PaddedElements(outer, shape.dim(order[1]), shape.dim(order[0]), width, tiling);
}

double PaddedBytes(const Shape& shape, const Tiling& tiling) {
  if (shape.IsTuple()) {
    double sum = 0;
    for (const Shape& element : shape.tuple_shapes()) sum += PaddedBytes(element, tiling);
    return sum;
  }
  if (!shape.IsArray()) return 0;
  return PaddedElements(shape, tiling) * static_cast<double>(ByteWidth(shape.element_type()));
}

ArraySize PaddedSize(const Tiling& tiling) {
  return [tiling](const Shape& array) {
    return static_cast<int64_t>(std::min(PaddedBytes(array, tiling), 9e18));
  };
}

ArraySize LeastPaddedSize(const Tiling& tiling) {
  return [tiling, padded = PaddedSize(tiling)](const Shape& array) {
    if (array.rank() < 2 || (array.custom_layout() != nullptr && array.custom_layout()->tiles_size() > 0))
      return padded(array);
    Shape least = array;
    SetOrder(LeastPaddingOrder(array, tiling), &least);
    return padded(least);
  };
}

double TilesOf(const Shape& shape, const Tiling& tiling) {
  const double elements = PaddedElements(shape, tiling);
  int64_t rows = tiling.sublanes;
  if (shape.IsArray()) {
    const Dims order = TiledOrder(shape);
    if (order.size() >= 2) rows = RowsOfTile(shape.dim(order[1]), ByteWidth(shape.element_type()), tiling);
  }
  return elements / static_cast<double>(rows * tiling.lanes);
}

Dims PhysicalOrder(const Shape& shape) {
  Dims order;
  for (const int64_t d : shape.MinorToMajor()) {
    if (shape.dim(d) != 1) order.push_back(d);
  }
  return order;
}

Dims LeastPaddingOrder(const Shape& shape, const Tiling& tiling, bool prefers_whole) {
  Dims row_major;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) row_major.push_back(d);
  Dims sized;
  for (const int64_t d : row_major) {
    if (shape.dim(d) != 1) sized.push_back(d);
  }
  if (sized.size() < 2) return row_major;
  const int64_t width = ByteWidth(shape.element_type());
  const double elements = static_cast<double>(shape.NumElements());
  double least = 0;
  bool best_is_whole = false, is_first = false;
  int64_t best_minor = -1, best_second = -1;
  // In the order of preference: row-major first.
  for (const int64_t minor : sized) {
    for (const int64_t second : sized) {
      if (second == minor) continue;
      const double outer =
          elements / (static_cast<double>(shape.dim(minor)) * static_cast<double>(shape.dim(second)));
      const double padded = PaddedElements(outer, shape.dim(second), shape.dim(minor), width, tiling);
      // Of two that pad alike row-major, or else, if asked for, the one whose tiles have all their rows.
      const bool is_whole = !prefers_whole || shape.dim(second) >= tiling.sublanes;
      if (best_minor >= 0 &&
          (padded > least || (padded == least && (is_first || best_is_whole || !is_whole))))
        continue;
      is_first = best_minor < 0;
      least = padded;
      best_is_whole = is_whole;
      best_minor = minor;
      best_second = second;
    }
  }
  Dims order = {best_minor, best_second};
  for (const int64_t d : row_major) {
    if (d != best_minor && d != best_second) order.push_back(d);
  }
  return order;
}

void SetOrder(const Dims& minor_to_major, Shape* shape) {
  xla::LayoutProto layout;
  for (const int64_t d : minor_to_major) layout.add_minor_to_major(d);
  shape->set_layout(layout);
}

void SetTiled(const Dims& minor_to_major, const Tiling& tiling, Shape* shape) {
  xla::LayoutProto layout;
  for (const int64_t d : minor_to_major) layout.add_minor_to_major(d);
  xla::TileProto* tile = layout.add_tiles();
  tile->add_dimensions(tiling.sublanes);
  tile->add_dimensions(tiling.lanes);
  shape->set_layout(layout);
}

bool KeepsTiles(const Shape& from, const Shape& to, const Tiling& tiling) {
  if (SameButUnitDims(from, to)) return true;
  // Of dimensions minor to major.
  const auto keeps = [&](const Dims& before, const Dims& after) {
    if (before.empty() || after.empty()) return true;
    // A vector is one column of tiles.
    if (before.size() == 1 || after.size() == 1) {
      const auto is_column = [&](const Shape& shape, const Dims& order) {
        return order.size() == 1
                   ? shape.dim(order[0]) % (tiling.lanes * tiling.sublanes) == 0
                   : shape.dim(order[0]) == tiling.lanes && shape.dim(order[1]) % tiling.sublanes == 0;
      };
      if (is_column(from, before) && is_column(to, after)) return true;
    }
    if (from.dim(before[0]) != to.dim(after[0])) return false;
    const int64_t a = before.size() < 2 ? 1 : from.dim(before[1]),
                  b = after.size() < 2 ? 1 : to.dim(after[1]);
    if (a == b || (a % tiling.sublanes == 0 && b % tiling.sublanes == 0)) return true;
    // Tiles below each other: rows follow rows, whatever the tiles have of them.
    const auto fills = [&](int64_t rows) {
      return rows % RowsOfTile(rows, ByteWidth(from.element_type()), tiling) == 0;
    };
    return from.dim(before[0]) <= tiling.lanes && fills(a) && fills(b);
  };
  return keeps(PhysicalOrder(from), PhysicalOrder(to));
}

bool KeepsRows(const Shape& from, const Shape& to, const Tiling& tiling) {
  if (KeepsTiles(from, to, tiling)) return true;
  const Dims before = SizedDims(from), after = SizedDims(to);
  if (before.empty() || after.empty()) return true;
  if (from.dim(before.back()) != to.dim(after.back())) return false;
  const auto rows = [](const Shape& shape, const Dims& dims) {
    return dims.size() < 2 ? 1 : shape.dim(dims[dims.size() - 2]);
  };
  const int64_t a = rows(from, before), b = rows(to, after);
  return a == b || (a % tiling.sublanes == 0 && b % tiling.sublanes == 0);
}

bool JoinsTiles(const Instruction& op, const Tiling& tiling) {
  if (op.opcode() != Opcode::kReshape) return false;
  const Shape& from = op.operand(0)->shape();
  const Dims before = PhysicalOrder(from), after = PhysicalOrder(op.shape());
  if (before.size() < 2 || after.size() != 1) return false;
  const int64_t rows = from.dim(before[1]);
  return from.dim(before[0]) > tiling.lanes && from.dim(before[0]) % tiling.lanes == 0 &&
         rows % RowsOfTile(rows, ByteWidth(from.element_type()), tiling) == 0;
}

}  // namespace toroid
