#include "simulator/lowering/kernel_gradient_pass.h"

#include <algorithm>

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/replace_instructions.h"

namespace toroid {
namespace {

// The window with which the other operand slides; false if there is none.
bool Exchanged(const Instruction& op, xla::Window* window) {
  if (op.opcode() != Opcode::kConvolution || op.num_operands() != 2) return false;
  const ConvolutionView view(op);
  if (view.feature_groups() != 1 || view.batch_groups() != 1) return false;
  const Shape &slides = op.operand(0)->shape(), &kernel = op.operand(1)->shape();
  const auto& dims = op.attrs().window().dimensions();
  if (dims.size() != static_cast<int>(view.input_spatial().size())) return false;
  bool dilates = false;
  int64_t positions = 1, results = 1;
  for (int i = 0; i < dims.size(); ++i) {
    const auto& d = dims[i];
    if (d.stride() != 1 || d.window_dilation() > 1 || d.window_reversal()) return false;
    const int64_t apart = std::max<int64_t>(1, d.base_dilation());
    const int64_t size = slides.dim(view.input_spatial()[i]), turned = kernel.dim(view.kernel_spatial()[i]);
    const int64_t result = op.shape().dim(view.output_spatial()[i]), reach = apart * (size - 1);
    if (size == 0 || turned == 0) return false;
    dilates |= apart > 1;
    positions *= turned;
    results *= result;
    // Element k of x meets element `apart * k - place + padding_low` of g: counted from the last place, that is a window.
    auto* now = window->add_dimensions();
    now->set_size(size);
    now->set_stride(1);
    now->set_padding_low(result - 1 - d.padding_low());
    now->set_padding_high(result - turned - now->padding_low() + reach);
    now->set_window_dilation(apart);
    now->set_base_dilation(1);
    if (now->padding_low() < 0 || now->padding_high() < 0) return false;
  }
  return dilates && positions > results;
}

Instruction* Exchange(Instruction* op, const xla::Window& window) {
  Computation* computation = op->computation();
  const ConvolutionView view(*op);
  xla::HloInstructionProto* attrs;
  const xla::ConvolutionDimensionNumbers before = op->attrs().convolution_dimension_numbers();
  Instruction* now = computation->Add(Opcode::kConvolution, op->shape(), {op->operand(1), op->operand(0)}, &attrs, op->name());
  now->set_metadata(op->metadata());
  now->set_cause(op->cause());
  *attrs->mutable_window() = window;
  *attrs->mutable_precision_config() = op->attrs().precision_config();
  auto* precision = attrs->mutable_precision_config()->mutable_operand_precision();
  if (precision->size() == 2) precision->SwapElements(0, 1);
  attrs->set_feature_group_count(1);
  attrs->set_batch_group_count(1);
  auto* numbers = attrs->mutable_convolution_dimension_numbers();
  numbers->set_input_batch_dimension(before.kernel_output_feature_dimension());
  numbers->set_input_feature_dimension(before.kernel_input_feature_dimension());
  *numbers->mutable_input_spatial_dimensions() = before.kernel_spatial_dimensions();
  numbers->set_kernel_output_feature_dimension(before.input_batch_dimension());
  numbers->set_kernel_input_feature_dimension(before.input_feature_dimension());
  *numbers->mutable_kernel_spatial_dimensions() = before.input_spatial_dimensions();
  numbers->set_output_batch_dimension(before.output_feature_dimension());
  numbers->set_output_feature_dimension(before.output_batch_dimension());
  *numbers->mutable_output_spatial_dimensions() = before.output_spatial_dimensions();
  Instruction* reverse = computation->Add(Opcode::kReverse, op->shape(), {now}, &attrs);
  for (const int64_t d : view.output_spatial()) attrs->add_dimensions(d);
  reverse->set_metadata(op->metadata());
  reverse->set_cause(op->cause());
  return reverse;
}

}  // namespace

absl::StatusOr<bool> KernelGradientPass::Run(std::unique_ptr<Module>* module) {
  return ReplaceEach(module->get(), [](Instruction* op) -> Instruction* {
    xla::Window window;
    return Exchanged(*op, &window) ? Exchange(op, window) : nullptr;
  });
}

}  // namespace toroid
