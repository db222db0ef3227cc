#include "simulator/memory/donated_arguments.h"

#include <algorithm>

namespace toroid {

std::vector<ReadBeforeWritten> ReadersOfDonated(const Computation& entry, const Buffers& buffers) {
  std::vector<std::vector<int>> writers(buffers.size());  // By the argument's buffer.
  const auto results = buffers.Of(*entry.root());
  for (const auto& alias : entry.module()->proto().input_output_alias().entries()) {
    if (alias.parameter_number() < 0 || alias.parameter_number() >= entry.num_parameters()) continue;
    // Of a result within a result: all that read the argument.
    const int64_t leaf = alias.output_shape_index_size() == 0 ? 0 : alias.output_shape_index(0);
    if (alias.output_shape_index_size() > 1 || leaf < 0 || leaf >= static_cast<int64_t>(results.size()))
      continue;
    const int maker = buffers[results[leaf]].maker->index();
    for (const int b : buffers.Of(*entry.parameter(alias.parameter_number()))) writers[b].push_back(maker);
  }
  std::vector<ReadBeforeWritten> found;
  for (const auto& op : entry.instructions()) {
    if (HasTrait(op->opcode(), kNoStorage)) continue;  // A name is no use.
    std::vector<int> read;
    for (const Instruction* operand : op->operands()) {
      for (const int b : buffers.Of(*operand)) {
        if (writers[b].empty() || std::find(read.begin(), read.end(), b) != read.end()) continue;
        read.push_back(b);
        for (const int writer : writers[b]) {
          if (op->index() < writer) found.push_back({op->index(), writer, b});
        }
      }
    }
  }
  return found;
}

}  // namespace toroid
