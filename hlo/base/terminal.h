// The width of a report, and texts cut to fit it.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace toroid {

// Columns of the terminal behind standard output. If that is no terminal: the value of the variable COLUMNS,
// or 120.
int OutputWidth();

// Columns that UTF-8 text takes: one for each character.
int TextWidth(absl::string_view text);

// The text cut to at most `width` columns by leaving out its middle.
// Example: "transpose_of_the_last.12" in 12 columns is "transp…st.12".
std::string CutMiddle(absl::string_view text, int width);

// The same for the path of a file, whose end says most: `…/layers/linears.py:162`, from a folder on if one fits.
std::string CutFront(absl::string_view path, int width);

// New widths, `total` together, for texts of these widths: the longest texts are cut first.
// Example: 4, 30, 50 in 40: 4, 18, 18.
std::vector<int> FitWidths(std::vector<int> widths, int total);

}  // namespace toroid
