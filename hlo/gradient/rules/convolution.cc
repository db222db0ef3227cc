#include "hlo/gradient/rules/convolution.h"

#include <numeric>
#include <vector>

#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

int64_t Dilated(int64_t size, int64_t dilation) { return size == 0 ? 0 : (size - 1) * dilation + 1; }

// Moves the n groups of dimension `from` into dimension `into`, as its major part.
Value MoveGroups(InstructionBuilder& b, Value x, int64_t from, int64_t into, int64_t n) {
  std::vector<int64_t> sizes(x->shape().dims().begin(), x->shape().dims().end());
  std::vector<int64_t> split = sizes;
  split[from] = sizes[from] / n;
  split.insert(split.begin() + from, n);
  // Dimension d of `x` is at d, or, behind the groups, at d + 1.
  std::vector<int64_t> order;
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
    if (d == into) order.push_back(from);
    order.push_back(d < from ? d : d + 1);
  }
  sizes[from] /= n;
  sizes[into] *= n;
  return b.Reshape(b.Transpose(b.Reshape(x, split), order), sizes);
}

class ConvolutionPullback {
 public:
  explicit ConvolutionPullback(Pullback& p)
      : p_(p), b_(p.b), view_(p.op()), window_(WindowView(p.op()).dimensions()) {
    for (size_t i = 0; i < window_.size(); ++i) {
      const WindowDim& w = window_[i];
      if (w.reversed) reversed_.push_back(view_.kernel_spatial()[i]);
      input_.push_back(Dilated(p.operand_shape(0).dim(view_.input_spatial()[i]), w.base_dilation));
      kernel_.push_back(Dilated(p.operand_shape(1).dim(view_.kernel_spatial()[i]), w.window_dilation));
      result_.push_back(Dilated(p.op().shape().dim(view_.output_spatial()[i]), w.stride));
    }
  }

  void AddToInput() {
    const int64_t feature_groups = view_.feature_groups(), batch_groups = view_.batch_groups();
    Value kernel = b_.Reverse(Kernel(), view_.kernel_spatial());
    const int64_t groups = std::max(feature_groups, batch_groups);
    if (groups > 1)
      kernel = MoveGroups(b_, kernel, view_.kernel_output_feature(), view_.kernel_input_feature(), groups);
    xla::Window window;
    for (size_t i = 0; i < window_.size(); ++i) {
      const WindowDim& w = window_[i];
      const int64_t low = kernel_[i] - w.padding_low - 1;
      SetDim({.size = p_.operand_shape(1).dim(view_.kernel_spatial()[i]),
              .stride = w.base_dilation,
              .padding_low = low,
              .padding_high = input_[i] + kernel_[i] - 1 - result_[i] - low,
              .base_dilation = w.stride,
              .window_dilation = w.window_dilation},
             &window);
    }
    xla::ConvolutionDimensionNumbers numbers;
    numbers.set_input_batch_dimension(view_.output_batch());
    numbers.set_input_feature_dimension(view_.output_feature());
    numbers.set_kernel_input_feature_dimension(view_.kernel_output_feature());
    numbers.set_kernel_output_feature_dimension(view_.kernel_input_feature());
    numbers.set_output_batch_dimension(view_.input_batch());
    numbers.set_output_feature_dimension(view_.input_feature());
    AddSpatial(view_.output_spatial(), view_.kernel_spatial(), view_.input_spatial(), &numbers);
    Value cotangent = b_.Convolution(p_.cotangent(), kernel, window, numbers, groups);
    if (batch_groups > 1) {
      cotangent = MoveGroups(b_, cotangent, view_.input_feature(), view_.input_batch(), batch_groups);
    }
    p_.Add(0, cotangent);
  }

  void AddToKernel() {
    xla::Window window;
    for (size_t i = 0; i < window_.size(); ++i) {
      const WindowDim& w = window_[i];
      SetDim({.size = p_.op().shape().dim(view_.output_spatial()[i]),
              .stride = w.window_dilation,
              .padding_low = w.padding_low,
              .padding_high = result_[i] - input_[i] + kernel_[i] - w.padding_low - 1,
              .base_dilation = w.base_dilation,
              .window_dilation = w.stride},
             &window);
    }
    xla::ConvolutionDimensionNumbers numbers;
    numbers.set_input_batch_dimension(view_.input_feature());
    numbers.set_input_feature_dimension(view_.input_batch());
    numbers.set_kernel_input_feature_dimension(view_.output_batch());
    numbers.set_kernel_output_feature_dimension(view_.output_feature());
    numbers.set_output_batch_dimension(view_.kernel_input_feature());
    numbers.set_output_feature_dimension(view_.kernel_output_feature());
    AddSpatial(view_.input_spatial(), view_.output_spatial(), view_.kernel_spatial(), &numbers);
    const Value cotangent =
        b_.Convolution(b_.Convert(p_.operand(0), p_.cotangent()->shape().element_type()), p_.cotangent(),
                       window, numbers, view_.batch_groups(), view_.feature_groups());
    p_.Add(1, b_.Reverse(cotangent, reversed_));
  }

 private:
  // The kernel for windows that are not reversed, in the cotangent's type.
  Value Kernel() {
    return b_.Convert(b_.Reverse(p_.operand(1), reversed_), p_.cotangent()->shape().element_type());
  }
  static void SetDim(const WindowDim& dim, xla::Window* window) {
    xla::WindowDimension* to = window->add_dimensions();
    to->set_size(dim.size);
    to->set_stride(dim.stride);
    to->set_padding_low(dim.padding_low);
    to->set_padding_high(dim.padding_high);
    to->set_base_dilation(dim.base_dilation);
    to->set_window_dilation(dim.window_dilation);
  }
  static void AddSpatial(absl::Span<const int64_t> input, absl::Span<const int64_t> kernel,
                         absl::Span<const int64_t> output, xla::ConvolutionDimensionNumbers* numbers) {
    numbers->mutable_input_spatial_dimensions()->Add(input.begin(), input.end());
    numbers->mutable_kernel_spatial_dimensions()->Add(kernel.begin(), kernel.end());
    numbers->mutable_output_spatial_dimensions()->Add(output.begin(), output.end());
  }

  Pullback& p_;
  InstructionBuilder& b_;
  const ConvolutionView view_;
  const std::vector<WindowDim> window_;
  std::vector<int64_t> reversed_;                 // Kernel dimensions.
  std::vector<int64_t> input_, kernel_, result_;  // Dilated sizes.
};

}  // namespace

absl::Status ConvolutionGradient(Pullback& p) {
  if (p.op().shape().NumElements() == 0) return absl::OkStatus();
  ConvolutionPullback pullback(p);
  if (p.Wants(0)) pullback.AddToInput();
  if (p.Wants(1)) pullback.AddToKernel();
  return absl::OkStatus();
}

}  // namespace toroid
