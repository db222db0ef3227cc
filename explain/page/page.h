// The page of `hlo-partition --html`: an explanation to look at in a browser. One file; it opens from disk without a network.
// BUILD: exports "parts.js"
#pragma once

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "explain/explanation.h"
#include "explain/page/whole_arrays.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/cost/predicted_times.h"
#include "hlo/ir/module.h"
#include "nlohmann/json.hpp"

namespace toroid {

struct ExplainPage {
  std::string title;     // Such as the name of the file.
  const Module& module;  // The program of one partition.
  const Module* global =
      nullptr;  // The program before partitioning, if known: shapes of whole arrays, names of axes.
  int64_t num_partitions = 1;
  absl::Span<const CollectiveRecord> collectives;  // Of `module`.
  const Explanation& explanation;                  // Of `collectives`.
  absl::Span<const WholeArray> inside;             // Arrays inside the program before partitioning, if known.
  const PredictedTimes* times = nullptr;           // Those that the explanation was made with.
  std::string made_up_axes;                        // Partitioned::made_up_axes
  bool shows_sources = true;                       // Whether text of source files is put into the page.
};

// The data of the page; README.md has its keys.
nlohmann::ordered_json ExplainPageJson(const ExplainPage& page);

std::string ExplainPageText(const ExplainPage& page);

}  // namespace toroid
