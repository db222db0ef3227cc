#include "simulator/collectives/traffic.h"

#include <utility>

namespace toroid {

Traffic::Traffic(const Topology& topology)
    : Traffic(topology, Fold(
                            topology, [](absl::Span<const int32_t>) { return false; }, /*fold=*/false)) {}

Traffic::Traffic(const Topology& topology, Folding folding)
    : topology_(topology), folding_(std::move(folding)) {
  for (const double capacity : folding_.capacity) flows_.AddResource(capacity);
}

void Traffic::Add(double bytes, double count, absl::Span<const LinkShare> links, double injected,
                  double injection) {
  shares_.clear();
  for (const LinkShare& l : links) shares_.push_back({folding_.link_class[l.link], l.share});
  if (injected > 0) shares_.push_back({flows_.AddResource(injection * count), injected});
  flows_.AddTransfer(bytes, count, shares_);
}

void Traffic::AddLinkBytes(const FlowResult& result, std::vector<double>* link_bytes) const {
  for (int64_t link = 0; link < topology_.link_ids(); ++link) {
    const int32_t link_class = folding_.link_class[link];
    if (link_class < 0) continue;
    (*link_bytes)[link] +=
        result.resource_bytes[link_class] / static_cast<double>(folding_.link_count[link_class]);
  }
}

}  // namespace toroid
