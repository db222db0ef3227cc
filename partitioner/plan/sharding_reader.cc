#include "partitioner/plan/sharding_reader.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

constexpr absl::string_view kReducers[] = {"", "product ", "maximum ", "minimum ", "and ", "or "};

}  // namespace

ShardingReader::ShardingReader(const Mesh& mesh, const ProgramNames& names) {
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

absl::StatusOr<AxisList> ShardingReader::TakeAxes(absl::string_view* text) const {
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

absl::StatusOr<Sharding> ShardingReader::Read(absl::string_view text, int rank) const {
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

}  // namespace toroid
