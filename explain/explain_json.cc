#include "explain/explain_json.h"

#include "explain/explain_table.h"
#include "nlohmann/json.hpp"

namespace toroid {
namespace {

// The version of the keys' meaning.
constexpr int kSchemaVersion = 1;

nlohmann::ordered_json RowJson(const ExplainedRow& row, const PredictedTimes* times) {
  nlohmann::ordered_json json = {{"opcode", row.opcode},
                                 {"count", row.count},
                                 {"in_loop", row.executions.in_loop},
                                 {"in_condition", row.executions.in_condition}};
  json["trips"] = nullptr;
  if (row.executions.known) json["trips"] = row.executions.times;
  json["group"] = row.group;
  json["operand_bytes"] = row.operand_bytes;
  json["sent_bytes"] = row.sent_bytes;
  if (times != nullptr) {
    json["seconds"] = row.seconds;
    json["share"] = times->step_seconds > 0 ? row.seconds / times->step_seconds : 0;
    json["hidden_seconds"] = row.hidden_seconds;
  }
  json["name"] = row.name;
  json["step"] = row.step;
  json["source"] = row.source;
  json["names"] = row.names;
  return json;
}

nlohmann::ordered_json ChangeJson(const TriedChange& change) {
  return {{"name", change.name},
          {"source", change.source},
          {"from", change.from},
          {"to", change.to},
          {"given", change.given},
          {"sent_bytes_now", change.sent_now},
          {"sent_bytes_then", change.sent_then},
          {"peak_bytes_now", change.peak_now},
          {"peak_bytes_then", change.peak_then},
          {"removed", change.removed},
          {"removed_for", change.removed_for},
          {"removed_source", change.removed_source},
          {"removed_bytes", change.removed_bytes},
          {"text", ChangeText(change)}};
}

}  // namespace

std::string ExplainJson(const Explanation& explanation, int64_t num_partitions, const PredictedTimes* times,
                        absl::string_view table) {
  nlohmann::ordered_json json = {{"schema_version", kSchemaVersion},
                                 {"num_partitions", num_partitions},
                                 {"sent_bytes", explanation.sent_bytes},
                                 {"all_trips_known", explanation.all_trips_known},
                                 {"all_groups_known", explanation.all_groups_known},
                                 {"collectives", explanation.collectives}};
  if (times != nullptr) {
    json["machine"] = times->machine;
    json["step_seconds"] = times->step_seconds;
    json["collective_seconds"] = times->collective_seconds;
    json["overlapped_step_seconds"] = times->overlapped_step_seconds;
  }
  json["rows"] = nlohmann::ordered_json::array();
  for (const ExplainedRow& row : explanation.rows) json["rows"].push_back(RowJson(row, times));
  json["notes"] = nlohmann::ordered_json::array();
  for (const ExplainedNote& note : explanation.notes) {
    json["notes"].push_back({{"kind", note.kind},
                             {"name", note.name},
                             {"names", note.names},
                             {"detail", note.detail},
                             {"reason", note.reason},
                             {"source", note.source},
                             {"text", NoteLine(note, /*width=*/1 << 20)}});
  }
  json["diagnosis"] = nlohmann::ordered_json::array();
  for (const TriedChange& change : explanation.diagnosis.changes)
    json["diagnosis"].push_back(ChangeJson(change));
  json["table"] = std::string(table);
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace toroid
