// How wide a report may be, and texts made to fit.
#ifndef TOROID_HLO_BASE_TERMINAL_H_
#define TOROID_HLO_BASE_TERMINAL_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace toroid {

// Columns of the terminal that standard output is; elsewhere those of the variable COLUMNS, 120 without it.
int OutputWidth();

// Columns that UTF-8 text takes, one for each character.
int TextWidth(absl::string_view text);

// The text in at most `width` columns, its middle left out: "transpose_of_the_last.12" in 12 is "transp…st.12".
std::string CutMiddle(absl::string_view text, int width);

// The widths to cut texts of these widths to, so that they take `total` together: the longest are cut first.
// Example: 4, 30, 50 in 40: 4, 18, 18.
std::vector<int> FitWidths(std::vector<int> widths, int total);

}  // namespace toroid

#endif  // TOROID_HLO_BASE_TERMINAL_H_
