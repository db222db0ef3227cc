#include "explain/found_text.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "hlo/base/terminal.h"
#include "hlo/base/text_table.h"
#include "hlo/base/time_text.h"

namespace toroid {
namespace {

constexpr int kMostNameColumns = 48;

std::string MeshText(const std::vector<AxisSize>& mesh) {
  return absl::StrJoin(mesh, ",", [](std::string* out, const AxisSize& axis) {
    absl::StrAppend(out, axis.name, "=", axis.size);
  });
}

// "params['w'] and 31 more"
std::string NamesText(const FoundAnnotation& annotation) {
  std::string text = CutMiddle(annotation.names.front(), kMostNameColumns - 12);
  if (annotation.names.size() > 1) absl::StrAppend(&text, " and ", annotation.names.size() - 1, " more");
  return text;
}

// A result is annotated as the argument that it takes the place of.
bool IsResult(const FoundAnnotation& annotation) {
  return absl::StartsWith(annotation.names.front(), "output{");
}

// "  sends 2.1 MB in 3 collectives, 1.374e+11 flops, 167.8 MB of memory, 2.1 ms a step"
std::string FiguresLine(const ProgramFigures& figures) {
  return absl::StrCat(
      "  sends ", BytesText(figures.explanation.sent_bytes), " in ",
      CountText(figures.explanation.collectives), " collectives, ", absl::StrFormat("%.4g", figures.flops),
      " flops, ", BytesText(figures.peak_bytes), " of memory",
      figures.seconds > 0 ? absl::StrCat(", ", TimeText(figures.seconds), " a step") : "", "\n");
}

}  // namespace

std::string PartitionSpecText(absl::string_view sharding) {
  std::vector<std::string> dims;
  size_t at = 0;
  while ((at = sharding.find('{', at)) != absl::string_view::npos) {
    const size_t end = sharding.find('}', at);
    if (end == absl::string_view::npos) break;
    std::vector<std::string> axes;
    for (absl::string_view axis :
         absl::StrSplit(sharding.substr(at + 1, end - at - 1), ',', absl::SkipWhitespace())) {
      axis = absl::StripAsciiWhitespace(axis);
      axes.push_back(absl::StrCat("'", absl::StripPrefix(absl::StripSuffix(axis, "\""), "\""), "'"));
    }
    dims.push_back(axes.empty()       ? "None"
                   : axes.size() == 1 ? axes[0]
                                      : absl::StrCat("(", absl::StrJoin(axes, ", "), ")"));
    at = end;
  }
  while (!dims.empty() && dims.back() == "None") dims.pop_back();
  return absl::StrCat("P(", absl::StrJoin(dims, ", "), ")");
}

std::string FoundText(const FoundShardings& found, const std::vector<AxisSize>& mesh,
                      const ProgramFigures& figures, const std::optional<ProgramFigures>& before,
                      double seconds) {
  std::string out = absl::StrFormat("search of %d choices, %.1f million costs: %d %s, %.1f s", found.nodes,
                                    static_cast<double>(found.costs) / 1e6, found.rounds,
                                    found.rounds == 1 ? "round" : "rounds", seconds);
  if (found.priced_seconds > 0) {
    const double gap = 100 * (found.priced_seconds - found.bound_seconds) / found.priced_seconds;
    absl::StrAppendFormat(&out, "; by prices at most %.2f %% above the best%s", std::max(0.0, gap),
                          mesh.empty() ? "" : " of this mesh");
  }
  if (found.memory) absl::StrAppend(&out, "; within ", BytesText(*found.memory), " a device");
  out += "\n";
  if (!mesh.empty()) absl::StrAppend(&out, "mesh: --mesh=", MeshText(mesh), "\n");
  absl::StrAppend(&out, before ? FiguresTable(*before, figures, "before", "found") : FiguresLine(figures));
  if (found.is_given) {
    absl::StrAppend(&out, "found: nothing better than the shardings that the module states\n");
    return out;
  }
  std::vector<const FoundAnnotation*> shown;
  for (const FoundAnnotation& annotation : found.annotations) {
    if (!IsResult(annotation)) shown.push_back(&annotation);
  }
  if (shown.empty()) {
    absl::StrAppend(
        &out, "found: no annotation; of the cuts that were tried none takes less time than whole arrays\n");
    return out;
  }
  int name_width = 0, sharding_width = 0;
  for (const FoundAnnotation* annotation : shown) {
    name_width = std::max(name_width, TextWidth(NamesText(*annotation)));
    sharding_width = std::max(sharding_width, TextWidth(annotation->sharding));
  }
  absl::StrAppend(
      &out, "found: ", shown.size(), shown.size() == 1 ? " annotation" : " annotations",
      shown.size() < found.annotations.size() ? "; the state is returned as it is taken\n" : "\n");
  for (const FoundAnnotation* annotation : shown) {
    const std::string name = NamesText(*annotation);
    absl::StrAppend(&out, "  ", name, std::string(name_width - TextWidth(name) + 3, ' '),
                    annotation->sharding,
                    std::string(sharding_width - TextWidth(annotation->sharding) + 3, ' '),
                    PartitionSpecText(annotation->sharding), annotation->is_argument ? "" : "   inside",
                    annotation->is_uneven ? "   in unequal parts" : "", "\n");
  }
  return out;
}

std::string AnnotationLines(const FoundShardings& found, const std::vector<AxisSize>& mesh) {
  std::string out;
  if (!mesh.empty()) absl::StrAppend(&out, "# to be given with --mesh=", MeshText(mesh), "\n");
  for (const FoundAnnotation& annotation : found.annotations) {
    absl::StrAppend(&out, "# ", annotation.sharding, "  ", PartitionSpecText(annotation.sharding), "\n");
    for (const std::string& name : annotation.names) absl::StrAppend(&out, name, "=", annotation.given, "\n");
  }
  return out;
}

}  // namespace toroid
