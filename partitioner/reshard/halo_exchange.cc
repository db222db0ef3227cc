#include "partitioner/reshard/halo_exchange.h"

#include <algorithm>

#include "hlo/base/math.h"

namespace toroid {

Instruction* FetchWindow(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& axes,
                         absl::Span<const int64_t> start, int64_t len) {
  return FetchWindowAt(b, x, dim, n, axes, axes, start, len);
}

Instruction* FetchWindowAt(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& axes,
                           const AxisList& places, absl::Span<const int64_t> start, int64_t len) {
  const Mesh& mesh = b.mesh();
  const int64_t tiles = mesh.Product(axes);
  const int64_t num_places = static_cast<int64_t>(start.size());
  const int64_t per_tile = num_places / tiles;
  const int64_t s = x->shape().dim(dim);
  const HaloPlan plan = PlanHalo(n, tiles, start, len);
  Dims dims(x->shape().dims().begin(), x->shape().dims().end());
  dims[dim] = len;
  if (plan.hops.empty()) return b.Broadcast(b.Zero(x->shape().element_type()), dims);

  const int64_t first = plan.hops.front().distance;
  const int64_t last = plan.hops.back().distance;
  const int64_t first_row = plan.hops.front().lo;
  std::vector<Instruction*> pieces;
  size_t next = 0;
  for (int64_t h = first; h <= last; ++h) {
    // Rows of this tile that the buffer holds: whole tiles but at its two ends.
    const int64_t begin = h == first ? first_row : 0;
    const int64_t end = h == last ? plan.hops.back().hi : s;
    if (plan.hops[next].distance != h) {
      dims[dim] = end - begin;
      pieces.push_back(b.Broadcast(b.Zero(x->shape().element_type()), dims));
      continue;
    }
    const HaloPlan::Hop& hop = plan.hops[next++];
    if (h == 0) {
      pieces.push_back(b.Slice(x, dim, begin, end));
      continue;
    }
    std::vector<bool> receives(num_places, false);
    for (const int64_t place : hop.targets) receives[place] = true;
    std::vector<std::pair<int64_t, int64_t>> pairs;
    // The position whose tile along the axes is i + h and that agrees elsewhere.
    for (int64_t p = 0; p < mesh.num_devices(); ++p) {
      const int64_t place = mesh.Coordinate(p, places);
      if (!receives[place]) continue;
      int64_t source = p;
      int64_t target_tile = place / per_tile, source_tile = target_tile + h;
      for (int k = axes.size() - 1; k >= 0; --k) {
        const int64_t size = mesh.size(axes[k]);
        source += (source_tile % size - target_tile % size) * mesh.stride(axes[k]);
        source_tile /= size;
        target_tile /= size;
      }
      pairs.emplace_back(source, p);
    }
    std::sort(pairs.begin(), pairs.end());
    Instruction* piece = b.CollectivePermute(b.Slice(x, dim, hop.lo, hop.hi), pairs);
    pieces.push_back(b.Pad(piece, dim, hop.lo - begin, end - hop.hi));
  }
  Instruction* buffer = b.Concatenate(pieces, dim);
  const int64_t size = buffer->shape().dim(dim);
  // Where each place's window begins in the buffer; windows that reach outside need room there.
  std::vector<int64_t> offset(num_places);
  int64_t low = 0, high = 0;
  for (int64_t i = 0; i < num_places; ++i) {
    // A window wholly outside the array may begin anywhere.
    const bool empty = start[i] + len <= 0 || start[i] >= n;
    offset[i] = start[i] - ((i / per_tile + first) * s + first_row);
    if (empty) offset[i] = std::clamp<int64_t>(offset[i], 0, std::max<int64_t>(size - len, 0));
    low = std::max(low, -offset[i]);
    high = std::max(high, offset[i] + len - size);
  }
  buffer = b.Pad(buffer, dim, low, high);
  for (int64_t& o : offset) o += low;
  bool same = true;
  for (const int64_t o : offset) same &= o == offset[0];
  if (same) return b.Slice(buffer, dim, offset[0], offset[0] + len);
  return b.DynamicSlice(buffer, dim, b.PerTile(places, offset), len);
}

Instruction* FetchMaskedWindow(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& axes,
                               absl::Span<const int64_t> start, int64_t len, Instruction* fill) {
  Instruction* window = FetchWindow(b, x, dim, n, axes, start, len);
  bool inside = true;
  std::vector<int64_t> lo, hi;
  for (const int64_t first : start) {
    inside &= first >= 0 && first + len <= n;
    lo.push_back(std::clamp<int64_t>(-first, 0, len));
    hi.push_back(std::clamp<int64_t>(n - first, 0, len));
  }
  if (inside) return window;
  const auto dims = window->shape().dims();
  Instruction* mask = b.InRange(dims, dim, b.PerTile(axes, lo), b.PerTile(axes, hi));
  return b.Select(mask, window, b.Broadcast(fill, dims));
}

}  // namespace toroid
