#include "simulator/report/trace.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "hlo/base/time_text.h"
#include "nlohmann/json.hpp"
#include "simulator/report/prediction_json.h"

namespace toroid {
namespace {

using nlohmann::json;

// Perfetto takes thread 0 for an idle loop, and one of the process's number for its main thread.
constexpr int kProcess = 1;
constexpr int kStep = 10, kSpent = 11, kStreams = 12;

// Whole nanoseconds, to which viewers round: what ends where the next begins does so there as well.
double Microseconds(int64_t picoseconds) { return static_cast<double>(picoseconds / 1000) * 1e-3; }

json NameOf(const char* kind, int thread, const std::string& name) {
  return {{"ph", "M"}, {"pid", kProcess}, {"tid", thread}, {"name", kind}, {"args", {{"name", name}}}};
}

int ThreadOf(Stream stream) { return kStreams + static_cast<int>(stream); }

json Slice(int thread, const std::string& name, int64_t start_ps, int64_t picoseconds) {
  return {{"ph", "X"},
          {"pid", kProcess},
          {"tid", thread},
          {"name", name},
          {"ts", Microseconds(start_ps)},
          {"dur", static_cast<double>((start_ps + picoseconds) / 1000 - start_ps / 1000) * 1e-3}};
}

json EventJson(const PredictedEvent& event, const Prediction& prediction) {
  if (event.stream == Stream::kCompute) {
    const PredictedGroup& group = prediction.groups[event.row];
    json out = Slice(ThreadOf(event.stream), group.op_class, event.start_ps, event.picoseconds);
    out["args"] = {{"instruction", group.instruction},
                   {"source", group.source},
                   {"op_name", group.op_name},
                   {"bound", group.bound},
                   {"flops", group.flops},
                   {"bytes", group.bytes}};
    return out;
  }
  const PredictedCollective& collective = prediction.collectives[event.row];
  json out = Slice(ThreadOf(event.stream), collective.kind, event.start_ps, event.picoseconds);
  out["args"] = {{"instruction", collective.instruction}, {"source", collective.source},
                 {"op_name", collective.op_name},         {"bytes", collective.bytes},
                 {"algorithm", collective.algorithm},     {"cause", collective.cause}};
  return out;
}

// What the core spends a part of the step on: a unit that bounds its ops, or waiting.
struct Spent {
  std::string on;
  int64_t start_ps = 0, end_ps = 0;
};

// The step from begin to end; neighbours that are spent on the same are one. `events` in any order.
std::vector<Spent> WhatTimeIsSpentOn(const Prediction& prediction) {
  std::vector<const PredictedEvent*> compute;
  std::vector<Spent> waits;  // By end of what is waited for.
  for (const PredictedEvent& event : prediction.events) {
    const int64_t end = event.start_ps + event.picoseconds;
    if (event.stream == Stream::kCompute) compute.push_back(&event);
    if (event.stream == Stream::kCommunication)
      waits.push_back({"exposed communication", event.start_ps, end});
    if (event.stream == Stream::kToHost || event.stream == Stream::kToDevice)
      waits.push_back({"exposed host copies", event.start_ps, end});
  }
  absl::c_sort(compute, [](const auto* a, const auto* b) { return a->start_ps < b->start_ps; });
  absl::c_sort(waits, [](const Spent& a, const Spent& b) { return a.end_ps < b.end_ps; });
  std::vector<Spent> spent;
  const auto add = [&](absl::string_view on, int64_t start, int64_t end) {
    if (end <= start) return;
    if (!spent.empty() && spent.back().on == on && spent.back().end_ps == start) {
      spent.back().end_ps = end;
    } else {
      spent.push_back({std::string(on), start, end});
    }
  };
  int64_t at = 0;
  size_t next = 0;
  // What ends last before the core goes on is what it waited for.
  const auto wait_until = [&](int64_t until) {
    if (until <= at) return;
    const Spent* last = nullptr;
    for (; next < waits.size() && waits[next].end_ps <= until; ++next) last = &waits[next];
    add(last != nullptr && last->end_ps > at ? last->on : "waiting", at, until);
    at = until;
  };
  for (const PredictedEvent* event : compute) {
    wait_until(event->start_ps);
    const int64_t end = event->start_ps + event->picoseconds;
    add(absl::StrCat("bound by ", prediction.groups[event->row].bound), event->start_ps, end);
    at = std::max(at, end);
  }
  wait_until(prediction.events_truncated ? at : prediction.step_ps);
  return spent;
}

// "54 % bound by matrix, 30 % bound by vector, ..", the largest first.
std::string SharesOf(const std::vector<Spent>& spent) {
  std::map<std::string, int64_t> sums;
  int64_t all = 0;
  for (const Spent& part : spent) {
    sums[part.on] += part.end_ps - part.start_ps;
    all += part.end_ps - part.start_ps;
  }
  std::vector<std::pair<int64_t, std::string>> largest;
  for (const auto& [on, picoseconds] : sums) largest.emplace_back(picoseconds, on);
  absl::c_sort(largest, std::greater<>());
  std::vector<std::string> texts;
  for (const auto& [picoseconds, on] : largest) {
    const double percent = 100 * static_cast<double>(picoseconds) / static_cast<double>(all);
    if (percent >= 1) texts.push_back(absl::StrFormat("%.0f %% %s", percent, on));
  }
  return absl::StrJoin(texts, ", ");
}

// `values` by name are drawn on top of each other.
json Counter(const std::string& name, int64_t at_ps, json values) {
  return {{"ph", "C"},
          {"pid", kProcess},
          {"name", name},
          {"ts", Microseconds(at_ps)},
          {"args", std::move(values)}};
}

// The busiest link of a pattern, "chip 12 +x".
std::string BusiestLink(const std::vector<float>& loads, size_t axes, float* load) {
  const auto busiest = std::max_element(loads.begin(), loads.end());
  if (busiest == loads.end() || *busiest <= 0 || axes == 0) return "";
  *load = *busiest;
  const size_t link = static_cast<size_t>(busiest - loads.begin());
  static constexpr char kAxes[] = "xyzuvw";
  const size_t axis = link / 2 % axes;
  return absl::StrCat("chip ", link / 2 / axes, " ", link % 2 == 0 ? "+" : "-",
                      axis < 6 ? std::string(1, kAxes[axis]) : absl::StrCat("axis", axis));
}

}  // namespace

std::string TraceText(const Prediction& prediction) {
  json events = json::array();
  const std::vector<Spent> spent = WhatTimeIsSpentOn(prediction);
  events.push_back(NameOf("process_name", kStep, absl::StrCat(prediction.machine, ", every core")));
  events.push_back(NameOf("thread_name", kStep, "step"));
  std::string step = absl::StrCat(TimeText(static_cast<double>(prediction.step_ps) * 1e-12), " a step");
  if (const std::string shares = SharesOf(spent); !shares.empty()) absl::StrAppend(&step, ": ", shares);
  events.push_back(Slice(kStep, step, 0, prediction.step_ps));
  events.push_back(NameOf("thread_name", kSpent, "spent on"));
  for (const Spent& part : spent)
    events.push_back(Slice(kSpent, part.on, part.start_ps, part.end_ps - part.start_ps));
  events.push_back(NameOf("thread_name", ThreadOf(Stream::kCompute), "compute"));
  events.push_back(NameOf("thread_name", ThreadOf(Stream::kCommunication), "communication"));
  if (prediction.host_ps > 0) {
    events.push_back(NameOf("thread_name", ThreadOf(Stream::kToHost), "copies to the host"));
    events.push_back(NameOf("thread_name", ThreadOf(Stream::kToDevice), "copies from the host"));
  }
  const auto is_on_chip = [](const PredictedEvent& event) { return event.stream == Stream::kToChip; };
  if (absl::c_any_of(prediction.events, is_on_chip)) {
    events.push_back(
        NameOf("thread_name", ThreadOf(Stream::kToChip), "copies to and from memory on the chip"));
  }
  for (const PredictedEvent& event : prediction.events) {
    events.push_back(EventJson(event, prediction));
    if (event.stream != Stream::kCommunication) continue;
    const int pattern = prediction.collectives[event.row].link_load;
    float load = 0;
    if (pattern < 0) continue;
    const std::string link =
        BusiestLink(prediction.network.link_loads[pattern], prediction.network.axes.size(), &load);
    if (link.empty()) continue;
    events.push_back(Counter("link " + link, event.start_ps, {{"value", load}}));
    events.push_back(Counter("link " + link, event.start_ps + event.picoseconds, {{"value", 0}}));
  }
  for (const PredictedMemory::Sample& sample : prediction.memory.samples) {
    json parts = json::object();
    for (size_t i = 0; i < kMemoryParts.size(); ++i) parts[kMemoryParts[i]] = sample.bytes[i];
    events.push_back(Counter("memory, bytes", sample.start_ps, std::move(parts)));
  }
  return JsonText({{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}}, -1) + "\n";
}

}  // namespace toroid
