#include "hlo/base/time_text.h"

#include <utility>

#include "absl/strings/str_format.h"

namespace toroid {

std::string TimeText(double seconds) {
  static constexpr std::pair<double, const char*> kUnits[] = {
      {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  for (const auto& [unit, name] : kUnits) {
    const double value = seconds / unit;
    if (value < 0.9995 && unit > 1e-9) continue;
    return absl::StrFormat("%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, name);
  }
  return "";
}

}  // namespace toroid
