#include "hlo/base/text_table.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlo/base/terminal.h"

namespace toroid {

std::string BytesText(int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1000 && unit < 6) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? absl::StrFormat("%d B", bytes) : absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string CountText(int64_t count) {
  std::string text = absl::StrCat(count);
  const int first = count < 0 ? 1 : 0;
  for (int at = static_cast<int>(text.size()) - 3; at > first; at -= 3)
    text.insert(static_cast<size_t>(at), 1, ',');
  return text;
}

std::string TableText(const std::vector<std::vector<std::string>>& rows, int width) {
  constexpr int kBetween = 2;  // Blanks before each column.
  std::vector<int> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], TextWidth(row[c]));
  }
  widths = FitWidths(widths, width - kBetween * static_cast<int>(widths.size()));
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string cell = CutMiddle(row[c], widths[c]);
      const std::string padding(widths[c] - TextWidth(cell), ' ');
      const bool number = !cell.empty() && absl::ascii_isdigit(static_cast<unsigned char>(cell[0]));
      absl::StrAppend(&line, std::string(kBetween, ' '), number ? padding : "", cell, number ? "" : padding);
    }
    absl::StripTrailingAsciiWhitespace(&line);
    absl::StrAppend(&out, line, "\n");
  }
  return out;
}

}  // namespace toroid
