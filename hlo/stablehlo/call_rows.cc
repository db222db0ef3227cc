#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/stablehlo/body_converter.h"
#include "hlo/stablehlo/op_rows.h"

namespace toroid {
namespace {

absl::StatusOr<Computation*> Callee(OpConversion& op, const std::string& name) {
  const auto& functions = op.body().state().functions;
  const auto it = functions.find(name);
  if (it != functions.end()) return it->second;
  return op.Error(absl::StrCat("the module has no function @", name));
}

absl::Status ConvertCall(OpConversion& op) {
  ASSIGN_OR_RETURN(const std::string name, op.String(op.Has("callee") ? "callee" : "decomposition"));
  ASSIGN_OR_RETURN(Computation * callee, Callee(op, name));
  return op.Finish(Opcode::kCall, nullptr, {callee});
}

// operand_layouts and result_layouts: minor to major.
absl::Status AddLayouts(OpConversion& op, xla::HloInstructionProto* attrs) {
  const MlirAttribute* layouts = op.Find("operand_layouts");
  if (layouts == nullptr) return absl::OkStatus();
  attrs->set_constrain_layout(true);
  for (int i = 0; i < op.num_operands(); ++i) {
    xla::ShapeProto* shape = attrs->add_operand_shapes_with_layout();
    op.operand(i)->shape().ToProto(shape);
    if (!op.operand(i)->shape().IsArray() || i >= static_cast<int>(layouts->elements.size())) continue;
    ASSIGN_OR_RETURN(const std::vector<int64_t> order,
                     op.IntegersOf(layouts->elements[i], "operand_layouts"));
    if (static_cast<int>(order.size()) != op.operand(i)->shape().rank())
      return op.Error("a layout names all dimensions");
    shape->mutable_layout()->clear_minor_to_major();
    for (const int64_t d : order) shape->mutable_layout()->add_minor_to_major(d);
  }
  return absl::OkStatus();
}

absl::Status AddAliases(OpConversion& op, xla::HloInstructionProto* attrs) {
  const MlirAttribute* aliases = op.Find("output_operand_aliases");
  if (aliases == nullptr) return absl::OkStatus();
  for (const MlirAttribute& alias : aliases->elements) {
    MlirOperation holder;
    holder.attributes.Set("alias", alias);
    const OpConversion reader(holder, Opcode::kUnknown, &op.body());
    ASSIGN_OR_RETURN(const MlirAttribute fields, reader.Struct("alias"));
    auto* out = attrs->add_output_operand_aliasing();
    RETURN_IF_ERROR(op.IntegersOfField(fields, "output_tuple_indices", out->mutable_output_shape_index()));
    RETURN_IF_ERROR(op.IntegersOfField(fields, "operand_tuple_indices", out->mutable_operand_shape_index()));
    ASSIGN_OR_RETURN(const int64_t index, op.IntegerOfField(fields, "operand_index", 0));
    out->set_operand_index(index);
  }
  return absl::OkStatus();
}

// ApproxTopK(values, indices, their initial values) where the target has no faster way: sorts, and keeps the first top_k. Null
// if the target has one.
absl::StatusOr<Computation*> OrderOfExactTopK(OpConversion& op, const MlirAttribute& config) {
  ASSIGN_OR_RETURN(const int64_t is_fallback, op.IntegerOfField(config, "is_fallback", 0));
  if (is_fallback == 0) return nullptr;
  const MlirAttribute* names = op.Find("called_computations");
  if (names == nullptr || names->elements.size() != 1)
    return op.Error("it calls one function, which compares");
  return Callee(op, names->elements[0].string);
}

absl::Status ConvertExactTopK(OpConversion& op, const MlirAttribute& config, Computation* order) {
  RETURN_IF_ERROR(op.CheckArrays());
  ASSIGN_OR_RETURN(const int64_t dimension, op.IntegerOfField(config, "reduction_dim", -1));
  ASSIGN_OR_RETURN(const int64_t k, op.IntegerOfField(config, "top_k", -1));
  const int arrays = op.num_operands() / 2;
  if (arrays == 0 || op.num_operands() % 2 != 0) return op.Error("each array has an initial value");
  InstructionBuilder b(op.body().computation());
  b.set_metadata(op.body().state().metadata.Of(op.op().location));
  const std::vector<Value> values(op.operands().begin(), op.operands().begin() + arrays);
  const Value sorted = b.Sort(values, dimension, order, /*is_stable=*/false);
  std::vector<Instruction*> first;
  for (int i = 0; i < arrays && b.status().ok(); ++i) {
    first.push_back(b.SliceAlong(arrays == 1 ? sorted : b.GetTupleElement(sorted, i), dimension, 0, k));
  }
  if (!b.status().ok()) return op.Error(b.status().message());
  return op.FinishEach(first);
}

absl::Status ConvertCustomCall(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  ASSIGN_OR_RETURN(const std::string target, op.String("call_target_name"));
  attrs->set_custom_call_target(target);
  // Writers of older StableHLO spell some operations of HLO so.
  if (target == "mhlo.erf") return op.Finish(Opcode::kErf);
  if (target == "ApproxTopK" && op.Has("mhlo.backend_config")) {
    ASSIGN_OR_RETURN(const MlirAttribute fields, op.Struct("mhlo.backend_config"));
    ASSIGN_OR_RETURN(Computation * order, OrderOfExactTopK(op, fields));
    if (order != nullptr) return ConvertExactTopK(op, fields, order);
  }
  const MlirAttribute* config = op.Find("backend_config");
  if (config == nullptr || (config->kind == MlirAttribute::Kind::kString && config->string.empty())) {
    if (op.Has("mhlo.backend_config")) config = op.Find("mhlo.backend_config");
  }
  if (config != nullptr) {
    attrs->set_backend_config(config->kind == MlirAttribute::Kind::kString ? config->string
                                                                           : std::string(config->text));
  }
  attrs->set_custom_call_has_side_effect(op.Flag("has_side_effect"));
  ASSIGN_OR_RETURN(const std::vector<int64_t> version, op.IntegersOr("api_version", 1, 1));
  if (!xla::CustomCallApiVersion_IsValid(static_cast<int>(version[0])))
    return op.Error("an unknown api_version");
  attrs->set_custom_call_api_version(static_cast<xla::CustomCallApiVersion>(version[0]));
  RETURN_IF_ERROR(AddLayouts(op, attrs));
  RETURN_IF_ERROR(AddAliases(op, attrs));
  std::vector<Computation*> called;
  if (const MlirAttribute* names = op.Find("called_computations")) {
    for (const MlirAttribute& name : names->elements) {
      ASSIGN_OR_RETURN(called.emplace_back(), Callee(op, name.string));
    }
  }
  return op.Finish(Opcode::kCustomCall, attrs, called);
}

constexpr OpRow kRows[] = {
    {"func.call", Opcode::kCall, ConvertCall},
    {"stablehlo.composite", Opcode::kCall, ConvertCall},
    {"stablehlo.custom_call", Opcode::kCustomCall, ConvertCustomCall},
};

}  // namespace

absl::Span<const OpRow> CallRows() { return kRows; }

}  // namespace toroid
