#include "hlo/analysis/author_names.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace toroid {
namespace {

// Splits at slashes outside parentheses.
std::vector<absl::string_view> PartsOf(absl::string_view op_name) {
  std::vector<absl::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= op_name.size(); ++i) {
    if (i < op_name.size() && op_name[i] == '(') ++depth;
    if (i < op_name.size() && op_name[i] == ')') --depth;
    if (i < op_name.size() && (op_name[i] != '/' || depth > 0)) continue;
    parts.push_back(op_name.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

// Whether tracing adds this scope: transforms, and the control flow of the traced program.
bool IsOfTracing(absl::string_view part) {
  static constexpr absl::string_view kParts[] = {"while",
                                                 "body",
                                                 "cond",
                                                 "scan",
                                                 "closed_call",
                                                 "core_call",
                                                 "checkpoint",
                                                 "remat",
                                                 "remat2",
                                                 "xla_call",
                                                 "pjit",
                                                 "rematted_computation",
                                                 "shard_map",
                                                 "vmap",
                                                 "jvp",
                                                 "transpose",
                                                 "",
                                                 "custom_jvp_call",
                                                 "custom_vjp_call",
                                                 "custom_vjp_call_jaxpr"};
  if (std::find(std::begin(kParts), std::end(kParts), part) != std::end(kParts)) return true;
  return absl::StartsWith(part, "branch_") && absl::EndsWith(part, "_fun");
}

// "model" of "transpose(jvp(model))"; "" for compiled functions such as "jit(f)", and for scopes of tracing.
absl::string_view AuthorPart(absl::string_view part) {
  while (absl::EndsWith(part, ")")) {
    const size_t open = part.find('(');
    if (open == absl::string_view::npos) break;
    const absl::string_view word = part.substr(0, open);
    if (word == "jit" || word == "pjit") return "";
    if (word != "jvp" && word != "transpose" && word != "vmap" && word != "remat" && word != "checkpoint")
      break;
    part = part.substr(open + 1, part.size() - open - 2);
  }
  return IsOfTracing(part) ? "" : part;
}

}  // namespace

std::string AuthorScopes(absl::string_view op_name) {
  const std::vector<absl::string_view> parts = PartsOf(op_name);
  std::vector<absl::string_view> scopes;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const absl::string_view part = AuthorPart(parts[i]);
    if (!part.empty()) scopes.push_back(part);
  }
  return absl::StrJoin(scopes, "/");
}

std::string InAuthorScopes(const Instruction& instruction, absl::string_view name) {
  if (instruction.metadata() == nullptr) return std::string(name);
  const std::string scopes = AuthorScopes(instruction.metadata()->op_name());
  return absl::StrCat(scopes, scopes.empty() ? "" : "/", name);
}

std::string NameFromMetadata(const Instruction& instruction) {
  if (instruction.metadata() == nullptr) return "";
  return InAuthorScopes(instruction, PartsOf(instruction.metadata()->op_name()).back());
}

}  // namespace toroid
