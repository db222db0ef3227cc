#include <algorithm>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/stablehlo/body_converter.h"
#include "hlo/stablehlo/op_rows.h"

namespace toroid {
namespace {

// Values from outside that all regions together use; constants are made again inside.
absl::StatusOr<std::vector<const MlirValue*>> Captured(OpConversion& op) {
  std::vector<const MlirValue*> all;
  for (const auto& region : op.op().regions) {
    for (const MlirValue* value : CapturedValues(*region)) {
      const bool constant = value->owner != nullptr && value->owner->name == "stablehlo.constant";
      if (!constant && std::find(all.begin(), all.end(), value) == all.end()) all.push_back(value);
    }
  }
  return all;
}

Instruction* TupleOf(OpConversion& op, absl::Span<Instruction* const> values) {
  std::vector<Shape> shapes;
  for (const Instruction* value : values) shapes.push_back(value->shape());
  return op.Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), values);
}

// if and case: each branch takes a tuple of the outer values that the branches use.
absl::Status ConvertConditional(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(1));
  ASSIGN_OR_RETURN(const std::vector<const MlirValue*> captured, Captured(op));
  std::vector<Instruction*> values;
  for (const MlirValue* value : captured) {
    ASSIGN_OR_RETURN(values.emplace_back(), op.body().ValueOf(op.op(), *value));
  }
  std::vector<Instruction*> operands = {op.operand(0)};
  std::vector<Computation*> branches;
  Instruction* tuple = TupleOf(op, values);
  for (const auto& region : op.op().regions) {
    BodyConverter branch(&op.body().state(), op.body().state().AddComputation("region"));
    branch.AddTupleParameter(captured);
    ASSIGN_OR_RETURN(const std::vector<Instruction*> results, branch.Convert(*region));
    branch.SetRoot(results);
    branches.push_back(branch.computation());
    operands.push_back(tuple);
  }
  ASSIGN_OR_RETURN(const Shape shape, op.ResultShape());
  return op.Finish(op.Add(Opcode::kConditional, shape, operands, nullptr, branches));
}

// The state is the carried values, and behind them the outer values that the regions use.
absl::Status ConvertWhile(OpConversion& op) {
  if (op.op().regions.size() != 2) return op.Error("it has a condition and a body");
  ASSIGN_OR_RETURN(const std::vector<const MlirValue*> captured, Captured(op));
  std::vector<Instruction*> init(op.operands().begin(), op.operands().end());
  const size_t carried = init.size();
  for (const MlirValue* value : captured) {
    ASSIGN_OR_RETURN(init.emplace_back(), op.body().ValueOf(op.op(), *value));
  }
  std::vector<Computation*> parts;
  for (const auto& region : op.op().regions) {
    if (region->arguments.size() != carried) return op.Error("its regions take the carried values");
    std::vector<const MlirValue*> arguments;
    for (const MlirValue& argument : region->arguments) arguments.push_back(&argument);
    arguments.insert(arguments.end(), captured.begin(), captured.end());
    BodyConverter part(&op.body().state(), op.body().state().AddComputation("region"));
    part.AddTupleParameter(arguments);
    ASSIGN_OR_RETURN(std::vector<Instruction*> results, part.Convert(*region));
    if (parts.empty()) {
      if (results.size() != 1) return op.Error("its condition gives one value");
      part.computation()->set_root(results[0]);
    } else {
      for (const MlirValue* value : captured) {
        ASSIGN_OR_RETURN(results.emplace_back(), part.ValueOf(op.op(), *value));
      }
      part.computation()->set_root(part.Add(Opcode::kTuple, Shape(), results, nullptr));
      std::vector<Shape> shapes;
      for (const Instruction* result : results) shapes.push_back(result->shape());
      part.computation()->root()->mutable_shape() = Shape::Tuple(std::move(shapes));
    }
    parts.push_back(part.computation());
  }
  Instruction* tuple = TupleOf(op, init);
  Instruction* loop = op.Add(Opcode::kWhile, tuple->shape(), {tuple}, nullptr, {parts[1], parts[0]});
  if (op.op().results.size() != carried) return op.Error("it has one result for each carried value");
  op.body().BindTuple(&op.op(), loop);
  return op.body().state().Annotate(op.op().attributes, loop);
}

absl::Status ConvertBarrier(OpConversion& op) {
  if (op.num_operands() == 1) return op.Finish(Opcode::kOptimizationBarrier);
  Instruction* tuple = TupleOf(op, op.operands());
  return op.Finish(op.Add(Opcode::kOptimizationBarrier, tuple->shape(), {tuple}));
}

absl::Status ConvertGetTupleElement(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  ASSIGN_OR_RETURN(const int64_t index, op.Integer("index"));
  attrs->set_tuple_index(index);
  return op.Finish(Opcode::kGetTupleElement, attrs);
}

constexpr OpRow kRows[] = {
    {"stablehlo.after_all", Opcode::kAfterAll},
    {"stablehlo.case", Opcode::kConditional, ConvertConditional},
    {"stablehlo.create_token", Opcode::kAfterAll},
    {"stablehlo.get_tuple_element", Opcode::kGetTupleElement, ConvertGetTupleElement},
    {"stablehlo.if", Opcode::kConditional, ConvertConditional},
    {"stablehlo.optimization_barrier", Opcode::kOptimizationBarrier, ConvertBarrier},
    {"stablehlo.partition_id", Opcode::kPartitionId},
    {"stablehlo.replica_id", Opcode::kReplicaId},
    {"stablehlo.tuple", Opcode::kTuple},
    {"stablehlo.while", Opcode::kWhile, ConvertWhile},
};

}  // namespace

absl::Span<const OpRow> ControlFlowRows() { return kRows; }

}  // namespace toroid
