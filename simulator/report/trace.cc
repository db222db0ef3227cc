#include "simulator/report/trace.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "simulator/report/prediction_json.h"

namespace toroid {
namespace {

using nlohmann::json;

constexpr int kProcess = 1;

double Microseconds(int64_t picoseconds) { return static_cast<double>(picoseconds) * 1e-6; }

json NameOf(const char* kind, int thread, const std::string& name) {
  return {{"ph", "M"}, {"pid", kProcess}, {"tid", thread}, {"name", kind}, {"args", {{"name", name}}}};
}

json EventJson(const PredictedEvent& event, const Prediction& prediction) {
  json out = {{"ph", "X"},
              {"pid", kProcess},
              {"tid", static_cast<int>(event.stream)},
              {"ts", Microseconds(event.start_ps)},
              {"dur", Microseconds(event.picoseconds)}};
  if (event.stream == Stream::kCompute) {
    const PredictedGroup& group = prediction.groups[event.row];
    out["name"] = group.instruction;
    out["cat"] = group.op_class;
    out["args"] = {{"source", group.source},
                   {"op_name", group.op_name},
                   {"bound", group.bound},
                   {"flops", group.flops},
                   {"bytes", group.bytes}};
  } else {
    const PredictedCollective& collective = prediction.collectives[event.row];
    out["name"] = collective.instruction;
    out["cat"] = collective.kind;
    out["args"] = {{"source", collective.source},
                   {"op_name", collective.op_name},
                   {"bytes", collective.bytes},
                   {"algorithm", collective.algorithm},
                   {"cause", collective.cause}};
  }
  return out;
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
  events.push_back(NameOf("process_name", 0, absl::StrCat(prediction.machine, ", every core")));
  events.push_back(NameOf("thread_name", static_cast<int>(Stream::kCompute), "compute"));
  events.push_back(NameOf("thread_name", static_cast<int>(Stream::kCommunication), "communication"));
  if (prediction.host_ps > 0) {
    events.push_back(NameOf("thread_name", static_cast<int>(Stream::kToHost), "copies to the host"));
    events.push_back(NameOf("thread_name", static_cast<int>(Stream::kToDevice), "copies from the host"));
  }
  const auto is_on_chip = [](const PredictedEvent& event) { return event.stream == Stream::kToChip; };
  if (absl::c_any_of(prediction.events, is_on_chip)) {
    events.push_back(
        NameOf("thread_name", static_cast<int>(Stream::kToChip), "copies to and from memory on the chip"));
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
