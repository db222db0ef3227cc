#include "partitioner/sharding_search/even_shardings.h"

#include <utility>

namespace toroid {

std::vector<Sharding> EvenShardings(absl::Span<const int64_t> dims, const AxisUnits& units,
                                    const Mesh& mesh) {
  std::vector<Sharding> found = {Sharding::Replicated(static_cast<int>(dims.size()))};
  for (const AxisList& unit : units) {
    const size_t before = found.size();
    for (size_t i = 0; i < before; ++i) {
      for (size_t d = 0; d < dims.size(); ++d) {
        Sharding cut = found[i];
        cut.dims[d].Append(unit);
        if (dims[d] > 0 && dims[d] % mesh.Product(cut.dims[d]) == 0) found.push_back(std::move(cut));
      }
    }
  }
  return found;
}

}  // namespace toroid
