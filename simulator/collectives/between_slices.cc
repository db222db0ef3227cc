#include "simulator/collectives/between_slices.h"

namespace toroid {

BetweenSlicesTime TimeBetweenSlices(const DataCentreSpec& network, CollectiveKind kind, double payload,
                                    const SliceSpread& spread) {
  const double core_rate = network.host_bytes_per_second() / static_cast<double>(spread.host_cores);
  const double slices = static_cast<double>(spread.slices);
  const double share = payload / static_cast<double>(spread.members);
  double steps = slices - 1, sent = share * (slices - 1) / slices;
  switch (kind) {
    case CollectiveKind::kAllReduce:
      steps *= 2;
      sent *= 2;
      break;
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllGather:
      break;
    case CollectiveKind::kAllToAll:
      steps = 1;
      sent = payload * (slices - 1) / slices;
      break;
    case CollectiveKind::kBroadcast:
      sent = share;
      break;
    case CollectiveKind::kPermute:
      steps = 1;
      sent = payload;
      break;
  }
  BetweenSlicesTime time;
  time.roofline_seconds = sent / core_rate;
  time.seconds = steps * network.step_seconds() + time.roofline_seconds;
  return time;
}

}  // namespace toroid
