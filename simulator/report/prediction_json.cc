#include "simulator/report/prediction_json.h"

#include <algorithm>
#include <cmath>

namespace toroid {
namespace {

using nlohmann::json;

constexpr double kSecondsPerPicosecond = 1e-12;
// More rows than anyone looks at would make a page slow.
constexpr size_t kMostPageRows = 20000;

double Seconds(double picoseconds) { return picoseconds * kSecondsPerPicosecond; }

double Share(double picoseconds, const Prediction& prediction) {
  return prediction.step_ps == 0 ? 0 : picoseconds / static_cast<double>(prediction.step_ps);
}

json GroupJson(const PredictedGroup& group, const Prediction& prediction) {
  const double all = group.executions * static_cast<double>(group.picoseconds);
  json units = json::object();
  for (size_t u = 0; u < kUnits.size(); ++u) {
    units[kUnits[u]] = Seconds(group.executions * static_cast<double>(group.unit_ps[u]));
  }
  return {{"instruction", group.instruction},
          {"opcode", group.opcode},
          {"class", group.op_class},
          {"seconds", Seconds(all)},
          {"executions", group.executions},
          {"share", Share(all, prediction)},
          {"bound", group.bound},
          {"unit_seconds", std::move(units)},
          {"windows", group.windows},
          {"roofline_seconds", Seconds(group.executions * static_cast<double>(group.roofline_ps))},
          {"flops", group.executions * static_cast<double>(group.flops)},
          {"bytes", group.executions * static_cast<double>(group.bytes)},
          {"source", group.source},
          {"op_name", group.op_name},
          {"rules", group.rules}};
}

json CollectiveJson(const PredictedCollective& collective, const Prediction& prediction) {
  const double all = collective.executions * static_cast<double>(collective.picoseconds);
  return {{"instruction", collective.instruction},
          {"kind", collective.kind},
          {"bytes", collective.bytes},
          {"seconds", Seconds(all)},
          {"executions", collective.executions},
          {"share", Share(all, prediction)},
          {"roofline_seconds", Seconds(collective.executions * static_cast<double>(collective.roofline_ps))},
          {"algorithm", collective.algorithm},
          {"source", collective.source},
          {"op_name", collective.op_name},
          {"cause", collective.cause}};
}

json MemoryJson(const PredictedMemory& memory) {
  json largest = json::array();
  for (const PredictedMemory::Value& value : memory.largest) {
    largest.push_back({{"instruction", value.instruction},
                       {"shape", value.shape},
                       {"bytes", value.bytes},
                       {"class", value.memory_class},
                       {"source", value.source},
                       {"op_name", value.op_name}});
  }
  json host = {{"peak", memory.host_peak}, {"to_host", memory.to_host}, {"to_device", memory.to_device}};
  return {{"capacity", memory.capacity},   {"parameters", memory.parameters},
          {"state", memory.state},         {"activations", memory.activations},
          {"workspace", memory.workspace}, {"peak", memory.peak},
          {"peak_at", memory.peak_at},     {"temporary", memory.temporary},
          {"allocated", memory.allocated}, {"slots", memory.slots},
          {"host", std::move(host)},       {"largest", std::move(largest)}};
}

template <typename Row, typename ToJson>
json Rows(const std::vector<Row>& rows, size_t most, const ToJson& to_json) {
  json list = json::array();
  for (size_t i = 0; i < std::min(rows.size(), most); ++i) list.push_back(to_json(rows[i]));
  return list;
}

json Common(const Prediction& prediction, size_t most_rows) {
  json breakdown = json::object();
  for (const Prediction::Class& c : prediction.breakdown) breakdown[c.name] = Seconds(c.picoseconds);
  return {
      {"schema_version", kPredictionSchemaVersion},
      {"module", prediction.module},
      {"machine", prediction.machine},
      {"rates", prediction.rates},
      {"devices", prediction.devices},
      {"overlap", prediction.overlap},
      {"step_seconds", Seconds(static_cast<double>(prediction.step_ps))},
      {"roofline_seconds", Seconds(static_cast<double>(prediction.roofline_ps))},
      {"communication_share", prediction.communication_share},
      {"communication",
       {{"seconds", Seconds(static_cast<double>(prediction.communication_ps))},
        {"exposed_seconds", Seconds(static_cast<double>(prediction.exposed_communication_ps))}}},
      {"host_copies",
       {{"seconds", Seconds(static_cast<double>(prediction.host_ps))},
        {"exposed_seconds", Seconds(static_cast<double>(prediction.exposed_host_ps))}}},
      {"breakdown", std::move(breakdown)},
      {"links",
       {{"max_utilization", prediction.network.max_utilization},
        {"mean_utilization", prediction.network.mean_utilization}}},
      {"memory", MemoryJson(prediction.memory)},
      {"collectives", Rows(prediction.collectives, most_rows,
                           [&](const PredictedCollective& row) { return CollectiveJson(row, prediction); })},
      {"groups", Rows(prediction.groups, most_rows,
                      [&](const PredictedGroup& row) { return GroupJson(row, prediction); })},
      {"notes", prediction.notes}};
}

json NetworkJson(const PredictedNetwork& network) {
  json loads = json::array();
  for (const std::vector<float>& pattern : network.link_loads) {
    json row = json::array();
    // Three digits are more than a colour shows, and keep the page small.
    for (const float load : pattern) row.push_back(std::round(load * 1000.0) / 1000.0);
    loads.push_back(std::move(row));
  }
  return {{"axes", network.axes},
          {"wrap", network.wrap},
          {"far_wrap", network.far_wrap},
          {"cores_per_chip", network.cores_per_chip},
          {"max_utilization", network.max_utilization},
          {"mean_utilization", network.mean_utilization},
          {"link_loads", std::move(loads)}};
}

}  // namespace

nlohmann::json PredictionJson(const Prediction& prediction) { return Common(prediction, SIZE_MAX); }

nlohmann::json PageJson(const Prediction& prediction) {
  json page = Common(prediction, kMostPageRows);
  for (size_t i = 0; i < page["collectives"].size(); ++i) {
    page["collectives"][i]["link_load"] = prediction.collectives[i].link_load;
  }
  json events = json::array();
  for (const PredictedEvent& event : prediction.events) {
    const size_t rows = event.stream == Stream::kCompute ? page["groups"].size() : page["collectives"].size();
    if (static_cast<size_t>(event.row) >= rows) continue;
    events.push_back({Seconds(static_cast<double>(event.start_ps)),
                      Seconds(static_cast<double>(event.picoseconds)), static_cast<int>(event.stream),
                      event.row});
  }
  page["timeline"] = {{"truncated", prediction.events_truncated}, {"events", std::move(events)}};
  page["network"] = NetworkJson(prediction.network);
  page["ridge"] = {{"flops_per_second", prediction.flops_per_second},
                   {"bytes_per_second", prediction.bytes_per_second}};
  json samples = json::array();
  for (const PredictedMemory::Sample& sample : prediction.memory.samples) {
    json row = {Seconds(static_cast<double>(sample.start_ps))};
    for (const int64_t bytes : sample.bytes) row.push_back(bytes);
    samples.push_back(std::move(row));
  }
  page["memory"]["samples"] = std::move(samples);
  return page;
}

std::string JsonText(const nlohmann::json& json, int indent) {
  return json.dump(indent, ' ', false, json::error_handler_t::replace);
}

}  // namespace toroid
