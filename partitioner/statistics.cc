#include "partitioner/statistics.h"

#include <algorithm>
#include <functional>

#include "hlo/analysis/device_groups.h"
#include "hlo/analysis/flops.h"
#include "partitioner/program_names.h"
#include "partitioner/reshard/plan.h"

namespace toroid {
namespace {

int64_t OperandBytes(const Instruction& instruction) {
  int64_t bytes = 0;
  for (const Instruction* operand : instruction.operands()) bytes += operand->shape().ByteSize();
  return bytes;
}

int64_t Sent(const Instruction& instruction, int64_t bytes, int64_t group) {
  switch (instruction.opcode()) {
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
      return SentBytes(MoveKind::kAllReduce, bytes, group);
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
      return SentBytes(MoveKind::kAllGather, bytes, group);
    case Opcode::kReduceScatter:
    case Opcode::kAllToAll:
    case Opcode::kRaggedAllToAll:
      return SentBytes(MoveKind::kAllToAll, bytes, group);
    default:
      return bytes;
  }
}

// Largest sum of live buffers while a computation runs. Tuples and their elements hold no bytes of their own.
int64_t PeakBytes(const Computation& computation, const std::vector<int64_t>& callee_peaks,
                  bool count_parameters) {
  const int n = computation.size();
  // A tuple keeps its elements alive: the last use of a value is that of every tuple that holds it.
  std::vector<int> last_use(n);
  for (int i = 0; i < n; ++i) last_use[i] = i;
  if (n > 0) last_use[computation.root()->index()] = n;
  const auto is_view = [](Opcode opcode) {
    return opcode == Opcode::kTuple || opcode == Opcode::kGetTupleElement;
  };
  for (int i = n - 1; i >= 0; --i) {
    const Instruction& instruction = *computation.instruction(i);
    const int until = is_view(instruction.opcode()) ? last_use[i] : i;
    for (const Instruction* operand : instruction.operands()) {
      last_use[operand->index()] = std::max(last_use[operand->index()], until);
    }
  }
  std::vector<int64_t> freed(n + 2, 0);
  int64_t live = 0, peak = 0;
  for (int i = 0; i < n; ++i) {
    const Instruction& instruction = *computation.instruction(i);
    int64_t bytes = is_view(instruction.opcode()) ? 0 : instruction.shape().ByteSize();
    if (instruction.opcode() == Opcode::kParameter && !count_parameters) bytes = 0;
    live += bytes;
    int64_t inside = 0;
    for (const Computation* callee : instruction.called())
      inside = std::max(inside, callee_peaks[callee->index()]);
    peak = std::max(peak, live + inside);
    // Parameters of the entry belong to the caller and stay.
    const bool stays = instruction.opcode() == Opcode::kParameter;
    freed[stays ? n + 1 : last_use[i]] += bytes;
    live -= freed[i];
  }
  return peak;
}

// Why a collective is there: as noted when it was made, in this program or before it was written.
std::string CauseOf(const Instruction& collective) {
  if (collective.cause() != 0) return collective.module()->causes()[collective.cause()];
  if (const std::string* written = collective.FrontendAttribute(kCauseAttribute)) return *written;
  const std::string name = NameFromMetadata(collective);
  return name.empty() ? collective.name() : name;
}

// Members of the largest group; 0 where nothing tells.
int64_t GroupSize(const Instruction& instruction, const DeviceCounts& counts) {
  if (instruction.opcode() == Opcode::kCollectivePermute ||
      instruction.opcode() == Opcode::kCollectivePermuteStart) {
    return std::max<int64_t>(1, counts.partitions.value_or(counts.replicas.value_or(1)));
  }
  const std::optional<std::set<int64_t>> sizes = GroupSizesOf(instruction, counts);
  return sizes && !sizes->empty() ? *sizes->rbegin() : 0;
}

}  // namespace

ProgramStatistics ComputeStatistics(const Module& module) {
  ProgramStatistics statistics;
  const DeviceCounts counts = DeviceCountsOf(module);
  std::vector<int64_t> peaks(module.num_computations(), 0);
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      statistics.flops = SaturatingAdd(statistics.flops, Flops(*instruction));
      if (!IsCollective(instruction->opcode())) continue;
      CollectiveTotals& totals = statistics.collectives[std::string(instruction->opcode_name())];
      const int64_t bytes = OperandBytes(*instruction);
      const int64_t group = GroupSize(*instruction, counts);
      ++totals.count;
      totals.unknown_groups += group == 0;
      totals.operand_bytes = SaturatingAdd(totals.operand_bytes, bytes);
      totals.sent_bytes = SaturatingAdd(totals.sent_bytes, Sent(*instruction, bytes, std::max<int64_t>(1, group)));
    }
    peaks[computation->index()] =
        PeakBytes(*computation, peaks, /*count_parameters=*/computation.get() == module.entry());
  }
  for (const Instruction* parameter : module.entry()->parameters()) {
    statistics.parameter_bytes += parameter->shape().ByteSize();
  }
  statistics.output_bytes = module.entry()->root()->shape().ByteSize();
  statistics.peak_bytes = peaks[module.entry()->index()];
  return statistics;
}

std::vector<CollectiveRecord> ListCollectives(const Module& module) {
  const DeviceCounts counts = DeviceCountsOf(module);
  std::vector<CollectiveRecord> records;
  const std::vector<Executions> executions = CountExecutions(module);
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (!IsCollective(instruction->opcode())) continue;
      CollectiveRecord record;
      record.opcode = std::string(instruction->opcode_name());
      record.instruction = instruction->name();
      record.group_size = GroupSize(*instruction, counts);
      record.operand_bytes = OperandBytes(*instruction);
      record.sent_bytes = Sent(*instruction, record.operand_bytes, std::max<int64_t>(1, record.group_size));
      record.executions = executions[computation->index()];
      record.cause = CauseOf(*instruction);
      record.source = SourceLine(module, instruction->metadata());
      records.push_back(std::move(record));
    }
  }
  return records;
}

}  // namespace toroid
