#include "runtime/loops/processor_level.h"

#include <atomic>

#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

bool Has(ProcessorLevel level) {
  switch (level) {
    case ProcessorLevel::kV2:
      return true;
    case ProcessorLevel::kV3:
      return __builtin_cpu_supports("x86-64-v3");
    case ProcessorLevel::kV4:
      return __builtin_cpu_supports("x86-64-v4");
  }
  return false;
}

std::atomic<ProcessorLevel>& Current() {
  static std::atomic<ProcessorLevel> current = LevelsOfThisProcessor().back();
  return current;
}

}  // namespace

absl::string_view NameOf(ProcessorLevel level) {
  constexpr absl::string_view kNames[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
  return kNames[static_cast<int>(level)];
}

std::vector<ProcessorLevel> LevelsOfThisProcessor() {
  std::vector<ProcessorLevel> levels;
  for (const ProcessorLevel level : kProcessorLevels) {
    if (Has(level)) levels.push_back(level);
  }
  return levels;
}

ProcessorLevel CurrentProcessorLevel() { return Current().load(std::memory_order_relaxed); }

absl::Status UseProcessorLevel(ProcessorLevel level) {
  if (!Has(level)) {
    return absl::InvalidArgumentError(absl::StrCat("this processor does not have the instructions of ",
                                                   NameOf(level), "; the highest level it has is ",
                                                   NameOf(LevelsOfThisProcessor().back())));
  }
  Current().store(level, std::memory_order_relaxed);
  return absl::OkStatus();
}

}  // namespace toroid
