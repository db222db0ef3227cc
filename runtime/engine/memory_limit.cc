#include "runtime/engine/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <unordered_map>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "hlo/base/math.h"

namespace toroid {
namespace {

std::optional<int64_t> NumberIn(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  int64_t number;
  if (!(file >> word) || !absl::SimpleAtoi(word, &number)) return std::nullopt;  // "max" means no limit.
  return number;
}

int64_t AvailableInMachine() {
  std::ifstream file("/proc/meminfo");
  std::string line;
  while (std::getline(file, line)) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    int64_t kilobytes;
    if (words.size() >= 2 && words[0] == "MemAvailable:" && absl::SimpleAtoi(words[1], &kilobytes))
      return kilobytes << 10;
  }
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page_size > 0 ? pages * page_size : INT64_MAX;
}

// The free memory that the control groups of this process allow, the least over all levels of each hierarchy.
int64_t AvailableInGroups() {
  int64_t least = INT64_MAX;
  const auto look = [&](const std::string& folder, const char* limit_name, const char* usage_name) {
    const std::optional<int64_t> limit = NumberIn(folder + limit_name), usage = NumberIn(folder + usage_name);
    if (limit) least = std::min(least, std::max<int64_t>(0, *limit - usage.value_or(0)));
  };
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const bool second = parts[1].empty();
    if (!second && parts[1] != "memory") continue;
    for (std::string path = parts[2];; path.resize(path.rfind('/'))) {
      if (path == "/") path.clear();
      if (second) {
        look("/sys/fs/cgroup" + path + "/", "memory.max", "memory.current");
      } else {
        look("/sys/fs/cgroup/memory" + path + "/", "memory.limit_in_bytes", "memory.usage_in_bytes");
      }
      if (path.empty() || path.rfind('/') == std::string::npos) break;
    }
  }
  return least;
}

// Steps of `plan` and of its callees; `known` makes each computation visited once.
int64_t CountSteps(const Plan& plan, std::unordered_map<const Plan*, int64_t>* known) {
  const auto it = known->find(&plan);
  if (it != known->end()) return it->second;
  int64_t steps = 0;
  for (const Step& step : plan.steps) {
    int64_t all = 0, least = INT64_MAX;
    for (const Plan* callee : step.called) {
      const int64_t one = CountSteps(*callee, known);
      all = SaturatingAdd(all, one);
      least = std::min(least, one);
    }
    const int64_t inside = step.instruction->opcode() == Opcode::kConditional ? least : all;
    steps = SaturatingAdd(steps, SaturatingAdd(step.instructions, inside));
  }
  return (*known)[&plan] = steps;
}

}  // namespace

int64_t DefaultMaxBytes() { return std::min(AvailableInMachine(), AvailableInGroups()) / 5 * 4; }

int64_t StaticSteps(const Plan& plan) {
  std::unordered_map<const Plan*, int64_t> known;
  return CountSteps(plan, &known);
}

}  // namespace toroid
