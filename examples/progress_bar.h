// A line on a terminal that is overwritten as work goes on; nothing is written elsewhere.
//
//   [############..................] step 400 of 1000  loss 2.31
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace toroid {

class ProgressBar {
 public:
  // Shows progress over this many steps, on standard error.
  explicit ProgressBar(int64_t steps);
  ~ProgressBar();  // Clears the line.
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  bool visible() const { return terminal_; }
  // `done` steps are done; `what` says what goes on.
  void Show(int64_t done, absl::string_view what);
  // Begins the next step, named `what`.
  void Step(absl::string_view what) { Show(done_++, what); }
  // Clears the line, so that other output can use it.
  void Clear();

 private:
  const int64_t steps_;
  const bool terminal_;
  int64_t done_ = 0;
};

// The bar and the text, at most `width` columns.
std::string ProgressBarText(int64_t done, int64_t steps, absl::string_view what, int width);

}  // namespace toroid
