// Durations as text for people.
#ifndef TOROID_HLO_BASE_TIME_TEXT_H_
#define TOROID_HLO_BASE_TIME_TEXT_H_

#include <string>

namespace toroid {

// "1.23 s", "12.3 ms", "456 us": three digits.
std::string TimeText(double seconds);

}  // namespace toroid

#endif  // TOROID_HLO_BASE_TIME_TEXT_H_
