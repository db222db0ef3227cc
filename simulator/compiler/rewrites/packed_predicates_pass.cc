#include "simulator/compiler/rewrites/packed_predicates_pass.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/analysis/work.h"
#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/replace_instructions.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/walk.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

// Of the largest word.
constexpr int64_t kMostBits = 32;

bool IsSpread(const Instruction& op) {
  return op.opcode() == Opcode::kBroadcast || op.opcode() == Opcode::kConstant ||
         op.opcode() == Opcode::kIota || op.opcode() == Opcode::kParameter;
}

// The product behind which `predicate` is found element by element; null if there is none, if it waits for more than one, or
// takes so many ops that it is found anew.
const Instruction* ProductOf(const Instruction& predicate) {
  const Instruction* product = nullptr;
  int ops = 0;
  std::vector<const Instruction*> todo = {&predicate};
  for (size_t next = 0; next < todo.size(); ++next) {
    ops += todo[next]->opcode() != Opcode::kConvert;
    if (ops > Thresholds().most_predicate_ops()) return nullptr;
    for (const Instruction* operand : todo[next]->operands()) {
      if (absl::c_linear_search(todo, operand)) continue;
      if (IsMatrixOp(operand->opcode()) && operand->shape().dims() == predicate.shape().dims()) {
        if (product != nullptr && product != operand) return nullptr;
        product = operand;
      } else if (IsElementwise(*operand) && operand->shape().dims() == predicate.shape().dims()) {
        todo.push_back(operand);
      } else if (IsSpread(*operand)) {
        // Of arguments and constants, or of what was there before the product.
        const Instruction* from = operand;
        while (from->opcode() == Opcode::kBroadcast || from->opcode() == Opcode::kReshape)
          from = from->operand(0);
        if (from->num_operands() > 0) return nullptr;
      } else {
        return nullptr;
      }
    }
  }
  return product;
}

// What a reduction packs into words; null if it does not.
const Instruction* PredicateOf(const Instruction& op) {
  if (op.opcode() != Opcode::kReduce || op.num_operands() != 2 || op.called().empty() ||
      op.called(0)->root()->opcode() != Opcode::kOr) {
    return nullptr;
  }
  const Instruction* shifted = op.operand(0);
  if (shifted->opcode() == Opcode::kConvert) shifted = shifted->operand(0);
  if (shifted->opcode() != Opcode::kShiftLeft || shifted->operand(0)->opcode() != Opcode::kConvert)
    return nullptr;
  const Instruction* predicate = shifted->operand(0)->operand(0);
  return predicate->shape().element_type() == xla::PRED ? predicate : nullptr;
}

// Made by something else than element by element from arguments and the product.
bool ComesFromElsewhere(const Instruction& value, const Instruction& product) {
  constexpr WalkLimit kProducersOfPredicate = {"producers of a predicate", 64};
  for (Walk walk(&value, kProducersOfPredicate); const Instruction* at = walk.Next();) {
    const Instruction* op = at;
    if (op == &product || op->num_operands() == 0) continue;
    if (!IsElementwise(*op) && op->opcode() != Opcode::kBroadcast && op->opcode() != Opcode::kReshape)
      return true;
    for (const Instruction* operand : op->operands()) {
      walk.Add(operand);
    }
  }
  return false;
}

// Some reader of the predicate stands behind another product or sum, or is one.
bool IsNeededLater(const Instruction& predicate, const Instruction& product, const UserMap& users) {
  constexpr WalkLimit kReadersOfPredicate = {"readers of a predicate", 64};
  for (Walk walk(&predicate, kReadersOfPredicate); const Instruction* at = walk.Next();) {
    for (const Instruction* user : users.users(*at)) {
      if (user->opcode() == Opcode::kTuple || walk.Has(user)) continue;
      if (!IsElementwise(*user)) return true;
      for (const Instruction* operand : user->operands()) {
        if (!walk.Has(operand) && ComesFromElsewhere(*operand, product)) return true;
      }
      walk.Add(user);
    }
  }
  return false;
}

// The dimension that becomes bits; -1 if none can. `sublanes`: rows of a tile; `unit`: rows that fill the matrix units.
int64_t DimensionOfBits(const Instruction& product, int64_t sublanes, int64_t unit) {
  const Shape& shape = product.shape();
  std::vector<bool> is_of_tile(shape.rank(), false);
  if (product.opcode() == Opcode::kConvolution) {
    // Features along lanes, images along rows.
    const ConvolutionView view(product);
    is_of_tile[view.output_batch()] = is_of_tile[view.output_feature()] = true;
  } else {
    // Lanes are along the last dimension, rows along the one before it, or along the longest where that fills no tile, or
    // does not fill the units as another does.
    const int64_t last = shape.rank() - 1;
    int64_t rows = last - 1;
    const int64_t least = shape.dim(rows) < sublanes ? sublanes : unit;
    if (shape.dim(rows) > 1 && shape.dim(rows) < least) {
      for (int64_t d = 0; d < last; ++d) {
        if (shape.dim(d) >= least && shape.dim(d) > shape.dim(rows)) rows = d;
      }
    }
    is_of_tile[last] = is_of_tile[rows] = true;
  }
  int64_t best = -1;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (is_of_tile[d] || shape.dim(d) < 2 || shape.dim(d) > kMostBits) continue;
    if (best < 0 || shape.dim(d) > shape.dim(best)) best = d;
  }
  return best;
}

absl::StatusOr<Instruction*> PackAndUnpack(const Instruction& predicate, int64_t d) {
  InstructionBuilder b(predicate.computation());
  b.set_metadata(predicate.metadata());
  const Dims dims(predicate.shape().dims().begin(), predicate.shape().dims().end());
  const int64_t bits = dims[d];
  const PrimitiveType word = bits <= 8 ? xla::U8 : bits <= 16 ? xla::U16 : xla::U32;
  std::vector<Value> operands(predicate.operands().begin(), predicate.operands().end());
  // The predicate itself is replaced.
  Value found = b.Clone(predicate, predicate.shape(), operands);
  Value shifted = b.Binary(Opcode::kShiftLeft, b.Convert(found, xla::U32), b.Iota(xla::U32, dims, d));
  Value words = b.Reduce(Opcode::kOr, b.Convert(shifted, word), {d});
  Value wide = b.Convert(b.BroadcastOver(words, dims, {d}), xla::U32);
  Value bit = b.Binary(Opcode::kShiftLeft, b.Full(xla::U32, dims, 1), b.Iota(xla::U32, dims, d));
  Value again = b.Convert(b.And(wide, bit), xla::PRED);
  RETURN_IF_ERROR(b.status());
  return again;
}

}  // namespace

bool PacksPredicates(const Instruction& op) { return PredicateOf(op) != nullptr; }

const Instruction* ProductOfPacked(const Instruction& op) {
  const Instruction* predicate = PredicateOf(op);
  return predicate == nullptr ? nullptr : ProductOf(*predicate);
}

const Instruction* WordsOf(const Instruction& op) {
  if (op.opcode() != Opcode::kConvert || op.shape().element_type() != xla::PRED ||
      op.operand(0)->opcode() != Opcode::kAnd)
    return nullptr;
  const Instruction* wide = op.operand(0)->operand(0);
  while (wide->opcode() == Opcode::kConvert || wide->opcode() == Opcode::kBroadcast) wide = wide->operand(0);
  return PacksPredicates(*wide) ? wide : nullptr;
}

absl::StatusOr<bool> PackedPredicatesPass::Run(std::unique_ptr<Module>* module) {
  if (!IsOn(Rule::kPredicatesAsBits)) return false;
  const Computation* of = nullptr;
  std::unique_ptr<UserMap> users;
  ASSIGN_OR_RETURN(const bool changed,
                   ReplaceEach(module->get(), [&](Instruction* op) -> absl::StatusOr<Instruction*> {
                     if (op->opcode() != Opcode::kCompare || op->shape().rank() < 3) return nullptr;
                     if (op->computation() != of) {
                       of = op->computation();
                       users = std::make_unique<UserMap>(*of);
                     }
                     const Instruction* product = ProductOf(*op);
                     if (product == nullptr || op == of->root()) return nullptr;
                     const int64_t d = DimensionOfBits(*product, sublanes_, unit_);
                     if (d < 0 || !IsNeededLater(*op, *product, *users)) return nullptr;
                     ASSIGN_OR_RETURN(Instruction * again, PackAndUnpack(*op, d));
                     return Marked(Rule::kPredicatesAsBits, again);
                   }));
  // The reducers' computations stand before those that call them.
  if (changed) (*module)->RemoveUnreachableComputations();
  return changed;
}

}  // namespace toroid
