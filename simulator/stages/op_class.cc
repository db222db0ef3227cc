#include "simulator/stages/op_class.h"

#include <algorithm>
#include <iterator>

#include "hlo/analysis/collective.h"
#include "hlo/analysis/work.h"
#include "hlo/ir/module.h"

namespace toroid {
namespace {

// From the most telling to the least.
constexpr absl::string_view kClasses[] = {"dot",    "convolution",    "sort",   "linear algebra", "gather",
                                          "scatter", "cumulative sum", "reduce", "custom-call",    "host",
                                          "elementwise", "copy"};

size_t RankOf(absl::string_view name) {
  return static_cast<size_t>(std::find(std::begin(kClasses), std::end(kClasses), name) - std::begin(kClasses));
}

absl::string_view ClassOfOpcode(Opcode opcode) {
  switch (opcode) {
    case Opcode::kDot:
    case Opcode::kRaggedDot:
    case Opcode::kScaledDot:
      return "dot";
    case Opcode::kConvolution:
      return "convolution";
    case Opcode::kSort:
    case Opcode::kTopK:
      return "sort";
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve:
    case Opcode::kFft:
      return "linear algebra";
    case Opcode::kGather:
    case Opcode::kDynamicSlice:
      return "gather";
    case Opcode::kScatter:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kSelectAndScatter:
      return "scatter";
    case Opcode::kReduceWindow:
      return "cumulative sum";
    case Opcode::kReduce:
      return "reduce";
    case Opcode::kCustomCall:
      return "custom-call";
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kSend:
    case Opcode::kRecv:
      return "host";
    default:
      return HasTrait(opcode, kDataMovement) || HasTrait(opcode, kNoStorage) ? "copy" : "elementwise";
  }
}

}  // namespace

absl::string_view OpClassOf(const Instruction& instruction) {
  if (const auto collective = CollectiveOf(instruction, {}); collective.has_value()) {
    return CollectiveKindName(collective->kind);
  }
  if (instruction.opcode() != Opcode::kFusion || instruction.called().empty()) return ClassOfOpcode(instruction.opcode());
  const Instruction& main = MainOpOf(instruction);
  return &main == &instruction ? "copy" : OpClassOf(main);
}

const Instruction& MainOpOf(const Instruction& instruction) {
  if (instruction.opcode() != Opcode::kFusion || instruction.called().empty()) return instruction;
  const Instruction* best = &instruction;
  size_t best_rank = std::size(kClasses);
  int64_t best_flops = 0;
  for (const auto& op : instruction.called(0)->instructions()) {
    if (op->opcode() == Opcode::kParameter || op->opcode() == Opcode::kConstant || op->opcode() == Opcode::kTuple) continue;
    const Instruction& main = MainOpOf(*op);
    const size_t rank = RankOf(OpClassOf(main));
    const int64_t flops = MatrixFlops(main);
    if (rank < best_rank || (rank == best_rank && flops >= best_flops)) {
      best = &main;
      best_rank = rank;
      best_flops = flops;
    }
  }
  return *best;
}

}  // namespace toroid
