// Reads tables of tests/corpus: tab-separated files, and the modules that they name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace toroid {

// The rows after the header; all have at least `columns` fields.
// Errors: kInvalidArgument for a row that has fewer.
absl::StatusOr<std::vector<std::vector<std::string>>> ParseTable(absl::string_view text, size_t columns);
// Errors: those of ParseTable and ReadFile.
absl::StatusOr<std::vector<std::vector<std::string>>> ReadTable(const std::string& path, size_t columns);

// Errors: kInvalidArgument for a field that is no number.
absl::StatusOr<double> Number(const std::string& field);

// FOLDER/NAME.hlo.pb, or its compressed form.
std::string ModuleFile(const std::string& folder, const std::string& name);

}  // namespace toroid
