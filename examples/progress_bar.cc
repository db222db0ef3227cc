#include "examples/progress_bar.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "hlo/base/terminal.h"

namespace toroid {

std::string ProgressBarText(int64_t done, int64_t steps, absl::string_view what, int width) {
  constexpr int64_t kBar = 30;
  const int64_t filled = std::clamp<int64_t>(kBar * done / std::max<int64_t>(steps, 1), 0, kBar);
  return CutMiddle(absl::StrCat("[", std::string(filled, '#'), std::string(kBar - filled, '.'), "] ", what),
                   width);
}

ProgressBar::ProgressBar(int64_t steps) : steps_(steps), terminal_(isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() { Clear(); }

void ProgressBar::Clear() {
  if (terminal_) std::fprintf(stderr, "\r\033[K");
}

void ProgressBar::Show(int64_t done, absl::string_view what) {
  if (!terminal_) return;
  winsize size;
  const int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  std::fprintf(stderr, "\r\033[K%s", ProgressBarText(done, steps_, what, width - 1).c_str());
  std::fflush(stderr);
}

}  // namespace toroid
