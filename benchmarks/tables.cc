#include "benchmarks/tables.h"

#include <filesystem>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"

namespace toroid {

absl::StatusOr<std::vector<std::vector<std::string>>> ParseTable(absl::string_view text, size_t columns) {
  std::vector<std::vector<std::string>> rows;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    std::vector<std::string> row = absl::StrSplit(line, '\t');
    if (row.size() < columns) {
      return absl::InvalidArgumentError(absl::StrCat("a row has ", row.size(), " columns, not ", columns));
    }
    rows.push_back(std::move(row));
  }
  if (!rows.empty()) rows.erase(rows.begin());
  return rows;
}

absl::StatusOr<std::vector<std::vector<std::string>>> ReadTable(const std::string& path, size_t columns) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  absl::StatusOr<std::vector<std::vector<std::string>>> rows = ParseTable(text, columns);
  if (!rows.ok()) return Annotate(rows.status(), path);
  return rows;
}

absl::StatusOr<double> Number(const std::string& field) {
  double value;
  if (!absl::SimpleAtod(field, &value)) return absl::InvalidArgumentError(absl::StrCat("no number: ", field));
  return value;
}

std::string ModuleFile(const std::string& folder, const std::string& name) {
  const std::string path = absl::StrCat(folder, "/", name, ".hlo.pb");
  return std::filesystem::exists(path) ? path : path + ".gz";
}

}  // namespace toroid
