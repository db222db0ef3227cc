// Changes of annotations that were tried, as explanations tell them.
//
//   tried: sharding_constraint.6 and 5 others like it [{"data"}, {}, {}] instead of [{}, {}, {"model"}] sends 1.5 MB instead of 2.3 MB
//   (-33.7 %), without the all-gather of 688.1 kB for add.7 (model.py:24), and needs 1.8 MB of memory instead of 2.1 MB (model.py:21)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace toroid {

struct TriedChange {
  std::string name, source;  // The annotated array, and the author's line; "" if unknown.
  std::string from, to;      // Its sharding, over the author's axes.
  // NAME=SHARDING, as --shard and --what_if take it: of the array, and of those that are changed with it.
  std::vector<std::string> given;
  size_t num_others =
      0;  // The last ones of `given`: of what is changed together with it, not since it is annotated alike.
  int64_t sent_now = 0, sent_then = 0;       // Bytes per device in one run.
  double seconds_now = 0, seconds_then = 0;  // Of a step on a machine; 0 without one.
  // What else is changed with it, "NAME SHARDING instead of SHARDING" each: changes that save more together.
  std::vector<std::string> together;
  int64_t peak_now = 0, peak_then = 0;  // Bytes of memory at the peak, compiled.
  // The largest row that is gone: "all-gather", its bytes, what needed it and where; "" if none is.
  std::string removed, removed_for, removed_source;
  int64_t removed_bytes = 0;
};

// What an explanation says of changes that were tried.
struct Diagnosis {
  std::vector<TriedChange> changes;  // The one that saves most first.
  bool is_skipped = false;           // The program is too large for trials that nobody asked for.
};

// The sentence from the name to the memory, without a line's end.
std::string ChangeText(const TriedChange& change);

// The lines above, of at most `width` columns; "" if there is nothing to say.
std::string DiagnosisText(const Diagnosis& diagnosis, int width);

// These lines and a table: below it if both fit on a screen of 40 lines, else the changes stand above it.
std::string WithDiagnosis(const std::string& table, const Diagnosis& diagnosis, int width);

}  // namespace toroid
