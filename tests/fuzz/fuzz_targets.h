// The fuzz targets: one per file format, and one per stage that reads modules.
//
// A target starts from inputs of tests/corpus, changes them, and demands more of the code than not to crash:
// an input that was read must be written and read again as the same.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tests/fuzz/random_source.h"

namespace toroid {

class FuzzTarget {
 public:
  virtual ~FuzzTarget() = default;
  // Small inputs from the corpus.
  virtual std::vector<std::string> Seeds() const = 0;
  // A changed copy of `seed`, with parts of `other` in it.
  virtual std::string Mutate(absl::string_view seed, absl::string_view other, RandomSource* random) const = 0;
  // OK if the input was read; kInvalidArgument, kUnimplemented, kResourceExhausted if it was refused, as most
  // are; kInternal "..." for a violated promise.
  virtual absl::Status Execute(const std::string& input) const = 0;
};

struct NamedFuzzTarget {
  absl::string_view name;
  absl::string_view what;
  std::unique_ptr<FuzzTarget> (*make)();
};

absl::Span<const NamedFuzzTarget> FuzzTargets();

}  // namespace toroid
