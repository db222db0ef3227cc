// Typed views of the attributes of particular opcodes.
//
// A view reads the message that an instruction stores (Instruction::attrs) and owns nothing: it is valid as
// long as that message. A number that the writer left out has HLO's default. The Set functions write into the
// attributes of a new instruction.
// Example: for (const int64_t d : DotView(*instruction).lhs_contracting()) ...
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "google/protobuf/repeated_field.h"
#include "hlo/ir/instruction.h"
#include "hlo/ir/literal.h"

namespace toroid {

inline absl::Span<const int64_t> SpanOf(const google::protobuf::RepeatedField<int64_t>& values) {
  return {values.data(), static_cast<size_t>(values.size())};
}

// The value of a constant.
inline absl::StatusOr<Literal> LiteralOf(const Instruction& constant) {
  return Literal::FromProto(constant.attrs().literal());
}

// dot, scaled-dot: entries i of the lists are corresponding dimensions.
class DotView {
 public:
  explicit DotView(const Instruction& dot) : DotView(dot.attrs().dot_dimension_numbers()) {}
  explicit DotView(const xla::DotDimensionNumbers& numbers) : numbers_(&numbers) {}

  absl::Span<const int64_t> lhs_batch() const { return SpanOf(numbers_->lhs_batch_dimensions()); }
  absl::Span<const int64_t> rhs_batch() const { return SpanOf(numbers_->rhs_batch_dimensions()); }
  absl::Span<const int64_t> lhs_contracting() const { return SpanOf(numbers_->lhs_contracting_dimensions()); }
  absl::Span<const int64_t> rhs_contracting() const { return SpanOf(numbers_->rhs_contracting_dimensions()); }

 private:
  const xla::DotDimensionNumbers* numbers_;
};

// One dimension of a window.
struct WindowDim {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t padding_low = 0, padding_high = 0;
  int64_t base_dilation = 1, window_dilation = 1;
  bool reversed = false;

  static WindowDim FromProto(const xla::WindowDimension& dim) {
    const auto at_least_one = [](int64_t n) { return std::max<int64_t>(1, n); };
    return {dim.size(),           at_least_one(dim.stride()),        dim.padding_low(),
            dim.padding_high(),   at_least_one(dim.base_dilation()), at_least_one(dim.window_dilation()),
            dim.window_reversal()};
  }
  // Number of positions from the first to the last that one window reads.
  int64_t Extent() const { return (size - 1) * window_dilation + 1; }
  // True if window i is element i alone.
  bool IsTrivial() const {
    return size == 1 && stride == 1 && padding_low == 0 && padding_high == 0 && base_dilation == 1;
  }
};

// convolution (spatial dimensions), reduce-window, select-and-scatter (all dimensions).
class WindowView {
 public:
  explicit WindowView(const Instruction& instruction) : window_(&instruction.attrs().window()) {}
  explicit WindowView(const xla::HloInstructionProto& attrs) : window_(&attrs.window()) {}

  int rank() const { return window_->dimensions_size(); }
  WindowDim operator[](int i) const { return WindowDim::FromProto(window_->dimensions(i)); }
  std::vector<WindowDim> dimensions() const {
    std::vector<WindowDim> all;
    for (const xla::WindowDimension& dim : window_->dimensions()) all.push_back(WindowDim::FromProto(dim));
    return all;
  }

  static void Set(xla::HloInstructionProto* attrs, int i, const WindowDim& dim);

 private:
  const xla::Window* window_;
};

// convolution; entries i of the spatial lists are corresponding dimensions.
class ConvolutionView {
 public:
  explicit ConvolutionView(const Instruction& convolution)
      : attrs_(&convolution.attrs()), numbers_(&convolution.attrs().convolution_dimension_numbers()) {}

  int64_t input_batch() const { return numbers_->input_batch_dimension(); }
  int64_t input_feature() const { return numbers_->input_feature_dimension(); }
  absl::Span<const int64_t> input_spatial() const { return SpanOf(numbers_->input_spatial_dimensions()); }
  int64_t kernel_input_feature() const { return numbers_->kernel_input_feature_dimension(); }
  int64_t kernel_output_feature() const { return numbers_->kernel_output_feature_dimension(); }
  absl::Span<const int64_t> kernel_spatial() const { return SpanOf(numbers_->kernel_spatial_dimensions()); }
  int64_t output_batch() const { return numbers_->output_batch_dimension(); }
  int64_t output_feature() const { return numbers_->output_feature_dimension(); }
  absl::Span<const int64_t> output_spatial() const { return SpanOf(numbers_->output_spatial_dimensions()); }
  int64_t feature_groups() const { return std::max<int64_t>(1, attrs_->feature_group_count()); }
  int64_t batch_groups() const { return std::max<int64_t>(1, attrs_->batch_group_count()); }

 private:
  const xla::HloInstructionProto* attrs_;
  const xla::ConvolutionDimensionNumbers* numbers_;
};

// gather.
class GatherView {
 public:
  explicit GatherView(const Instruction& gather)
      : attrs_(&gather.attrs()), numbers_(&gather.attrs().gather_dimension_numbers()) {}

  absl::Span<const int64_t> offset_dims() const { return SpanOf(numbers_->offset_dims()); }
  absl::Span<const int64_t> collapsed_slice_dims() const { return SpanOf(numbers_->collapsed_slice_dims()); }
  absl::Span<const int64_t> operand_batching_dims() const {
    return SpanOf(numbers_->operand_batching_dims());
  }
  absl::Span<const int64_t> start_indices_batching_dims() const {
    return SpanOf(numbers_->start_indices_batching_dims());
  }
  absl::Span<const int64_t> start_index_map() const { return SpanOf(numbers_->start_index_map()); }
  int64_t index_vector_dim() const { return numbers_->index_vector_dim(); }
  absl::Span<const int64_t> slice_sizes() const { return SpanOf(attrs_->gather_slice_sizes()); }

  static void SetSliceSize(xla::HloInstructionProto* attrs, int d, int64_t size) {
    attrs->set_gather_slice_sizes(d, size);
  }

 private:
  const xla::HloInstructionProto* attrs_;
  const xla::GatherDimensionNumbers* numbers_;
};

// scatter.
class ScatterView {
 public:
  explicit ScatterView(const Instruction& scatter) : numbers_(&scatter.attrs().scatter_dimension_numbers()) {}

  absl::Span<const int64_t> update_window_dims() const { return SpanOf(numbers_->update_window_dims()); }
  absl::Span<const int64_t> inserted_window_dims() const { return SpanOf(numbers_->inserted_window_dims()); }
  absl::Span<const int64_t> operand_batching_dims() const { return SpanOf(numbers_->input_batching_dims()); }
  absl::Span<const int64_t> indices_batching_dims() const {
    return SpanOf(numbers_->scatter_indices_batching_dims());
  }
  absl::Span<const int64_t> scatter_dims_to_operand_dims() const {
    return SpanOf(numbers_->scatter_dims_to_operand_dims());
  }
  int64_t index_vector_dim() const { return numbers_->index_vector_dim(); }

 private:
  const xla::ScatterDimensionNumbers* numbers_;
};

// slice: [start, limit) in steps of `stride`, per dimension.
struct SliceBounds {
  int64_t start, limit, stride;
};
class SliceView {
 public:
  explicit SliceView(const Instruction& slice) : attrs_(&slice.attrs()) {}
  SliceBounds operator[](int d) const {
    const auto& dim = attrs_->slice_dimensions(d);
    return {dim.start(), dim.limit(), std::max<int64_t>(1, dim.stride())};
  }
  static void Set(xla::HloInstructionProto* attrs, int d, const SliceBounds& bounds);

 private:
  const xla::HloInstructionProto* attrs_;
};

// pad, per dimension; a negative edge cuts elements off.
struct EdgePadding {
  int64_t low = 0, high = 0, interior = 0;
};
class PadView {
 public:
  explicit PadView(const Instruction& pad) : config_(&pad.attrs().padding_config()) {}
  EdgePadding operator[](int d) const {
    const auto& dim = config_->dimensions(d);
    return {dim.edge_padding_low(), dim.edge_padding_high(), dim.interior_padding()};
  }
  static void Set(xla::HloInstructionProto* attrs, int d, const EdgePadding& padding);

 private:
  const xla::PaddingConfig* config_;
};

}  // namespace toroid
