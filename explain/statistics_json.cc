#include "explain/statistics_json.h"

#include "hlo/analysis/program_statistics.h"
#include "nlohmann/json.hpp"

namespace toroid {
namespace {

constexpr int kSchemaVersion = 1;  // docs/schemas/partition_statistics.schema.json

}  // namespace

std::string StatisticsJson(const Module& module, int64_t num_partitions, int64_t instructions_before,
                           absl::Span<const FullReplication> replications, const PhaseSeconds& seconds,
                           const PredictedTimes* predicted) {
  const ProgramStatistics statistics = ComputeStatistics(module);
  nlohmann::ordered_json json;
  json["schema_version"] = kSchemaVersion;
  json["num_partitions"] = num_partitions;
  json["seconds"] = {{"read", seconds.read},           {"propagate", seconds.propagate},
                     {"partition", seconds.partition}, {"optimize", seconds.optimize},
                     {"write", seconds.write},         {"total", seconds.total}};
  json["seconds"]["passes"] = nlohmann::ordered_json::array();
  for (const PassReport& pass : seconds.passes) {
    json["seconds"]["passes"].push_back({{"pass", pass.pass}, {"seconds", pass.seconds}});
  }
  json["instructions"] = {{"before", instructions_before}, {"after", module.NumInstructions()}};
  json["flops_per_device"] = statistics.flops;
  json["collectives"] = nlohmann::ordered_json::object();
  for (const auto& [opcode, totals] : statistics.collectives) {
    json["collectives"][opcode] = {
        {"count", totals.count}, {"operand_bytes", totals.operand_bytes}, {"sent_bytes", totals.sent_bytes}};
    if (totals.unknown_groups > 0) json["collectives"][opcode]["unknown_groups"] = totals.unknown_groups;
  }
  const auto bytes = [](const MemoryBytes& memory) -> nlohmann::ordered_json {
    return {{"parameters", memory.parameters}, {"outputs", memory.outputs}, {"peak", memory.peak}};
  };
  json["memory"] = bytes(statistics.device);
  if (statistics.host.peak > 0) {
    json["host_memory"] = bytes(statistics.host);
    json["host_memory"]["to_host"] = statistics.host_traffic.to_host;
    json["host_memory"]["to_device"] = statistics.host_traffic.to_device;
  }
  if (predicted != nullptr) {
    json["predicted"] = {{"machine", predicted->machine},
                         {"step_seconds", predicted->step_seconds},
                         {"collective_seconds", predicted->collective_seconds}};
  }
  json["full_replications"] = nlohmann::ordered_json::array();
  for (const FullReplication& replication : replications) {
    json["full_replications"].push_back({{"instruction", replication.instruction},
                                         {"source", replication.source},
                                         {"bytes", replication.bytes},
                                         {"reason", replication.reason}});
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace toroid
