// Names that differ from each other.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace toroid {

class UniqueNames {
 public:
  // `name` itself the first time, later with a suffix: body, body.t1, body.t2.
  std::string Add(absl::string_view name) {
    if (used_.insert(std::string(name)).second) return std::string(name);
    std::string candidate;
    do {
      candidate = absl::StrCat(name, ".t", ++next_suffix_);
    } while (!used_.insert(candidate).second);
    return candidate;
  }

 private:
  absl::flat_hash_set<std::string> used_;
  int64_t next_suffix_ = 0;
};

}  // namespace toroid
