#include "hlo/stablehlo/stablehlo_reader.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/base/status.h"
#include "hlo/io/module_meshes.h"
#include "hlo/io/sharding_text.h"
#include "hlo/stablehlo/mlir_parser.h"
#include "hlo/stablehlo/op_rows.h"

namespace toroid {
namespace {

using Functions = absl::flat_hash_map<std::string, const MlirOperation*>;

std::string NameOf(const MlirOperation& op) {
  const MlirAttribute* name = op.attributes.Find("sym_name");
  return name == nullptr ? "" : name->string;
}

// Functions that operations below `op` call.
void CollectCallees(const MlirOperation& op, std::vector<std::string>* callees) {
  for (const absl::string_view key : {"callee", "decomposition"}) {
    if (const MlirAttribute* name = op.attributes.Find(key)) callees->push_back(name->string);
  }
  if (const MlirAttribute* names = op.attributes.Find("called_computations")) {
    for (const MlirAttribute& name : names->elements) callees->push_back(name.string);
  }
  for (const auto& region : op.regions) {
    for (const auto& inner : region->operations) CollectCallees(*inner, callees);
  }
}

class ModuleReader {
 public:
  explicit ModuleReader(absl::string_view text)
      : text_(text), module_(std::make_unique<Module>("module")), state_(text, module_.get()) {}

  absl::StatusOr<std::unique_ptr<Module>> Read() {
    RETURN_IF_ERROR(MlirParser(text_, &tree_).ParseModule());
    const MlirOperation& top = *tree_.operation;
    if (top.name != "builtin.module" || top.regions.size() != 1)
      return state_.ErrorAt(top, "expected a module");
    if (!NameOf(top).empty()) module_->set_name(NameOf(top));
    RETURN_IF_ERROR(ReadHeader(top));
    const auto main = functions_.find("main");
    if (main == functions_.end())
      return absl::InvalidArgumentError("the StableHLO module has no function @main");
    RETURN_IF_ERROR(ConvertReachable("main"));
    module_->set_entry(state_.functions["main"]);
    module_->RemoveUnreachableComputations();
    return std::move(module_);
  }

 private:
  absl::Status ReadHeader(const MlirOperation& top) {
    const auto count = [&](absl::string_view key) -> int64_t {
      const MlirAttribute* value = top.attributes.Find(key);
      return value == nullptr || value->integer < 1 || value->integer > (1 << 24) ? 1 : value->integer;
    };
    module_->config().num_partitions = count("mhlo.num_partitions");
    module_->config().replica_count = count("mhlo.num_replicas");
    std::string meshes;
    for (const auto& op : top.regions[0]->operations) {
      if (op->name == "func.func") {
        if (!functions_.emplace(NameOf(*op), op.get()).second)
          return state_.ErrorAt(*op, "two functions of one name");
      } else if (op->name == "sdy.mesh") {
        const MlirAttribute* mesh = op->attributes.Find("mesh");
        if (mesh == nullptr) return state_.ErrorAt(*op, "it lacks the mesh");
        absl::StrAppend(&meshes, meshes.empty() ? "" : ", ", NameOf(*op), " = #sdy.mesh<", mesh->body, ">");
      } else {
        return state_.ErrorAt(*op, "a module holds functions and meshes");
      }
    }
    auto& frontend = *module_->mutable_proto()->mutable_frontend_attributes()->mutable_map();
    if (const MlirAttribute* given = top.attributes.Find("mhlo.frontend_attributes")) {
      for (const auto& [key, value] : given->fields) frontend[std::string(key)] = value.string;
    }
    if (!meshes.empty()) frontend[kSdyMeshes] = absl::StrCat("{", meshes, "}");
    if (frontend.empty()) module_->mutable_proto()->clear_frontend_attributes();
    return ReadSpmdRecord(top);
  }

  // How the arrays of a partitioned program are parts of whole ones.
  absl::Status ReadSpmdRecord(const MlirOperation& top) {
    const auto read = [&](const MlirAttribute& text, xla::OpSharding* out) -> absl::Status {
      const absl::StatusOr<xla::OpSharding> sharding = ParseSharding(text.string);
      if (!sharding.ok())
        return state_.ErrorAt(top, absl::StrCat("mhlo.spmd shardings: ", sharding.status().message()));
      *out = *sharding;
      return absl::OkStatus();
    };
    if (const MlirAttribute* output = top.attributes.Find("mhlo.spmd_output_sharding")) {
      RETURN_IF_ERROR(read(*output, module_->mutable_proto()->mutable_spmd_output_sharding()));
    }
    if (const MlirAttribute* parameters = top.attributes.Find("mhlo.spmd_parameters_shardings")) {
      for (const MlirAttribute& parameter : parameters->elements) {
        RETURN_IF_ERROR(read(parameter, module_->mutable_proto()->add_spmd_parameters_shardings()));
      }
    }
    return absl::OkStatus();
  }

  // Callees first; an explicit stack, since calls may nest deep.
  absl::Status ConvertReachable(const std::string& root) {
    struct Visit {
      std::string name;
      std::vector<std::string> callees;
      size_t next = 0;
    };
    absl::flat_hash_map<std::string, bool> finished;  // False while on the stack.
    std::vector<Visit> stack;
    const auto enter = [&](const std::string& name) {
      finished[name] = false;
      stack.push_back({name, {}, 0});
      CollectCallees(*functions_.at(name), &stack.back().callees);
    };
    enter(root);
    while (!stack.empty()) {
      Visit& visit = stack.back();
      if (visit.next == visit.callees.size()) {
        RETURN_IF_ERROR(ConvertFunction(visit.name));
        finished[visit.name] = true;
        stack.pop_back();
        continue;
      }
      const std::string callee = visit.callees[visit.next++];
      const auto known = finished.find(callee);
      if (known != finished.end()) {
        if (!known->second) return state_.ErrorAt(*functions_.at(callee), "it calls itself");
      } else if (functions_.contains(callee)) {
        enter(callee);
      }
    }
    return absl::OkStatus();
  }

  absl::Status ConvertFunction(const std::string& name) {
    const MlirOperation& op = *functions_.at(name);
    if (op.regions.size() != 1) return state_.ErrorAt(op, "a function has one region");
    const MlirRegion& region = *op.regions[0];
    BodyConverter body(&state_, state_.AddComputation(name));
    const MlirAttribute* arguments = op.attributes.Find("arg_attrs");
    for (size_t i = 0; i < region.arguments.size(); ++i) {
      RETURN_IF_ERROR(ShapeOf(state_, op, region.arguments[i].type).status());
      body.AddParameter(region.arguments[i]);
      if (arguments != nullptr && i < arguments->elements.size()) {
        RETURN_IF_ERROR(state_.Annotate(arguments->elements[i], body.computation()->parameter(i)));
      }
    }
    absl::StatusOr<std::vector<Instruction*>> results = body.Convert(region);
    if (!results.ok()) {
      const absl::string_view what = results.status().message();
      if (!what.empty() && absl::ascii_isdigit(static_cast<unsigned char>(what[0]))) return results.status();
      return state_.ErrorAt(op, what);
    }
    if (name == "main") {
      if (arguments != nullptr) AddAliases(*arguments, results->size());
      RETURN_IF_ERROR(FinishMain(op, *std::move(results), &body));
    } else {
      body.SetRoot(*results);
    }
    state_.functions[name] = body.computation();
    return absl::OkStatus();
  }

  void AddAliases(const MlirAttribute& arguments, size_t num_results) {
    for (size_t i = 0; i < arguments.elements.size(); ++i) {
      const MlirAttribute* alias = arguments.elements[i].Find("tf.aliasing_output");
      if (alias != nullptr) {
        auto* entry = module_->mutable_proto()->mutable_input_output_alias()->add_entries();
        entry->set_parameter_number(static_cast<int64_t>(i));
        if (num_results != 1) entry->add_output_shape_index(alias->integer);
        entry->set_kind(xla::MAY_ALIAS);
      } else if (const auto* donor = arguments.elements[i].Find("jax.buffer_donor");
                 donor != nullptr && donor->integer != 0) {
        module_->mutable_proto()->mutable_buffer_donor()->add_entries()->set_parameter_number(
            static_cast<int64_t>(i));
      }
    }
  }

  // Shardings of results: Shardy's as calls of FuncResultSharding, others on the root.
  absl::Status FinishMain(const MlirOperation& op, std::vector<Instruction*> results, BodyConverter* body) {
    const MlirAttribute* attributes = op.attributes.Find("res_attrs");
    xla::OpSharding tuple;
    tuple.set_type(xla::OpSharding::TUPLE);
    std::vector<bool> free(results.size(), true);
    for (size_t i = 0; i < results.size(); ++i) {
      tuple.add_tuple_shardings()->set_type(xla::OpSharding::REPLICATED);
      if (attributes == nullptr || i >= attributes->elements.size()) continue;
      if (const MlirAttribute* text = attributes->elements[i].Find("mhlo.sharding")) {
        absl::StatusOr<xla::OpSharding> sharding = ParseSharding(text->string);
        if (!sharding.ok())
          return state_.ErrorAt(op, absl::StrCat("mhlo.sharding: ", sharding.status().message()));
        *tuple.mutable_tuple_shardings(static_cast<int>(i)) = *sharding;
        free[i] = false;
      }
      if (const MlirAttribute* sharding = attributes->elements[i].Find("sdy.sharding")) {
        absl::string_view rest = sharding->text;
        if (!absl::ConsumePrefix(&rest, "#sdy.sharding<"))
          return state_.ErrorAt(op, "a result's sdy.sharding is #sdy.sharding<..>");
        results[i] = FuncResult(results[i], absl::StrCat("#sdy.sharding_per_value<[<", rest, "]>"), body);
      }
    }
    const bool stated = std::find(free.begin(), free.end(), false) != free.end();
    if (!stated) {
      body->SetRoot(results);
      return absl::OkStatus();
    }
    module_->config().allow_spmd_sharding_propagation_to_output = free;
    std::vector<Shape> shapes;
    for (const Instruction* result : results) shapes.push_back(result->shape());
    Instruction* root = body->Add(Opcode::kTuple, Shape::Tuple(shapes), results, nullptr);
    if (results.size() == 1) {
      root = body->Add(Opcode::kGetTupleElement, shapes[0], {root}, nullptr);
      root->set_sharding(module_->New(tuple.tuple_shardings(0)));
    } else {
      root->set_sharding(module_->New(tuple));
    }
    body->computation()->set_root(root);
    return absl::OkStatus();
  }

  Instruction* FuncResult(Instruction* value, std::string sharding, BodyConverter* body) {
    Instruction* call = body->Add(Opcode::kCustomCall, value->shape(), {value}, nullptr);
    xla::HloInstructionProto* attrs = call->MutableAttrs();
    attrs->set_custom_call_target("xla.sdy.FuncResultSharding");
    attrs->set_custom_call_has_side_effect(true);
    auto* frontend = module_->New<xla::FrontendAttributes>();
    (*frontend->mutable_map())["xla.sdy.sharding"] = std::move(sharding);
    call->set_frontend_attributes(frontend);
    return call;
  }

  absl::string_view text_;
  MlirModule tree_;
  std::unique_ptr<Module> module_;
  ConversionState state_;
  Functions functions_;
};

}  // namespace

namespace {

// True if a function begins on a line of its own or behind a brace; elsewhere the words are those of a string.
bool HasFunction(absl::string_view text) {
  constexpr absl::string_view kWord = "func.func";
  for (size_t at = text.find(kWord); at != absl::string_view::npos; at = text.find(kWord, at + 1)) {
    const absl::string_view before = absl::StripTrailingAsciiWhitespace(text.substr(0, at));
    const absl::string_view blank = text.substr(before.size(), at - before.size());
    if (absl::StrContains(blank, "\n") || absl::EndsWith(before, "{")) return true;
  }
  return false;
}

}  // namespace

bool LooksLikeStableHlo(absl::string_view text) {
  absl::string_view first = text;
  // Comments and aliases may stand in front.
  while (true) {
    first = absl::StripLeadingAsciiWhitespace(first);
    if (first.empty()) return false;
    if (first[0] != '#' && first[0] != '!' && !absl::StartsWith(first, "//")) break;
    first.remove_prefix(std::min(first.find('\n'), first.size()));
  }
  if (absl::StartsWith(first, "\"builtin.module\"") || absl::StartsWith(first, "func.func ")) return true;
  absl::ConsumePrefix(&first, "builtin.");
  if (!absl::ConsumePrefix(&first, "module")) return false;
  first = absl::StripLeadingAsciiWhitespace(first);
  if (!absl::StartsWith(first, "@") && !absl::StartsWith(first, "{") &&
      !absl::StartsWith(first, "attributes"))
    return false;
  // The attributes of a module can be long.
  const size_t function = first.find("func.func");
  constexpr size_t kHead = 1 << 16;
  const absl::string_view head = first.substr(std::min(function, first.size()), kHead);
  // jaxlib spells what StableHLO lacks in the older dialect, beside StableHLO.
  const bool is_mhlo = absl::StrContains(head, "= mhlo.") && !absl::StrContains(head, "stablehlo.");
  return HasFunction(first) && !is_mhlo && !absl::StrContains(head, "vhlo.");
}

absl::StatusOr<std::unique_ptr<Module>> ReadStableHlo(absl::string_view text) {
  return ModuleReader(text).Read();
}

}  // namespace toroid
