// The sums of groups, completed after all blocks.
#include <algorithm>
#include <cstring>
#include <vector>

#include "hlo/base/math.h"
#include "runtime/groups/block_runner.h"
#include "runtime/groups/view_lines.h"
#include "runtime/loops/block_convert.h"

namespace toroid {

void BlockRunner::StartValue(const GroupNode& reduce, int64_t first_element, char* value) const {
  const GroupNode& start = group_.nodes[reduce.operands[1]];
  const BlockInput& input = inputs_[start.input];
  const int64_t device = input.uniform ? 0 : first_element / group_.elements, width = ByteWidth(start.type);
  const char* at = input.data + (device * start.input_elements + start.view.offset) * width;
  if (IsNarrowFloat(start.type)) {
    NarrowToFloat(start.type, at, reinterpret_cast<float*>(value), 1);
  } else {
    std::memcpy(value, at, width);
  }
}

void BlockRunner::WriteSum(const BlockProgram::Sink& sink, const char* sums, int64_t n, int64_t at) const {
  const PrimitiveType type = group_.nodes[sink.node].type;
  char* out = outputs_[sink.output] + at * ByteWidth(type);
  if (IsNarrowFloat(type)) {
    FloatToNarrow(type, reinterpret_cast<const float*>(sums), out, n);
  } else {
    std::memcpy(out, sums, n * ByteWidth(type));
  }
}

// `sums` are those of the segment's bands.
void BlockRunner::FinishLines(const BlockProgram::Sink& sink, const char* sums, int64_t segment) const {
  const GroupNode& node = group_.nodes[sink.node];
  const int64_t length = group_.row_length, line = length * sink.width;
  std::vector<char> total(line);
  alignas(16) char start[16];
  StartValue(node, segment * group_.segment_rows * length, start);
  CopyLine(sink.width, start, 0, length, total.data());
  const int64_t blocks = CeilOfRatio(group_.segment_rows, layout_.rows_per_block);
  for (int64_t band = 0; band < layout_.bands; ++band) {
    const int64_t first_row = band * blocks / layout_.bands * layout_.rows_per_block;
    const int64_t lines = std::min(layout_.rows_per_block, group_.segment_rows - first_row);
    const char* sum = sums + band * layout_.sum_elements * sink.width;
    for (int64_t l = 0; l < lines; ++l) {
      node.fold(total.data(), sum + l * line, total.data(), length, Repeat::kNone);
    }
  }
  WriteSum(sink, total.data(), length, segment * length);
}

void BlockRunner::FinishRow(const BlockProgram::Sink& sink, const char* sums, int64_t row) const {
  const GroupNode& node = group_.nodes[sink.node];
  alignas(16) char total[16], value[16];
  node.line.along(sums + row * layout_.parts * sink.width, layout_.parts, value);
  StartValue(node, row * group_.row_length, total);
  node.fold(total, value, total, 1, Repeat::kNone);
  WriteSum(sink, total, 1, row);
}

void BlockRunner::FinishSums() const {
  if (layout_.bands == 1) return;  // Every unit has finished its own.
  for (size_t s = 0; s < program_.sinks.size(); ++s) {
    const BlockProgram::Sink& sink = program_.sinks[s];
    if (layout_.parts > 0) {
      for (int64_t row = 0; row < layout_.rows; ++row) FinishRow(sink, sums_[s], row);
    } else {
      const int64_t bytes = layout_.bands * layout_.sum_elements * sink.width;
      for (int64_t segment = 0; segment < layout_.segments; ++segment) {
        FinishLines(sink, sums_[s] + segment * bytes, segment);
      }
    }
  }
}

}  // namespace toroid
