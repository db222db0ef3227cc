#include "partitioner/report/statistics.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hlo/analysis/collective.h"
#include "hlo/analysis/merged_collectives.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/analysis/work.h"
#include "hlo/base/math.h"
#include "hlo/ir/cause_attribute.h"
#include "hlo/passes/windowed_einsum_pass.h"
#include "nlohmann/json.hpp"
#include "partitioner/provenance/program_names.h"

namespace toroid {
namespace {

// A group of unknown size counts as one of one device.
int64_t Sent(const Collective& collective) {
  return SentBytes(collective.kind, collective.operand_bytes, std::max<int64_t>(1, collective.group_size));
}

// False for an instruction whose result other instructions have written, such as a tuple, and for constants.
bool IsMade(const Instruction& instruction) {
  const Opcode opcode = instruction.opcode();
  return !HasTrait(opcode, kNoStorage) && !HasTrait(opcode, kInPlace) && opcode != Opcode::kConditional &&
         opcode != Opcode::kConstant;
}

// The cause of a collective: noted in memory when it was made, or read with the module as an attribute;
// otherwise a name from its metadata, or its own name.
std::string CauseOf(const Instruction& collective) {
  if (collective.cause() != 0) return collective.module()->causes()[collective.cause()];
  if (const std::string* written = collective.FrontendAttribute(kCauseAttribute)) return *written;
  const std::string name = NameFromMetadata(collective);
  return name.empty() ? collective.name() : name;
}

// By index of the computation: how often an instruction in it counts, which is the number of trips of the
// loops over parts around it.
std::vector<int64_t> Weights(const Module& module) {
  std::vector<int64_t> weights(module.num_computations(), 1);
  for (int c = module.num_computations() - 1; c >= 0; --c) {  // Callers come after their callees.
    for (const auto& instruction : module.computations()[c]->instructions()) {
      if (instruction->opcode() != Opcode::kWhile) continue;
      const bool is_made = instruction->FrontendAttribute(kLoopOverParts) != nullptr;
      for (const Computation* callee : instruction->called()) {
        weights[callee->index()] =
            is_made ? SaturatingMultiply(weights[c], TripCount(*instruction).value_or(1)) : weights[c];
      }
    }
  }
  return weights;
}

}  // namespace

ProgramStatistics ComputeStatistics(const Module& module) {
  ProgramStatistics statistics;
  const DeviceCounts counts = DeviceCountsOf(module);
  const std::vector<int64_t> weights = Weights(module);
  for (const auto& computation : module.computations()) {
    const int64_t times = weights[computation->index()];
    for (const auto& instruction : computation->instructions()) {
      statistics.flops =
          SaturatingAdd(statistics.flops, SaturatingMultiply(times, MatrixFlops(*instruction)));
      const std::optional<Collective> collective = CollectiveOf(*instruction, counts);
      if (!collective) continue;
      CollectiveTotals& totals = statistics.collectives[std::string(instruction->opcode_name())];
      totals.count += times;
      totals.unknown_groups += collective->group_size == 0;
      totals.operand_bytes =
          SaturatingAdd(totals.operand_bytes, SaturatingMultiply(times, collective->operand_bytes));
      totals.sent_bytes = SaturatingAdd(totals.sent_bytes, SaturatingMultiply(times, Sent(*collective)));
    }
  }
  const MemorySpaces spaces(module);
  const auto add = [&](const Instruction& op, bool host, int64_t* bytes) {
    *bytes = SaturatingAdd(*bytes, spaces.LeafBytesOn(host, op));
  };
  for (const Instruction* parameter : module.entry()->parameters()) {
    add(*parameter, false, &statistics.device.parameters);
    add(*parameter, true, &statistics.host.parameters);
  }
  add(*module.entry()->root(), false, &statistics.device.outputs);
  add(*module.entry()->root(), true, &statistics.host.outputs);
  statistics.device.peak = ComputeCompiledPeakMemory(module).bytes;
  statistics.host.peak = ComputeHostPeakMemory(module).bytes;
  statistics.host_traffic = ComputeHostTraffic(module, spaces);
  return statistics;
}

WholeRun WorkOfWholeRun(const Module& module) {
  WholeRun run;
  const DeviceCounts counts = DeviceCountsOf(module);
  const std::vector<Executions> executions = CountExecutions(module);
  for (const auto& computation : module.computations()) {
    const double times = static_cast<double>(executions[computation->index()].times);
    for (const auto& instruction : computation->instructions()) {
      run.flops += times * static_cast<double>(MatrixFlops(*instruction));
      if (IsMade(*instruction))
        run.made_bytes += times * static_cast<double>(ArrayBytes(instruction->shape()));
      const std::optional<Collective> collective = CollectiveOf(*instruction, counts);
      if (!collective) continue;
      run.sent_bytes += times * static_cast<double>(Sent(*collective));
      run.collectives += times;
    }
  }
  return run;
}

std::vector<CollectiveRecord> ListCollectives(const Module& module) {
  const DeviceCounts counts = DeviceCountsOf(module);
  std::vector<CollectiveRecord> records;
  SourceFrames frames(module);
  const std::vector<Executions> executions = CountExecutions(module);
  for (const auto& computation : module.computations()) {
    const MergedCollectives merged(*computation);
    for (const auto& instruction : computation->instructions()) {
      std::optional<Collective> collective = CollectiveOf(*instruction, counts);
      if (!collective) continue;
      CollectiveRecord record;
      record.opcode = std::string(instruction->opcode_name());
      record.instruction = instruction->name();
      record.op = instruction.get();
      record.group_size = collective->group_size;
      record.operand_bytes = collective->operand_bytes;
      record.sent_bytes = Sent(*collective);
      record.executions = executions[computation->index()];
      record.cause = CauseOf(*instruction);
      record.source = frames.LineOf(instruction->metadata());
      const auto elements = merged.ElementsOf(*instruction);
      if (elements.empty()) {
        records.push_back(std::move(record));
        continue;
      }
      // Differences of running sums, so that the arrays' bytes add up to those of the collective.
      int64_t bytes_before = 0, sent_before = 0;
      for (size_t k = 0; k < elements.size(); ++k) {
        CollectiveRecord of_array = record;
        of_array.array = static_cast<int>(k);
        of_array.operand_bytes = ArrayBytes(instruction->operand(static_cast<int64_t>(k))->shape());
        of_array.share = record.operand_bytes == 0 ? 1.0 / static_cast<double>(elements.size())
                                                   : static_cast<double>(of_array.operand_bytes) /
                                                         static_cast<double>(record.operand_bytes);
        collective->operand_bytes = bytes_before = SaturatingAdd(bytes_before, of_array.operand_bytes);
        of_array.sent_bytes = Sent(*collective) - sent_before;
        sent_before += of_array.sent_bytes;
        if (elements[k] != nullptr) {
          of_array.cause = CauseOf(*elements[k]);
          of_array.source = frames.LineOf(elements[k]->metadata());
          if (k > 0) of_array.instruction = elements[k]->name();
        }
        records.push_back(std::move(of_array));
      }
    }
  }
  return records;
}

std::string StatisticsJson(const Module& module, int64_t num_partitions, int64_t instructions_before,
                           absl::Span<const FullReplication> replications, const PhaseSeconds& seconds,
                           const PredictedTimes* predicted) {
  const ProgramStatistics statistics = ComputeStatistics(module);
  nlohmann::ordered_json json;
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
