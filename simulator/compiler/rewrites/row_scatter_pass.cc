#include "simulator/compiler/rewrites/row_scatter_pass.h"

#include <optional>

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/replace_instructions.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

// The dimension along which the rows of a scatter's operand are written; nullopt if a row may be written twice, or in
// pieces of more than one element.
std::optional<int64_t> RowDimension(const Instruction& op) {
  if (op.opcode() != Opcode::kScatter || op.num_operands() != 3 || !op.shape().IsArray() ||
      op.called().empty()) {
    return std::nullopt;
  }
  const ScatterView view(op);
  const Shape &indices = op.operand(1)->shape(), &updates = op.operand(2)->shape();
  if (!view.update_window_dims().empty() || view.inserted_window_dims().size() != 1 ||
      view.scatter_dims_to_operand_dims().size() != 1 ||
      view.scatter_dims_to_operand_dims()[0] != view.inserted_window_dims()[0] ||
      ByteWidth(indices.element_type()) < 4) {
    return std::nullopt;
  }
  // All other dimensions are batch, in order.
  const int64_t row = view.inserted_window_dims()[0], batch = op.shape().rank() - 1;
  const auto of_operand = view.operand_batching_dims(), of_indices = view.indices_batching_dims();
  if (static_cast<int64_t>(of_operand.size()) != batch || static_cast<int64_t>(of_indices.size()) != batch)
    return std::nullopt;
  for (int64_t k = 0; k < batch; ++k) {
    if (of_operand[k] != (k < row ? k : k + 1) || (k > 0 && of_indices[k] <= of_indices[k - 1]))
      return std::nullopt;
  }
  // One index, one update for each row.
  const int64_t rows = op.shape().NumElements() / std::max<int64_t>(1, op.shape().dim(row));
  if (op.shape().dim(row) == 0 || indices.NumElements() != rows || updates.NumElements() != rows)
    return std::nullopt;
  return row;
}

class Choice {
 public:
  Choice(Instruction* scatter, int64_t row) : scatter_(scatter), to_(scatter->computation()), row_(row) {}

  // Null if the combiner is more than one elementwise op, or its second argument.
  Instruction* Build() {
    const Instruction* root = scatter_->called(0)->root();
    const auto is_argument = [&](const Instruction* op, int64_t number) {
      return op->opcode() == Opcode::kParameter && op->parameter_number() == number;
    };
    const bool is_update = is_argument(root, 1);
    const bool combines = IsElementwise(root->opcode()) && root->num_operands() == 2 &&
                          root->shape().element_type() == scatter_->shape().element_type() &&
                          ((is_argument(root->operand(0), 0) && is_argument(root->operand(1), 1)) ||
                           (is_argument(root->operand(0), 1) && is_argument(root->operand(1), 0)));
    if (!is_update && !combines) return nullptr;
    const Shape& shape = scatter_->shape();
    Instruction* x = scatter_->operand(0);
    xla::HloInstructionProto* attrs;
    Instruction* index = PerRow(scatter_->operand(1));
    Shape numbers(index->shape().element_type(), shape.dims());
    Instruction* number = Add(Opcode::kIota, numbers, {}, &attrs);
    attrs->add_dimensions(row_);
    Instruction* is_written = Add(Opcode::kCompare, Shape(xla::PRED, shape.dims()), {number, index}, &attrs);
    attrs->set_comparison_direction("EQ");
    Instruction* value = PerRow(scatter_->operand(2));
    if (combines) {
      const bool x_first = is_argument(root->operand(0), 0);
      value = Add(root->opcode(), shape, {x_first ? x : value, x_first ? value : x}, &attrs);
    }
    return Add(Opcode::kSelect, shape, {is_written, value, x}, &attrs);
  }

 private:
  Instruction* Add(Opcode opcode, const Shape& shape, absl::Span<Instruction* const> operands,
                   xla::HloInstructionProto** attrs) {
    Instruction* added = to_->Add(opcode, shape, operands, attrs);
    added->set_metadata(scatter_->metadata());
    return added;
  }

  // One value for each row, spread over it.
  Instruction* PerRow(Instruction* values) {
    Dims rows;
    for (int64_t d = 0; d < scatter_->shape().rank(); ++d) {
      if (d != row_) rows.push_back(scatter_->shape().dim(d));
    }
    xla::HloInstructionProto* attrs;
    Instruction* flat = Add(Opcode::kReshape, Shape(values->shape().element_type(), rows), {values}, &attrs);
    Instruction* spread = Add(
        Opcode::kBroadcast, Shape(values->shape().element_type(), scatter_->shape().dims()), {flat}, &attrs);
    for (int64_t d = 0; d < scatter_->shape().rank(); ++d) {
      if (d != row_) attrs->add_dimensions(d);
    }
    return spread;
  }

  Instruction* scatter_;
  Computation* to_;
  const int64_t row_;
};

}  // namespace

absl::StatusOr<bool> RowScatterPass::Run(std::unique_ptr<Module>* module) {
  if (!IsOn(Rule::kScatteredRows)) return false;
  return ReplaceEach(module->get(), [](Instruction* op) -> Instruction* {
    const auto row = RowDimension(*op);
    return row ? Marked(Rule::kScatteredRows, Choice(op, *row).Build()) : nullptr;
  });
}

}  // namespace toroid
