#include "simulator/report/summary.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlo/base/text_table.h"
#include "hlo/base/time_text.h"
#include "hlo/base/units.h"
#include "simulator/machines/machine.h"

namespace toroid {
namespace {

constexpr size_t kMostRows = 8;

std::string Percent(double share) { return absl::StrFormat("%.1f %%", 100 * share); }

double ShareOf(double picoseconds, const Prediction& prediction) {
  return prediction.step_ps == 0 ? 0 : picoseconds / static_cast<double>(prediction.step_ps);
}

std::string BreakdownTable(const Prediction& prediction, int width) {
  std::vector<std::vector<std::string>> rows = {{"class", "time", "share"}};
  for (const Prediction::Class& c : prediction.breakdown) {
    rows.push_back({c.name, TimeText(1e-12 * c.picoseconds), Percent(ShareOf(c.picoseconds, prediction))});
  }
  return rows.size() == 1 ? "" : TableText(rows, width);
}

// Groups and collectives of one source line (or, without one, of one instruction) together.
struct Costs {
  double picoseconds = 0;
  int64_t ops = 0;
  std::string what;  // Of the costliest of them.
  double costliest = 0;
};

void AddCost(const std::string& source, const std::string& instruction, const std::string& what,
             double picoseconds, std::map<std::string, Costs>* costs) {
  Costs& own = (*costs)[source.empty() ? instruction : source];
  own.picoseconds += picoseconds;
  ++own.ops;
  if (picoseconds > own.costliest) {
    own.costliest = picoseconds;
    own.what = what;
  }
}

// The share of the time of what runs beside the core that the step is longer by.
double ExposedShare(int64_t exposed_ps, int64_t all_ps) {
  const double exposed = static_cast<double>(exposed_ps), all = static_cast<double>(all_ps);
  return exposed < 0.999 * all ? exposed / all : 1;
}

std::string CostliestTable(const Prediction& prediction, int width) {
  std::map<std::string, Costs> costs;
  for (const PredictedGroup& group : prediction.groups) {
    AddCost(group.source, group.instruction, absl::StrCat(group.op_class, ", ", group.bound),
            group.executions * static_cast<double>(group.picoseconds), &costs);
  }
  const double shown = ExposedShare(prediction.exposed_communication_ps, prediction.communication_ps);
  const double shown_copies = ExposedShare(prediction.exposed_host_ps, prediction.host_ps);
  for (const PredictedCollective& row : prediction.collectives) {
    AddCost(row.source, row.instruction, absl::StrCat(row.kind, ", ", row.algorithm),
            row.executions * static_cast<double>(row.picoseconds) * (IsHostCopy(row) ? shown_copies : shown),
            &costs);
  }
  std::vector<std::pair<std::string, Costs>> sorted(costs.begin(), costs.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.picoseconds > b.second.picoseconds; });
  std::vector<std::vector<std::string>> rows = {{"costliest lines", "time", "share", "ops", "mostly"}};
  for (size_t i = 0; i < std::min(sorted.size(), kMostRows); ++i) {
    const auto& [place, cost] = sorted[i];
    if (cost.picoseconds <= 0) break;
    rows.push_back({place, TimeText(1e-12 * cost.picoseconds), Percent(ShareOf(cost.picoseconds, prediction)),
                    CountText(cost.ops), cost.what});
  }
  return rows.size() == 1 ? "" : TableText(rows, width);
}

std::string MemoryText(const PredictedMemory& memory, int width) {
  std::string text = absl::StrFormat(
      "memory: %s of %s at the peak (%s): parameters %s, state %s, activations %s, workspace %s\n",
      BytesText(memory.peak), BytesText(memory.capacity),
      memory.peak_at.empty() ? "nothing runs" : memory.peak_at, BytesText(memory.parameters),
      BytesText(memory.state) +
          (memory.slots > 0 ? absl::StrCat(" (", BytesText(memory.slots), " of it slots)") : ""),
      BytesText(memory.activations), BytesText(memory.workspace));
  if (memory.allocated > 0) {
    absl::StrAppend(&text, "        ", BytesText(memory.allocated),
                    " as handed out: ", BytesText(memory.temporary), " beside arguments and results\n");
  }
  const int64_t needed = std::max(memory.peak, memory.allocated);
  if (needed <= memory.capacity) return text;
  absl::StrAppend(&text, "DOES NOT FIT: ", BytesText(needed - memory.capacity),
                  " too much; what holds most at the peak:\n");
  std::vector<std::vector<std::string>> rows = {{"bytes", "class", "shape", "instruction", "source"}};
  for (size_t i = 0; i < std::min(memory.largest.size(), kMostRows); ++i) {
    const PredictedMemory::Value& value = memory.largest[i];
    rows.push_back({BytesText(value.bytes), value.memory_class, value.shape,
                    value.op_name.empty() ? value.instruction : value.op_name, value.source});
  }
  return text + TableText(rows, width);
}

// Nothing where all is exposed, which the first line says already.
std::string HiddenText(const std::string& what, int64_t all, int64_t exposed) {
  if (all == 0 || exposed == all) return "";
  return absl::StrCat(what, ": ", TimeText(SecondsOf(all)), ", of which the core waits for ",
                      TimeText(SecondsOf(exposed)), "\n");
}

}  // namespace

std::string SummaryText(const Prediction& prediction, int width) {
  std::string text = absl::StrFormat(
      "%s on %d core%s of %s%s: %s a step, %s of it communication; roofline %s (%s)\n", prediction.module,
      prediction.devices, prediction.devices == 1 ? "" : "s", prediction.machine,
      prediction.rates == RatesName(Rates::kMeasured) ? ", at measured rates" : "",
      TimeText(SecondsOf(prediction.step_ps)), Percent(prediction.communication_share),
      TimeText(SecondsOf(prediction.roofline_ps)),
      Percent(ShareOf(static_cast<double>(prediction.roofline_ps), prediction)));
  if (!prediction.collectives.empty()) {
    absl::StrAppendFormat(&text, "links: the busiest carries bytes %s of the step, the mean %s\n",
                          Percent(prediction.network.max_utilization),
                          Percent(prediction.network.mean_utilization));
  }
  absl::StrAppend(
      &text, HiddenText("collectives", prediction.communication_ps, prediction.exposed_communication_ps),
      HiddenText("copies between host and device", prediction.host_ps, prediction.exposed_host_ps));
  absl::StrAppend(&text, MemoryText(prediction.memory, width), BreakdownTable(prediction, width),
                  CostliestTable(prediction, width));
  for (const std::string& note : prediction.notes) absl::StrAppend(&text, "note: ", note, "\n");
  return text;
}

}  // namespace toroid
