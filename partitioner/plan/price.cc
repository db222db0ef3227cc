#include "partitioner/plan/price.h"

#include <algorithm>

#include "hlo/analysis/program_statistics.h"

namespace toroid {
namespace {

constexpr double kMaxGrowth = 1.09;
constexpr double kMaxSentWithMoreCollectives = 0.9, kMaxSentWithMoreReplication = 0.75;

bool CostsNoMore(const Price& a, const Price& b) {
  return a.flops <= b.flops && a.sent_bytes <= b.sent_bytes;
}
bool CostsLess(const Price& a, const Price& b) {
  return CostsNoMore(a, b) && (a.flops < b.flops || a.sent_bytes < b.sent_bytes);
}

}  // namespace

Price PriceOf(const Module& written, const CostModel& cost) {
  const WholeRun run = WorkOfWholeRun(written);
  Price price;
  price.time = run.sent_bytes + cost.ContractionTime(run.flops).value_or(0);
  price.sent_bytes = run.sent_bytes;
  price.flops = run.flops;
  price.written_bytes = run.made_bytes;
  price.collectives = run.collectives;
  return price;
}

double SecondsOf(const Price& price, const CostModel& cost) {
  // `time` has contractions in it if the model prices them op by op.
  const double counted = cost.ContractionTime(price.flops).value_or(0);
  const double time = price.time - counted + cost.MatrixTime(price.flops) +
                      cost.MemoryTime(2 * price.written_bytes) + price.collectives * cost.StartTime();
  return time * cost.SecondsPerLinkByte();
}

bool Improves(const Price& a, const Price& b, const Comparison& by) {
  if (by.objective == Objective::kSeconds) return SecondsOf(a, *by.cost) < SecondsOf(b, *by.cost);
  double most = 1;
  if (a.collectives > b.collectives) most = kMaxSentWithMoreCollectives;
  if (a.replicated > b.replicated && a.written_bytes > b.written_bytes) {
    most = std::min(most, kMaxSentWithMoreReplication);
  }
  if (!CostsLess(a, b) || a.sent_bytes > most * b.sent_bytes) return false;
  return by.cost->MemoryTime(2 * (a.written_bytes - b.written_bytes - kIgnoredBytes)) <=
         b.sent_bytes - a.sent_bytes;
}

bool Better(const Price& a, const Price& b, const Comparison& by) {
  if (by.objective == Objective::kSeconds) return SecondsOf(a, *by.cost) < SecondsOf(b, *by.cost);
  if (CostsLess(a, b)) return true;
  if (b.flops == 0 || b.sent_bytes == 0) return false;
  const double flops = a.flops / b.flops, sent = a.sent_bytes / b.sent_bytes;
  if (flops > kMaxGrowth) return false;
  if (sent <= kMaxGrowth) return sent * flops < 1;
  return a.sent_bytes <= by.usual_bytes && sent * flops * flops * flops < 1;
}

}  // namespace toroid
