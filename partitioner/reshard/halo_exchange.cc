#include "partitioner/reshard/halo_exchange.h"

#include <algorithm>
#include <map>

#include "hlo/base/math.h"

namespace toroid {

HaloPlan PlanHalo(int64_t n, int64_t tiles, absl::Span<const int64_t> start, int64_t len) {
  const int64_t s = CeilOfRatio(n, tiles);
  std::map<int64_t, HaloPlan::Hop> hops;
  for (int64_t i = 0; i < tiles && s > 0; ++i) {
    const int64_t begin = std::max<int64_t>(start[i], 0);
    const int64_t end = std::min(start[i] + len, n);
    for (int64_t source = begin / s; begin < end && source * s < end; ++source) {
      HaloPlan::Hop& hop = hops[source - i];
      const int64_t lo = std::max(begin - source * s, int64_t{0});
      const int64_t hi = std::min(end - source * s, s);
      if (hop.targets.empty()) {
        hop.lo = lo;
        hop.hi = hi;
      }
      hop.distance = source - i;
      hop.lo = std::min(hop.lo, lo);
      hop.hi = std::max(hop.hi, hi);
      hop.targets.push_back(i);
    }
  }
  HaloPlan plan;
  for (auto& [distance, hop] : hops) {
    if (distance != 0) plan.sent_rows += hop.hi - hop.lo;
    plan.hops.push_back(std::move(hop));
  }
  return plan;
}

Instruction* FetchWindow(SpmdBuilder& b, Instruction* x, int dim, int64_t n, const AxisList& axes,
                         absl::Span<const int64_t> start, int64_t len) {
  const Mesh& mesh = b.mesh();
  const int64_t tiles = mesh.Product(axes);
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
    std::vector<bool> receives(tiles, false);
    for (const int64_t i : hop.targets) receives[i] = true;
    std::vector<std::pair<int64_t, int64_t>> pairs;
    // The position whose tile along the axes is i + h and that agrees elsewhere.
    for (int64_t p = 0; p < mesh.num_devices(); ++p) {
      int64_t i = mesh.Coordinate(p, axes);
      if (!receives[i]) continue;
      int64_t source = p;
      int64_t target_tile = i, source_tile = i + h;
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
  // Where each tile's window begins in the buffer; windows that reach outside need room there.
  std::vector<int64_t> offset(tiles);
  int64_t low = 0, high = 0;
  for (int64_t i = 0; i < tiles; ++i) {
    // A window wholly outside the array may begin anywhere.
    const bool empty = start[i] + len <= 0 || start[i] >= n;
    offset[i] = start[i] - ((i + first) * s + first_row);
    if (empty) offset[i] = std::clamp<int64_t>(offset[i], 0, std::max<int64_t>(size - len, 0));
    low = std::max(low, -offset[i]);
    high = std::max(high, offset[i] + len - size);
  }
  buffer = b.Pad(buffer, dim, low, high);
  for (int64_t& o : offset) o += low;
  bool same = true;
  for (const int64_t o : offset) same &= o == offset[0];
  if (same) return b.Slice(buffer, dim, offset[0], offset[0] + len);
  return b.DynamicSlice(buffer, dim, b.PerTile(axes, offset), len);
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
