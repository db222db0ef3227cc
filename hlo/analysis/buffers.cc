#include "hlo/analysis/buffers.h"

#include <algorithm>
#include <map>

#include "hlo/analysis/custom_call_targets.h"
#include "hlo/ir/unit_dims.h"

namespace toroid {
namespace {

// Number of the first leaf of element `element` of a tuple.
size_t BeginOf(const Shape& tuple, int64_t element) {
  size_t begin = 0;
  for (int64_t i = 0; i < element; ++i) begin += tuple.tuple_shape(i).NumLeaves();
  return begin;
}

void AddLeaves(const Shape& shape, std::vector<const Shape*>* leaves) {
  if (!shape.IsTuple()) return leaves->push_back(&shape);
  for (const Shape& element : shape.tuple_shapes()) AddLeaves(element, leaves);
}

// A reshape that adds and drops dimensions of one element.
bool IsRenamed(const Instruction& op, const ArraySize* size) {
  if (op.opcode() != Opcode::kReshape) return false;
  const Shape &from = op.operand(0)->shape(), &to = op.shape();
  return from.IsArray() && to.IsArray() && from.element_type() == to.element_type() && !from.IsDynamic() &&
         !to.IsDynamic() && from.HasRowMajorLayout() && to.HasRowMajorLayout() && SameButUnitDims(from, to) &&
         (size == nullptr || (*size)(from) == (*size)(to));
}

}  // namespace

Buffers::Buffers(const Computation& computation, const ArraySize* size, const CountedMemory* memory,
                 const std::vector<ResultPlaces>* bodies)
    : size_(size), memory_(memory), leaves_(computation.size()) {
  for (const auto& instruction : computation.instructions()) {
    std::vector<int>& leaves = leaves_[instruction->index()];
    const size_t count = instruction->shape().NumLeaves();
    const bool moves = memory != nullptr && memory->spaces->Moves(*instruction);
    const bool joins_tokens = instruction->opcode() == Opcode::kAfterAll && instruction->num_operands() > 1;
    const bool names_operand = instruction->opcode() != Opcode::kParameter && !moves && !joins_tokens &&
                               (HasTrait(instruction->opcode(), kNoStorage) ||
                                IsIdentityTarget(*instruction) || IsRenamed(*instruction, size));
    if (instruction->opcode() == Opcode::kTuple) {
      for (const Instruction* operand : instruction->operands()) {
        const auto& own = leaves_[operand->index()];
        leaves.insert(leaves.end(), own.begin(), own.end());
      }
    } else if (instruction->opcode() == Opcode::kGetTupleElement && instruction->num_operands() == 1 &&
               instruction->operand(0)->shape().IsTuple()) {
      const Shape& tuple = instruction->operand(0)->shape();
      const int64_t element = instruction->tuple_index();
      if (element >= 0 && element < static_cast<int64_t>(tuple.tuple_shapes().size())) {
        const auto& own = leaves_[instruction->operand(0)->index()];
        const size_t begin = BeginOf(tuple, element);
        for (size_t i = begin; i < begin + count && i < own.size(); ++i) leaves.push_back(own[i]);
      }
    } else if (names_operand && instruction->num_operands() > 0) {
      leaves = leaves_[instruction->operand(0)->index()];
      if (leaves.size() != count) leaves = LeavesAwaited(*instruction);
    }
    // New buffers, also if the aliased leaves do not fit the shape (an invalid module).
    if (leaves.size() == count) continue;
    leaves.clear();
    Make(*instruction, instruction->shape());
    ShareOperands(*instruction);
    if (bodies != nullptr) ShareUnchanged(*instruction, *bodies);
  }
}

void Buffers::Make(const Instruction& instruction, const Shape& shape) {
  if (shape.IsTuple()) {
    for (const Shape& element : shape.tuple_shapes()) Make(instruction, element);
    return;
  }
  std::vector<int>& leaves = leaves_[instruction.index()];
  leaves.push_back(size());
  const int leaf = static_cast<int>(leaves.size()) - 1;
  const bool counts = shape.IsArray() && (memory_ == nullptr ||
                                          (memory_->spaces->IsOnHost(instruction, leaf) == memory_->host &&
                                           !(memory_->host && memory_->spaces->IsViewOfHost(instruction))));
  const int64_t bytes = !counts ? 0 : size_ != nullptr ? (*size_)(shape) : shape.ByteSize();
  buffers_.push_back({&instruction, leaf, bytes});
}

std::vector<int> Buffers::LeavesAwaited(const Instruction& done) const {
  const Shape& start = done.operand(0)->shape();
  if (!start.IsTuple()) return {};
  const auto& own = leaves_[done.operand(0)->index()];
  // Element 1 is the result of (operands, results, ..), element 0 of (copy, source, ..).
  static constexpr int kOrder[] = {1, 0};
  for (const int element : kOrder) {
    if (element >= static_cast<int>(start.tuple_shapes().size())) continue;
    if (done.opcode() == Opcode::kCopyDone && element == 1) continue;
    if (!start.tuple_shape(element).Compatible(done.shape())) continue;
    const auto begin = own.begin() + static_cast<int64_t>(BeginOf(start, element));
    return std::vector<int>(begin, begin + done.shape().NumLeaves());
  }
  return {};
}

void Buffers::ShareOperands(const Instruction& start) {
  int element = 0;
  switch (start.opcode()) {
    case Opcode::kAllGatherStart:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kAsyncStart:
    case Opcode::kSend:
      break;
    case Opcode::kCopyStart:
      element = 1;
      break;
    default:
      return;
  }
  const Shape& shape = start.shape();
  if (!shape.IsTuple() || element >= static_cast<int>(shape.tuple_shapes().size())) return;
  std::vector<int> operands;
  for (const Instruction* operand : start.operands()) {
    if (start.opcode() == Opcode::kSend && operand->shape().IsToken()) continue;
    const auto& own = leaves_[operand->index()];
    operands.insert(operands.end(), own.begin(), own.end());
  }
  if (operands.size() != static_cast<size_t>(shape.tuple_shape(element).NumLeaves())) return;
  std::vector<int>& leaves = leaves_[start.index()];
  const size_t begin = BeginOf(shape, element);
  for (size_t i = 0; i < operands.size(); ++i) {
    buffers_[leaves[begin + i]].bytes = 0;  // No array lies there.
    leaves[begin + i] = operands[i];
  }
}

void Buffers::ShareUnchanged(const Instruction& op, const std::vector<ResultPlaces>& bodies) {
  if ((op.opcode() != Opcode::kWhile && op.opcode() != Opcode::kCall) || op.called().empty()) return;
  const size_t body = op.called(0)->index();  // A loop's body comes before its condition.
  if (body >= bodies.size()) return;
  std::vector<int> operands;
  for (const Instruction* operand : op.operands()) {
    const auto& own = leaves_[operand->index()];
    operands.insert(operands.end(), own.begin(), own.end());
  }
  std::vector<int>& leaves = leaves_[op.index()];
  for (size_t leaf = 0; leaf < leaves.size() && leaf < bodies[body].size(); ++leaf) {
    const ResultPlace& place = bodies[body][leaf];
    if (!place.is_argument || place.argument >= static_cast<int>(operands.size())) continue;
    // In a loop a leaf that moves to another one changes that one.
    if (op.opcode() == Opcode::kWhile && place.argument != static_cast<int>(leaf)) continue;
    buffers_[leaves[leaf]].bytes = 0;  // No array lies there.
    leaves[leaf] = operands[place.argument];
  }
}

std::vector<bool> DonatedParameters(const Module& module) {
  std::vector<bool> donated(module.entry()->num_parameters(), false);
  const auto donate = [&](int64_t parameter) {
    if (parameter >= 0 && parameter < static_cast<int64_t>(donated.size())) donated[parameter] = true;
  };
  for (const auto& alias : module.proto().input_output_alias().entries()) donate(alias.parameter_number());
  for (const auto& donor : module.proto().buffer_donor().entries()) donate(donor.parameter_number());
  return donated;
}

ReusedArguments FindReusedArguments(const Module& module) {
  const Computation& entry = *module.entry();
  ReusedArguments reused = {{}, std::vector<bool>(entry.num_parameters(), false)};
  std::vector<const Shape*> results;
  if (entry.root() == nullptr) return reused;
  AddLeaves(entry.root()->shape(), &results);
  reused.by_result.assign(results.size(), false);
  const auto is_parameter = [&](int64_t p) { return p >= 0 && p < entry.num_parameters(); };
  for (const auto& alias : module.proto().input_output_alias().entries()) {
    const Shape* shape = &entry.root()->shape();
    int64_t leaf = 0;
    for (const int64_t element : alias.output_shape_index()) {
      if (!shape->IsTuple() || element < 0 || element >= static_cast<int64_t>(shape->tuple_shapes().size()))
        break;
      leaf += static_cast<int64_t>(BeginOf(*shape, element));
      shape = &shape->tuple_shape(element);
    }
    if (shape->IsTuple() || !is_parameter(alias.parameter_number())) continue;
    reused.by_result[leaf] = true;
    reused.by_parameter[alias.parameter_number()] = true;
  }
  std::multimap<int64_t, int64_t> donors;  // Numbers of parameters by bytes.
  for (const auto& donor : module.proto().buffer_donor().entries()) {
    const int64_t p = donor.parameter_number();
    if (!is_parameter(p) || reused.by_parameter[p]) continue;
    std::vector<const Shape*> leaves;
    AddLeaves(entry.parameter(p)->shape(), &leaves);
    for (const Shape* leaf : leaves) donors.insert({leaf->ByteSize(), p});
  }
  for (size_t leaf = 0; leaf < results.size(); ++leaf) {
    if (reused.by_result[leaf] || !results[leaf]->IsArray()) continue;
    const auto donor = donors.find(results[leaf]->ByteSize());
    if (donor == donors.end()) continue;
    reused.by_result[leaf] = true;
    reused.by_parameter[donor->second] = true;
    donors.erase(donor);
  }
  return reused;
}

}  // namespace toroid
