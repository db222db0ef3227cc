// A line on a terminal that is written over as work goes on; silent elsewhere.
//
//   [############..................] step 400 of 1000  loss 2.31
#ifndef TOROID_EXAMPLES_PROGRESS_BAR_H_
#define TOROID_EXAMPLES_PROGRESS_BAR_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace toroid {

class ProgressBar {
 public:
  // Of so many steps; on standard error.
  explicit ProgressBar(int64_t steps);
  ~ProgressBar();  // Clears the line.
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  bool visible() const { return terminal_; }
  // `done` steps are done, and this is what goes on.
  void Show(int64_t done, absl::string_view what);
  // The next step begins, and this is what it does.
  void Step(absl::string_view what) { Show(done_++, what); }
  // Clears the line, for others to write there.
  void Clear();

 private:
  const int64_t steps_;
  const bool terminal_;
  int64_t done_ = 0;
};

// The bar and the text, at most `width` columns.
std::string ProgressBarText(int64_t done, int64_t steps, absl::string_view what, int width);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_PROGRESS_BAR_H_
