// Durations as text for people.
#pragma once

#include <string>

namespace toroid {

// "1.23 s", "12.3 ms", "456 us": three digits.
std::string TimeText(double seconds);

}  // namespace toroid
