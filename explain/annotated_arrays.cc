#include "explain/annotated_arrays.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "explain/names.h"
#include "partitioner/prepare/sharding_lines.h"
#include "partitioner/sharding_search/program_state.h"

namespace toroid {
namespace {

// Rows whose ops' arrays are taken together.
constexpr size_t kMostRows = 5;

// The last key in quotes of an argument's path: "w" of opt_state[0].mu['layers'][1]['w'].value; "" if there is none.
std::string LastKey(absl::string_view name) {
  const size_t end = name.rfind('\'');
  if (end == absl::string_view::npos || end == 0) return "";
  const size_t begin = name.rfind('\'', end - 1);
  return begin == absl::string_view::npos ? "" : std::string(name.substr(begin + 1, end - begin - 1));
}

}  // namespace

AnnotatedArrays::AnnotatedArrays(const Partitioned& partitioned)
    : program_(*partitioned.program),
      graph_(*program_.graph),
      names_(*program_.flat, graph_, program_.annotations, program_.relabeled),
      origins_(program_, partitioned.shardings),
      frames_(*program_.flat),
      given_names_(GivenNames(*program_.flat)) {
  for (const Instruction* instruction : graph_.ReachedInstructions(*program_.flat)) {
    by_name_.try_emplace(names_.NameOf(*instruction), instruction);
    for (const int t : graph_.Leaves(*instruction)) {
      if (maker_.try_emplace(t, instruction).second) in_order_.push_back(t);
    }
  }
  for (const int t : graph_.outputs()) {
    if (!maker_.contains(t)) in_order_.push_back(t);
  }
  place_.resize(graph_.num_tensors());
  for (size_t i = 0; i < in_order_.size(); ++i) place_[in_order_[i]] = static_cast<int>(i);
  FindState();
}

void AnnotatedArrays::FindState() {
  // A result's annotation is that of the op that makes it, a Sharding call or the like, or its own.
  absl::flat_hash_map<int, int> from;
  for (const FlowOp& op : graph_.ops()) {
    if (op.instruction == nullptr) from[op.results[0]] = op.operands[0];
  }
  const auto annotated = [&](int output) {
    const auto made = from.find(output);
    const bool is_own = made == from.end() || !program_.annotations.tensor[made->second];
    return is_own ? output : made->second;
  };
  const auto is_same = [&](int argument, int output) {
    const auto &asked = program_.annotations.tensor[argument],
               &returned = program_.annotations.tensor[annotated(output)];
    return graph_.shape(argument).Compatible(graph_.shape(output)) &&
           (!asked || !returned || asked->sharding == returned->sharding);
  };
  for (const auto& [argument, output] : LongestStateRun(program_, is_same))
    state_[annotated(output)] = argument;
  for (const auto& [argument, output] : DonatedState(program_)) {
    if (is_same(argument, output)) state_[annotated(output)] = argument;
  }
}

std::string AnnotatedArrays::KeyOf(int tensor) const {
  if (IsArgument(tensor)) return LastKey(NameOf(tensor));
  const auto argument = state_.find(tensor);
  if (argument != state_.end()) return LastKey(NameOf(argument->second));
  return OutputOf(tensor) >= 0 ? LastKey(NameOf(tensor)) : "";
}

int AnnotatedArrays::OutputOf(int tensor) const {
  const auto outputs = graph_.outputs();
  const auto at = std::find(outputs.begin(), outputs.end(), tensor);
  return at == outputs.end() ? -1 : static_cast<int>(at - outputs.begin());
}

std::string AnnotatedArrays::NameOf(int tensor) const {
  const auto maker = maker_.find(tensor);
  return maker == maker_.end() ? names_.OutputName(OutputOf(tensor)) : names_.NameOf(*maker->second);
}

std::string AnnotatedArrays::SourceOf(int tensor) {
  const auto maker = maker_.find(tensor);
  return maker == maker_.end() ? "" : frames_.LineOf(maker->second->metadata());
}

bool AnnotatedArrays::IsArgument(int tensor) const {
  const auto maker = maker_.find(tensor);
  return maker != maker_.end() && maker->second->opcode() == Opcode::kParameter &&
         maker->second->computation() == program_.flat->entry();
}

bool AnnotatedArrays::CanBeGiven(int tensor) const {
  const auto& annotation = program_.annotations.tensor[tensor];
  if (!annotation || annotation->foreign || annotation->overruled || annotation->sharding.partial != 0 ||
      program_.annotations.manual[tensor] != 0 || !graph_.shape(tensor).IsArray()) {
    return false;
  }
  const auto maker = maker_.find(tensor);
  if (maker != maker_.end()) return !maker->second->shape().IsTuple();
  // Outputs have numbers of their own only if none of them is a tuple.
  const Shape& result = program_.flat->entry()->root()->shape();
  return !result.IsTuple() || static_cast<size_t>(result.NumLeaves()) == result.tuple_shapes().size();
}

std::string AnnotatedArrays::GivenName(int tensor) const {
  if (IsArgument(tensor)) return given_names_[maker_.at(tensor)->parameter_number()];
  const auto maker = maker_.find(tensor);
  return maker == maker_.end() ? absl::StrCat("output{", OutputOf(tensor), "}") : maker->second->name();
}

std::vector<std::string> AnnotatedArrays::GivenTexts(const ArrayGroup& group, const Sharding& to) const {
  const std::string sharding = program_.annotations.mesh.ToHlo(to).ToString();
  std::vector<std::string> given;
  absl::flat_hash_set<std::string> seen;
  for (const int t : group.tensors) {
    // Copies of a function that is called several times have one name.
    const std::string name = GivenName(t);
    if (seen.insert(name).second) given.push_back(absl::StrCat(name, "=", sharding));
  }
  return given;
}

const Instruction* AnnotatedArrays::ConsumerOf(const ExplainedRow& row) const {
  if (row.names.empty()) return nullptr;
  const std::string& name = row.names.front();
  auto it = by_name_.find(name);
  if (it == by_name_.end()) it = by_name_.find(name.substr(0, name.rfind(" of ")));
  return it == by_name_.end() ? nullptr : it->second;
}

std::vector<int> AnnotatedArrays::AnnotatedBehind(const ExplainedRow& row) const {
  const Instruction* consumer = ConsumerOf(row);
  const FlowOp* op = consumer == nullptr ? nullptr : graph_.OpOf(*consumer);
  if (op == nullptr) return {};
  std::set<int> behind;
  for (const int t : TensorsOf(*op)) {
    if (program_.annotations.tensor[t]) behind.insert(t);
    for (const AxisOrigin& origin : origins_.Of(t)) {
      if (origin.kind == AxisOrigin::Kind::kAsked) behind.insert(origin.hops.back().tensor);
    }
  }
  return {behind.begin(), behind.end()};
}

absl::flat_hash_map<int, double> AnnotatedArrays::BytesBehind(const std::vector<ExplainedRow>& rows) const {
  absl::flat_hash_map<int, double> bytes;
  for (const ExplainedRow& row : rows) {
    for (const int t : AnnotatedBehind(row)) bytes[t] += static_cast<double>(row.sent_bytes);
  }
  return bytes;
}

std::vector<ArrayGroup> AnnotatedArrays::Groups(const std::vector<ExplainedRow>& rows) {
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, size_t> place;
  std::vector<ArrayGroup> groups;
  const auto add = [&](Key key, int tensor) {
    const auto [it, is_new] = place.try_emplace(std::move(key), groups.size());
    if (is_new) groups.emplace_back();
    groups[it->second].tensors.push_back(tensor);
  };
  for (const int t : in_order_) {
    if (!CanBeGiven(t)) continue;
    const std::string name = NameOf(t), shape = graph_.shape(t).ToString(), asked = Text(AskedOf(t));
    add({SourceOf(t), WithoutNumbers(name), shape, asked}, t);
    const std::string key = KeyOf(t);
    if (!key.empty()) add({"", absl::StrCat("'", key), shape, asked}, t);
  }
  // Arrays that one op takes alike, whatever their names and types: keys and values of a sort.
  for (size_t i = 0; i < rows.size() && i < kMostRows; ++i) {
    for (const int t : AnnotatedBehind(rows[i])) {
      if (CanBeGiven(t))
        add({"", absl::StrCat("row ", i), absl::StrJoin(graph_.shape(t).dims(), ","), Text(AskedOf(t))}, t);
    }
  }
  std::vector<std::pair<double, double>> worth(groups.size());
  const absl::flat_hash_map<int, double> behind = BytesBehind(rows);
  std::vector<size_t> order;
  std::map<std::vector<int>, size_t> known;  // One key may hold no more arrays than another.
  for (size_t i = 0; i < groups.size(); ++i) {
    std::vector<int>& tensors = groups[i].tensors;
    std::sort(tensors.begin(), tensors.end(), [&](int a, int b) { return place_[a] < place_[b]; });
    tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
    if (!known.try_emplace(tensors, i).second) continue;
    order.push_back(i);
    for (const int t : groups[i].tensors) {
      const auto bytes = behind.find(t);
      if (bytes != behind.end()) worth[i].first += bytes->second;
      worth[i].second += static_cast<double>(graph_.shape(t).NumElements());
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return worth[a] > worth[b]; });
  std::vector<ArrayGroup> ordered;
  for (const size_t i : order) ordered.push_back(std::move(groups[i]));
  return ordered;
}

}  // namespace toroid
