#include "simulator/program/spread_vectors.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/ir/module.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/reshaped_dims.h"

namespace toroid {
namespace {

constexpr size_t kMostSteps = 400;
constexpr int64_t kUnknown = -1;

// What dimension `lanes` of `op`, which keeps elements, was before.
int64_t DimBefore(const Instruction& op, int64_t lanes) {
  if (lanes == kUnknown) return kUnknown;
  if (op.opcode() == Opcode::kTranspose) return op.dimensions()[static_cast<size_t>(lanes)];
  return SameDim(op.operand(0)->shape(), op.shape(), lanes).value_or(kUnknown);
}

}  // namespace

bool KeepsElements(const Instruction& op) {
  return op.opcode() == Opcode::kReshape || op.opcode() == Opcode::kTranspose ||
         op.opcode() == Opcode::kBitcast;
}

std::optional<std::vector<const Instruction*>> VectorsSpreadAlong(const Instruction& value, int64_t lanes) {
  std::vector<const Instruction*> vectors;
  absl::flat_hash_set<const Instruction*> seen = {&value};
  std::vector<std::pair<const Instruction*, int64_t>> todo = {{&value, lanes}};
  const auto add = [&](const Instruction* op, int64_t dim) {
    if (seen.insert(op).second) todo.emplace_back(op, dim);
  };
  for (size_t next = 0; next < todo.size(); ++next) {
    const auto [op, dim] = todo[next];
    if (next == kMostSteps) return std::nullopt;
    if (op->shape().rank() == 0 || op->opcode() == Opcode::kIota || op->opcode() == Opcode::kConstant)
      continue;
    if (op->opcode() == Opcode::kBroadcast) {
      const Instruction* vector = op->operand(0);
      if (vector->shape().NumElements() == op->shape().NumElements()) return std::nullopt;
      const bool is_needed = vector->shape().rank() > 0 && vector->opcode() != Opcode::kIota &&
                             !absl::c_linear_search(op->dimensions(), dim);
      if (is_needed && !absl::c_linear_search(vectors, vector)) vectors.push_back(vector);
    } else if (KeepsElements(*op)) {
      add(op->operand(0), DimBefore(*op, dim));
    } else if (IsElementwise(*op) && op->opcode() != Opcode::kCopy) {
      for (const Instruction* operand : op->operands()) add(operand, dim);
    } else {
      return std::nullopt;
    }
  }
  return vectors;
}

}  // namespace toroid
