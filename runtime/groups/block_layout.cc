// How blocks lie in the arrays of a group, and what they read.
#include <algorithm>

#include "hlo/base/math.h"
#include "runtime/groups/block_runner.h"

namespace toroid {
namespace {

using Kind = BlockOp::Kind;

constexpr int64_t kWideRow = 256;  // A block of one row is long enough from here on.
constexpr int64_t kBandElements = 16 << 10;
constexpr int64_t kMostBands = 32;
constexpr int64_t kElementsForCode = 64 << 10;  // Computing fewer takes less time than making code.
constexpr size_t kLongProgram =
    8;  // Steps from which waiting for memory costs more than asking for it beforehand.
// Code that holds all values in registers takes long blocks, short enough that threads share them evenly.
constexpr int64_t kCodeElements = 32 << 10;
constexpr int64_t kFewestCodeBlocks = 32;

}  // namespace

BlockLayout LayoutOf(const Group& group, const BlockProgram& program, int64_t copies) {
  BlockLayout layout;
  layout.total = copies * group.elements;
  layout.block = kBlockElements;
  // Few registers leave room in the first-level cache for longer blocks.
  constexpr int64_t kCacheBytes = 40 << 10, kMostTimes = 4;
  const int64_t bytes = (program.slots + 2) * program.widest * kBlockElements;
  const int64_t times = std::clamp<int64_t>(kCacheBytes / bytes, 1, kMostTimes);
  bool lines = false, parts = false;
  for (const BlockProgram::Sink& sink : program.sinks) {
    lines |= group.nodes[sink.node].kind == GroupNode::Kind::kReduceLines;
    parts |= group.nodes[sink.node].kind == GroupNode::Kind::kReduceLong;
  }
  if (parts) {
    layout.rows = layout.total / group.row_length;
    layout.parts = CeilOfRatio(group.row_length, layout.block);
    layout.units = layout.rows * layout.parts;
    layout.sum_elements = 1;
    return layout;
  }
  if (group.row_length == 0 || group.long_rows) {
    layout.block *= times;
    layout.units = CeilOfRatio(layout.total, layout.block);
    return layout;
  }
  layout.rows = layout.total / group.row_length;
  layout.rows_per_block = group.row_length >= kWideRow ? 1 : kBlockElements / group.row_length;
  if (lines) layout.rows_per_block = std::min(layout.rows_per_block, group.segment_rows);
  layout.block = layout.rows_per_block * group.row_length;
  layout.units = CeilOfRatio(layout.rows, layout.rows_per_block);
  if (!lines) return layout;
  layout.segments = layout.rows / group.segment_rows;
  const int64_t blocks = CeilOfRatio(group.segment_rows, layout.rows_per_block);
  const int64_t bands = std::min(group.segment_rows * group.row_length / kBandElements, kMostBands);
  layout.bands = std::clamp<int64_t>(bands, 1, blocks);
  layout.units = layout.segments * layout.bands;
  layout.sum_elements = layout.block;
  return layout;
}

BlockRunner::BlockRunner(const Group& group, const BlockProgram& program, int64_t copies,
                         absl::Span<const BlockInput> inputs, absl::Span<char* const> outputs)
    : group_(group),
      program_(program),
      copies_(copies),
      inputs_(inputs),
      outputs_(outputs),
      layout_(LayoutOf(group, program, copies)) {
  sources_.reserve(program.views.size());
  for (const int node : program.views) {
    sources_.push_back(SourceOf(group.nodes[node], inputs));
    Source& source = sources_.back();
    // A line that every block repeats from its beginning.
    const bool repeats = source.kind == Source::Kind::kLines && source.dims.size() == 2 &&
                         source.dims[0].stride == 0 && !group.nodes[node].per_row;
    const int64_t begins = layout_.rows_per_block > 0 ? group.row_length : layout_.block;
    if (repeats && layout_.parts == 0 && begins % source.dims[1].size == 0) source.kept = kept_++;
  }
  const int64_t run_before = program.elements_run.fetch_add(layout_.total, std::memory_order_relaxed);
  const bool as_code = run_before + layout_.total >= kElementsForCode && CanMakeCode();
  size_t next = 0;  // Chain.
  for (int o = 0; o < static_cast<int>(program.ops.size()); ++o) {
    const BlockOp& op = program.ops[o];
    if (as_code && next < program.chains.size() && program.chains[next]->begin == o) {
      const BlockChain& chain = *program.chains[next++];
      steps_.push_back({&op, &chain});
      o = chain.end - 1;
      continue;
    }
    const bool same = op.kind == Kind::kRead && sources_[op.number].kind == Source::Kind::kRepeat;
    if (!same) steps_.push_back({&op, nullptr});
  }
  if (IsAllCode()) {
    layout_.block = std::clamp(layout_.total / kFewestCodeBlocks / kBlockElements * kBlockElements,
                               layout_.block, std::max(layout_.block, kCodeElements));
    layout_.units = CeilOfRatio(layout_.total, layout_.block);
  }
  if (steps_.size() < kLongProgram || layout_.block < kBlockElements) return;
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].kind == Source::Kind::kDirect && !group.nodes[program.views[i]].per_row)
      streams_.push_back(&sources_[i]);
  }
  if (streams_.size() < 2) streams_.clear();  // One stream the processor fetches ahead by itself.
  fetched_ = CeilOfRatio(layout_.block, static_cast<int64_t>(steps_.size()));
}

bool BlockRunner::IsAllCode() const {
  const auto is_code = [](const StepOf& step) {
    return step.chain != nullptr || step.op->kind == Kind::kRead;
  };
  const auto is_whole = [](const Source& source) { return source.kind != Source::Kind::kLines; };
  return layout_.rows == 0 && layout_.parts == 0 && std::all_of(steps_.begin(), steps_.end(), is_code) &&
         std::count_if(steps_.begin(), steps_.end(),
                       [](const StepOf& step) { return step.chain != nullptr; }) == 1 &&
         std::all_of(sources_.begin(), sources_.end(), is_whole);
}

BlockRunner::Source BlockRunner::SourceOf(const GroupNode& node, absl::Span<const BlockInput> inputs) const {
  Source source;
  source.width = ByteWidth(node.type);
  int64_t device_stride = 0;
  if (node.kind == GroupNode::Kind::kSource) {
    const BlockInput& input = inputs[node.input];
    source.base = input.data + node.view.offset * source.width;
    if (!input.uniform) device_stride = node.input_elements;
  }
  const auto& dims = node.view.dims;
  if (dims.size() == 1) {
    const bool one_device = copies_ == 1 || dims[0].size * dims[0].stride == device_stride;
    if (dims[0].stride == 1 && one_device && node.kind == GroupNode::Kind::kSource) return source;
    if (dims[0].stride == 0 && one_device) {
      source.kind = Source::Kind::kRepeat;
      if (node.kind == GroupNode::Kind::kSource) return source;
    }
  }
  source.kind = Source::Kind::kLines;
  if (copies_ > 1) source.dims.push_back({copies_, device_stride});
  source.dims.insert(source.dims.end(), dims.begin(), dims.end());
  if (source.dims.size() > 1) {
    View view{{source.dims.begin(), source.dims.end()}, 0};
    view.Simplify();
    source.dims.assign(view.dims.begin(), view.dims.end());
  }
  if (source.dims.size() == 1 && node.kind == GroupNode::Kind::kSource) {
    if (source.dims[0].stride == 1) source.kind = Source::Kind::kDirect;
    if (source.dims[0].stride == 0) source.kind = Source::Kind::kRepeat;
  }
  return source;
}

}  // namespace toroid
