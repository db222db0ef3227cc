// Operations of Shardy, as the custom calls that HLO dumps hold in their place.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/base/status.h"
#include "hlo/stablehlo/body_converter.h"
#include "hlo/stablehlo/op_rows.h"

namespace toroid {
namespace {

Instruction* AddCustomCall(OpConversion& op, absl::string_view target, const Shape& shape,
                           absl::Span<Instruction* const> operands, bool side_effect,
                           std::initializer_list<std::pair<absl::string_view, std::string>> attributes) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  attrs->set_custom_call_target(std::string(target));
  attrs->set_custom_call_has_side_effect(side_effect);
  attrs->set_custom_call_api_version(xla::API_VERSION_ORIGINAL);
  Instruction* call = op.Add(Opcode::kCustomCall, shape, operands, attrs);
  auto* frontend = op.module()->New<xla::FrontendAttributes>();
  for (const auto& [key, value] : attributes)
    (*frontend->mutable_map())[absl::StrCat("xla.sdy.", key)] = value;
  call->set_frontend_attributes(frontend);
  return call;
}

std::string Text(OpConversion& op, absl::string_view key) {
  const MlirAttribute* attribute = op.Find(key);
  return attribute == nullptr ? "" : std::string(attribute->text);
}

absl::Status ConvertConstraint(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(1));
  std::string sharding = Text(op, "sharding");
  absl::string_view body = sharding;
  if (!absl::ConsumePrefix(&body, "#sdy.sharding<")) return op.Error("its sharding is #sdy.sharding<..>");
  ASSIGN_OR_RETURN(const Shape shape, op.ResultShape());
  return op.Finish(AddCustomCall(op, "Sharding", shape, op.operands(), false,
                                 {{"sharding", absl::StrCat("#sdy.sharding_per_value<[<", body, "]>")}}));
}

absl::Status ConvertGroup(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(1));
  ASSIGN_OR_RETURN(const int64_t id, op.Integer("group_id"));
  AddCustomCall(op, "xla.sdy.ShardingGroup", Shape::Tuple({}), op.operands(), true,
                {{"sharding_group_id", absl::StrCat(id, " : i64")}});
  return absl::OkStatus();
}

absl::Status ConvertBarrier(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(1));
  static constexpr absl::string_view kDirections[] = {"NONE", "FORWARD", "BACKWARD", "BOTH"};
  ASSIGN_OR_RETURN(const std::string name, op.Keyword("allowed_direction"));
  ASSIGN_OR_RETURN(const Shape shape, op.ResultShape());
  for (int i = 0; i < 4; ++i) {
    if (name != kDirections[i] && name != absl::StrCat(i)) continue;
    return op.Finish(AddCustomCall(op, "xla.sdy.PropagationBarrier", shape, op.operands(), true,
                                   {{"allowed_direction", absl::StrCat(i, " : i32")}}));
  }
  return op.Error("allowed_direction is NONE, FORWARD, BACKWARD or BOTH");
}

// The values of an array or of a tuple.
std::vector<Instruction*> Elements(OpConversion& op, Instruction* value, size_t count) {
  if (count == 1) return {value};
  std::vector<Instruction*> elements;
  for (size_t i = 0; i < count; ++i) {
    xla::HloInstructionProto* attrs = op.NewAttrs();
    attrs->set_tuple_index(static_cast<int64_t>(i));
    elements.push_back(op.Add(Opcode::kGetTupleElement, value->shape().tuple_shape(i), {value}, attrs));
  }
  return elements;
}

absl::Status ConvertManualComputation(OpConversion& op) {
  if (op.op().regions.size() != 1) return op.Error("it has one region");
  const MlirRegion& region = *op.op().regions[0];
  BodyConverter body(&op.body().state(), op.body().state().AddComputation("xla.sdy.manual_computation_body"));
  std::vector<Shape> shapes;
  for (const MlirValue& argument : region.arguments) {
    shapes.push_back(argument.type.shape);
    body.AddParameter(argument);
  }
  if (static_cast<int>(shapes.size()) != op.num_operands()) return op.Error("its region takes the operands");
  ASSIGN_OR_RETURN(const std::vector<Instruction*> results, body.Convert(region));
  body.SetRoot(results);
  if (results.size() != op.op().results.size()) return op.Error("its region gives the results");
  std::vector<Instruction*> locals;
  if (!shapes.empty()) {
    const Shape local = shapes.size() == 1 ? shapes[0] : Shape::Tuple(shapes);
    Instruction* cut =
        AddCustomCall(op, "xla.sdy.GlobalToLocalShape", local, op.operands(), true,
                      {{"in_shardings", Text(op, "in_shardings")}, {"manual_axes", Text(op, "manual_axes")}});
    locals = Elements(op, cut, shapes.size());
  }
  Instruction* call =
      op.Add(Opcode::kCall, body.computation()->root()->shape(), locals, nullptr, {body.computation()});
  auto* frontend = op.module()->New<xla::FrontendAttributes>();
  (*frontend->mutable_map())["inlineable"] = "false";
  call->set_frontend_attributes(frontend);
  if (results.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Shape global, op.ResultShape());
  return op.Finish(AddCustomCall(
      op, "xla.sdy.LocalToGlobalShape", global, Elements(op, call, results.size()), true,
      {{"out_shardings", Text(op, "out_shardings")}, {"manual_axes", Text(op, "manual_axes")}}));
}

// The sharding of value i in #sdy.sharding_per_value<[<..>, <..>]>, as one of one value; "" if there is none.
std::string ShardingOfValue(OpConversion& op, absl::string_view key, size_t i) {
  const std::string text = Text(op, key);
  int depth = 0;
  size_t begin = 0, number = 0;
  for (size_t at = text.find('['); at < text.size(); ++at) {
    if (text[at] == '<' && depth++ == 0) begin = at;
    if (text[at] != '>' || --depth != 0) continue;
    if (number++ == i) {
      return absl::StrCat("#sdy.sharding_per_value<[", text.substr(begin, at + 1 - begin), "]>");
    }
  }
  return "";
}

// The body stands in the place of the operation, its shardings as constraints of operands and results.
absl::Status ConvertNamedComputation(OpConversion& op) {
  if (op.op().regions.size() != 1) return op.Error("it has one region");
  const MlirRegion& region = *op.op().regions[0];
  if (static_cast<int>(region.arguments.size()) != op.num_operands())
    return op.Error("its region takes the operands");
  const auto constrained = [&](Instruction* value, absl::string_view key, size_t i) {
    const std::string sharding = ShardingOfValue(op, key, i);
    if (sharding.empty()) return value;
    return AddCustomCall(op, "Sharding", value->shape(), {value}, false, {{"sharding", sharding}});
  };
  for (size_t i = 0; i < region.arguments.size(); ++i) {
    op.body().Bind(&region.arguments[i], constrained(op.operand(static_cast<int>(i)), "in_shardings", i));
  }
  ASSIGN_OR_RETURN(std::vector<Instruction*> results, op.body().Convert(region));
  for (size_t i = 0; i < results.size(); ++i) results[i] = constrained(results[i], "out_shardings", i);
  return op.FinishEach(results);
}

constexpr OpRow kRows[] = {
    {"sdy.manual_computation", Opcode::kCall, ConvertManualComputation},
    {"sdy.named_computation", Opcode::kUnknown, ConvertNamedComputation},
    {"sdy.propagation_barrier", Opcode::kCustomCall, ConvertBarrier},
    {"sdy.sharding_constraint", Opcode::kCustomCall, ConvertConstraint},
    {"sdy.sharding_group", Opcode::kCustomCall, ConvertGroup},
};

}  // namespace

absl::Span<const OpRow> ShardyRows() { return kRows; }

}  // namespace toroid
