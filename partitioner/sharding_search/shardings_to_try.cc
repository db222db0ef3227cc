#include "partitioner/sharding_search/shardings_to_try.h"

#include <utility>

#include "hlo/base/math.h"

namespace toroid {
namespace {

// An eighth.
constexpr double kMostPadded = 1.125;

}  // namespace

bool IsWorthCutting(int64_t size, int64_t parts) {
  if (parts <= 0 || size < parts) return false;
  const double held = static_cast<double>(CeilOfRatio(size, parts)) * static_cast<double>(parts);
  return held <= kMostPadded * static_cast<double>(size);
}

std::vector<Sharding> ShardingsToTry(absl::Span<const int64_t> dims, const AxisUnits& units, const Mesh& mesh,
                                     bool prefers_even) {
  std::vector<Sharding> found = {Sharding::Replicated(static_cast<int>(dims.size()))};
  for (const AxisList& unit : units) {
    const size_t before = found.size();
    for (size_t i = 0; i < before; ++i) {
      std::vector<Sharding> uneven;
      const size_t even_from = found.size();
      for (size_t d = 0; d < dims.size(); ++d) {
        Sharding cut = found[i];
        cut.dims[d].Append(unit);
        const int64_t parts = mesh.Product(cut.dims[d]);
        if (!IsWorthCutting(dims[d], parts)) continue;
        (dims[d] % parts == 0 || !prefers_even ? found : uneven).push_back(std::move(cut));
      }
      if (found.size() == even_from) found.insert(found.end(), uneven.begin(), uneven.end());
    }
  }
  return found;
}

}  // namespace toroid
