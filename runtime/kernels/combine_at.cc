#include "runtime/kernels/combine_at.h"

#include <algorithm>
#include <cstring>

#include "absl/container/flat_hash_map.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "runtime/kernels/reducer.h"

namespace toroid {
namespace {

// out[k] = in[at[k]].
void Pick(const char* in, int64_t width, absl::Span<const int64_t> at, char* out) {
  for (size_t k = 0; k < at.size(); ++k) std::memcpy(out + k * width, in + at[k] * width, width);
}

}  // namespace

int64_t CombineAtBytes(int64_t n, int64_t width) {
  // Five lists of numbers, and the map, which has at most twice as many slots as entries, of two numbers each. Operands and
  // results of the body.
  return SaturatingMultiply(n, 8 * (5 + 2 * 2) + 3 * width);
}

absl::Status CombineAt(const OpCall& call, Plan& body, const PlacedArrays& arrays,
                       absl::Span<const int64_t> place, absl::Span<const int64_t> from, bool updates_first,
                       int64_t held_bytes) {
  int64_t width = 0;
  for (const int64_t one : arrays.widths) width += one;
  RETURN_IF_ERROR(
      call.CheckMemory(SaturatingAdd(held_bytes, CombineAtBytes(static_cast<int64_t>(place.size()), width))));
  // The round of an update is the number of earlier updates of its place.
  absl::flat_hash_map<int64_t, int64_t> times;
  std::vector<int64_t> round(place.size());
  int64_t rounds = 0;
  for (size_t k = 0; k < place.size(); ++k) {
    round[k] = times[place[k]]++;
    rounds = std::max(rounds, round[k] + 1);
  }
  std::vector<int64_t> begin(rounds + 1, 0);
  for (const int64_t r : round) ++begin[r + 1];
  for (int64_t r = 0; r < rounds; ++r) begin[r + 1] += begin[r];
  std::vector<int64_t> places(place.size()), sources(place.size()), next(begin.begin(), begin.end());
  for (size_t k = 0; k < place.size(); ++k) {
    const int64_t slot = next[round[k]]++;
    places[slot] = place[k];
    sources[slot] = from[k];
  }
  const size_t n = arrays.targets.size();
  for (int64_t r = 0; r < rounds; ++r) {
    const int64_t count = begin[r + 1] - begin[r];
    const auto at = absl::MakeConstSpan(places).subspan(begin[r], count);
    const auto source = absl::MakeConstSpan(sources).subspan(begin[r], count);
    std::vector<MeshBuffer> current(n), update(n), results;
    for (size_t i = 0; i < n; ++i) {
      RETURN_IF_ERROR(call.New(count * arrays.widths[i], /*uniform=*/true, &current[i]));
      RETURN_IF_ERROR(call.New(count * arrays.widths[i], /*uniform=*/true, &update[i]));
      current[i].set_uniform(false);
      update[i].set_uniform(false);
      Pick(arrays.targets[i], arrays.widths[i], at, current[i].mutable_data());
      Pick(arrays.updates[i], arrays.widths[i], source, update[i].mutable_data());
    }
    auto& first = updates_first ? update : current;
    auto& second = updates_first ? current : update;
    RETURN_IF_ERROR(
        CombineSlices(body, absl::MakeSpan(first), absl::MakeSpan(second), count, call.mesh(), &results));
    for (size_t i = 0; i < n; ++i) {
      const int64_t width = arrays.widths[i];
      for (int64_t k = 0; k < count; ++k) {
        std::memcpy(arrays.targets[i] + at[k] * width, results[i].data() + k * width, width);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace toroid
