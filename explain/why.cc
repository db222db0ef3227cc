#include "explain/why.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "explain/origins.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/base/glob.h"
#include "hlo/base/suggestion.h"
#include "hlo/base/text_table.h"
#include "partitioner/prepare/shown_name.h"
#include "partitioner/provenance/program_names.h"

namespace toroid {
namespace {

// How much an op on the way says: a contraction most, an elementwise op least.
int Weight(const Instruction& op) {
  if (op.opcode() == Opcode::kDot || op.opcode() == Opcode::kConvolution) return 2;
  return IsElementwise(op.opcode()) || IsShardingAnnotation(op) ? 0 : 1;
}

class Answerer {
 public:
  Answerer(const PreparedProgram& program, const ShardingPlan& plan)
      : program_(program),
        graph_(*program.graph),
        plan_(plan),
        names_(*program.flat, graph_, program.annotations, program.relabeled),
        origins_(program, plan),
        frames_(*program.flat),
        maker_(graph_.num_tensors(), nullptr) {
    for (const Instruction* instruction : graph_.ReachedInstructions(*program.flat)) {
      for (const int t : graph_.Leaves(*instruction)) {
        if (maker_[t] == nullptr) maker_[t] = instruction;
      }
    }
  }

  std::vector<int> TensorsNamed(absl::string_view name) {
    std::vector<int> tensors;
    const ShownName shown(name);
    for (int t = 0; t < graph_.num_tensors(); ++t) {
      if (maker_[t] != nullptr && graph_.shape(t).IsArray() &&
          (Means(name, *maker_[t], t) || MeansShown(shown, t))) {
        tensors.push_back(t);
      }
    }
    // A name of several values means outputs if it means nothing else.
    const bool means_outputs = tensors.empty() && !shown.IsPlain();
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const int t = graph_.outputs()[i], number = static_cast<int>(i);
      if ((name == "output{}" && graph_.outputs().size() == 1) ||
          (absl::StartsWith(name, "output{") && shown.Means(absl::StrCat("output{", i, "}"))) ||
          name == names_.OutputName(number) || (means_outputs && shown.Means(names_.OutputName(number))))
        tensors.push_back(t);
    }
    return tensors;
  }

  std::vector<std::string> AllNames() const {
    std::vector<std::string> all;
    for (int t = 0; t < graph_.num_tensors(); ++t) {
      if (maker_[t] == nullptr) continue;
      all.push_back(names_.NameOf(*maker_[t]));
      all.push_back(maker_[t]->name());
    }
    return all;
  }

  WhyAnswer AnswerFor(int tensor) {
    WhyAnswer answer = {NameOf(tensor), graph_.shape(tensor).ToString(), names_.Text(plan_[tensor]),
                        SourceOf(tensor)};
    for (const AxisOrigin& origin : origins_.Of(tensor)) answer.cuts.push_back(CutOf(origin));
    for (const Origins::Refusal& refusal : origins_.Refusals(tensor)) {
      answer.not_cut.push_back({AxesText(refusal.axes), NameOf(refusal.tensor),
                                refusal.through == nullptr ? "" : names_.NameOf(*refusal.through),
                                ReasonText(tensor, refusal), LineOf(refusal.through)});
    }
    return answer;
  }

 private:
  bool Means(absl::string_view name, const Instruction& instruction, int tensor) const {
    if (name == instruction.name() || name == names_.NameOf(instruction)) return true;
    if (instruction.opcode() == Opcode::kParameter && instruction.computation() == program_.flat->entry() &&
        name == absl::StrCat("parameter(", instruction.parameter_number(), ")")) {
      return true;
    }
    if (name.find_first_of("*?") == absl::string_view::npos || graph_.shape(tensor).rank() == 0) return false;
    return GlobMatches(name, names_.NameOf(instruction)) || GlobMatches(name, instruction.name()) ||
           (instruction.metadata() != nullptr && GlobMatches(name, instruction.metadata()->op_name()));
  }

  // A name as a row shows it, which can mean several values.
  bool MeansShown(const ShownName& shown, int tensor) {
    return graph_.shape(tensor).rank() > 0 &&
           (shown.Means(names_.NameOf(*maker_[tensor])) || shown.MeansLine(SourceOf(tensor)));
  }

  std::string NameOf(int tensor) const {
    if (maker_[tensor] != nullptr) return names_.NameOf(*maker_[tensor]);
    const auto outputs = graph_.outputs();
    return names_.OutputName(
        static_cast<int>(std::find(outputs.begin(), outputs.end(), tensor) - outputs.begin()));
  }
  std::string LineOf(const Instruction* op) { return op == nullptr ? "" : frames_.LineOf(op->metadata()); }
  std::string SourceOf(int tensor) { return LineOf(maker_[tensor]); }

  std::string AxesText(const AxisList& axes) const {
    Sharding one;
    one.dims = {axes};
    const std::string text = names_.Text(one);  // [{"data"}]
    return text.substr(1, text.size() - 2);
  }

  WhyCut CutOf(const AxisOrigin& origin) {
    WhyCut cut;
    cut.dim = origin.dim;
    cut.axes = AxesText(origin.axes);
    const OriginHop& begin = origin.hops.back();
    cut.name = NameOf(begin.tensor);
    cut.source = SourceOf(begin.tensor);
    if (origin.kind == AxisOrigin::Kind::kSearched) cut.begin = WhyCut::Begin::kSearched;
    if (origin.kind == AxisOrigin::Kind::kCheapest) {
      cut.begin = WhyCut::Begin::kCheapest;
      if (begin.through != nullptr) cut.name = names_.NameOf(*begin.through);
      cut.source = LineOf(begin.through);
    }
    std::vector<const Instruction*> ops;
    for (size_t i = origin.hops.size() - 1; i-- > 0;) {
      const Instruction* op = origin.hops[i].through;
      const bool is_new = op != nullptr && op != maker_[begin.tensor] && (ops.empty() || ops.back() != op);
      if (is_new) ops.push_back(op);
    }
    for (const Instruction* op : MostTelling(ops)) cut.hops.push_back({names_.NameOf(*op), LineOf(op)});
    cut.left_out = static_cast<int>(ops.size() - cut.hops.size());
    return cut;
  }

  // At most kMostHops of the ops, in their order: those of most weight, among equals the later ones.
  static std::vector<const Instruction*> MostTelling(std::vector<const Instruction*> ops) {
    while (ops.size() > kMostHops) {
      ops.erase(std::min_element(ops.begin(), ops.end(), [](const Instruction* a, const Instruction* b) {
        return Weight(*a) < Weight(*b);
      }));
    }
    return ops;
  }

  std::string ReasonText(int tensor, const Origins::Refusal& refusal) {
    const int64_t size = graph_.shape(tensor).dim(refusal.dim);
    switch (refusal.reason) {
      case Origins::Refusal::Reason::kAskedOtherwise:
        return absl::StrCat("the module asks for another cut of dimension ", refusal.dim);
      case Origins::Refusal::Reason::kAxisInUse:
        return "the array is cut over it in another dimension";
      case Origins::Refusal::Reason::kTooSmall:
        return absl::StrCat("dimension ", refusal.dim, " has only ", CountText(size),
                            size == 1 ? " element" : " elements");
      case Origins::Refusal::Reason::kNotHandedOn:
        break;
    }
    return "the op does not hand the axis on, or moving the other array is cheaper";
  }

  const PreparedProgram& program_;
  const FlowGraph& graph_;
  const ShardingPlan& plan_;
  const ProgramNames names_;
  const Origins origins_;
  SourceFrames frames_;
  std::vector<const Instruction*> maker_;  // By tensor: the first instruction with it; null for outputs.
};

std::string InBrackets(const std::string& source) {
  return source.empty() ? "" : absl::StrCat(" (", source, ")");
}

std::string CutText(const WhyCut& cut, const std::string& value) {
  std::string out = absl::StrCat("  ", cut.axes, " in dimension ", cut.dim, ": ");
  switch (cut.begin) {
    case WhyCut::Begin::kAsked:
      if (cut.name == value && cut.hops.empty()) return out + "the module asks for it here\n";
      absl::StrAppend(&out, "the module asks for it at ", cut.name);
      break;
    case WhyCut::Begin::kCheapest:
      absl::StrAppend(&out, "no annotation; so ", cut.name,
                      ", whose arrays are cut differently, is cheapest");
      break;
    case WhyCut::Begin::kSearched:
      absl::StrAppend(&out, "no annotation; the search found that the program sends or computes less if ",
                      cut.name, " is cut so");
      break;
  }
  absl::StrAppend(&out, InBrackets(cut.source));
  if (!cut.hops.empty()) {
    absl::StrAppend(&out, "\n    through ",
                    absl::StrJoin(cut.hops, ", ", [](std::string* text, const WhyHop& hop) {
                      absl::StrAppend(text, hop.name, InBrackets(hop.source));
                    }));
  }
  if (cut.left_out > 0)
    absl::StrAppend(&out, " and ", cut.left_out, cut.left_out == 1 ? " other op" : " other ops");
  return out + "\n";
}

}  // namespace

absl::StatusOr<WhyAnswers> Why(const Partitioned& partitioned, absl::string_view name, size_t most) {
  if (partitioned.program == nullptr) {
    return absl::FailedPreconditionError(
        "--why needs the module before partitioning, and several devices: the reasons are not in a partitioned module");
  }
  Answerer answerer(*partitioned.program, partitioned.shardings);
  const std::vector<int> tensors = answerer.TensorsNamed(name);
  if (tensors.empty()) {
    return absl::NotFoundError(
        absl::StrCat("--why: no array is named '", name, "'", DidYouMean(name, answerer.AllNames())));
  }
  WhyAnswers found;
  const size_t shown = std::min(most, tensors.size());
  found.others = static_cast<int64_t>(tensors.size() - shown);
  for (size_t i = 0; i < shown; ++i) {
    WhyAnswer answer = answerer.AnswerFor(tensors[i]);
    for (const CutNote& note : partitioned.cuts) {
      if (!note.is_obeyed && note.name == answer.name) answer.not_obeyed = note.text;
    }
    found.answers.push_back(std::move(answer));
  }
  return found;
}

std::string WhyText(const WhyAnswers& found) {
  std::string out;
  for (const WhyAnswer& answer : found.answers) {
    absl::StrAppend(&out, answer.name, " ", answer.shape,
                    answer.cuts.empty() ? " is whole on every device" : " is cut ",
                    answer.cuts.empty() ? "" : answer.sharding, InBrackets(answer.source), "\n");
    if (!answer.not_obeyed.empty()) absl::StrAppend(&out, "  not obeyed: ", answer.not_obeyed, "\n");
    for (const WhyCut& cut : answer.cuts) out += CutText(cut, answer.name);
    for (const WhyNot& no : answer.not_cut) {
      absl::StrAppend(&out, "  not by ", no.axes, ", which cuts ", no.neighbour,
                      no.through.empty() ? "" : absl::StrCat(" at ", no.through), InBrackets(no.source), ": ",
                      no.reason, "\n");
    }
    if (answer.cuts.empty() && answer.not_cut.empty())
      absl::StrAppend(&out, "  no annotation reaches it: it shares no dimension with an array that is cut\n");
  }
  if (found.others > 0) {
    absl::StrAppend(&out, "and ", CountText(found.others), found.others == 1 ? " other" : " others",
                    " of that name\n");
  }
  return out;
}

}  // namespace toroid
