#include "explain/frames_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/base/terminal.h"
#include "hlo/base/text_table.h"

namespace toroid {
namespace {

constexpr size_t kMostRows = 25;

std::string StackText(absl::Span<const SourceFrame> stack) {
  if (stack.empty()) return "    the module records no calls\n";
  const int shown = SourceFrames::ShownOf(stack);
  std::vector<std::string> calls;
  int width = 0;
  for (const SourceFrame& frame : stack) {
    calls.push_back(absl::StrCat(FileInPackage(frame.file), ":", frame.line, " ", frame.function));
    if (frame.kind != FrameKind::kLibrary) width = std::max(width, TextWidth(calls.back()));
  }
  std::string out;
  size_t libraries = 0;  // In a row.
  for (size_t i = 0; i < stack.size(); ++i) {
    const bool is_library = stack[i].kind == FrameKind::kLibrary && static_cast<int>(i) != shown;
    libraries += is_library ? 1 : 0;
    const bool ends = libraries > 0 && (!is_library || i + 1 == stack.size());
    if (ends) {
      absl::StrAppend(&out, "    ", libraries, " of libraries\n");
      libraries = 0;
    }
    if (is_library) continue;
    const int gap = std::max(0, width - TextWidth(calls[i])) + 2;
    absl::StrAppend(&out, static_cast<int>(i) == shown ? "  * " : "    ", calls[i], std::string(gap, ' '),
                    FrameKindText(stack[i].kind), "\n");
  }
  return out;
}

}  // namespace

std::string FramesText(const Module& partitioned, absl::Span<const CollectiveRecord> collectives,
                       const Explanation& explanation) {
  SourceFrames frames(partitioned);
  std::string out;
  for (size_t i = 0; i < explanation.rows.size() && i < kMostRows; ++i) {
    const ExplainedRow& row = explanation.rows[i];
    const xla::OpMetadata* metadata = row.records.empty() ? nullptr : collectives[row.records[0]].metadata;
    absl::StrAppend(&out, row.opcode, " of ", BytesText(row.sent_bytes), " for ", row.name, "\n",
                    StackText(frames.StackOf(metadata)));
  }
  return out;
}

}  // namespace toroid
