// BUILD: copts = ["-O3"]
#include "runtime/kernels/batch_comparator.h"

#include <algorithm>
#include <cstring>

#include "hlo/base/status.h"
#include "runtime/plan/run_plan.h"

namespace toroid {
namespace {

template <typename T>
void RepeatWord(const char* element, int64_t n, char* out) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  std::fill_n(reinterpret_cast<T*>(out), n, value);
}
void Repeat(const char* element, int64_t width, int64_t n, char* out) {
  if (width == 4) return RepeatWord<uint32_t>(element, n, out);
  if (width == 8) return RepeatWord<uint64_t>(element, n, out);
  for (int64_t i = 0; i < n; ++i) std::memcpy(out + i * width, element, width);
}
template <typename T>
void TakeWords(const char* array, absl::Span<const int64_t> at, char* out) {
  for (size_t i = 0; i < at.size(); ++i)
    std::memcpy(out + i * sizeof(T), array + at[i] * sizeof(T), sizeof(T));
}
void Take(const char* array, int64_t width, absl::Span<const int64_t> at, char* out) {
  if (width == 4) return TakeWords<uint32_t>(array, at, out);
  if (width == 8) return TakeWords<uint64_t>(array, at, out);
  for (size_t i = 0; i < at.size(); ++i) std::memcpy(out + i * width, array + at[i] * width, width);
}

}  // namespace

BatchComparator::BatchComparator(OpCall& call, absl::Span<const int64_t> widths)
    : call_(call), plan_(call.called(0)), widths_(widths) {}

bool BatchComparator::Uses(size_t operand) const {
  return plan_.parameter_used[2 * operand] || plan_.parameter_used[2 * operand + 1];
}

absl::Status BatchComparator::Before(absl::Span<const char* const> arrays, absl::Span<const int64_t> a,
                                     absl::Span<const int64_t> b, uint8_t* answers) {
  for (size_t first = 0; first < a.size(); first += kBatch) {
    const int64_t n = std::min<int64_t>(kBatch, static_cast<int64_t>(a.size() - first));
    RETURN_IF_ERROR(Begin(n));
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (!plan_.parameter_used[i]) continue;
      Take(arrays[i / 2], widths_[i / 2], (i % 2 == 0 ? a : b).subspan(first, n),
           arguments_[i].mutable_data());
    }
    RETURN_IF_ERROR(Run(n, answers + first));
  }
  return absl::OkStatus();
}

absl::Status BatchComparator::Begin(int64_t n) {
  arguments_.assign(2 * widths_.size(), MeshBuffer());
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (!plan_.parameter_used[i]) continue;
    RETURN_IF_ERROR(call_.New(n * widths_[i / 2], /*uniform=*/true, &arguments_[i]));
    arguments_[i].set_uniform(false);
  }
  return absl::OkStatus();
}

void BatchComparator::Set(absl::Span<const char* const> arrays, int64_t at, int64_t n, int64_t from,
                          int64_t pivot, bool swapped) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (!plan_.parameter_used[i]) continue;
    const int64_t width = widths_[i / 2];
    const char* array = arrays[i / 2];
    char* out = arguments_[i].mutable_data() + at * width;
    if ((i % 2 == 0) != swapped) {
      std::memcpy(out, array + from * width, n * width);
    } else {
      Repeat(array + pivot * width, width, n, out);
    }
  }
}

absl::Status BatchComparator::Run(int64_t n, uint8_t* answers) {
  MeshBuffer before;
  RETURN_IF_ERROR(RunLifted(plan_, absl::MakeSpan(arguments_), n, call_.mesh(), &before));
  if (before.uniform()) {
    std::memset(answers, *before.data(), n);
  } else {
    std::memcpy(answers, before.data(), n);
  }
  return absl::OkStatus();
}

}  // namespace toroid
