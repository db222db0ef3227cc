#include "runtime/kernels/select_and_scatter.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "runtime/kernels/combine_at.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/mesh/mesh_rows.h"
#include "runtime/plan/run_plan.h"

namespace toroid {
namespace {

// For every source element the position in the operand of its window's element `k`, as an element offset; -1
// if outside.
void FindCandidates(const Shape& operand, const Shape& source, absl::Span<const WindowDim> window,
                    const Dims& k, std::vector<int64_t>* offsets) {
  offsets->assign(1, 0);
  for (int d = 0; d < source.rank(); ++d) {
    const WindowDim& w = window[d];
    std::vector<int64_t> next;
    next.reserve(offsets->size() * source.dim(d));
    for (const int64_t offset : *offsets) {
      for (int64_t y = 0; y < source.dim(d); ++y) {
        const int64_t p = y * w.stride + k[d] * w.window_dilation - w.padding_low;
        const bool inside =
            offset >= 0 && p >= 0 && p % w.base_dilation == 0 && p / w.base_dilation < operand.dim(d);
        next.push_back(inside ? offset * operand.dim(d) + p / w.base_dilation : -1);
      }
    }
    *offsets = std::move(next);
  }
}

class Picker {
 public:
  Picker(OpCall& call, int64_t rows, int64_t source_elements)
      : call_(call),
        rows_(rows),
        elements_(source_elements),
        width_(ByteWidth(call.operand_shape(0).element_type())),
        picks_(rows * source_elements, -1) {}

  const std::vector<int64_t>& picks() const { return picks_; }

  // Offers each source element one candidate.
  absl::Status Offer(const std::vector<int64_t>& offsets) {
    const int64_t n = rows_ * elements_, row_bytes = call_.operand_shape(0).ByteSize();
    std::vector<MeshBuffer> arguments(2);
    for (MeshBuffer& argument : arguments) {
      RETURN_IF_ERROR(call_.New(n * width_, /*uniform=*/true, &argument));
      argument.set_uniform(false);
      std::memset(argument.mutable_data(), 0, n * width_);
    }
    bool any_contest = false;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = i / elements_, candidate = offsets[i % elements_];
      if (candidate < 0 || picks_[i] < 0) continue;
      any_contest = true;
      const char* data = call_.data(0) + (call_.uniform(0) ? 0 : row * row_bytes);
      std::memcpy(arguments[0].mutable_data() + i * width_, data + picks_[i] * width_, width_);
      std::memcpy(arguments[1].mutable_data() + i * width_, data + candidate * width_, width_);
    }
    MeshBuffer keep;
    if (any_contest) {
      RETURN_IF_ERROR(RunLifted(call_.called(0), absl::MakeSpan(arguments), n, call_.mesh(), &keep));
      RETURN_IF_ERROR(SpreadRows(n, &keep));
    }
    for (int64_t i = 0; i < n; ++i) {
      const int64_t candidate = offsets[i % elements_];
      if (candidate < 0) continue;
      if (picks_[i] < 0 || !reinterpret_cast<const bool*>(keep.data())[i]) picks_[i] = candidate;
    }
    return absl::OkStatus();
  }

 private:
  OpCall& call_;
  const int64_t rows_, elements_, width_;
  std::vector<int64_t> picks_;  // Element offset in the operand's row; -1: none yet.
};

// A pick, a place and a source per element, and two lists of candidates.
int64_t ListBytes(int64_t rows, int64_t source_elements) {
  return SaturatingMultiply(sizeof(int64_t) * source_elements, 3 * rows + 2);
}

}  // namespace

int64_t SelectAndScatterScratchBytes(const Instruction& op, absl::Span<const int64_t> rows) {
  const Shape& source = op.operand(1)->shape();
  const int64_t most_rows = *std::max_element(rows.begin(), rows.end());
  return SaturatingAdd(
      ListBytes(most_rows, source.NumElements()),
      CombineAtBytes(SaturatingMultiply(source.NumElements(), most_rows), ByteWidth(source.element_type())));
}

absl::Status ExecuteSelectAndScatter(OpCall& call) {
  const Shape& operand = call.operand_shape(0);
  const Shape& source = call.operand_shape(1);
  const std::vector<WindowDim> window = WindowView(call.instruction()).dimensions();
  const bool uniform = call.AllUniform();
  const int64_t rows = uniform ? 1 : call.copies(), width = ByteWidth(operand.element_type());
  const int64_t elements = operand.NumElements(), source_elements = source.NumElements();
  RETURN_IF_ERROR(call.NewResult(uniform));
  char* out = call.result().mutable_data();
  for (int64_t row = 0; row < rows; ++row) {
    Fill(out + row * elements * width, call.data(2) + (call.uniform(2) ? 0 : row * width), width, elements);
  }
  if (source_elements == 0 || elements == 0) return absl::OkStatus();

  RETURN_IF_ERROR(call.CheckMemory(ListBytes(rows, source_elements)));
  Picker picker(call, rows, source_elements);
  Dims k(window.size(), 0);
  for (const WindowDim& w : window) {
    if (w.size < 1) return absl::OkStatus();
  }
  std::vector<int64_t> offsets;
  while (true) {
    FindCandidates(operand, source, window, k, &offsets);
    RETURN_IF_ERROR(picker.Offer(offsets));
    int d = static_cast<int>(window.size()) - 1;
    for (; d >= 0; --d) {
      if (++k[d] < window[d].size) break;
      k[d] = 0;
    }
    if (d < 0) break;
  }
  std::vector<int64_t> places, sources;
  for (int64_t i = 0; i < rows * source_elements; ++i) {
    const int64_t pick = picker.picks()[i], row = i / source_elements;
    if (pick < 0) continue;
    places.push_back(row * elements + pick);
    sources.push_back(call.uniform(1) ? i % source_elements : i);
  }
  const PlacedArrays arrays{{out}, {call.data(1)}, {width}};
  return CombineAt(call, call.called(1), arrays, places, sources, /*updates_first=*/true,
                   ListBytes(rows, source_elements));
}

}  // namespace toroid
