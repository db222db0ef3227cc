#include "runtime/numerics/narrowest_float.h"

#include <algorithm>

#include "hlo/opcode.h"
#include "runtime/numerics/compare.h"
#include "runtime/numerics/leaf_states.h"

namespace toroid {
namespace {

// The type, PRED for none.
struct Rounded {
  PrimitiveType type = xla::PRED;
};

bool Join(Rounded* into, Rounded other) {
  if (Tolerance(other.type) <= Tolerance(into->type)) return false;
  *into = other;
  return true;
}

// The result holds operands' values unchanged.
bool MovesValues(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kNegate:
    case Opcode::kSign:
    case Opcode::kReal:
    case Opcode::kImag:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kComplex:
    case Opcode::kSelect:
    case Opcode::kClamp:
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kReverse:
    case Opcode::kConcatenate:
    case Opcode::kSlice:
    case Opcode::kPad:
    case Opcode::kCopy:
    case Opcode::kOptimizationBarrier:
    case Opcode::kDomain:
    case Opcode::kIota:
    case Opcode::kConstant:
    case Opcode::kParameter:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGather:
    case Opcode::kSort:
    case Opcode::kTopK:
    case Opcode::kAddDependency:
    case Opcode::kAllGather:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kInfeed:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
    case Opcode::kGetDimensionSize:
    case Opcode::kSetDimensionSize:
    case Opcode::kDynamicReshape:
      return true;
    default:
      return false;
  }
}

// The float with as many bits of mantissa as are left.
PrimitiveType ReducedType(const Instruction& instruction) {
  const int64_t bits = instruction.attrs().mantissa_bits();
  if (bits <= 2) return xla::F8E5M2;
  if (bits <= 3) return xla::F8E4M3FN;
  if (bits <= 7) return xla::BF16;
  if (bits <= 10) return xla::F16;
  return instruction.shape().element_type();
}

void AppendLeafTypes(const Shape& shape, std::vector<PrimitiveType>* types) {
  if (shape.IsTuple()) {
    for (const Shape& element : shape.tuple_shapes()) AppendLeafTypes(element, types);
  } else {
    types->push_back(shape.IsArray() ? shape.element_type() : xla::TOKEN);
  }
}

bool IsInexact(PrimitiveType type) { return IsFloat(type) || IsComplex(type); }

class Analysis {
 public:
  explicit Analysis(const Module& module) : module_(module), states_(module) {
    do {
      changed_ = false;
      for (const auto& computation : module.computations()) {
        for (const auto& instruction : computation->instructions()) Visit(*instruction);
      }
    } while (changed_);
  }

  std::vector<Rounded>& of(const Instruction& instruction) { return states_.of(instruction); }

 private:
  void JoinLeaf(const Instruction& to, int64_t leaf, Rounded from) {
    std::vector<Rounded>& state = states_.of(to);
    if (leaf < static_cast<int64_t>(state.size())) changed_ |= Join(&state[leaf], from);
  }
  void JoinLeaves(const Instruction& to, const Instruction& from) {
    const std::vector<Rounded> state = states_.of(from);
    for (size_t i = 0; i < state.size(); ++i) JoinLeaf(to, static_cast<int64_t>(i), state[i]);
  }
  void JoinEvery(const Instruction& to, Rounded from) {
    for (size_t i = 0; i < states_.of(to).size(); ++i) JoinLeaf(to, static_cast<int64_t>(i), from);
  }
  Rounded Narrowest(const Instruction& instruction) {
    Rounded all;
    for (const Rounded leaf : states_.of(instruction)) Join(&all, leaf);
    return all;
  }
  // Operand `first` + i is parameter i.
  void Enter(const Instruction& call, const Computation& callee, int first) {
    for (int i = 0; i < callee.num_parameters() && first + i < call.num_operands(); ++i) {
      JoinLeaves(*callee.parameter(i), *call.operand(first + i));
    }
  }

  void Visit(const Instruction& instruction) {
    switch (instruction.opcode()) {
      case Opcode::kTuple: {
        int64_t leaf = 0;
        for (const Instruction* operand : instruction.operands()) {
          for (const Rounded state : states_.of(*operand)) JoinLeaf(instruction, leaf++, state);
        }
        return;
      }
      case Opcode::kGetTupleElement: {
        const Instruction& tuple = *instruction.operand(0);
        const int64_t first = LeafStates<Rounded>::FirstLeaf(tuple.shape(), instruction.tuple_index());
        const std::vector<Rounded>& state = states_.of(tuple);
        for (int64_t i = 0; i < instruction.shape().NumLeaves(); ++i)
          JoinLeaf(instruction, i, state[first + i]);
        return;
      }
      case Opcode::kCall:
      case Opcode::kFusion:
        Enter(instruction, *instruction.called(0), 0);
        return JoinLeaves(instruction, *instruction.called(0)->root());
      case Opcode::kWhile:
        for (const Computation* callee : instruction.called()) Enter(instruction, *callee, 0);
        JoinLeaves(instruction, *instruction.operand(0));
        JoinLeaves(instruction, *instruction.called(0)->root());
        for (const Computation* callee : instruction.called()) {
          JoinLeaves(*callee->parameter(0), *instruction.called(0)->root());
        }
        return JoinEvery(instruction, Narrowest(*instruction.called(1)->root()));
      case Opcode::kConditional:
        for (size_t b = 0; b < instruction.called().size(); ++b) {
          const Computation& branch = *instruction.called(b);
          Enter(instruction, branch, static_cast<int>(b) + 1);
          JoinLeaves(instruction, *branch.root());
        }
        return JoinEvery(instruction, Narrowest(*instruction.operand(0)));
      default:
        return VisitOp(instruction);
    }
  }

  void VisitOp(const Instruction& instruction) {
    const bool leafwise =
        instruction.num_operands() == 1 && instruction.shape().IsTuple() && MovesValues(instruction.opcode());
    if (leafwise) return JoinLeaves(instruction, *instruction.operand(0));
    Rounded all;
    for (const Instruction* operand : instruction.operands()) Join(&all, Narrowest(*operand));
    // Asynchronous calls; reducers round as the ops that apply them.
    if (instruction.opcode() == Opcode::kAsyncStart || instruction.opcode() == Opcode::kMap) {
      for (const Computation* callee : instruction.called()) {
        Enter(instruction, *callee, 0);
        Join(&all, Narrowest(*callee->root()));
      }
    }
    std::vector<PrimitiveType> types;
    AppendLeafTypes(instruction.shape(), &types);
    const bool moves = MovesValues(instruction.opcode());
    for (size_t leaf = 0; leaf < types.size(); ++leaf) {
      Rounded state = all;
      if (!moves && IsInexact(types[leaf])) {
        const bool reduced = instruction.opcode() == Opcode::kReducePrecision;
        Join(&state, {reduced ? ReducedType(instruction) : types[leaf]});
      }
      JoinLeaf(instruction, static_cast<int64_t>(leaf), state);
    }
  }

  const Module& module_;
  LeafStates<Rounded> states_;
  bool changed_ = false;
};

}  // namespace

std::vector<PrimitiveType> NarrowestFloats(const Module& module) {
  Analysis analysis(module);
  std::vector<PrimitiveType> types, narrowest;
  const Instruction& root = *module.entry()->root();
  AppendLeafTypes(root.shape(), &types);
  for (size_t leaf = 0; leaf < types.size(); ++leaf) {
    if (types[leaf] != xla::TOKEN) narrowest.push_back(analysis.of(root)[leaf].type);
  }
  return narrowest;
}

std::vector<double> OutputTolerances(const Module& module) {
  std::vector<PrimitiveType> types;
  AppendLeafTypes(module.entry()->root()->shape(), &types);
  types.erase(std::remove(types.begin(), types.end(), xla::TOKEN), types.end());
  const std::vector<PrimitiveType> narrowest = NarrowestFloats(module);
  std::vector<double> tolerances;
  for (size_t i = 0; i < types.size(); ++i) {
    tolerances.push_back(IsInexact(types[i]) ? std::max(Tolerance(types[i]), Tolerance(narrowest[i])) : 0);
  }
  return tolerances;
}

}  // namespace toroid
