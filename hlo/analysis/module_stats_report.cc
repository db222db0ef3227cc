#include "hlo/analysis/module_stats_report.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/text_table.h"
#include "nlohmann/json.hpp"

namespace toroid {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kMostRows = 20;
constexpr int kStatsSchemaVersion = 1;  // docs/schemas/module_statistics.schema.json

// Headings with rows below them, in at most `width` columns.
class Tables {
 public:
  explicit Tables(int width) : width_(width) {}

  // Appends nothing if there are no rows.
  void Append(absl::string_view heading, Rows rows) {
    if (rows.empty()) return;
    const size_t count = rows.size();
    if (count > kMostRows) rows.resize(kMostRows);
    absl::StrAppend(&text_, "\n", heading, "\n", TableText(rows, width_));
    if (count > kMostRows)
      absl::StrAppend(&text_, "  and ", count - kMostRows, " more, listed by --stats=json\n");
  }
  const std::string& text() const { return text_; }

 private:
  const int width_;
  std::string text_;
};

// Names and counts, largest count first.
Rows ByCount(const std::map<std::string, int64_t>& counts) {
  std::vector<std::pair<std::string, int64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  Rows rows;
  for (const auto& [name, count] : sorted) rows.push_back({name, CountText(count)});
  return rows;
}

Rows ElementTypeRows(const ModuleStats& stats) {
  std::vector<std::pair<std::string, ModuleStats::Arrays>> sorted(stats.element_types.begin(),
                                                                  stats.element_types.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  Rows rows;
  for (const auto& [type, arrays] : sorted) {
    rows.push_back({type, CountText(arrays.count), BytesText(arrays.bytes)});
  }
  return rows;
}

Rows ParameterRows(const ModuleStats& stats) {
  Rows rows;
  for (const ModuleStats::Parameter& p : stats.parameters) {
    rows.push_back({p.author_name, p.shape, BytesText(p.bytes), p.sharding});
  }
  return rows;
}

Rows LargestRows(const ModuleStats& stats) {
  Rows rows;
  for (const ModuleStats::Tensor& t : stats.largest) {
    rows.push_back(
        {BytesText(t.bytes), t.shape, absl::StrCat(t.computation, "/", t.instruction), t.opcode, t.source});
  }
  return rows;
}

Rows CallRows(const ModuleStats& stats) {
  Rows rows;
  for (const ModuleStats::Call& call : stats.calls) {
    rows.push_back({call.caller, call.opcode, call.callee, CountText(call.count)});
  }
  return rows;
}

std::string GroupsText(const ModuleStats::Collective& collective) {
  std::string text;
  if (!collective.group_sizes.empty()) {
    text = absl::StrCat("groups of ", absl::StrJoin(collective.group_sizes, ", "));
  }
  if (collective.unknown_groups == 0) return text;
  absl::StrAppend(&text, text.empty() ? "" : "; ", "of unknown size in ",
                  CountText(collective.unknown_groups), ": the module names no number of devices");
  return text;
}

Rows CollectiveRows(const ModuleStats& stats) {
  Rows rows;
  for (const auto& [opcode, collective] : stats.collectives) {
    rows.push_back(
        {opcode, CountText(collective.count), BytesText(collective.operand_bytes), GroupsText(collective)});
  }
  return rows;
}

}  // namespace

std::string ModuleStatsJson(const ModuleStats& stats, const StatsOrigin& origin) {
  using Json = nlohmann::ordered_json;
  Json json = {{"schema_version", kStatsSchemaVersion},
               {"name", stats.name},
               {"container", std::string(origin.container)},
               {"computations", stats.computations},
               {"instructions", stats.instructions},
               {"parameters", stats.parameters.size()},
               {"arguments", origin.has_arguments},
               {"opcodes", stats.opcodes},
               {"flops", stats.flops},
               {"bytes_read", stats.bytes_read},
               {"bytes_written", stats.bytes_written},
               {"parameter_bytes", stats.parameter_bytes},
               {"result", {{"shape", stats.result_shape}, {"bytes", stats.result_bytes}}}};
  json["element_types"] = Json::object();
  for (const auto& [type, arrays] : stats.element_types) {
    json["element_types"][type] = {{"arrays", arrays.count}, {"bytes", arrays.bytes}};
  }
  json["parameter_list"] = Json::array();
  for (const ModuleStats::Parameter& p : stats.parameters) {
    json["parameter_list"].push_back({{"name", p.name},
                                      {"author_name", p.author_name},
                                      {"shape", p.shape},
                                      {"bytes", p.bytes},
                                      {"sharding", p.sharding}});
  }
  json["largest"] = Json::array();
  for (const ModuleStats::Tensor& t : stats.largest) {
    json["largest"].push_back({{"computation", t.computation},
                               {"instruction", t.instruction},
                               {"opcode", t.opcode},
                               {"shape", t.shape},
                               {"bytes", t.bytes},
                               {"source", t.source}});
  }
  json["calls"] = Json::array();
  for (const ModuleStats::Call& call : stats.calls) {
    json["calls"].push_back(
        {{"caller", call.caller}, {"opcode", call.opcode}, {"callee", call.callee}, {"count", call.count}});
  }
  json["custom_calls"] = stats.custom_calls;
  json["collectives"] = Json::object();
  for (const auto& [opcode, collective] : stats.collectives) {
    json["collectives"][opcode] = {{"count", collective.count},
                                   {"operand_bytes", collective.operand_bytes},
                                   {"group_sizes", collective.group_sizes},
                                   {"unknown_groups", collective.unknown_groups}};
  }
  json["shardings"] = {{"annotated", stats.shardings.annotated},
                       {"unannotated", stats.shardings.unannotated},
                       {"distinct", stats.shardings.distinct},
                       {"meshes", stats.shardings.meshes},
                       {"devices", stats.shardings.devices}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string ModuleStatsTable(const ModuleStats& stats, const StatsOrigin& origin, int width) {
  std::string out =
      absl::StrCat(stats.name, ": ", origin.container, origin.has_arguments ? " with arguments" : "", "\n");
  out += TableText({{"computations", CountText(stats.computations)},
                    {"instructions", CountText(stats.instructions)},
                    {"flops", CountText(stats.flops)},
                    {"bytes read", BytesText(stats.bytes_read)},
                    {"bytes written", BytesText(stats.bytes_written)},
                    {"parameters", CountText(static_cast<int64_t>(stats.parameters.size()))},
                    {"parameter bytes", BytesText(stats.parameter_bytes)},
                    {"result bytes", BytesText(stats.result_bytes)},
                    {"devices", CountText(stats.shardings.devices)},
                    {"with sharding", CountText(stats.shardings.annotated)},
                    {"without", CountText(stats.shardings.unannotated)}},
                   width);
  Tables tables(width);
  tables.Append("opcodes", ByCount(stats.opcodes));
  tables.Append("element types: arrays, bytes", ElementTypeRows(stats));
  tables.Append("parameters: shape, bytes, sharding", ParameterRows(stats));
  tables.Append("largest arrays", LargestRows(stats));
  tables.Append("calls: caller, opcode, callee, how often", CallRows(stats));
  tables.Append("custom-call targets", ByCount(stats.custom_calls));
  tables.Append("collectives: count, operand bytes", CollectiveRows(stats));
  tables.Append("shardings", ByCount(stats.shardings.distinct));
  tables.Append("meshes", ByCount(stats.shardings.meshes));
  return out + tables.text();
}

}  // namespace toroid
