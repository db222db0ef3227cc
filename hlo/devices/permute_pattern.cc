#include "hlo/devices/permute_pattern.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "absl/container/flat_hash_set.h"
#include "hlo/base/math.h"

namespace toroid {
namespace {

template <typename Sizes>
int64_t Product(const Sizes& sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

template <typename Sizes>
int64_t DeviceAt(int64_t place, const Sizes& sizes, const Sizes& strides) {
  if (sizes.empty()) return 0;
  int64_t device = 0;
  for (int k = sizes.size() - 1; k > 0; place /= sizes[k], --k) device += place % sizes[k] * strides[k];
  return device + place * strides[0];
}

// The places of a line: first, first + step, .., last; step > 0.
struct Places {
  int64_t first, last, step;

  Places(int64_t begin, int64_t by, int64_t count) : first(begin), last(begin + (count - 1) * by), step(by) {
    if (step < 0) std::swap(first, last), step = -step;
    if (count == 1) step = 1;
  }
};
Places SourcesOf(const xla::PermutePattern::Line& line) {
  return {line.source(), line.source_step(), line.count()};
}
Places TargetsOf(const xla::PermutePattern::Line& line) {
  return {line.target(), line.target_step(), line.count()};
}

// True if no place is in both: the least common place from both firsts on is behind a last, or does not
// exist.
bool AreApart(const Places& a, const Places& b) {
  const int64_t low = std::max(a.first, b.first), high = std::min(a.last, b.last);
  if (low > high) return true;
  const int64_t common = std::gcd(a.step, b.step);
  if ((b.first - a.first) % common != 0) return true;
  // Places of a from `low` on. If a and b have common places, each run of b.step / common places of a holds
  // one.
  int64_t at = a.first + CeilOfRatio(low - a.first, a.step) * a.step;
  for (int64_t i = 0; i < b.step / common && at <= high; ++i, at += a.step) {
    if ((at - b.first) % b.step == 0) return false;
  }
  return true;
}

bool HaveSamePlaces(const xla::PermutePattern& a, const xla::PermutePattern& b) {
  const auto equal = [](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  };
  return equal(a.sizes(), b.sizes()) && equal(a.source_strides(), b.source_strides()) &&
         equal(a.target_strides(), b.target_strides()) && equal(a.shared_sizes(), b.shared_sizes()) &&
         equal(a.shared_strides(), b.shared_strides());
}

bool AreLinesApart(const xla::PermutePattern& a, const xla::PermutePattern& b) {
  for (const auto& x : a.lines()) {
    for (const auto& y : b.lines()) {
      if (!AreApart(SourcesOf(x), SourcesOf(y)) || !AreApart(TargetsOf(x), TargetsOf(y))) return false;
    }
  }
  return true;
}

}  // namespace

void ForEachPair(const xla::PermutePattern& pattern,
                 absl::FunctionRef<void(int64_t source, int64_t target)> visit) {
  const int64_t shared = Product(pattern.shared_sizes());
  for (const auto& line : pattern.lines()) {
    for (int64_t j = 0; j < line.count(); ++j) {
      const int64_t source =
          DeviceAt(line.source() + j * line.source_step(), pattern.sizes(), pattern.source_strides());
      const int64_t target =
          DeviceAt(line.target() + j * line.target_step(), pattern.sizes(), pattern.target_strides());
      for (int64_t i = 0; i < shared; ++i) {
        const int64_t offset = DeviceAt(i, pattern.shared_sizes(), pattern.shared_strides());
        visit(source + offset, target + offset);
      }
    }
  }
}

std::vector<std::pair<int64_t, int64_t>> SourceTargetPairs(const xla::HloInstructionProto& attrs) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  pairs.reserve(NumPairs(attrs));
  for (const xla::SourceTarget& pair : attrs.source_target_pairs())
    pairs.emplace_back(pair.source(), pair.target());
  if (attrs.has_permute_pattern()) {
    ForEachPair(attrs.permute_pattern(),
                [&](int64_t source, int64_t target) { pairs.emplace_back(source, target); });
  }
  return pairs;
}

int64_t NumPairs(const xla::HloInstructionProto& attrs) {
  int64_t places = 0;
  for (const auto& line : attrs.permute_pattern().lines()) places += line.count();
  return attrs.source_target_pairs_size() + places * Product(attrs.permute_pattern().shared_sizes());
}

void SpellOutPairs(xla::HloInstructionProto* attrs) {
  if (!attrs->has_permute_pattern()) return;
  attrs->mutable_source_target_pairs()->Reserve(static_cast<int>(NumPairs(*attrs)));
  ForEachPair(attrs->permute_pattern(), [&](int64_t source, int64_t target) {
    xla::SourceTarget* pair = attrs->add_source_target_pairs();
    pair->set_source(source);
    pair->set_target(target);
  });
  attrs->clear_permute_pattern();
}

bool ArePairsApart(const xla::HloInstructionProto& a, const xla::HloInstructionProto& b) {
  if (a.has_permute_pattern() && b.has_permute_pattern() &&
      HaveSamePlaces(a.permute_pattern(), b.permute_pattern())) {
    return AreLinesApart(a.permute_pattern(), b.permute_pattern());
  }
  absl::flat_hash_set<int64_t> sources, targets;
  for (const auto& [source, target] : SourceTargetPairs(a)) {
    sources.insert(source);
    targets.insert(target);
  }
  for (const auto& [source, target] : SourceTargetPairs(b)) {
    if (sources.contains(source) || targets.contains(target)) return false;
  }
  return true;
}

void AppendPairs(const xla::HloInstructionProto& from, xla::HloInstructionProto* to) {
  if (from.has_permute_pattern() && to->has_permute_pattern() &&
      HaveSamePlaces(from.permute_pattern(), to->permute_pattern())) {
    to->mutable_permute_pattern()->mutable_lines()->MergeFrom(from.permute_pattern().lines());
    return;
  }
  xla::HloInstructionProto listed = from;
  SpellOutPairs(&listed);
  SpellOutPairs(to);
  to->mutable_source_target_pairs()->MergeFrom(listed.source_target_pairs());
}

}  // namespace toroid
