#include "hlo/base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

constexpr int kDefaultWidth = 120;
constexpr int kLeast = 40;  // A narrower terminal breaks the lines itself.
constexpr int kMost = 1000;

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// The first bytes of `text` that hold `characters` characters.
size_t BytesOf(absl::string_view text, int characters) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (BeginsCharacter(text[at]) && characters-- == 0) break;
  }
  return at;
}

}  // namespace

int OutputWidth() {
  winsize size = {};
  int width = 0;
  if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  if (width == 0 && (columns == nullptr || !absl::SimpleAtoi(columns, &width) || width < 1)) {
    width = kDefaultWidth;
  }
  return std::clamp(width, kLeast, kMost);
}

int TextWidth(absl::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

std::string CutMiddle(absl::string_view text, int width) {
  const int all = TextWidth(text);
  if (all <= width) return std::string(text);
  if (width <= 0) return "";
  const int end = (width - 1) / 2, begin = width - 1 - end;
  return absl::StrCat(text.substr(0, BytesOf(text, begin)), "…", text.substr(BytesOf(text, all - end)));
}

std::string CutFront(absl::string_view path, int width) {
  const int all = TextWidth(path);
  if (all <= width) return std::string(path);
  if (width <= 0) return "";
  const absl::string_view end = path.substr(BytesOf(path, all - (width - 1)));
  const size_t folder = end.find('/');
  return absl::StrCat("…", folder == absl::string_view::npos ? end : end.substr(folder));
}

std::vector<int> FitWidths(std::vector<int> widths, int total) {
  std::vector<int> sorted = widths;
  std::sort(sorted.begin(), sorted.end());
  int rest = std::max(total, 0), most = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    most = rest / static_cast<int>(sorted.size() - i);
    if (sorted[i] > most) break;
    rest -= sorted[i];
    most = sorted[i];
  }
  for (int& width : widths) width = std::min(width, most);
  return widths;
}

}  // namespace toroid
