#include "explain/page/whole_arrays.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "explain/explanation.h"
#include "hlo/analysis/author_names.h"

namespace toroid {
namespace {

std::string NameInScopes(const Instruction& instruction) {
  const std::string scopes =
      instruction.metadata() == nullptr ? "" : AuthorScopes(instruction.metadata()->op_name());
  return absl::StrCat(scopes, scopes.empty() ? "" : "/", instruction.name());
}

std::string WithoutDigits(std::string text) {
  std::erase_if(text, [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); });
  return text;
}

}  // namespace

std::vector<WholeArray> ListWholeArrays(const Module& propagated, size_t most) {
  struct Alike {
    WholeArray array;
    std::vector<std::string> names;
  };
  std::map<std::tuple<std::string, std::string, std::string>, size_t> places;
  std::vector<Alike> all;
  for (const auto& computation : propagated.computations()) {
    for (const auto& instruction : computation->instructions()) {
      const bool is_argument =
          instruction->opcode() == Opcode::kParameter && computation.get() == propagated.entry();
      if (is_argument || !instruction->shape().IsArray() || instruction->shape().rank() == 0) continue;
      if (instruction->sharding() == nullptr) continue;
      absl::StatusOr<HloSharding> sharding = HloSharding::FromProto(*instruction->sharding());
      if (!sharding.ok()) continue;
      std::string name = NameInScopes(*instruction);
      const auto [it, is_new] = places.try_emplace(
          {WithoutDigits(name), instruction->shape().ToString(), sharding->ToString()}, all.size());
      if (is_new) all.push_back({{"", instruction->shape(), *std::move(sharding)}, {}});
      all[it->second].names.push_back(std::move(name));
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Alike& a, const Alike& b) {
    return a.array.shape.ByteSize() > b.array.shape.ByteSize();
  });
  std::vector<WholeArray> out;
  for (Alike& one : all) {
    if (out.size() == most) break;
    one.array.name = NameOfAll(one.names);
    out.push_back(std::move(one.array));
  }
  return out;
}

}  // namespace toroid
