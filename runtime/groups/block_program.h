// What a group runs over each block: loops over registers, which are blocks of values.
//
// A register holds one value for each element (or each row) of the block, or, marked as a repeat, one value for all of them.
// BUILD: srcs += "block_chains.cc"
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/types/span.h"
#include "runtime/groups/group.h"
#include "runtime/loops/convert_loops.h"
#include "runtime/native/chain_code.h"

namespace toroid {

struct BlockOp {
  enum class Kind : uint8_t {
    kRead,    // An input's view.
    kCount,   // A view of the numbers 0, 1, 2, ...
    kWiden,   // Narrow floats to f32.
    kNarrow,  // f32 to narrow floats.
    kRound,   // f32 to what a narrow float can state.
    kCopy,
    kUnary,
    kBinary,
    kSelect,
    kReduceRows,
    kExpand,
    kFoldLines,  // b into the sums of the band, a.
    kFoldPart,   // Into the sum of this part of a long row.
  };
  Kind kind = Kind::kCopy;
  bool per_row = false;        // The result has one element per row.
  bool writes_output = false;  // The result is memory of an output.
  int16_t width = 0;           // Bytes of a result's element.
  int to = 0;                  // Registers.
  int a = -1, b = -1, c = -1;
  int node = 0;    // kRead, kCount: whose view. kReduceRows, kFoldPart: whose loops.
  int number = 0;  // kRead, kCount: among these. kFoldLines, kFoldPart: among the sinks.
  PrimitiveType type = xla::PRIMITIVE_TYPE_INVALID;  // kWiden, kNarrow, kRound: the narrow one.
  ChainOp meaning;  // What it computes, without operands; kUnknown for others.
  UnaryLoop unary = nullptr;
  BinaryLoop binary = nullptr;
  SelectLoop select = nullptr;
  CountLoop count = nullptr;

  std::array<int, 3> Reads() const { return {a, b, c}; }  // -1 for none.
};

// Ops whose result has an element for each of the operands'.
inline bool IsOfElements(BlockOp::Kind kind) {
  return kind >= BlockOp::Kind::kUnary && kind <= BlockOp::Kind::kSelect;
}

// Ops of a program that follow one another and can run as one loop of machine code.
struct BlockChain {
  int begin = 0, end = 0;  // Among the program's ops.
  bool per_row = false;
  // Some op is a kFoldLines: the first block of a unit, which has no sums yet, runs op by op.
  bool folds = false;
  std::vector<int> inputs, outputs;  // Registers, in the order of the chain's.
  Chain chain;

  // The code for the case that these inputs are one value each, bit i for input i. Made at first use, by any thread; null if
  // none can be made, or if there were too many cases.
  const ChainCode* CodeFor(uint64_t repeats) const;

 private:
  struct Made {
    uint64_t repeats = 0;
    std::atomic<const ChainCode*> code = nullptr;
    std::unique_ptr<const ChainCode> owner;
  };
  mutable std::mutex mutex_;
  mutable std::array<Made, 4> made_;
};

struct BlockProgram : KernelCache {
  struct Register {
    enum class Place : uint8_t { kPointer, kScratch, kOutput, kSums };
    // kPointer: set by kRead or kExpand, if it needs no storage. kSums: set for each unit.
    Place place = Place::kPointer;
    int index = 0;  // Slot of the scratch memory, or output of the group.
    int16_t width = 0;
    bool per_row = false;
  };
  // An output that is complete only after all blocks: a sum over lines, or over long rows.
  struct Sink {
    int node;
    int output;
    int16_t width;  // Bytes of a sum.
    int sums = -1;  // Lines: the register.
  };
  // Output `output` may take the storage of an input, if that dies.
  struct InPlace {
    int output;
    int node;  // The source that reads the input.
  };
  std::vector<BlockOp> ops;
  std::vector<std::unique_ptr<BlockChain>> chains;  // In the order of their ops.
  std::vector<Register> registers;
  std::vector<int> output_registers;
  std::vector<int> views;  // Nodes of kRead and kCount, by their number.
  std::vector<Sink> sinks;
  std::vector<InPlace> in_place;
  std::vector<int> outputs;  // Those this program computes.
  int slots = 0;
  int widest = 1;                                 // Bytes of the widest element that blocks hold.
  double cost = 0;                                // Estimated nanoseconds per 16 elements.
  mutable std::atomic<int64_t> elements_run = 0;  // By all runs.
};

// Orders the ops so that those of a chain follow one another, and lists the chains.
void MakeChains(BlockProgram* program);

// The program for some outputs of a group: bit i of `outputs` for output i.
std::unique_ptr<BlockProgram> CompileBlocks(const Group& group, uint64_t outputs);

}  // namespace toroid
