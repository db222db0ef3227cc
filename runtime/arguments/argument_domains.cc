#include "runtime/arguments/argument_domains.h"

#include <cmath>
#include <optional>

#include "absl/strings/match.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/literal.h"
#include "hlo/opcode.h"
#include "runtime/loops/convert_loops.h"
#include "runtime/numerics/leaf_states.h"

namespace toroid {
namespace {

// The value of a scalar constant, or of a constant whose elements are all equal, before broadcasts and
// copies.
std::optional<double> SplatValue(const Instruction* instruction) {
  while (instruction->opcode() == Opcode::kBroadcast || instruction->opcode() == Opcode::kReshape ||
         instruction->opcode() == Opcode::kConvert || instruction->opcode() == Opcode::kCopy) {
    instruction = instruction->operand(0);
  }
  const PrimitiveType type =
      instruction->shape().IsArray() ? instruction->shape().element_type() : xla::TOKEN;
  if (instruction->opcode() != Opcode::kConstant || (!IsFloat(type) && !IsInt(type))) return std::nullopt;
  const absl::StatusOr<Literal> literal = LiteralOf(*instruction);
  if (!literal.ok() || literal->shape().NumElements() == 0 ||
      (literal->shape().NumElements() > 1 && !IsSplat(*literal))) {
    return std::nullopt;
  }
  double value;
  FindConvertLoop(type, xla::F64)(literal->bytes(), reinterpret_cast<char*>(&value), 1);
  return value;
}

// Whether the result cannot be negative, whatever the operands: x * x, |x|, e^x and the like.
bool IsPositiveAnyway(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kMultiply:
      return instruction.operand(0) == instruction.operand(1);
    case Opcode::kAbs:
    case Opcode::kExp:
    case Opcode::kLogistic:
    case Opcode::kCosh:
    case Opcode::kAcos:
      return true;
    default:
      return false;
  }
}

class Analysis {
 public:
  explicit Analysis(const Module& module) : states_(module) {
    do {
      changed_ = false;
      for (auto c = module.computations().rbegin(); c != module.computations().rend(); ++c) {
        const auto& instructions = (*c)->instructions();
        for (auto i = instructions.rbegin(); i != instructions.rend(); ++i) Visit(**i);
      }
    } while (changed_);
  }

  std::vector<Domain>& of(const Instruction& instruction) { return states_.of(instruction); }

 private:
  void AskLeaf(const Instruction& of, int64_t leaf, Domain domain) {
    std::vector<Domain>& state = states_.of(of);
    if (leaf >= static_cast<int64_t>(state.size()) || (state[leaf] | domain) == state[leaf]) return;
    state[leaf] |= domain;
    changed_ = true;
  }
  // Asks `domain` of all leaves of an operand.
  void Ask(const Instruction* of, int domain) {
    for (size_t i = 0; i < states_.of(*of).size(); ++i) {
      AskLeaf(*of, static_cast<int64_t>(i), static_cast<Domain>(domain));
    }
  }
  void AskLeaves(const Instruction& of, const std::vector<Domain>& domains) {
    for (size_t i = 0; i < domains.size(); ++i) AskLeaf(of, static_cast<int64_t>(i), domains[i]);
  }
  Domain Asked(const Instruction& instruction) {
    const std::vector<Domain>& state = states_.of(instruction);
    return state.empty() ? Domain{kAnyValue} : state[0];
  }

  // Passes on the domains asked of a call's result to the callee's root, and those asked of the callee's
  // parameters to the operands.
  void Through(const Instruction& call, const Computation& callee, int first) {
    AskLeaves(*callee.root(), std::vector<Domain>(states_.of(call)));
    for (int i = 0; i < callee.num_parameters() && first + i < call.num_operands(); ++i) {
      AskLeaves(*call.operand(first + i), std::vector<Domain>(states_.of(*callee.parameter(i))));
    }
  }

  void Visit(const Instruction& instruction) {
    VisitSource(instruction);
    switch (instruction.opcode()) {
      case Opcode::kTuple: {
        const std::vector<Domain> state = states_.of(instruction);
        size_t leaf = 0;
        for (const Instruction* operand : instruction.operands()) {
          for (size_t i = 0; i < states_.of(*operand).size(); ++i) {
            AskLeaf(*operand, static_cast<int64_t>(i), state[leaf++]);
          }
        }
        return;
      }
      case Opcode::kGetTupleElement: {
        const Instruction& tuple = *instruction.operand(0);
        const int64_t first = LeafStates<Domain>::FirstLeaf(tuple.shape(), instruction.tuple_index());
        const std::vector<Domain> state = states_.of(instruction);
        for (size_t i = 0; i < state.size(); ++i) AskLeaf(tuple, first + static_cast<int64_t>(i), state[i]);
        return;
      }
      case Opcode::kCall:
      case Opcode::kFusion:
        return Through(instruction, *instruction.called(0), 0);
      case Opcode::kWhile: {
        // The domains that the body or the condition ask of the loop state hold for the initial state and for
        // the body's result.
        const Computation &body = *instruction.called(0), &condition = *instruction.called(1);
        Through(instruction, body, 0);
        AskLeaves(*instruction.operand(0), std::vector<Domain>(states_.of(*condition.parameter(0))));
        AskLeaves(*instruction.operand(0), std::vector<Domain>(states_.of(instruction)));
        AskLeaves(*body.root(), std::vector<Domain>(states_.of(*body.parameter(0))));
        return;
      }
      case Opcode::kConditional:
        for (size_t b = 0; b < instruction.called().size(); ++b) {
          Through(instruction, *instruction.called(b), static_cast<int>(b) + 1);
        }
        return;
      default:
        if (instruction.shape().IsTuple()) return VisitTupleOp(instruction);
        if (const Domain domain = Asked(instruction); domain != kAnyValue) HandOn(instruction, domain);
    }
  }

  // An op on several arrays passes on the domain of each result to its operand.
  void VisitTupleOp(const Instruction& instruction) {
    const std::vector<Domain> state = states_.of(instruction);
    if (instruction.num_operands() == 1) return AskLeaves(*instruction.operand(0), state);
    for (size_t i = 0; i < state.size() && static_cast<int>(i) < instruction.num_operands(); ++i) {
      AskLeaf(*instruction.operand(i), 0, state[i]);
    }
  }

  // Asks for the domains of ops that are not defined everywhere.
  void VisitSource(const Instruction& instruction) {
    const auto inexact = [&] {
      return instruction.shape().IsArray() && IsFloat(instruction.shape().element_type());
    };
    switch (instruction.opcode()) {
      case Opcode::kSqrt:
      case Opcode::kRsqrt:
      case Opcode::kLog:
        return inexact() ? Ask(instruction.operand(0), kPositive) : void();
      case Opcode::kLog1p:
        return inexact() ? Ask(instruction.operand(0), kBelowOne) : void();
      case Opcode::kDivide:
      case Opcode::kRemainder:
        return inexact() ? Ask(instruction.operand(1), kPositive) : void();
      case Opcode::kPower: {
        const std::optional<double> exponent = SplatValue(instruction.operand(1));
        const bool whole = exponent.has_value() && *exponent >= 0 && std::floor(*exponent) == *exponent;
        return inexact() && !whole ? Ask(instruction.operand(0), kPositive) : void();
      }
      case Opcode::kBatchNormInference:
        return Ask(instruction.operand(4), kPositive);
      case Opcode::kBatchNormGrad:
        return Ask(instruction.operand(3), kPositive);
      case Opcode::kCholesky:
      case Opcode::kTriangularSolve:
        return Ask(instruction.operand(0), kPositiveDefinite);
      case Opcode::kCustomCall: {
        const absl::string_view target = instruction.custom_call_target();
        const bool solves = absl::StrContains(target, "potrf") || absl::StrContains(target, "getrf") ||
                            absl::StrContains(target, "trsm") || target == "Cholesky" ||
                            target == "LuDecomposition";
        return solves && instruction.num_operands() > 0 ? Ask(instruction.operand(0), kPositiveDefinite)
                                                        : void();
      }
      default:
        return;
    }
  }

  static int Opposite(Domain domain) {
    return (domain & (kPositive | kBelowOne) ? kNegative : 0) | (domain & kNegative ? kPositive : 0);
  }

  void HandOn(const Instruction& instruction, Domain domain) {
    const int sign = domain & (kPositive | kNegative);
    const bool positive = (domain & kPositive) != 0 && IsPositiveAnyway(instruction);
    if (positive) domain &= ~kPositive;
    switch (instruction.opcode()) {
      // Ops that move or select values, or change their type.
      case Opcode::kConvert:
      case Opcode::kReducePrecision:
      case Opcode::kBroadcast:
      case Opcode::kReshape:
      case Opcode::kBitcast:
      case Opcode::kTranspose:
      case Opcode::kReverse:
      case Opcode::kSlice:
      case Opcode::kCopy:
      case Opcode::kOptimizationBarrier:
      case Opcode::kDomain:
      case Opcode::kDynamicSlice:
      case Opcode::kGather:
      case Opcode::kReduceWindow:
      case Opcode::kReduce:
      case Opcode::kAddDependency:
      case Opcode::kSetDimensionSize:
        return Ask(instruction.operand(0), domain);
      case Opcode::kConcatenate:
      case Opcode::kAllReduce:
      case Opcode::kAllGather:
      case Opcode::kReduceScatter:
      case Opcode::kAllToAll:
      case Opcode::kCollectiveBroadcast:
      case Opcode::kCollectivePermute:
      case Opcode::kMinimum:
        for (const Instruction* operand : instruction.operands()) Ask(operand, domain);
        return;
      case Opcode::kPad:
      case Opcode::kDynamicUpdateSlice:
        Ask(instruction.operand(0), domain);
        return Ask(instruction.operand(1), domain);
      case Opcode::kSelect:
        Ask(instruction.operand(1), domain);
        return Ask(instruction.operand(2), domain);
      case Opcode::kScatter:
        return Ask(instruction.operand(0), domain);
      case Opcode::kCustomCall:
        if (instruction.num_operands() == 1 &&
            instruction.shape().Compatible(instruction.operand(0)->shape())) {
          Ask(instruction.operand(0), domain);
        }
        return;
      case Opcode::kClamp:
        return Ask(instruction.operand(1), domain);
      case Opcode::kMaximum:
        return HandOnMaximum(instruction, domain);
      case Opcode::kNegate:
        return Ask(instruction.operand(0), Opposite(domain));
      case Opcode::kAdd:
        return HandOnSum(instruction, domain);
      case Opcode::kSubtract:
        return HandOnDifference(instruction, domain);
      case Opcode::kMultiply:
      case Opcode::kDivide:
        return HandOnProduct(instruction, domain);
      case Opcode::kDot:
        Ask(instruction.operand(0), domain & kPositive);
        return Ask(instruction.operand(1), domain & kPositive);
      case Opcode::kSqrt:
      case Opcode::kCbrt:
      case Opcode::kTanh:
      case Opcode::kExpm1:
      case Opcode::kSinh:
      case Opcode::kErf:
        return Ask(instruction.operand(0), domain & (sign | kBelowOne));
      case Opcode::kExp:
        return domain & kBelowOne ? Ask(instruction.operand(0), kNegative) : void();
      case Opcode::kLog1p:
        return sign & kPositive ? Ask(instruction.operand(0), kPositive) : void();
      case Opcode::kPower: {
        const std::optional<double> base = SplatValue(instruction.operand(0));
        if (!(domain & kBelowOne)) return;
        return base.has_value() && *base > 0 && *base < 1 ? Ask(instruction.operand(1), kPositive)
                                                          : Ask(instruction.operand(0), kBelowOne);
      }
      default:
        return;
    }
  }

  // Asks it of all operands, unless a positive constant already makes the maximum positive.
  void HandOnMaximum(const Instruction& instruction, Domain domain) {
    for (const Instruction* operand : instruction.operands()) {
      const std::optional<double> value = SplatValue(operand);
      if (value.has_value() && *value > 0 && domain == kPositive) return;
    }
    for (const Instruction* operand : instruction.operands()) Ask(operand, domain);
  }

  // A sum has the sign of its addends, if they agree; a sum of positive definite matrices is positive
  // definite.
  void HandOnSum(const Instruction& instruction, Domain domain) {
    for (const Instruction* operand : instruction.operands()) {
      Ask(operand, domain & (kPositive | kNegative | kPositiveDefinite));
    }
  }

  // 1 - x is positive for x below 1, x + 1 = x - (-1) for positive x; other differences may have any sign.
  void HandOnDifference(const Instruction& instruction, Domain domain) {
    const std::optional<double> left = SplatValue(instruction.operand(0)),
                                right = SplatValue(instruction.operand(1));
    if (left.has_value() && *left >= 1 && (domain & (kPositive | kBelowOne))) {
      Ask(instruction.operand(1), kBelowOne);
    }
    if (left.has_value() && *left <= 0) Ask(instruction.operand(1), Opposite(domain));
    if (right.has_value() && *right <= 0) Ask(instruction.operand(0), domain & kPositive);
    if (right.has_value() && *right >= 0) Ask(instruction.operand(0), domain & kNegative);
  }

  void HandOnProduct(const Instruction& instruction, Domain domain) {
    const Instruction *a = instruction.operand(0), *b = instruction.operand(1);
    const bool product = instruction.opcode() == Opcode::kMultiply;
    if (product && a == b) return Ask(a, domain & kBelowOne);
    const std::optional<double> left = SplatValue(a), right = SplatValue(b);
    const auto one_side = [&](const Instruction* other, double value, bool small) {
      if (value < 0) return Ask(other, Opposite(domain & ~kPositiveDefinite));
      Ask(other, domain & (kPositive | kNegative | kPositiveDefinite | (small ? kBelowOne : 0)));
    };
    if (left.has_value()) return one_side(b, *left, product && *left <= 1);
    if (right.has_value()) return one_side(a, *right, product ? *right <= 1 : *right >= 1);
    if (domain & kPositive) {
      Ask(a, kPositive);
      Ask(b, kPositive);
    }
    if (domain & kNegative) {
      Ask(a, kNegative);
      Ask(b, kPositive);
    }
    if (product && (domain & kBelowOne)) {
      Ask(a, kBelowOne);
      Ask(b, kBelowOne);
    }
  }

  LeafStates<Domain> states_;
  bool changed_ = false;
};

}  // namespace

std::vector<std::vector<Domain>> ArgumentDomains(const Module& module) {
  Analysis analysis(module);
  std::vector<std::vector<Domain>> domains;
  for (const Instruction* parameter : module.entry()->parameters())
    domains.push_back(analysis.of(*parameter));
  return domains;
}

}  // namespace toroid
