#include "runtime/plan/progress.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlo/analysis/work.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace toroid {
namespace {

constexpr double kQuietSeconds = 2;  // Shorter runs print nothing.
constexpr double kSecondsBetweenLines = 0.2;
constexpr double kStepNanoseconds = 100;  // Overhead of any instruction.
constexpr double kFlopsPerNanosecond = 20, kBytesPerNanosecond = 4;

std::string DurationText(double seconds) {
  if (seconds < 90) return absl::StrFormat("%.0f s", seconds);
  if (seconds < 5400) return absl::StrFormat("%.0f min", seconds / 60);
  return absl::StrFormat("%.1f h", seconds / 3600);
}

}  // namespace

std::string ProgressText(absl::string_view what, double share, double seconds) {
  share = std::clamp(share, 0.0, 1.0);
  std::string text = absl::StrFormat("%s: %.0f %%", what, 100 * share);
  if (share > 0.005) absl::StrAppend(&text, ", about ", DurationText(seconds * (1 - share) / share), " left");
  return text;
}

double EstimatedWork(const Instruction& instruction) {
  const Work work = WorkOf(instruction);
  return kStepNanoseconds + static_cast<double>(work.matrix_flops) / kFlopsPerNanosecond +
         (static_cast<double>(work.bytes_read) + static_cast<double>(work.bytes_written)) /
             kBytesPerNanosecond;
}

double EstimatedTrips(const Instruction& loop) {
  constexpr double kUnknown = 8;
  const Instruction* root = loop.called(1)->root();
  if (root->opcode() != Opcode::kCompare) return kUnknown;
  for (const Instruction* operand : root->operands()) {
    if (operand->opcode() != Opcode::kConstant || operand->shape().element_type() != xla::S32) continue;
    const absl::StatusOr<Literal> literal = LiteralOf(*operand);
    if (literal.ok() && literal->shape().rank() == 0) return std::max(1, literal->data<int32_t>()[0]);
  }
  return kUnknown;
}

Progress::~Progress() {
  if (written_) std::fputs("\r\033[K", stderr);
}

void Progress::Look(double share) {
  const double seconds = stopwatch_.Seconds();
  if (seconds < kQuietSeconds || seconds < written_at_ + kSecondsBetweenLines) return;
  written_at_ = seconds;
  written_ = true;
  std::fprintf(stderr, "\r%s\033[K", ProgressText(what_, share, seconds).c_str());
}

}  // namespace toroid
