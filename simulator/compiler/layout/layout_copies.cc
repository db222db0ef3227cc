#include "simulator/compiler/layout/layout_copies.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/program/elementwise.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {

Instruction* LayoutCopies::As(Instruction* value, const Dims& order, bool is_written) {
  if (!value->shape().IsArray() || value->shape().rank() == 0) return value;
  if (!Known(value)) {
    Settle(value, order);
    return value;
  }
  if (LiesAlike(value->shape(), OrderOf(value), order)) return value;
  if (state_.IsFlexible(value) && !is_written) return value;
  const std::pair<const Instruction*, Dims> key = {value, SizedOrder(value->shape(), order)};
  if (const auto known = copies_.find(key); known != copies_.end()) return known->second;
  Shape shape = value->shape();
  SetOrder(order, &shape);
  // An argument that nobody else reads is rounded as it is copied.
  const bool rounds =
      value->opcode() == Opcode::kConvert && value->operand(0)->opcode() == Opcode::kParameter &&
      state_.users.users(*value->operand(0)).size() == 1 && Decides(Rule::kArgumentsRoundedAsCopied, *value);
  Instruction* copy = rounds ? computation_->Add(Opcode::kConvert, shape, {value->operand(0)})
                             : computation_->Add(Opcode::kCopy, shape, {value});
  copy->set_metadata(value->metadata());
  copies_[key] = copy;
  in_order_.emplace_back(value, copy);
  return copy;
}

void LayoutCopies::RoundCopies() {
  const UserMap users(*computation_);
  const auto rounds = [](const Instruction* user) {
    const auto& precision = user->attrs().precision_config();
    return (user->opcode() == Opcode::kDot || user->opcode() == Opcode::kConvolution) &&
           precision.algorithm() == xla::PrecisionConfig::ALG_UNSET &&
           absl::c_all_of(precision.operand_precision(),
                          [](int p) { return p == xla::PrecisionConfig::DEFAULT; });
  };
  if (!IsOn(Rule::kCopiesRounded)) return;
  for (const auto& [value, copy] : in_order_) {
    if (copy->opcode() != Opcode::kCopy || copy->shape().element_type() != xla::F32 ||
        copy->operand(0) != value)
      continue;
    const auto readers = users.users(*copy);
    if (readers.empty() || !absl::c_all_of(readers, rounds)) continue;
    if (SizedOrder(copy->shape(), copy->shape().MinorToMajor()).front() ==
        SizedOrder(copy->shape(), OrderOf(value)).front())
      continue;
    Shape shape = copy->shape();
    shape.set_element_type(xla::BF16);
    Instruction* rounded = computation_->Add(Opcode::kConvert, shape, {copy->operand(0)});
    rounded->set_metadata(copy->metadata());
    MarkDecided(Rule::kCopiesRounded, rounded);
    for (Instruction* reader : readers) {
      for (int k = 0; k < reader->num_operands(); ++k) {
        if (reader->operand(k) == copy) reader->set_operand(k, rounded);
      }
    }
  }
}

void LayoutCopies::Settle(Instruction* value, const Dims& order) {
  std::vector<std::pair<Instruction*, Dims>> todo = {{value, order}};
  while (!todo.empty()) {
    auto [op, now] = std::move(todo.back());
    todo.pop_back();
    if (Known(op) || !op->shape().IsArray()) continue;
    orders_[op->index()] = now;
    state_.flexible[op->index()] = true;
    switch (op->opcode()) {
      case Opcode::kBroadcast: {
        Instruction* from = op->operand(0);
        // As its dimensions follow each other in the result.
        Dims own;
        for (const int64_t d : now) {
          for (int64_t k = 0; k < from->shape().rank(); ++k) {
            if (op->dimensions()[k] == d) own.push_back(k);
          }
        }
        if (static_cast<int>(own.size()) != from->shape().rank()) break;
        Instruction* made = from;
        while (made->opcode() == Opcode::kReshape &&
               SameButUnitDims(made->operand(0)->shape(), made->shape())) {
          made = made->operand(0);
        }
        const bool is_written = IsElementwise(*made) && made->shape().rank() > 1;
        if (!Known(from) && !Known(made) && is_written) {
          // Written before it is spread: as it is made best, or else as it is read.
          const Dims read = OrderThroughReshape(from->shape(), made->shape(), own)
                                .value_or(LeastPaddingOrder(made->shape(), tiling_, true));
          Settle(made,
                 NaturalOrder(
                     made,
                     PadsLittle(made->shape(), read) ? read : LeastPaddingOrder(made->shape(), tiling_, true),
                     tiling_));
          if (!Known(from)) {
            orders_[from->index()] = OrderThroughReshape(made->shape(), from->shape(), OrderOf(made))
                                         .value_or(RowMajorOrder(from->shape()));
          }
        }
        if (!Known(from)) {
          todo.push_back({from, own});
        } else if (from->shape().rank() > 0) {
          Need(op, 0, own, is_written);
        }
        break;
      }
      case Opcode::kTranspose: {
        Dims own;
        for (const int64_t d : now) own.push_back(op->dimensions()[d]);
        todo.push_back({op->operand(0), own});
        break;
      }
      case Opcode::kReshape: {
        Instruction* from = op->operand(0);
        Dims order =
            OrderThroughReshape(op->shape(), from->shape(), now).value_or(RowMajorOrder(from->shape()));
        // Pieces of lanes would each fill a tile.
        if (!PadsLittle(from->shape(), order)) order = LeastPaddingOrder(from->shape(), tiling_);
        todo.push_back({from, order});
        break;
      }
      default:
        for (Instruction* operand : op->operands()) {
          if (operand->shape().dims() == op->shape().dims()) todo.push_back({operand, now});
        }
    }
  }
}

}  // namespace toroid
