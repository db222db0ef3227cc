#include "explain/advice.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/base/text_table.h"
#include "partitioner/prepare/sharding_lines.h"
#include "partitioner/provenance/origins.h"
#include "partitioner/provenance/program_names.h"

namespace toroid {
namespace {

// Rows whose annotations are candidates; trials in all; changes that are returned.
constexpr size_t kMostRows = 5, kMostTrials = 16, kMostAdvice = 3;
// What a change must save, and may cost.
constexpr double kLeastSaved = 0.1, kMostFlops = 1.09, kMostMemory = 1.1;

struct Candidate {
  int tensor;
  Sharding to;
};

// `name` without its digits: the same for the layers of a model.
std::string WithoutNumbers(absl::string_view name) {
  std::string out;
  for (const char c : name) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) out += c;
  }
  return out;
}

class Candidates {
 public:
  explicit Candidates(const Partitioned& partitioned)
      : program_(*partitioned.program),
        graph_(*program_.graph),
        names_(*program_.flat, graph_, program_.annotations, program_.relabeled),
        plan_(partitioned.shardings),
        origins_(program_, plan_),
        frames_(*program_.flat) {
    for (const Instruction* instruction : graph_.ReachedInstructions(*program_.flat)) {
      by_name_.try_emplace(names_.NameOf(*instruction), instruction);
      for (const int t : graph_.Leaves(*instruction)) maker_.try_emplace(t, instruction);
    }
  }

  // The candidates for the rows, those of the first row first; each annotated tensor once.
  std::vector<Candidate> For(const std::vector<ExplainedRow>& rows) const {
    std::vector<Candidate> candidates;
    absl::flat_hash_set<int> seen;
    for (size_t i = 0; i < rows.size() && i < kMostRows; ++i) {
      const Instruction* consumer = ConsumerOf(rows[i]);
      const FlowOp* op = consumer == nullptr ? nullptr : graph_.OpOf(*consumer);
      if (op == nullptr) continue;
      AddCutsOfWholeTensors(*op, &seen, &candidates);
      for (const int t : AnnotatedBehind(*op)) {
        if (seen.insert(t).second) AddVariants(t, &candidates);
      }
    }
    return candidates;
  }

  const Instruction& MakerOf(int tensor) const { return *maker_.at(tensor); }
  std::string NameOf(int tensor) const { return names_.NameOf(MakerOf(tensor)); }
  std::string Text(const Sharding& sharding) const { return names_.Text(sharding); }
  const Sharding& AskedOf(int tensor) const { return program_.annotations.tensor[tensor]->sharding; }
  std::string SourceOf(int tensor) { return frames_.LineOf(MakerOf(tensor).metadata()); }

  // NAME=SHARDING for the candidate and all tensors that are annotated alike.
  std::vector<std::string> GivenTexts(const Candidate& candidate) {
    std::vector<std::string> given;
    const auto kind = KindOf(candidate.tensor);
    for (int t = 0; t < graph_.num_tensors(); ++t) {
      if (!program_.annotations.tensor[t] || !CanBeGiven(t) || !(AskedOf(t) == AskedOf(candidate.tensor)))
        continue;
      if (!graph_.shape(t).Compatible(graph_.shape(candidate.tensor)) || KindOf(t) != kind) continue;
      given.push_back(GivenText({t, candidate.to}));
    }
    return given;
  }

 private:
  // Line and name without numbers.
  std::pair<std::string, std::string> KindOf(int tensor) {
    return {SourceOf(tensor), WithoutNumbers(NameOf(tensor))};
  }

  std::string GivenText(const Candidate& candidate) const {
    const Instruction& maker = MakerOf(candidate.tensor);
    const bool is_parameter =
        maker.opcode() == Opcode::kParameter && maker.computation() == program_.flat->entry();
    return absl::StrCat(is_parameter ? GivenNameOf(maker) : maker.name(), "=",
                        program_.annotations.mesh.ToHlo(candidate.to).ToString());
  }

  // The consumer of a row: its name is "NAME" or "NAME of PARAMETER".
  const Instruction* ConsumerOf(const ExplainedRow& row) const {
    if (row.names.empty()) return nullptr;
    const std::string& name = row.names.front();
    auto it = by_name_.find(name);
    if (it == by_name_.end()) it = by_name_.find(name.substr(0, name.rfind(" of ")));
    return it == by_name_.end() ? nullptr : it->second;
  }

  std::vector<int> AnnotatedBehind(const FlowOp& op) const {
    std::vector<int> annotated;
    for (const int t : TensorsOf(op)) {
      for (const AxisOrigin& origin : origins_.Of(t)) {
        const int begin = origin.hops.back().tensor;
        if (origin.kind == AxisOrigin::Kind::kAsked && maker_.contains(begin)) annotated.push_back(begin);
      }
    }
    return annotated;
  }

  // Tensors of the op that are asked to be whole, cut as another tensor of their shape is.
  void AddCutsOfWholeTensors(const FlowOp& op, absl::flat_hash_set<int>* seen,
                             std::vector<Candidate>* candidates) const {
    for (const int t : TensorsOf(op)) {
      const auto& annotation = program_.annotations.tensor[t];
      if (!annotation || annotation->sharding.DimAxes() != 0 || !CanBeGiven(t)) continue;
      for (const int other : TensorsOf(op)) {
        const bool is_alike = graph_.shape(other).Compatible(graph_.shape(t)) && plan_[other].DimAxes() != 0;
        if (!is_alike || !seen->insert(t).second) continue;
        Candidate cut = {t, Sharding::Replicated(graph_.shape(t).rank())};
        cut.to.dims = plan_[other].dims;
        candidates->push_back(std::move(cut));
      }
    }
  }

  bool CanBeGiven(int tensor) const {
    return maker_.contains(tensor) && !MakerOf(tensor).shape().IsTuple() &&
           program_.annotations.manual[tensor] == 0;
  }

  void AddVariants(int tensor, std::vector<Candidate>* candidates) const {
    const Sharding& asked = AskedOf(tensor);
    const Shape& shape = graph_.shape(tensor);
    const Mesh& mesh = program_.annotations.mesh;
    if (!CanBeGiven(tensor)) return;
    for (int d = 0; d < shape.rank(); ++d) {
      if (asked.dims[d].empty()) continue;
      for (int e = 0; e < shape.rank(); ++e) {
        if (e == d || !asked.dims[e].empty() || shape.dim(e) % mesh.Product(asked.dims[d]) != 0) continue;
        Candidate moved = {tensor, asked};
        std::swap(moved.to.dims[d], moved.to.dims[e]);
        candidates->push_back(std::move(moved));
      }
    }
    candidates->push_back({tensor, Sharding::Replicated(shape.rank())});
  }

  const PreparedProgram& program_;
  const FlowGraph& graph_;
  const ProgramNames names_;
  const ShardingPlan& plan_;
  const Origins origins_;
  SourceFrames frames_;
  absl::flat_hash_map<std::string, const Instruction*> by_name_;
  absl::flat_hash_map<int, const Instruction*> maker_;  // By tensor: the first instruction with it.
};

bool Pays(const ProgramFigures& now, const ProgramFigures& then) {
  return static_cast<double>(then.explanation.sent_bytes) <=
             (1 - kLeastSaved) * static_cast<double>(now.explanation.sent_bytes) &&
         then.flops <= kMostFlops * now.flops &&
         static_cast<double>(then.peak_bytes) <= kMostMemory * static_cast<double>(now.peak_bytes);
}

}  // namespace

std::vector<Advice> FindAdvice(const Partitioned& partitioned, const ProgramFigures& now,
                               TryChange try_change) {
  std::vector<Advice> found;
  if (partitioned.program == nullptr || now.explanation.sent_bytes == 0) return found;
  Candidates candidates(partitioned);
  absl::flat_hash_set<std::string> tried;
  size_t trials = 0;
  for (const Candidate& candidate : candidates.For(now.explanation.rows)) {
    Advice advice;
    advice.given = candidates.GivenTexts(candidate);
    if (!tried.insert(absl::StrJoin(advice.given, "\n")).second) continue;
    if (trials++ == kMostTrials) break;
    absl::StatusOr<ProgramFigures> then = try_change(advice.given);
    if (!then.ok() || !Pays(now, *then)) continue;
    advice.name = candidates.NameOf(candidate.tensor);
    advice.source = candidates.SourceOf(candidate.tensor);
    advice.from = candidates.Text(candidates.AskedOf(candidate.tensor));
    advice.to = candidates.Text(candidate.to);
    advice.effect = CompareFigures(now, *std::move(then));
    const auto of_same_value = [&](const Advice& other) { return other.name == advice.name; };
    const auto same = std::find_if(found.begin(), found.end(), of_same_value);
    const auto sent = [](const Advice& one) { return one.effect.then.explanation.sent_bytes; };
    if (same == found.end()) {
      found.push_back(std::move(advice));
    } else if (sent(advice) < sent(*same)) {
      *same = std::move(advice);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Advice& a, const Advice& b) {
    return a.effect.then.explanation.sent_bytes < b.effect.then.explanation.sent_bytes;
  });
  if (found.size() > kMostAdvice) found.resize(kMostAdvice);
  return found;
}

std::string AdviceText(const std::vector<Advice>& advice) {
  std::string out;
  for (const Advice& one : advice) {
    const int64_t now = one.effect.now.explanation.sent_bytes, then = one.effect.then.explanation.sent_bytes;
    const size_t alike = one.given.size() - 1;
    const std::string others =
        alike == 0 ? "" : absl::StrCat(" and ", alike, alike == 1 ? " other like it" : " others like it");
    absl::StrAppend(
        &out, "advice: ", one.name, others, " ", one.to, " instead of ", one.from, " sends ", BytesText(then),
        " instead of ", BytesText(now),
        absl::StrFormat(" (%+.1f %%)", 100.0 * static_cast<double>(then - now) / static_cast<double>(now)),
        ", and needs ", BytesText(one.effect.then.peak_bytes), " of memory instead of ",
        BytesText(one.effect.now.peak_bytes), ":",
        absl::StrJoin(one.given, "",
                      [](std::string* text, const std::string& given) {
                        absl::StrAppend(text, " --shard \"", given, "\"");
                      }),
        one.source.empty() ? "" : absl::StrCat(" (", one.source, ")"), "\n");
  }
  if (advice.empty()) return "advice: none of the changes that were tried saves a tenth of the bytes\n";
  return out;
}

}  // namespace toroid
