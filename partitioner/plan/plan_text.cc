#include "partitioner/plan/plan_text.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

constexpr absl::string_view kForm = "# form: ";
constexpr absl::string_view kEarly = "early ";
constexpr ProgramForm kForms[] = {ProgramForm::kAsGiven, ProgramForm::kUnmergedDims,
                                  ProgramForm::kLateReversals};
constexpr const char* kHeader[] = {"value", "shape", "sharding", "factors", "cut", "takes partial"};
constexpr size_t kColumns = std::size(kHeader);

absl::string_view FormText(ProgramForm form) {
  return form == ProgramForm::kAsGiven ? "as given" : NameOf(form);
}

// "8, 16, 32"; "none" for an op on scalars.
std::string FactorSizes(const ShardingRule& rule) {
  if (rule.factors.empty()) return "none";
  return absl::StrJoin(rule.factors, ", ",
                       [](std::string* out, const Factor& f) { absl::StrAppend(out, f.size); });
}

// By tensor: the number of the op whose first result it is; -1 for others. Edges are no ops.
std::vector<int> MakerOfTensors(const FlowGraph& graph) {
  std::vector<int> maker(graph.num_tensors(), -1);
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    const FlowOp& op = graph.ops()[i];
    if (op.instruction != nullptr && !op.results.empty()) maker[op.results[0]] = static_cast<int>(i);
  }
  return maker;
}

std::string PassedOnText(const ProgramNames& names, const PartialOperands& passed) {
  if (passed.none()) return "-";
  std::vector<int> operands;
  for (int i = 0; i < 32; ++i) {
    if (passed.Has(i)) operands.push_back(i);
  }
  Sharding partial;
  partial.partial = passed.axes;
  partial.reducer = passed.reducer;
  return absl::StrCat(absl::StrJoin(operands, ", "), " ", names.Text(partial));
}

// Rows whose columns stand two blanks apart.
std::string Aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(kColumns, 0);
  for (const auto& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      absl::StrAppend(&text, row[c]);
      if (c + 1 < row.size()) text.append(widths[c] + 2 - row[c].size(), ' ');
    }
    text += '\n';
  }
  return text;
}

constexpr absl::string_view kReducers[] = {"", "product ", "maximum ", "minimum ", "and ", "or "};

// Reads shardings as ProgramNames::Text prints them: [{"x"}, {}] partial over {"y"}.
class ShardingReader {
 public:
  ShardingReader(const Mesh& mesh, const ProgramNames& names) {
    // Names belong to runs of mesh axes: print each run, and keep those that have one name.
    for (int first = 0; first < mesh.num_axes(); ++first) {
      AxisList run;
      for (int axis = first; axis < mesh.num_axes(); ++axis) {
        run.push_back(axis);
        Sharding sharding;
        sharding.dims.push_back(run);
        const std::string text = names.Text(sharding);  // [{NAME}]
        const std::string name = text.substr(2, text.size() - 4);
        if (!absl::StrContains(name, ", ")) axes_of_.emplace(name, run);
      }
    }
  }

  // A sharding of an array of `rank` dimensions; without brackets none of them is cut. Manual axes are left out.
  // Errors: kInvalidArgument for another text, an axis that the program does not name, or another number of dimensions.
  absl::StatusOr<Sharding> Read(absl::string_view text, int rank) const {
    Sharding sharding = Sharding::Replicated(rank);
    const std::string all(text);
    const auto error = [&] {
      return absl::InvalidArgumentError(absl::StrCat("not a sharding of ", rank, " dimensions: ", all));
    };
    if (absl::ConsumePrefix(&text, "[")) {
      for (int d = 0; d < rank; ++d) {
        if (d > 0 && !absl::ConsumePrefix(&text, ", ")) return error();
        ASSIGN_OR_RETURN(sharding.dims[d], TakeAxes(&text));
      }
      if (!absl::ConsumePrefix(&text, "]")) return error();
      absl::ConsumePrefix(&text, " ");
    }
    if (text.empty()) return sharding;
    if (!absl::ConsumePrefix(&text, "partial ")) return error();
    for (size_t r = std::size(kReducers); r-- > 0;) {
      if (!absl::ConsumePrefix(&text, kReducers[r])) continue;
      sharding.reducer = static_cast<Reducer>(r);
      break;
    }
    if (!absl::ConsumePrefix(&text, "over ")) return error();
    ASSIGN_OR_RETURN(const AxisList partial, TakeAxes(&text));
    if (!text.empty() || partial.empty()) return error();
    sharding.partial = partial.Set();
    return sharding;
  }

 private:
  // "{"x", "y"}" at the front of `*text`.
  absl::StatusOr<AxisList> TakeAxes(absl::string_view* text) const {
    const size_t end = text->find('}');
    if (!absl::ConsumePrefix(text, "{") || end == absl::string_view::npos) {
      return absl::InvalidArgumentError(absl::StrCat("expected {AXES}, not ", *text));
    }
    absl::string_view inside = text->substr(0, end - 1);
    text->remove_prefix(end);
    AxisList axes;
    AxisSet used = 0;
    while (!inside.empty()) {
      const size_t comma = std::min(inside.find(", "), inside.size());
      const std::string name(inside.substr(0, comma));
      inside.remove_prefix(std::min(comma + 2, inside.size()));
      const auto found = axes_of_.find(name);
      if (found == axes_of_.end())
        return absl::InvalidArgumentError(absl::StrCat("the program has no axis ", name));
      if ((used & found->second.Set()) != 0)
        return absl::InvalidArgumentError(absl::StrCat("uses axis ", name, " twice"));
      used |= found->second.Set();
      axes.Append(found->second);
    }
    return axes;
  }

  absl::flat_hash_map<std::string, AxisList> axes_of_;  // By name, parts of named axes among them.
};

class Reader {
 public:
  Reader(const PreparedProgram& program, const ProgramNames& names)
      : program_(program),
        graph_(*program.graph),
        shardings_(program.annotations.mesh, names),
        tensor_names_(TensorNames(program)),
        maker_(MakerOfTensors(graph_)) {
    for (int t = 0; t < graph_.num_tensors(); ++t) tensor_of_.emplace(tensor_names_[t], t);
    seen_.assign(graph_.num_tensors(), false);
    plan_.shardings.resize(graph_.num_tensors());
    plan_.ops.resize(graph_.ops().size());
  }

  absl::StatusOr<Plan> Read(absl::string_view text) && {
    int number = 0;
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      ++number;
      line = absl::StripAsciiWhitespace(line);
      if (line.empty() || line[0] == '#') continue;
      RETURN_IF_ERROR(Annotate(ReadRow(line), absl::StrCat("the plan, line ", number)));
    }
    for (int t = 0; t < graph_.num_tensors(); ++t) {
      if (!seen_[t])
        return absl::InvalidArgumentError(absl::StrCat("the plan has no row for ", tensor_names_[t]));
    }
    RETURN_IF_ERROR(CheckPlan(program_, plan_));
    return std::move(plan_);
  }

 private:
  static std::vector<std::string> Cells(absl::string_view line) {
    std::vector<std::string> cells;
    while (!line.empty()) {
      const size_t end = std::min(line.find("  "), line.size());
      cells.emplace_back(line.substr(0, end));
      line = absl::StripLeadingAsciiWhitespace(line.substr(end));
    }
    return cells;
  }

  absl::Status ReadRow(absl::string_view line) {
    const std::vector<std::string> cells = Cells(line);
    if (!cells.empty() && cells[0] == kHeader[0]) return absl::OkStatus();
    if (cells.size() != kColumns) {
      return absl::InvalidArgumentError(absl::StrCat("has ", cells.size(),
                                                     " columns, two blanks apart; a plan has ", kColumns,
                                                     ": ", absl::StrJoin(kHeader, ", ")));
    }
    absl::string_view name = cells[0];
    const bool early = absl::ConsumePrefix(&name, kEarly);
    const auto tensor = tensor_of_.find(name);
    if (tensor == tensor_of_.end()) {
      return absl::InvalidArgumentError(absl::StrCat("the program has no value ", name));
    }
    const int t = tensor->second;
    const Shape& shape = graph_.shape(t);
    if (cells[1] != shape.ToString(/*with_layout=*/false)) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " is ", shape.ToString(/*with_layout=*/false), ", not ", cells[1]));
    }
    ASSIGN_OR_RETURN(Sharding sharding, shardings_.Read(cells[2], shape.rank()));
    if (early) {
      plan_.early[t] = std::move(sharding);
      return absl::OkStatus();
    }
    if (seen_[t]) return absl::InvalidArgumentError(absl::StrCat("a second row for ", name));
    seen_[t] = true;
    plan_.shardings[t] = std::move(sharding);
    return ReadOp(t, cells);
  }

  absl::Status ReadOp(int t, const std::vector<std::string>& cells) {
    if (cells[3] == "-") return absl::OkStatus();
    if (maker_[t] < 0) return absl::InvalidArgumentError(absl::StrCat("no op makes ", tensor_names_[t]));
    const ShardingRule& rule = *graph_.ops()[maker_[t]].rule;
    if (cells[3] != FactorSizes(rule)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the factors of ", tensor_names_[t], " are ", FactorSizes(rule), ", not ", cells[3]));
    }
    OpDecision decision;
    ASSIGN_OR_RETURN(const Sharding cut, shardings_.Read(cells[4], static_cast<int>(rule.factors.size())));
    decision.factor_axes.assign(cut.dims.begin(), cut.dims.end());
    if (cells[5] != "-") {
      const size_t partial = cells[5].find(" partial ");
      if (partial == std::string::npos) {
        return absl::InvalidArgumentError(absl::StrCat("wants OPERANDS partial over {AXES}, not ", cells[5]));
      }
      for (const absl::string_view operand : absl::StrSplit(cells[5].substr(0, partial), ", ")) {
        uint32_t i;
        if (!absl::SimpleAtoi(operand, &i) || i >= 32) {
          return absl::InvalidArgumentError(absl::StrCat("no operand ", operand));
        }
        decision.passed_on.operands |= uint32_t{1} << i;
      }
      ASSIGN_OR_RETURN(const Sharding sum, shardings_.Read(cells[5].substr(partial + 1), 0));
      decision.passed_on.axes = sum.partial;
      decision.passed_on.reducer = sum.reducer;
    }
    plan_.ops[maker_[t]] = std::move(decision);
    return absl::OkStatus();
  }

  const PreparedProgram& program_;
  const FlowGraph& graph_;
  const ShardingReader shardings_;
  const std::vector<std::string> tensor_names_;
  const std::vector<int> maker_;
  absl::flat_hash_map<std::string, int> tensor_of_;
  std::vector<bool> seen_;
  Plan plan_;
};

}  // namespace

std::string PlanText(const PreparedProgram& program, const ProgramNames& names, const Plan& plan) {
  const FlowGraph& graph = *program.graph;
  const std::vector<std::string> tensor_names = TensorNames(program);
  const std::vector<int> maker = MakerOfTensors(graph);
  std::vector<std::vector<std::string>> rows = {{std::begin(kHeader), std::end(kHeader)}};
  const auto value = [&](absl::string_view prefix, int t, const Sharding& sharding) {
    return std::vector<std::string>{absl::StrCat(prefix, tensor_names[t]),
                                    graph.shape(t).ToString(/*with_layout=*/false), names.Text(sharding)};
  };
  for (int t = 0; t < graph.num_tensors(); ++t) {
    rows.push_back(value("", t, plan.shardings[t]));
    const std::optional<OpDecision> none;
    const std::optional<OpDecision>& op = maker[t] < 0 ? none : plan.ops[maker[t]];
    if (!op) {
      rows.back().insert(rows.back().end(), {"-", "-", "-"});
      continue;
    }
    Sharding cut;
    cut.dims.assign(op->factor_axes.begin(), op->factor_axes.end());
    rows.back().insert(rows.back().end(), {FactorSizes(*graph.ops()[maker[t]].rule), names.Text(cut),
                                           PassedOnText(names, op->passed_on)});
  }
  for (const auto& [t, sharding] : plan.early) {
    rows.push_back(value(kEarly, t, sharding));
    rows.back().insert(rows.back().end(), {"-", "-", "-"});
  }
  return absl::StrCat(kForm, FormText(plan.form), "\n", Aligned(rows));
}

absl::StatusOr<ProgramForm> FormOfPlan(absl::string_view text) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::ConsumePrefix(&line, kForm)) continue;
    for (const ProgramForm form : kForms) {
      if (absl::StripAsciiWhitespace(line) == FormText(form)) return form;
    }
    return absl::InvalidArgumentError(absl::StrCat("the plan is for a form that is not known: ", line));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the plan: there is no line \"", kForm, FormText(ProgramForm::kAsGiven), "\""));
}

absl::StatusOr<Plan> ReadPlan(absl::string_view text, const PreparedProgram& program,
                              const ProgramNames& names) {
  ASSIGN_OR_RETURN(const ProgramForm form, FormOfPlan(text));
  ASSIGN_OR_RETURN(Plan plan, Reader(program, names).Read(text));
  plan.form = form;
  return plan;
}

}  // namespace toroid
