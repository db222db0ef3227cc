#include "partitioner/reshard/halo_exchange.h"

#include <algorithm>
#include <cstdlib>

#include "hlo/devices/permute_pattern.h"

namespace toroid {
namespace {

// The type that holds every row number which the exchange computes.
PrimitiveType RowType(int64_t places, int64_t rows, int64_t tile, const TileWindows& windows) {
  return SpmdBuilder::IndexType(windows.scale * places + 2 * std::abs(windows.shift) + rows +
                                (places + 2) * tile * windows.divisor + windows.length);
}

// The least k >= 0 for which shift + k * period is not negative: scale * tile + shift + k * period is then
// not either.
int64_t Periods(const TileWindows& windows, int64_t period) {
  return windows.shift >= 0 ? 0 : CeilOfRatio(-windows.shift, period);
}

// (scale * tile + shift) modulo `period`.
Instruction* Phase(SpmdBuilder& b, const AxisList& axes, const TileWindows& windows, int64_t period,
                   PrimitiveType type) {
  const int64_t shift = windows.shift + Periods(windows, period) * period;
  if (windows.scale % period == 0) return b.IntScalar(shift % period, type);
  return b.Binary(Opcode::kRemainder, b.AffineOffset(axes, windows.scale, shift, type),
                  b.IntScalar(period, type));
}

// The first row of the device's window.
Instruction* Start(SpmdBuilder& b, const AxisList& axes, const TileWindows& windows, PrimitiveType type) {
  const int64_t d = windows.divisor;
  if (windows.scale % d == 0)
    return b.AffineOffset(axes, windows.scale / d, FloorOfRatio(windows.shift, d), type);
  const int64_t periods = Periods(windows, d);
  Instruction* start =
      b.Divide(b.AffineOffset(axes, windows.scale, windows.shift + periods * d, type), b.IntScalar(d, type));
  return periods == 0 ? start : b.Subtract(start, b.IntScalar(periods, type));
}

// Writes one step of a plan: from an array cut over `from`, the windows of the tiles along `to`.
class Exchange {
 public:
  Exchange(SpmdBuilder& b, const HaloStep& step, int dim, const AxisList& from, const AxisList& to)
      : b_(b),
        step_(step),
        dim_(dim),
        from_(from),
        to_(to),
        type_(RowType(step.places, step.rows, step.tile, step.windows)) {}

  Instruction* Emit(Instruction* x) {
    Instruction* phase = nullptr;
    if (step_.by_rank) phase = Phase(b_, to_, step_.windows, step_.windows.divisor * step_.tile, type_);
    Instruction* result = nullptr;
    for (size_t lane = 0; lane < step_.lanes.size(); ++lane) {
      if (step_.lanes[lane].hops.empty()) continue;
      Instruction* window = Window(x, lane, phase);
      if (result != nullptr) {
        Instruction* rank = b_.Divide(phase, b_.IntScalar(step_.windows.scale * step_.share, type_));
        Instruction* mine = b_.Compare(rank, b_.IntScalar(static_cast<int64_t>(lane), type_), "EQ");
        window = b_.Select(b_.Broadcast(mine, window->shape().dims()), window, result);
      }
      result = window;
    }
    if (result != nullptr) return result;
    Dims dims(x->shape().dims().begin(), x->shape().dims().end());
    dims[dim_] = step_.windows.length;
    return b_.Broadcast(b_.Zero(x->shape().element_type()), dims);
  }

 private:
  // The window if the device's place is in lane `number`; otherwise unspecified values.
  Instruction* Window(Instruction* x, size_t number, Instruction* phase) {
    const HaloStep::Lane& lane = step_.lanes[number];
    std::vector<Instruction*> pieces;
    int64_t at = lane.lo;  // The next row of the buffer, counted from the origin tile's first row.
    for (size_t i = 0; i < lane.hops.size(); ++i) {
      const HaloStep::Hop& hop = lane.hops[i];
      Instruction* piece = b_.SliceAlong(x, dim_, hop.lo, hop.hi);
      if (!hop.stays) {
        Instruction* sent = b_.CollectivePermute(piece, Key(number, i), [&] {
          xla::PermutePattern pattern = b_.PatternAlong(to_);
          AddHopLines(step_, static_cast<int64_t>(number), hop, &pattern);
          return pattern;
        });
        // For many places a plan only bounds the rows of its hops: a hop may have no pairs.
        piece = NumPairs(sent->attrs()) > 0
                    ? sent
                    : b_.Broadcast(b_.Zero(sent->shape().element_type()), sent->shape().dims());
      }
      const int64_t begin = hop.distance * step_.tile + hop.lo, end = hop.distance * step_.tile + hop.hi;
      const int64_t rest = i + 1 == lane.hops.size() ? lane.hi + step_.windows.length - end : 0;
      if (hop.stays && lane.hops.size() == 1 && lane.lo < lane.hi &&
          hop.hi - hop.lo > step_.windows.length + begin - at + rest) {
        return WindowOfLargePiece(piece, Offset(phase, begin), begin - at, rest);
      }
      pieces.push_back(b_.PadAlong(piece, dim_, begin - at, rest));
      at = end;
    }
    Instruction* buffer = b_.Concatenate(pieces, dim_);
    if (lane.lo == lane.hi) return buffer;
    return b_.DynamicSliceAlong(buffer, dim_, Offset(phase, lane.lo), step_.windows.length);
  }

  // The window that begins at row `start` of `piece`. It begins up to `before` rows before the piece, or ends
  // up to `behind` rows behind it. Padding the window instead of the piece copies less where the piece is
  // much larger.
  Instruction* WindowOfLargePiece(Instruction* piece, Instruction* start, int64_t before, int64_t behind) {
    const int64_t length = step_.windows.length;
    if (before == 0 && behind == 0) return b_.DynamicSliceAlong(piece, dim_, start, length);
    Instruction* inside = b_.Maximum(start, b_.IntScalar(0, type_));
    inside = b_.Minimum(inside, b_.IntScalar(piece->shape().dim(dim_) - length, type_));
    Instruction* window =
        b_.PadAlong(b_.DynamicSliceAlong(piece, dim_, inside, length), dim_, before, behind);
    Instruction* shift = b_.Subtract(start, inside);
    return b_.DynamicSliceAlong(window, dim_, b_.Add(shift, b_.IntScalar(before, type_)), length);
  }

  // The first row of the window, counted from row `first` of the origin tile.
  Instruction* Offset(Instruction* phase, int64_t first) {
    const TileWindows& windows = step_.windows;
    Instruction* offset;
    if (step_.by_rank) {
      offset = windows.divisor == 1 ? phase : b_.Divide(phase, b_.IntScalar(windows.divisor, type_));
    } else if (windows.scale % windows.divisor == 0 && step_.share == 1) {
      return b_.AffineOffset(to_, windows.scale / windows.divisor - step_.tile,
                             FloorOfRatio(windows.shift, windows.divisor) - first, type_);
    } else {
      offset = b_.Subtract(Start(b_, to_, windows, type_), b_.Offset(from_, step_.tile, type_));
    }
    return first == 0 ? offset : b_.Subtract(offset, b_.IntScalar(first, type_));
  }

  CollectiveKey Key(size_t lane, size_t hop) const {
    const TileWindows& w = step_.windows;
    return {.opcode = Opcode::kCollectivePermute,
            .axes = from_,
            .wanted = to_,
            .numbers = {step_.rows, step_.tile, w.scale, w.shift, w.length, w.divisor, w.first, w.reach,
                        step_.by_rank, static_cast<int64_t>(lane), static_cast<int64_t>(hop)}};
  }

  SpmdBuilder& b_;
  const HaloStep& step_;
  const int dim_;
  const AxisList& from_;
  const AxisList& to_;
  const PrimitiveType type_;
};

}  // namespace

Instruction* FetchWindow(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& from,
                         const AxisList& to, const TileWindows& windows) {
  AxisList had = from;
  if (Instruction* before = b.BeforeCut(x, dim, &had)) {
    Instruction* window = FetchWindow(b, before, dim, n, had, to, windows);
    // The device holds all rows of `dim`, so it could also have cut this window, along last.dim, out of the
    // window of the array before that cut. Noted, so that a later window along last.dim is read from there,
    // without communication.
    const SpmdModule::Cut last = *b.CutOf(x);
    if (had.empty() && last.dim != dim) {
      b.NoteCut(window, {FetchWindow(b, last.whole, dim, n, from, to, windows), last.dim, last.axes});
    }
    return window;
  }
  const int64_t rows = x->shape().dim(dim);
  const int64_t row_bytes = rows == 0 ? 0 : x->shape().ByteSize() / rows;
  const HaloPlan plan =
      PlanHalo(b.mesh(), b.cost(),
               {.n = n, .tile = rows, .from = from, .to = to, .windows = windows, .row_bytes = row_bytes});
  AxisList cut = from.Prefix(from.size() - plan.gathered);
  if (plan.gathered > 0) x = b.AllGather(x, from.Suffix(cut.size()), dim);
  for (const HaloStep& step : plan.steps) {
    x = Exchange(b, step, dim, cut, to).Emit(x);
    cut = to;
  }
  return x;
}

Instruction* FetchMaskedWindow(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& axes,
                               const TileWindows& windows, Instruction* fill) {
  const int64_t tile = x->shape().dim(dim), tiles = b.mesh().Product(axes);
  Instruction* window = FetchWindow(b, x, dim, n, axes, axes, windows);
  const bool before = windows.Start(0)<windows.first, behind = windows.Start(tiles - 1) + windows.length> n;
  if (!before && !behind) return window;
  const PrimitiveType type = RowType(tiles, n, tile, windows);
  Instruction* start = Start(b, axes, windows, type);
  const auto from_start = [&](int64_t row) { return b.Subtract(b.IntScalar(row, type), start); };
  const auto dims = window->shape().dims();
  Instruction* mask =
      b.InRange(dims, dim, before ? from_start(windows.first) : nullptr, behind ? from_start(n) : nullptr);
  return b.Select(mask, window, b.Broadcast(fill, dims));
}

Instruction* FetchSpreadWindow(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& axes,
                               const TileWindows& windows, int64_t length, Instruction* fill) {
  x = FetchMaskedWindow(b, x, dim, n, axes, windows, fill);
  const int64_t step = windows.divisor;
  if (step == 1) return x;
  // The first row of the window lies up to step - 1 positions behind the first position.
  Dims before(x->shape().rank(), 0), behind = before, between = before;
  before[dim] = step - 1;
  between[dim] = step - 1;
  const int64_t spread = std::max<int64_t>(0, (x->shape().dim(dim) - 1) * step + 1);
  behind[dim] = std::max<int64_t>(0, length - spread);
  Instruction* wide = b.Pad(x, fill, before, behind, between);
  const PrimitiveType type = RowType(b.mesh().Product(axes), n, x->shape().dim(dim), windows);
  return b.DynamicSliceAlong(wide, dim, Phase(b, axes, windows, step, type), length);
}

}  // namespace toroid
