// Numbers and tables as text for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace toroid {

// "999 B", "1.0 kB", "4.3 GB": powers of 1000.
std::string BytesText(int64_t bytes);

// "1,234,567".
std::string CountText(int64_t count);

// Rows of cells, each column as wide as its widest cell; cells that begin with a digit are aligned right.
// Every line is indented by two blanks, has no blanks at its end, and takes at most `width` columns: a cell
// that does not fit loses its middle.
std::string TableText(const std::vector<std::vector<std::string>>& rows, int width);

}  // namespace toroid
