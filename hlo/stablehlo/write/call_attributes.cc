#include "hlo/stablehlo/write/call_attributes.h"

#include <map>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/io/sharding_text.h"
#include "hlo/stablehlo/write/dense_text.h"

namespace toroid {
namespace {

template <typename Fields>
std::string Dictionary(const Fields& fields) {
  return absl::StrCat("{",
                      absl::StrJoin(fields, ", ",
                                    [](std::string* out, const auto& field) {
                                      absl::StrAppend(out, SymbolText(field.first), " = ",
                                                      MlirString(field.second));
                                    }),
                      "}");
}

std::string FrontendText(const xla::FrontendAttributes& attributes) {
  const std::map<std::string, std::string> sorted(attributes.map().begin(), attributes.map().end());
  return absl::StrCat("mhlo.frontend_attributes = ", Dictionary(sorted));
}

// dense<[1, 0]> : tensor<2xindex>: from the dimension that changes slowest in steps to the fastest, as HLO lists them.
std::string LayoutText(const Shape& shape) {
  const Dims order = shape.MinorToMajor();
  return absl::StrCat("dense<", order.empty() ? "" : absl::StrCat("[", absl::StrJoin(order, ", "), "]"),
                      "> : tensor<", order.size(), "xindex>");
}

std::string ResultLayouts(const Shape& shape) {
  std::vector<std::string> layouts;
  if (shape.IsTuple()) {
    for (const Shape& element : shape.tuple_shapes()) layouts.push_back(LayoutText(element));
  } else {
    layouts.push_back(LayoutText(shape));
  }
  return absl::StrCat("[", absl::StrJoin(layouts, ", "), "]");
}

// One for each array: tuples are taken apart.
std::vector<std::string> LeafShardings(const xla::OpSharding& sharding) {
  if (sharding.type() != xla::OpSharding::TUPLE) return {ShardingToString(sharding)};
  std::vector<std::string> leaves;
  for (const xla::OpSharding& leaf : sharding.tuple_shardings()) leaves.push_back(ShardingToString(leaf));
  return leaves;
}

}  // namespace

std::string SymbolText(absl::string_view name) {
  const auto is_plain = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.';
  };
  const bool plain = !name.empty() && absl::c_all_of(name, is_plain) &&
                     !absl::ascii_isdigit(static_cast<unsigned char>(name[0])) && name[0] != '.' &&
                     name[0] != '$';
  return plain ? std::string(name) : MlirString(name);
}

std::string ModuleAttributes(const Module& module) {
  std::vector<std::string> parts;
  const int64_t partitions =
      IsPartitioned(module) ? PartitionsOf(module).value_or(1) : module.config().num_partitions;
  if (!module.proto().frontend_attributes().map().empty())
    parts.push_back(FrontendText(module.proto().frontend_attributes()));
  parts.push_back(absl::StrCat("mhlo.num_partitions = ", partitions, " : i32"));
  parts.push_back(absl::StrCat("mhlo.num_replicas = ", ReplicasOf(module), " : i32"));
  if (module.proto().has_spmd_output_sharding()) {
    const std::vector<std::string> leaves = LeafShardings(module.proto().spmd_output_sharding());
    const std::string text =
        leaves.size() == 1 ? leaves[0] : absl::StrCat("{", absl::StrJoin(leaves, ", "), "}");
    parts.push_back(absl::StrCat("mhlo.spmd_output_sharding = ", MlirString(text)));
  }
  std::vector<std::string> parameters;
  for (const xla::OpSharding& parameter : module.proto().spmd_parameters_shardings()) {
    for (const std::string& leaf : LeafShardings(parameter)) parameters.push_back(MlirString(leaf));
  }
  if (!parameters.empty()) {
    parts.push_back(absl::StrCat("mhlo.spmd_parameters_shardings = [", absl::StrJoin(parameters, ", "), "]"));
  }
  return absl::StrJoin(parts, ", ");
}

std::string Annotations(const Instruction& instruction, int64_t leaf) {
  std::vector<std::string> parts;
  if (instruction.frontend_attributes() != nullptr && !instruction.frontend_attributes()->map().empty()) {
    parts.push_back(FrontendText(*instruction.frontend_attributes()));
  }
  if (const xla::OpSharding* sharding = instruction.sharding()) {
    const bool is_element =
        leaf >= 0 && sharding->type() == xla::OpSharding::TUPLE && leaf < sharding->tuple_shardings_size();
    const xla::OpSharding& one = is_element ? sharding->tuple_shardings(static_cast<int>(leaf)) : *sharding;
    parts.push_back(absl::StrCat("mhlo.sharding = ", MlirString(ShardingToString(one))));
  }
  return absl::StrJoin(parts, ", ");
}

std::string CustomCallAttributes(const Instruction& call, absl::Span<const std::string> called) {
  const xla::HloInstructionProto& attrs = call.attrs();
  std::vector<std::string> parts;
  const int version = attrs.custom_call_api_version();
  parts.push_back(absl::StrCat("api_version = ", version == 0 ? 1 : version, " : i32"));
  const absl::string_view config = call.backend_config();
  // Calls of the typed interface are configured by a dictionary.
  const bool typed = version == xla::API_VERSION_TYPED_FFI;
  if (typed || !config.empty()) {
    parts.push_back(absl::StrCat("backend_config = ",
                                 typed ? (config.empty() ? "{}" : std::string(config)) : MlirString(config)));
  }
  parts.push_back(absl::StrCat("call_target_name = ", MlirString(attrs.custom_call_target())));
  if (!called.empty())
    parts.push_back(absl::StrCat("called_computations = [", absl::StrJoin(called, ", "), "]"));
  parts.push_back(absl::StrCat("has_side_effect = ", attrs.custom_call_has_side_effect() ? "true" : "false"));
  if (attrs.constrain_layout()) {
    std::vector<std::string> layouts;
    for (const xla::ShapeProto& proto : attrs.operand_shapes_with_layout()) {
      layouts.push_back(LayoutText(Shape::FromProto(proto).value_or(Shape())));
    }
    parts.push_back(absl::StrCat("operand_layouts = [", absl::StrJoin(layouts, ", "), "]"));
  }
  std::vector<std::string> aliases;
  for (const auto& alias : attrs.output_operand_aliasing()) {
    aliases.push_back(absl::StrCat(
        "#stablehlo.output_operand_alias<output_tuple_indices = [",
        absl::StrJoin(alias.output_shape_index(), ", "), "], operand_index = ", alias.operand_index(),
        ", operand_tuple_indices = [", absl::StrJoin(alias.operand_shape_index(), ", "), "]>"));
  }
  if (!aliases.empty())
    parts.push_back(absl::StrCat("output_operand_aliases = [", absl::StrJoin(aliases, ", "), "]"));
  if (attrs.constrain_layout())
    parts.push_back(absl::StrCat("result_layouts = ", ResultLayouts(call.shape())));
  return absl::StrJoin(parts, ", ");
}

absl::StatusOr<StableHloOp> TransferOf(const Instruction& transfer) {
  const xla::HloInstructionProto& attrs = transfer.attrs();
  switch (transfer.opcode()) {
    case Opcode::kInfeed:
      return StableHloOp{"stablehlo.infeed",
                         absl::StrCat("infeed_config = ", MlirString(attrs.infeed_config()))};
    case Opcode::kOutfeed:
      return StableHloOp{"stablehlo.outfeed",
                         absl::StrCat("outfeed_config = ", MlirString(attrs.outfeed_config()))};
    case Opcode::kSend:
    case Opcode::kRecv: {
      const bool is_send = transfer.opcode() == Opcode::kSend;
      const int type = !attrs.is_host_transfer() ? 1 : is_send ? 2 : 3;
      return StableHloOp{is_send ? "stablehlo.send" : "stablehlo.recv",
                         absl::StrCat("channel_handle = #stablehlo.channel_handle<handle = ",
                                      attrs.channel_id(), ", type = ", type,
                                      ">, is_host_transfer = ", attrs.is_host_transfer() ? "true" : "false")};
    }
    default:
      return absl::InvalidArgumentError(absl::StrCat("StableHLO has no ", transfer.opcode_name()));
  }
}

}  // namespace toroid
