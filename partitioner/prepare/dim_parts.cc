#include "partitioner/prepare/dim_parts.h"

#include "absl/algorithm/container.h"

namespace toroid {

DimParts InOnePart(absl::Span<const int64_t> dims) {
  DimParts parts;
  for (const int64_t n : dims) parts.push_back({n});
  return parts;
}

std::optional<DimParts> PartsOfReshape(absl::Span<const int64_t> from, absl::Span<const int64_t> to) {
  if (absl::c_linear_search(from, 0)) return std::nullopt;
  DimParts parts;
  size_t next = 0;
  int64_t left = 1;  // The factor of dimension next - 1 of `from` that has no part yet.
  for (const int64_t size : to) {
    Dims of_dim;
    for (int64_t open = size; open > 1;) {
      while (left == 1) left = from[next++];  // Ends, since both shapes have the same number of elements.
      const int64_t part = open < left ? open : left;
      if (open % part != 0 || left % part != 0) return std::nullopt;
      of_dim.push_back(part);
      open /= part;
      left /= part;
    }
    if (of_dim.empty()) of_dim.push_back(size);
    parts.push_back(std::move(of_dim));
  }
  return parts;
}

bool AreMerged(const DimParts& parts) {
  return absl::c_any_of(parts, [](const Dims& of_dim) { return of_dim.size() > 1; });
}

Dims UnmergedDims(const DimParts& parts) {
  Dims dims;
  for (const Dims& of_dim : parts) dims.insert(dims.end(), of_dim.begin(), of_dim.end());
  return dims;
}

Dims PlacesOfParts(const DimParts& parts, absl::Span<const int64_t> dims) {
  Dims places;
  for (const int64_t d : dims) {
    int64_t place = 0;
    for (int64_t before = 0; before < d; ++before) place += static_cast<int64_t>(parts[before].size());
    for (size_t i = 0; i < parts[d].size(); ++i) places.push_back(place++);
  }
  return places;
}

}  // namespace toroid
