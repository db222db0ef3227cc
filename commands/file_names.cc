#include "commands/file_names.h"

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "hlo/io/file.h"

namespace toroid {

std::string NameOfInput(const std::string& path) { return path == "-" ? "standard input" : path; }

void CheckOutputName(const std::string& path, absl::string_view advice) {
  const absl::Status status = FormatOfName(path).status();
  if (!status.ok()) throw CLI::ValidationError("-o", absl::StrCat(status.message(), advice));
}

}  // namespace toroid
