// Sets of one-core programs with the estimates of Google's compilers: the batches of tests/corpus/batches.tsv.
//
// A batch is an archive of modules, NAME.hlo.pb, and of index.tsv, which has for each the columns
//   name, microseconds, temp_bytes   what the compiler states: time of all groups, memory beside arguments and results
//   without_estimate                 opcodes that it does not estimate, separated by commas; -: it estimates all
//   groups                           how many there are, or of each its opcode and microseconds; -: not kept
//   kind                             of model or step; -: not kept
// The same as a folder, whose modules may be compressed, is read as well.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/io/file.h"

namespace toroid {

// A row of the manifest. Percentages are of errors at first sight, before anyone looked at the batch; -1 where not kept.
struct Batch {
  std::string number, machine, name;
  std::string made;       // The day.
  std::string compiler;   // The version of libtpu.
  bool is_blind = false;  // No rule was found on it.
  double first_median = -1, first_ninetieth = -1, first_worst = -1;
  std::string path;  // Of the archive.
  std::string what;
};

// In the order in which they were made.
// Errors: those of reading "CORPUS/batches.tsv".
absl::StatusOr<std::vector<Batch>> ReadManifest(const std::string& corpus);
// Errors: kNotFound if no batch has that name.
absl::StatusOr<Batch> FindBatch(const std::string& corpus, absl::string_view name);

struct EstimatedProgram {
  std::string name;
  std::string kind;
  double compiler_us = 0;
  double temporary_bytes = 0;
  bool is_whole = false;  // The compiler estimates every group.
  int row = 0;            // In the index.
  HloFile file;
};

enum class Programs { kWhole, kAll };

// In the order of the index. Programs without any estimate are left out.
// Errors: those of reading the archive or folder, behind its path and the program's name.
absl::StatusOr<std::vector<EstimatedProgram>> ReadPrograms(const std::string& path, Programs which);

}  // namespace toroid
