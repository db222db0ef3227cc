// The source lines of collectives, and the text of the files they are in, as JSON for pages.
//
//   stacks  lists of calls, innermost first: [file, line, function, kind], file an index into files
//   files   {"name", "lines": [[line, bytes], ...], "parts": [{"first", "lines"}, ...], "missing"}: the bytes that the collectives of a
//           line send, and the text around those lines. `missing` says why there is none.
//
// A file is read if it is a regular file of at most 1 MiB of text with a name as source files have, such as step.py. A short
// one is shown whole, of a longer one the lines around those that are named. Only files of the author's lines, of packages of
// models and of helpers are shown, none of frameworks.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "hlo/analysis/collective_records.h"
#include "nlohmann/json.hpp"

namespace toroid {

struct SourceSection {
  nlohmann::ordered_json stacks, files;
  std::vector<int> stack_of;  // By collective: its place in `stacks`; -1 without a known line.
  std::vector<int>
      frame_of;  // By collective: the call on its stack that CollectiveRecord::source names; -1 if none.
};

// `metadata`: of each of `collectives`, or of its array in a merged one. `reads_files`: whether text is wanted at all.
SourceSection MakeSourceSection(const Module& module, absl::Span<const CollectiveRecord> collectives,
                                absl::Span<const xla::OpMetadata* const> metadata, bool reads_files);

}  // namespace toroid
