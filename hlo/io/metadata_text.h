// Attributes that any instruction may have in HLO text: metadata, frontend attributes, backend configs,
// statistics.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "hlo/io/text_scanner.h"
#include "hlo/proto/hlo.pb.h"

namespace toroid {

// {op_type="dot" op_name="jit(f)/dot" source_file="a.py" source_line=3 ...}; unknown items are dropped.
absl::Status ParseMetadata(TextScanner* scanner, xla::OpMetadata* metadata);
// "" if no field is set that has a spelling.
std::string MetadataToString(const xla::OpMetadata& metadata);

// {a="text",b={balanced block}}, sorted by key.
absl::Status ParseFrontendAttributes(TextScanner* scanner, xla::FrontendAttributes* attributes);
std::string FrontendAttributesToString(const xla::FrontendAttributes& attributes);

// A value that is one balanced block is written verbatim, any other in quotes.
absl::StatusOr<std::string> ParseRawOrQuoted(TextScanner* scanner);
std::string RawOrQuoted(absl::string_view value);

// {visualizing_index=0,flops=1.5}
absl::Status ParseStatistics(TextScanner* scanner, xla::StatisticsViz* statistics);
std::string StatisticsToString(const xla::StatisticsViz& statistics);

}  // namespace toroid
