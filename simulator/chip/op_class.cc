#include "simulator/chip/op_class.h"

#include <algorithm>
#include <iterator>

#include "hlo/analysis/collective.h"
#include "hlo/analysis/work.h"
#include "hlo/ir/module.h"

namespace toroid {
namespace {

struct OpClass {
  absl::string_view name;
  absl::string_view in_estimates;  // What GroupClassOf calls it.
};

// From the most telling to the least.
constexpr OpClass kClasses[] = {{"dot", "dot"},
                                {"convolution", "dot"},
                                {"sort", "loop"},
                                {"linear algebra", "loop"},
                                {"gather", "loop"},
                                {"scatter", "loop"},
                                {"cumulative sum", "cumsum"},
                                {"reduce", "reduce"},
                                {"custom-call", "loop"},
                                {"host", "loop"},
                                {"elementwise", "loop"},
                                {"copy", "loop"}};

size_t RankOf(absl::string_view name) {
  const auto* place = std::find_if(std::begin(kClasses), std::end(kClasses),
                                   [&](const OpClass& c) { return c.name == name; });
  return static_cast<size_t>(place - std::begin(kClasses));
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
  if (instruction.opcode() != Opcode::kFusion || instruction.called().empty())
    return ClassOfOpcode(instruction.opcode());
  const Instruction& main = MainOpOf(instruction);
  return &main == &instruction ? "copy" : OpClassOf(main);
}

absl::string_view GroupClassOf(const Instruction& group) {
  if (group.opcode() == Opcode::kCopy || group.opcode() == Opcode::kTranspose) return "copy";
  if (group.opcode() != Opcode::kFusion || group.called().empty()) {
    const size_t rank = RankOf(ClassOfOpcode(group.opcode()));
    return rank < std::size(kClasses) ? kClasses[rank].in_estimates : "loop";
  }
  size_t best = std::size(kClasses);
  for (const auto& op : group.called(0)->instructions()) {
    const size_t rank = RankOf(ClassOfOpcode(op->opcode()));
    if (rank < best && kClasses[rank].in_estimates != "loop") best = rank;
  }
  return best < std::size(kClasses) ? kClasses[best].in_estimates : "loop";
}

const Instruction& MainOpOf(const Instruction& instruction) {
  if (instruction.opcode() != Opcode::kFusion || instruction.called().empty()) return instruction;
  const Instruction* best = &instruction;
  size_t best_rank = std::size(kClasses);
  int64_t best_flops = 0;
  for (const auto& op : instruction.called(0)->instructions()) {
    if (op->opcode() == Opcode::kParameter || op->opcode() == Opcode::kConstant ||
        op->opcode() == Opcode::kTuple)
      continue;
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
