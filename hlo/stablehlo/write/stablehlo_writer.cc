#include "hlo/stablehlo/write/stablehlo_writer.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/stablehlo/write/call_attributes.h"
#include "hlo/stablehlo/write/dense_text.h"
#include "hlo/stablehlo/write/leaves.h"
#include "hlo/stablehlo/write/locations.h"
#include "hlo/stablehlo/write/op_attributes.h"

namespace toroid {
namespace {

constexpr int kMostNested = 200;

class ModuleWriter {
 public:
  explicit ModuleWriter(const Module& module) : module_(module), locations_(module) {}

  absl::StatusOr<std::string> Write() {
    CountBodies();
    NameFunction(*module_.entry(), "main");
    RETURN_IF_ERROR(WriteFunction(*module_.entry(), "public "));
    for (size_t i = 0; i < wanted_.size(); ++i) RETURN_IF_ERROR(WriteFunction(*wanted_[i], "private "));
    return absl::StrCat(locations_.aliases(), "module @", SymbolText(module_.name()), " attributes {",
                        ModuleAttributes(module_), "} {\n", out_, "}\n");
  }

 private:
  // ---- Functions

  // Bodies of loops and branches that several instructions share are functions, so that the text does not grow with the
  // number of ways to them.
  void CountBodies() {
    absl::flat_hash_map<const Computation*, int> uses;
    for (const auto& computation : module_.computations()) {
      for (const auto& instruction : computation->instructions()) {
        for (const Computation* called : instruction->called()) {
          if (++uses[called] > 1 && HasCalls(*called)) shared_.insert(called);
        }
      }
    }
  }
  static bool HasCalls(const Computation& computation) {
    for (const auto& instruction : computation.instructions()) {
      if (!instruction->called().empty()) return true;
    }
    return false;
  }

  std::string NameFunction(const Computation& computation, absl::string_view name) {
    const auto [it, is_new] = functions_.emplace(&computation, "");
    if (!is_new) return it->second;
    const std::string symbol = SymbolText(name);
    std::string unique = symbol;
    for (int i = 1; !symbols_.insert(unique).second; ++i) unique = absl::StrCat(symbol, "_", i);
    return it->second = unique;
  }

  // The name of the computation as a function, which is written in the end.
  std::string FunctionOf(const Computation& computation) {
    const bool known = functions_.contains(&computation);
    const std::string name = NameFunction(computation, computation.name());
    if (!known) wanted_.push_back(&computation);
    return name;
  }

  absl::Status WriteFunction(const Computation& computation, absl::string_view visibility) {
    next_ = 0;
    std::vector<Leaves> parameters;
    std::string arguments;
    for (const Instruction* parameter : computation.parameters()) {
      Leaves& leaves = parameters.emplace_back();
      const std::vector<Shape> shapes = LeafShapes(parameter->shape());
      for (size_t i = 0; i < shapes.size(); ++i) {
        leaves.push_back({absl::StrCat("%arg", next_++), shapes[i]});
        const std::string annotations = Annotations(*parameter, i);
        absl::StrAppend(&arguments, arguments.empty() ? "" : ", ", leaves.back().name, ": ",
                        MlirType(shapes[i]), annotations.empty() ? "" : absl::StrCat(" {", annotations, "}"),
                        locations_.Of(*parameter));
      }
    }
    std::vector<std::string> results;
    for (const Shape& shape : LeafShapes(computation.root()->shape())) results.push_back(MlirType(shape));
    absl::StrAppend(&out_, "  func.func ", visibility, "@", functions_[&computation], "(", arguments,
                    ") -> (", absl::StrJoin(results, ", "), ") {\n");
    RETURN_IF_ERROR(WriteBody(computation, parameters, "func.return", 2));
    absl::StrAppend(&out_, "  }\n");
    return absl::OkStatus();
  }

  // ---- Bodies and regions

  // The instructions, and a return of the root's values. `parameters`: the values of each.
  absl::Status WriteBody(const Computation& computation, absl::Span<const Leaves> parameters,
                         absl::string_view terminator, int indent) {
    if (indent - 2 > kMostNested) {
      return absl::InvalidArgumentError(
          absl::StrCat(computation.name(), ": bodies nested deeper than ", kMostNested));
    }
    Values values(computation.instructions().size());
    for (const Instruction* parameter : computation.parameters()) {
      values[parameter->index()] = parameters[parameter->parameter_number()];
    }
    for (const auto& instruction : computation.instructions()) {
      if (instruction->opcode() == Opcode::kParameter) continue;
      RETURN_IF_ERROR(Annotate(WriteInstruction(*instruction, indent, &values), instruction->Path()));
    }
    const Leaves& results = values[computation.root()->index()];
    Line(indent, absl::StrCat("\"", terminator, "\"(", Names(results), ") : ", Types(results), " -> ()"));
    return absl::OkStatus();
  }

  // ({^bb0(%a: ..): ..}): the computation on arguments of its own, or on those given.
  absl::Status WriteRegion(const Computation& computation, const std::vector<Leaves>* given, int indent) {
    std::vector<Leaves> parameters;
    if (given != nullptr) {
      parameters = *given;
    } else {
      Leaves all;
      for (const Instruction* parameter : computation.parameters()) {
        Leaves& leaves = parameters.emplace_back();
        for (const Shape& shape : LeafShapes(parameter->shape())) leaves.push_back({NextName(), shape});
        all = std::move(all) + leaves;
      }
      if (!all.empty()) Line(indent, absl::StrCat("^bb0(", Typed(all), "):"));
    }
    if (!shared_.contains(&computation))
      return WriteBody(computation, parameters, "stablehlo.return", indent + 1);
    Leaves arguments, results;
    for (const Leaves& leaves : parameters) arguments = std::move(arguments) + leaves;
    for (const Shape& shape : LeafShapes(computation.root()->shape())) results.push_back({NextName(), shape});
    Line(indent + 1, CallText(results, FunctionOf(computation), arguments));
    Line(indent + 1, absl::StrCat("\"stablehlo.return\"(", Names(results), ") : ", Types(results), " -> ()"));
    return absl::OkStatus();
  }

  // ---- Instructions

  using Values = std::vector<Leaves>;

  absl::Status WriteInstruction(const Instruction& op, int indent, Values* values) {
    Leaves& result = (*values)[op.index()];
    const auto operand = [&](int64_t i) -> const Leaves& { return (*values)[op.operand(i)->index()]; };
    Leaves operands;
    for (const Instruction* x : op.operands()) {
      const Leaves& leaves = (*values)[x->index()];
      operands.insert(operands.end(), leaves.begin(), leaves.end());
    }
    switch (op.opcode()) {
      case Opcode::kTuple:
      case Opcode::kCopy:
      case Opcode::kSendDone:
      case Opcode::kRecvDone:
        result = std::move(operands);
        return absl::OkStatus();
      case Opcode::kAddDependency:
        result = operand(0);
        return absl::OkStatus();
      case Opcode::kGetTupleElement:
        return TakeElement(op, operand(0), &result);
      case Opcode::kConstant:
        return WriteConstant(op, indent, &result);
      case Opcode::kWhile:
        result = Results(op.shape());
        Line(indent, absl::StrCat(Assigned(result), "\"stablehlo.while\"(", Names(operands), ") ({"));
        return WriteRegions(op, {{op.called(1), nullptr}, {op.called(0), nullptr}}, operands, result, indent);
      case Opcode::kConditional:
        return WriteConditional(op, *values, indent, &result);
      case Opcode::kCall:
      case Opcode::kFusion:
        result = Results(op.shape());
        Line(indent, CallText(result, FunctionOf(*op.called(0)), operands));
        return absl::OkStatus();
      case Opcode::kCustomCall:
        return WriteCustomCall(op, operands, indent, &result);
      case Opcode::kReduceScatter:
      case Opcode::kCollectivePermute:
        result = Results(op.shape());
        if (result.size() != operands.size()) {
          return absl::InvalidArgumentError("StableHLO has no permute into a part of a buffer");
        }
        for (size_t i = 0; i < result.size(); ++i) {
          RETURN_IF_ERROR(WriteOne(op, {operands[i]}, {result[i]}, indent));
        }
        return absl::OkStatus();
      case Opcode::kRng: {
        std::vector<int64_t> dims(op.shape().dims().begin(), op.shape().dims().end());
        const Literal sizes = Literal::Array<int64_t>({static_cast<int64_t>(dims.size())}, dims);
        operands.push_back({NextName(), sizes.shape()});
        Line(indent, ConstantText(operands.back(), sizes));
        result = Results(op.shape());
        const absl::string_view distribution =
            op.attrs().distribution() == xla::RNG_NORMAL ? "NORMAL" : "UNIFORM";
        return Finish(op, "stablehlo.rng",
                      absl::StrCat("rng_distribution = #stablehlo<rng_distribution ", distribution, ">"),
                      operands, result, indent);
      }
      case Opcode::kInfeed:
      case Opcode::kOutfeed:
      case Opcode::kSend:
      case Opcode::kRecv: {
        // A send gives its token when it is done; a recv its data, too.
        ASSIGN_OR_RETURN(const StableHloOp transfer, TransferOf(op));
        result = op.opcode() == Opcode::kSend ? Results(Shape::Token())
                 : op.opcode() == Opcode::kRecv
                     ? Results(Shape::Tuple({op.shape().tuple_shape(0), Shape::Token()}))
                     : Results(op.shape());
        return Finish(op, transfer.name, transfer.attributes, operands, result, indent);
      }
      default:
        result = Results(op.shape());
        return WriteOne(op, operands, result, indent);
    }
  }

  absl::Status WriteOne(const Instruction& op, const Leaves& operands, const Leaves& result, int indent) {
    ASSIGN_OR_RETURN(const StableHloOp written, StableHloOpOf(op));
    if (op.called().empty()) return Finish(op, written.name, written.attributes, operands, result, indent);
    Line(indent, absl::StrCat(Assigned(result), "\"", written.name, "\"(", Names(operands), ") ",
                              Properties(written.attributes), "({"));
    std::vector<std::pair<const Computation*, const std::vector<Leaves>*>> regions;
    for (const Computation* called : op.called()) regions.emplace_back(called, nullptr);
    return WriteRegions(op, regions, operands, result, indent);
  }

  // The regions behind an open "({", and the end of the operation.
  absl::Status WriteRegions(
      const Instruction& op,
      const std::vector<std::pair<const Computation*, const std::vector<Leaves>*>>& regions,
      const Leaves& operands, const Leaves& result, int indent) {
    for (size_t i = 0; i < regions.size(); ++i) {
      if (i > 0) Line(indent, "}, {");
      RETURN_IF_ERROR(WriteRegion(*regions[i].first, regions[i].second, indent));
    }
    Line(indent, absl::StrCat("})", Ending(op, operands, result)));
    return absl::OkStatus();
  }

  absl::Status WriteConditional(const Instruction& op, const Values& values, int indent, Leaves* result) {
    const Leaves& selector = values[op.operand(0)->index()];
    *result = Results(op.shape());
    const bool is_if = op.operand(0)->shape().element_type() == xla::PRED;
    Line(indent, absl::StrCat(Assigned(*result), is_if ? "\"stablehlo.if\"(" : "\"stablehlo.case\"(",
                              Names(selector), ") ({"));
    std::vector<std::vector<Leaves>> given(op.called().size());
    std::vector<std::pair<const Computation*, const std::vector<Leaves>*>> regions;
    for (size_t i = 0; i < op.called().size(); ++i) {
      given[i] = {values[op.operand(static_cast<int64_t>(i) + 1)->index()]};
      regions.emplace_back(op.called(static_cast<int64_t>(i)), &given[i]);
    }
    return WriteRegions(op, regions, selector, *result, indent);
  }

  absl::Status WriteCustomCall(const Instruction& op, const Leaves& operands, int indent, Leaves* result) {
    std::vector<std::string> called;
    for (const Computation* computation : op.called())
      called.push_back(absl::StrCat("@", FunctionOf(*computation)));
    *result = Results(op.shape());
    return Finish(op, "stablehlo.custom_call", CustomCallAttributes(op, called), operands, *result, indent);
  }

  absl::Status WriteConstant(const Instruction& op, int indent, Leaves* result) {
    ASSIGN_OR_RETURN(const Literal literal, LiteralOf(op));
    if (literal.shape().IsTuple()) return absl::InvalidArgumentError("StableHLO has no constant tuples");
    *result = Results(op.shape());
    Line(indent, ConstantText(result->front(), literal));
    return absl::OkStatus();
  }

  static absl::Status TakeElement(const Instruction& op, const Leaves& tuple, Leaves* result) {
    size_t at = 0;
    const Shape& shape = op.operand(0)->shape();
    for (int64_t i = 0; i < op.tuple_index(); ++i) at += LeafCount(shape.tuple_shape(i));
    const size_t count = LeafCount(op.shape());
    // The state of a transfer has fewer values here.
    if (at + count > tuple.size())
      return absl::InvalidArgumentError("takes a part of the state of a transfer");
    result->assign(tuple.begin() + static_cast<std::ptrdiff_t>(at),
                   tuple.begin() + static_cast<std::ptrdiff_t>(at + count));
    return absl::OkStatus();
  }

  // ---- Text

  std::string NextName() { return absl::StrCat("%", next_++); }

  Leaves Results(const Shape& shape) {
    Leaves leaves;
    for (const Shape& leaf : LeafShapes(shape)) leaves.push_back({NextName(), leaf});
    return leaves;
  }

  static std::string Assigned(const Leaves& result) {
    return result.empty() ? "" : absl::StrCat(Names(result), " = ");
  }

  static std::string Properties(absl::string_view attributes) {
    return attributes.empty() ? "" : absl::StrCat("<{", attributes, "}> ");
  }

  // { annotations } : types loc(..)
  std::string Ending(const Instruction& op, const Leaves& operands, const Leaves& result) {
    const std::string annotations = Annotations(op);
    return absl::StrCat(annotations.empty() ? "" : absl::StrCat(" {", annotations, "}"), " : ",
                        Types(operands), " -> ", Types(result), locations_.Of(op));
  }

  absl::Status Finish(const Instruction& op, absl::string_view name, absl::string_view attributes,
                      const Leaves& operands, const Leaves& result, int indent) {
    std::string properties = Properties(attributes);
    if (!properties.empty()) properties.pop_back();
    Line(indent, absl::StrCat(Assigned(result), "\"", name, "\"(", Names(operands), ")",
                              properties.empty() ? "" : " ", properties, Ending(op, operands, result)));
    return absl::OkStatus();
  }

  static std::string ConstantText(const Leaf& leaf, const Literal& literal) {
    const std::string type = MlirType(leaf.shape);
    return absl::StrCat(leaf.name, " = \"stablehlo.constant\"() <{value = ", DenseText(literal), " : ", type,
                        "}> : () -> ", type);
  }

  static std::string CallText(const Leaves& result, absl::string_view function, const Leaves& operands) {
    return absl::StrCat(Assigned(result), "\"func.call\"(", Names(operands), ") <{callee = @", function,
                        "}> : ", Types(operands), " -> ", Types(result));
  }

  void Line(int indent, absl::string_view text) {
    out_.append(2 * static_cast<size_t>(indent), ' ');
    absl::StrAppend(&out_, text, "\n");
  }

  const Module& module_;
  LocationTexts locations_;
  std::string out_;
  int64_t next_ = 0;  // The number of the next value of the function.
  absl::flat_hash_set<const Computation*> shared_;
  absl::flat_hash_map<const Computation*, std::string> functions_;
  absl::flat_hash_set<std::string> symbols_;
  std::vector<const Computation*> wanted_;
};

}  // namespace

absl::StatusOr<std::string> PrintStableHlo(const Module& module) { return ModuleWriter(module).Write(); }

}  // namespace toroid
