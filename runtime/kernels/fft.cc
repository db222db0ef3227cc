#include "runtime/kernels/fft.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "runtime/loops/fft_lines.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

using Kind = FftLines::Kind;

// The transform of one dimension.
struct Pass {
  int dim;
  std::shared_ptr<const FftLines> lines;  // Dimensions of one length share it.
};

// The real side of RFFT is the operand, that of IRFFT the result: the last dimension comes first, or last.
struct FftCache : KernelCache {
  explicit FftCache(const OpCall& call) {
    const auto& lengths = call.attrs().fft_length();
    const xla::FftType type = call.attrs().fft_type();
    const int rank = lengths.size(), first = call.operand_shape(0).rank() - rank;
    const Kind kind = type == xla::IFFT || type == xla::IRFFT ? Kind::kInverse : Kind::kForward;
    for (int i = 0; i < rank; ++i) passes.push_back({first + i, LinesOf(kind, lengths[i])});
    if (type == xla::RFFT) {
      passes.back().lines = MakeFftLines(Kind::kRealForward, lengths[rank - 1]);
      std::rotate(passes.begin(), passes.end() - 1, passes.end());
    } else if (type == xla::IRFFT) {
      passes.back().lines = MakeFftLines(Kind::kRealInverse, lengths[rank - 1]);
    }
  }

  std::vector<Pass> passes;

 private:
  std::shared_ptr<const FftLines> LinesOf(Kind kind, int64_t n) const {
    for (const Pass& pass : passes) {
      if (pass.lines->in_length() == n) return pass.lines;
    }
    return MakeFftLines(kind, n);
  }
};

}  // namespace

int64_t FftScratchBytes(const Instruction& fft, absl::Span<const int64_t> rows) {
  const auto& lengths = fft.attrs().fft_length();
  const Shape& shape = fft.shape();
  const bool complex_result = fft.attrs().fft_type() != xla::IRFFT;
  // What passes but the last make has the size of the result, or of the operand if that is complex, too.
  const int64_t elements = complex_result ? shape.NumElements() : fft.operand(0)->shape().NumElements();
  int64_t work = 0;
  for (const int64_t length : lengths) {
    if (length >= 1 && length <= INT32_MAX) work = std::max(work, FftBytes(length, NumThreads()));
  }
  if (lengths.size() < 2) return work;
  return SaturatingAdd(work, SaturatingMultiply(SaturatingMultiply(elements, ByteWidth(xla::C128)), rows[0]));
}

absl::Status ExecuteFft(OpCall& call) {
  const Shape& from = call.operand_shape(0);
  const auto& lengths = call.attrs().fft_length();
  const int rank = lengths.size();
  if (rank < 1 || rank > 3 || rank > from.rank())
    return absl::InvalidArgumentError(absl::StrCat("transforms of ", rank, " dimensions"));
  const bool uniform = call.uniform(0);
  RETURN_IF_ERROR(call.NewResult(uniform));
  if (call.result_elements() == 0 || from.NumElements() == 0) {
    std::fill_n(call.result().mutable_data(), call.result().bytes(), 0);
    return absl::OkStatus();
  }
  for (const int64_t length : lengths) {
    if (length < 1 || length > INT32_MAX) return absl::InvalidArgumentError("a transform of a bad length");
    RETURN_IF_ERROR(call.CheckMemory(FftTableBytes(length)));
  }
  const std::vector<Pass>& passes = call.Cache<FftCache>().passes;
  std::vector<int64_t> dims(from.dims().begin(), from.dims().end());
  MeshBuffer between;  // What the passes so far have made, in C128.
  PrimitiveType type = from.element_type();
  for (size_t p = 0; p < passes.size(); ++p) {
    const auto& [d, lines] = passes[p];
    int64_t outer = call.rows(0), inner = 1;
    for (int i = 0; i < d; ++i) outer *= dims[i];
    for (size_t i = d + 1; i < dims.size(); ++i) inner *= dims[i];
    dims[d] = lines->out_length();
    RETURN_IF_ERROR(call.CheckMemory(lines->ScratchBytes(NumThreads())));
    // Memory of the run, which is used again by the next call.
    MeshBuffer work;
    if (lines->WorkBytes() > 0) RETURN_IF_ERROR(call.New(lines->WorkBytes(), /*uniform=*/true, &work));
    char* at_work = lines->WorkBytes() > 0 ? work.mutable_data() : nullptr;
    const char* in = p == 0 ? call.data(0) : between.data();
    if (p + 1 == passes.size()) {
      lines->Run(type, call.shape().element_type(), outer, inner, in, call.result().mutable_data(), at_work);
      break;
    }
    if (p > 0) {  // A complex dimension between others.
      lines->Run(xla::C128, xla::C128, outer, inner, in, between.mutable_data(), at_work);
      continue;
    }
    int64_t bytes = ByteWidth(xla::C128);
    for (const int64_t size : dims) bytes = CheckedMultiply(bytes, size).value_or(INT64_MAX);
    RETURN_IF_ERROR(call.New(bytes, uniform, &between));
    lines->Run(type, xla::C128, outer, inner, in, between.mutable_data(), at_work);
    type = xla::C128;
  }
  return absl::OkStatus();
}

}  // namespace toroid
