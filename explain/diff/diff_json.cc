#include "explain/diff/diff_json.h"

#include "explain/diff/diff_text.h"
#include "nlohmann/json.hpp"

namespace toroid {
namespace {

using Json = nlohmann::ordered_json;

// The version of the keys' meaning.
constexpr int kSchemaVersion = 1;

Json FiguresJson(const DiffFigures& figures) {
  Json json = {{"label", figures.label},
               {"devices", figures.devices},
               {"sent_bytes", figures.sent_bytes},
               {"all_trips_known", figures.all_trips_known},
               {"all_groups_known", figures.all_groups_known},
               {"collectives", figures.collectives},
               {"flops", figures.flops},
               {"peak_bytes", figures.peak_bytes},
               {"instructions", figures.instructions}};
  if (figures.step_seconds) {
    json["step_seconds"] = *figures.step_seconds;
    json["collective_seconds"] = figures.collective_seconds.value_or(0);
  }
  return json;
}

Json PartsJson(const std::vector<CostPart>& parts, bool timed) {
  Json json = Json::array();
  for (const CostPart& part : parts) {
    Json one = {{"what", part.what}, {"cost", part.cost}, {"times", part.times},
                {"name", part.name}, {"step", part.step}, {"source", part.source}};
    if (timed) one["seconds"] = part.seconds;
    json.push_back(std::move(one));
  }
  return json;
}

absl::string_view KindText(CostRowKind kind) {
  switch (kind) {
    case CostRowKind::kOnlyA:
      return "only in a";
    case CostRowKind::kOnlyB:
      return "only in b";
    case CostRowKind::kElsewhere:
      return "elsewhere";
    case CostRowKind::kOtherTime:
      return "other time";
    case CostRowKind::kChanged:
      break;
  }
  return "changed";
}

Json CostJson(const CostDiff& costs, bool timed) {
  Json rows = Json::array();
  for (const CostRow& row : costs.rows) {
    Json json = {{"kind", KindText(row.kind)},
                 {"difference", row.difference()},
                 {"a", row.cost_a},
                 {"b", row.cost_b},
                 {"name", row.name},
                 {"source", row.place},
                 {"source_in_a",
                  row.place_in_a.empty() && row.kind != CostRowKind::kOnlyB ? row.place : row.place_in_a}};
    if (timed) {
      json["seconds_a"] = row.seconds_a;
      json["seconds_b"] = row.seconds_b;
    }
    json["parts_a"] = PartsJson(row.a, timed);
    json["parts_b"] = PartsJson(row.b, timed);
    rows.push_back(std::move(json));
  }
  return {{"a", costs.total_a},
          {"b", costs.total_b},
          {"same", costs.same},
          {"same_times", costs.same_times},
          {"rows", rows}};
}

}  // namespace

std::string DiffJson(const ProgramDiff& diff, absl::string_view table) {
  const bool timed = diff.a.step_seconds.has_value();
  Json json = {{"schema_version", kSchemaVersion}, {"same", diff.same}, {"summary", DiffSummary(diff)}};
  if (timed) json["machine"] = diff.machine;
  json["a"] = FiguresJson(diff.a);
  json["b"] = FiguresJson(diff.b);
  json["sent"] = CostJson(diff.sent, timed);
  json["flops"] = CostJson(diff.flops, /*timed=*/false);
  json["memory"] = CostJson(diff.memory, /*timed=*/false);
  json["shardings"] = Json::array();
  for (const ShardingChange& change : diff.shardings) {
    json["shardings"].push_back({{"name", change.name},
                                 {"shape_a", change.shape_a},
                                 {"shape_b", change.shape_b},
                                 {"sharding_a", change.sharding_a},
                                 {"sharding_b", change.sharding_b}});
  }
  const MatchCounts& counts = diff.instructions;
  json["instructions"] = {{"same", counts.same},     {"alike", counts.alike},   {"changed", counts.changed},
                          {"only_a", counts.only_a}, {"only_b", counts.only_b}, {"opcodes", Json::array()}};
  for (const OpcodeChange& change : diff.opcodes) {
    json["instructions"]["opcodes"].push_back(
        {{"opcode", change.opcode}, {"only_a", change.only_a}, {"only_b", change.only_b}});
  }
  json["table"] = std::string(table);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace toroid
