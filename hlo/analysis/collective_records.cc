#include "hlo/analysis/collective_records.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hlo/analysis/author_names.h"
#include "hlo/analysis/collective.h"
#include "hlo/analysis/merged_collectives.h"
#include "hlo/analysis/work.h"
#include "hlo/base/math.h"
#include "hlo/ir/cause_attribute.h"

namespace toroid {
namespace {

// The cause of a collective: noted in memory when it was made, or read with the module as an attribute;
// otherwise a name from its metadata, or its own name.
std::string CauseOf(const Instruction& collective) {
  if (collective.cause() != 0) return collective.module()->causes()[collective.cause()];
  if (const std::string* written = collective.FrontendAttribute(kCauseAttribute)) return *written;
  const std::string name = NameFromMetadata(collective);
  return name.empty() ? collective.name() : name;
}

}  // namespace

std::vector<CollectiveRecord> ListCollectives(const Module& module, SourceFrames* frames) {
  const DeviceCounts counts = DeviceCountsOf(module);
  std::vector<CollectiveRecord> records;
  SourceFrames own(module);
  if (frames == nullptr) frames = &own;
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
      record.sent_bytes = collective->sent_bytes();
      record.executions = executions[computation->index()];
      record.cause = CauseOf(*instruction);
      record.metadata = instruction->metadata();
      record.source = frames->LineOf(record.metadata);
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
        of_array.sent_bytes = collective->sent_bytes() - sent_before;
        sent_before += of_array.sent_bytes;
        if (elements[k] != nullptr) {
          of_array.cause = CauseOf(*elements[k]);
          of_array.metadata = elements[k]->metadata();
          of_array.source = frames->LineOf(of_array.metadata);
          if (k > 0) of_array.instruction = elements[k]->name();
        }
        records.push_back(std::move(of_array));
      }
    }
  }
  return records;
}

}  // namespace toroid
