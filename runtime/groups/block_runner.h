// Runs a block program over the blocks of a group.
// BUILD: srcs += "block_layout.cc", "block_sums.cc"
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "runtime/groups/block_program.h"

namespace toroid {

// Elements of a block, unless a row has more.
inline constexpr int64_t kBlockElements = 1024;

// The memory of an input: a row per device, or one for all.
struct BlockInput {
  const char* data = nullptr;
  bool uniform = true;
};

// How the elements of all devices are cut into blocks. It depends on sizes alone, never on threads. A unit is what one thread
// does at a time: some consecutive blocks, or the blocks of a part of a segment whose sums it makes.
struct BlockLayout {
  int64_t total = 0;  // Elements of all devices.
  int64_t block = 0;  // Elements of a full block.
  int64_t rows = 0;   // Of row_length elements; 0 without rows.
  int64_t rows_per_block = 0;
  int64_t units = 0;
  int64_t segments = 0, bands = 0;  // With sums over lines: units = segments * bands.
  int64_t parts = 0;                // With long rows: blocks of a row; units = rows * parts.
  int64_t sum_elements = 0;         // Elements of the sum that a unit makes.
};

BlockLayout LayoutOf(const Group& group, const BlockProgram& program, int64_t copies);

class BlockRunner {
 public:
  // `inputs` and `outputs` are by number; both must outlive the runner.
  BlockRunner(const Group& group, const BlockProgram& program, int64_t copies,
              absl::Span<const BlockInput> inputs, absl::Span<char* const> outputs);

  const BlockLayout& layout() const { return layout_; }
  // Memory for the sums of each sink: layout().units * layout().sum_elements elements. Not needed with one band per segment.
  void set_sums(absl::Span<char* const> sums) { sums_ = sums; }

  // Runs the blocks of these units. Several threads may run different units at once.
  void RunUnits(int64_t begin, int64_t end) const;
  // Combines the sums of the units, with the start values, into the outputs.
  void FinishSums() const;

 private:
  // A view of one input over the elements of all devices.
  struct Source {
    enum class Kind : uint8_t { kDirect, kRepeat, kLines };
    Kind kind = Kind::kDirect;
    const char* base = nullptr;
    int64_t width = 0;
    absl::InlinedVector<View::Dim, 6> dims;  // kLines.
    int kept = -1;  // kLines: number among the lines that all blocks of a thread share; -1 for others.
  };
  struct Block {
    int64_t first, count;  // Elements.
    int64_t first_row, rows;
    int64_t unit;
    bool first_of_unit;
  };
  struct State;  // The registers of one thread.

  // Whether a block is one run of machine code that reads and writes arrays where they lie.
  bool IsAllCode() const;
  Source SourceOf(const GroupNode& node, absl::Span<const BlockInput> inputs) const;
  void RunBlock(const Block& block, State& state) const;
  void Compute(const BlockOp& op, int64_t n, State& state) const;
  void RunOp(const BlockOp& op, const Block& block, State& state) const;
  void RunChain(const BlockChain& chain, const Block& block, State& state) const;
  void Spread(int r, const Block& block, State& state) const;
  void FetchAhead(const Block& block, size_t step) const;
  void Step(const BlockOp& op, const Block& block, State& state) const;
  void Read(const BlockOp& op, int64_t first, int64_t n, State& state) const;
  void FinishLines(const BlockProgram::Sink& sink, const char* sums, int64_t segment) const;
  void FinishRow(const BlockProgram::Sink& sink, const char* sums, int64_t row) const;
  void WriteSum(const BlockProgram::Sink& sink, const char* sums, int64_t n, int64_t at) const;
  // Copies the start value of a reduction, as blocks hold it, for the device of this element.
  void StartValue(const GroupNode& reduce, int64_t first_element, char* value) const;

  const Group& group_;
  const BlockProgram& program_;
  const int64_t copies_;
  const absl::Span<const BlockInput> inputs_;
  const absl::Span<char* const> outputs_;
  absl::Span<char* const> sums_;
  BlockLayout layout_;
  int kept_ = 0;
  absl::InlinedVector<Source, 8> sources_;         // By the number of the view.
  absl::InlinedVector<const Source*, 4> streams_;  // Those of which the next block's part is fetched ahead.
  int64_t fetched_ = 0;                            // Elements of a stream that a step fetches.
  struct StepOf {
    const BlockOp* op;
    const BlockChain* chain;  // Null, or what runs in place of the op.
  };
  absl::InlinedVector<StepOf, 32>
      steps_;  // What each block runs: all but reading what is the same for all blocks.
};

}  // namespace toroid
