#include "partitioner/choice/problem_json.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/status.h"
#include "nlohmann/json.hpp"

namespace toroid {
namespace {

using Json = nlohmann::json;

constexpr int kDeepest = 6;  // Levels of lists and objects in the format.

absl::StatusOr<Json> ParseJson(absl::string_view text) {
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
  Json json = Json::parse(text.begin(), text.end(), shallow, /*allow_exceptions=*/false);
  if (json.is_discarded()) return absl::InvalidArgumentError("this is no JSON");
  return json;
}

absl::StatusOr<const Json*> Member(const Json& json, const char* name, const std::string& where) {
  if (!json.is_object() || !json.contains(name)) {
    return absl::InvalidArgumentError(absl::StrCat(where, " has no member \"", name, "\""));
  }
  return &json[name];
}

absl::StatusOr<const Json*> ListMember(const Json& json, const char* name, const std::string& where) {
  ASSIGN_OR_RETURN(const Json* member, Member(json, name, where));
  if (!member->is_array()) return absl::InvalidArgumentError(absl::StrCat(where, ".", name, " is no list"));
  return member;
}

absl::StatusOr<int64_t> Integer(const Json& json, const std::string& where) {
  if (json.is_number_unsigned() &&
      json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return absl::InvalidArgumentError(absl::StrCat(where, " has a number of more than 64 bits"));
  }
  if (!json.is_number_integer())
    return absl::InvalidArgumentError(absl::StrCat(where, " has a member that is no integer"));
  return json.get<int64_t>();
}

absl::StatusOr<std::vector<int64_t>> Integers(const Json& json, const std::string& where) {
  if (!json.is_array()) return absl::InvalidArgumentError(absl::StrCat(where, " is no list"));
  std::vector<int64_t> numbers;
  numbers.reserve(json.size());
  for (const Json& number : json) {
    ASSIGN_OR_RETURN(const int64_t value, Integer(number, where));
    numbers.push_back(value);
  }
  return numbers;
}

absl::Status SameLength(const Json& one, const Json& other, const std::string& where) {
  if (one.size() == other.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(where, " have lists of ", one.size(), " and of ", other.size()));
}

absl::Status ReadNodes(const Json& nodes, ChoiceProblem& problem) {
  ASSIGN_OR_RETURN(const Json* intervals, ListMember(nodes, "intervals", "nodes"));
  ASSIGN_OR_RETURN(const Json* costs, ListMember(nodes, "costs", "nodes"));
  ASSIGN_OR_RETURN(const Json* usages, ListMember(nodes, "usages", "nodes"));
  RETURN_IF_ERROR(SameLength(*intervals, *costs, "nodes.intervals and nodes.costs"));
  RETURN_IF_ERROR(SameLength(*usages, *costs, "nodes.usages and nodes.costs"));
  for (size_t i = 0; i < costs->size(); ++i) {
    const std::string where = absl::StrCat("node ", i);
    ASSIGN_OR_RETURN(const std::vector<int64_t> interval,
                     Integers((*intervals)[i], where + ": its interval"));
    ChoiceNode& node = problem.nodes.emplace_back();
    if (interval.size() == 2) {
      node.begin = interval[0];
      node.end = interval[1];
    } else if (!interval.empty()) {
      return absl::InvalidArgumentError(where + ": its interval has not two numbers");
    }
    ASSIGN_OR_RETURN(node.costs, Integers((*costs)[i], where + ": its costs"));
    ASSIGN_OR_RETURN(node.usages, Integers((*usages)[i], where + ": its usages"));
  }
  return absl::OkStatus();
}

absl::Status ReadEdges(const Json& edges, ChoiceProblem& problem) {
  ASSIGN_OR_RETURN(const Json* nodes, ListMember(edges, "nodes", "edges"));
  ASSIGN_OR_RETURN(const Json* costs, ListMember(edges, "costs", "edges"));
  RETURN_IF_ERROR(SameLength(*nodes, *costs, "edges.nodes and edges.costs"));
  for (size_t e = 0; e < nodes->size(); ++e) {
    const std::string where = absl::StrCat("edge ", e);
    ASSIGN_OR_RETURN(const std::vector<int64_t> ends, Integers((*nodes)[e], where + ": its nodes"));
    ChoiceEdge& edge = problem.edges.emplace_back();
    for (const int64_t end : ends) {
      if (end < 0 || end >= static_cast<int64_t>(problem.nodes.size())) {
        return absl::InvalidArgumentError(absl::StrCat(where, ": there is no node ", end));
      }
      edge.nodes.push_back(static_cast<int>(end));
    }
    ASSIGN_OR_RETURN(edge.costs, Integers((*costs)[e], where + ": its costs"));
  }
  return absl::OkStatus();
}

void CapCosts(std::vector<int64_t>& costs) {
  for (int64_t& cost : costs) cost = std::min(cost, kForbidden);
}

}  // namespace

absl::StatusOr<ChoiceProblem> ParseChoiceProblem(absl::string_view text) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  ASSIGN_OR_RETURN(const Json* root, Member(json, "problem", "the file"));
  ASSIGN_OR_RETURN(const Json* nodes, Member(*root, "nodes", "the problem"));
  ASSIGN_OR_RETURN(const Json* edges, Member(*root, "edges", "the problem"));
  ChoiceProblem problem;
  if (root->contains("name") && (*root)["name"].is_string())
    problem.name = (*root)["name"].get<std::string>();
  RETURN_IF_ERROR(ReadNodes(*nodes, problem));
  RETURN_IF_ERROR(ReadEdges(*edges, problem));
  if (root->contains("usage_limit") && !(*root)["usage_limit"].is_null()) {
    ASSIGN_OR_RETURN(const int64_t limit, Integer((*root)["usage_limit"], "usage_limit"));
    problem.usage_limit = limit;
  }
  for (ChoiceNode& node : problem.nodes) CapCosts(node.costs);
  for (ChoiceEdge& edge : problem.edges) CapCosts(edge.costs);
  RETURN_IF_ERROR(VerifyChoiceProblem(problem));
  return problem;
}

std::string PrintChoiceProblem(const ChoiceProblem& problem) {
  Json nodes = {{"intervals", Json::array()}, {"costs", Json::array()}, {"usages", Json::array()}};
  for (const ChoiceNode& node : problem.nodes) {
    nodes["intervals"].push_back({node.begin, node.end});
    nodes["costs"].push_back(node.costs);
    nodes["usages"].push_back(node.usages);
  }
  Json edges = {{"nodes", Json::array()}, {"costs", Json::array()}};
  for (const ChoiceEdge& edge : problem.edges) {
    edges["nodes"].push_back(edge.nodes);
    edges["costs"].push_back(edge.costs);
  }
  Json root = {{"name", problem.name}, {"nodes", nodes}, {"edges", edges}};
  if (problem.usage_limit.has_value()) root["usage_limit"] = *problem.usage_limit;
  return Json{{"problem", root}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<std::vector<int>> ParseChoice(absl::string_view text, const ChoiceProblem& problem) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, Integers(json, "the answer"));
  std::vector<int> choice;
  for (const int64_t number : numbers) {
    choice.push_back(number < 0 || number > std::numeric_limits<int>::max() ? -1 : static_cast<int>(number));
  }
  RETURN_IF_ERROR(VerifyChoice(problem, choice));
  return choice;
}

std::string PrintChoice(const std::vector<int>& choice) {
  return absl::StrCat("[", absl::StrJoin(choice, ", "), "]\n");
}

}  // namespace toroid
