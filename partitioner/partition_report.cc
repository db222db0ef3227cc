#include "partitioner/partition_report.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlo/base/text_table.h"
#include "nlohmann/json.hpp"
#include "partitioner/statistics.h"

namespace toroid {

std::string StatisticsJson(const Partitioned& partitioned, int64_t instructions_before,
                           const PhaseSeconds& seconds) {
  const ProgramStatistics statistics = ComputeStatistics(*partitioned.module);
  nlohmann::ordered_json json;
  json["num_partitions"] = partitioned.num_partitions;
  json["seconds"] = {{"read", seconds.read},           {"propagate", seconds.propagate},
                     {"partition", seconds.partition}, {"optimize", seconds.optimize},
                     {"write", seconds.write},         {"total", seconds.total}};
  json["instructions"] = {{"before", instructions_before}, {"after", partitioned.module->NumInstructions()}};
  json["flops_per_device"] = statistics.flops;
  json["collectives"] = nlohmann::ordered_json::object();
  for (const auto& [opcode, totals] : statistics.collectives) {
    json["collectives"][opcode] = {
        {"count", totals.count}, {"operand_bytes", totals.operand_bytes}, {"sent_bytes", totals.sent_bytes}};
    if (totals.unknown_groups > 0) json["collectives"][opcode]["unknown_groups"] = totals.unknown_groups;
  }
  json["memory"] = {{"parameters", statistics.parameter_bytes},
                    {"outputs", statistics.output_bytes},
                    {"peak", statistics.peak_bytes}};
  json["full_replications"] = nlohmann::ordered_json::array();
  for (const FullReplication& replication : partitioned.full_replications) {
    json["full_replications"].push_back({{"instruction", replication.instruction},
                                         {"source", replication.source},
                                         {"bytes", replication.bytes},
                                         {"reason", replication.reason}});
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string ExplainTable(const Partitioned& partitioned) {
  struct Row {
    int64_t count = 0, operand_bytes = 0, sent_bytes = 0;
  };
  // Collectives that one instruction caused alike are one row.
  std::map<std::tuple<std::string, int64_t, std::string, std::string>, Row> rows;
  int64_t total = 0;
  for (const CollectiveRecord& record : ListCollectives(*partitioned.module)) {
    Row& row = rows[{record.opcode, record.group_size, record.cause, record.source}];
    ++row.count;
    row.operand_bytes += record.operand_bytes;
    row.sent_bytes += record.sent_bytes;
    total += record.sent_bytes;
  }
  std::vector<std::pair<decltype(rows)::key_type, Row>> sorted(rows.begin(), rows.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.sent_bytes > b.second.sent_bytes; });
  std::string out = absl::StrFormat("%-18s %6s %6s %10s %10s  %s\n", "collective", "count", "group",
                                    "operands", "sent", "needed by");
  for (const auto& [key, row] : sorted) {
    const auto& [opcode, group, cause, source] = key;
    absl::StrAppendFormat(&out, "%-18s %6d %6d %10s %10s  %s", opcode, row.count, group,
                          BytesText(row.operand_bytes), BytesText(row.sent_bytes),
                          cause.empty() ? "written by hand" : cause);
    if (!source.empty()) absl::StrAppend(&out, " (", source, ")");
    out += "\n";
  }
  absl::StrAppend(&out, "sent per device in all: ", BytesText(total), "\n");
  for (const FullReplication& replication : partitioned.full_replications) {
    absl::StrAppend(&out, "replicated: ", replication.instruction, " ", BytesText(replication.bytes), ", ",
                    replication.reason,
                    replication.source.empty() ? "" : absl::StrCat(" (", replication.source, ")"), "\n");
  }
  return out;
}

}  // namespace toroid
