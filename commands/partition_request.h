// What hlo-partition is asked to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/given_shardings.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/io/file.h"
#include "partitioner/prepare/partition_options.h"

namespace toroid {

// The output of --explain. kGrouped: rows that differ only by numbers are one; kFull: a row for every
// collective; kJson, kFullJson: the same as JSON; kPlan: the plan (partitioner/plan/plan_text.h).
enum class ExplainMode { kNothing, kGrouped, kFull, kJson, kFullJson, kPlan };

// --search=shardings and its flags (commands/search_command.h).
struct SearchRequest {
  bool is_asked = false;
  std::vector<std::string> free, fix;  // Globs: whose shardings are taken off before, and whose are not.
  std::optional<int64_t> memory;       // Bytes of one device.
  std::optional<double> seconds;       // Of the solver, for each problem; none: a number of steps.
  int64_t steps = 60;
  std::string repeats = "auto";  // auto, share, apart
  bool shows_progress = true;
};

struct PartitionCommand {
  std::string input;
  SearchRequest search;
  std::string output;  // Empty: write no module.
  std::optional<Format> format;
  GivenShardings given;     // Beside what the module says.
  std::string plan;         // A file with the plan to partition by; empty: none.
  std::string annotations;  // A file of such lines, read; written by a search. Empty: none.
  std::vector<std::string>
      what_if;          // NAME=SHARDING; each is tried alone, in place of the module's sharding of NAME.
  bool advise = false;  // Try changes of annotations, and print those that pay (explain/advice.h).
  std::string
      why_json;  // The file for the origins of all cuts (explain/why_json.h), "-" for standard output; empty: none.
  std::vector<std::string> why;  // Values whose cuts are to be explained (explain/why.h).
  bool frames = false;           // Print the calls that led to each row (explain/frames_text.h).
  AuthorFiles author_files;      // Whose files are whose, if the user says so.
  std::string stats;             // The file for the statistics, "-" for standard output; empty: none.
  ExplainMode explain = ExplainMode::kNothing;
  std::string html;  // The file for the page of the explanation, "-" for standard output; empty: none.
  bool html_sources = true;  // Whether the page holds text of source files.
  bool check = false;   // Before anything is written, run the program and compare with the unpartitioned run.
  std::string machine;  // The slice to decide and predict for (simulator/machines/machine.h); empty: none.
  std::string dump_dir;      // Folder for the module after each phase and pass; empty: none.
  bool verify = false;       // Verify the module after each phase and pass.
  PartitionOptions options;  // With a machine, its cost model is taken for `cost`.
};

}  // namespace toroid
