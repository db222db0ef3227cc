#include "simulator/compiler/rewrites/exchanged_convolution_pass.h"

#include <algorithm>

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/replace_instructions.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

// Which arrays are reversed when the operands exchange their places.
enum class Reversed { kResult, kSliding, kNothing };

struct Exchange {
  xla::Window window;  // With which the other operand slides.
  Reversed reversed = Reversed::kNothing;
};

// Element j of x meets element `apart * j - place + padding_low` of w: counted from the last place of the result, that is a
// window.
xla::WindowDimension FromLastPlace(const xla::WindowDimension& before, int64_t size, int64_t turned,
                                   int64_t results) {
  const int64_t apart = std::max<int64_t>(1, before.base_dilation());
  xla::WindowDimension now;
  now.set_size(size);
  now.set_stride(1);
  now.set_padding_low(results - 1 - before.padding_low());
  now.set_padding_high(results - turned - now.padding_low() + apart * (size - 1));
  now.set_window_dilation(apart);
  now.set_base_dilation(1);
  return now;
}

// Where w is read from its end x is so too; the places stay in their order.
xla::WindowDimension FromEnd(const xla::WindowDimension& before, int64_t size, int64_t turned,
                             int64_t results) {
  xla::WindowDimension now;
  now.set_size(size);
  now.set_stride(1);
  now.set_padding_low(size - turned + before.padding_low());
  now.set_padding_high(results - 1 - before.padding_low());
  now.set_window_dilation(1);
  now.set_base_dilation(1);
  now.set_window_reversal(true);
  return now;
}

// False if the operands stay as they are.
bool MayExchange(const Instruction& op, Exchange* exchange) {
  if (op.opcode() != Opcode::kConvolution || op.num_operands() != 2) return false;
  const ConvolutionView view(op);
  if (view.feature_groups() != 1 || view.batch_groups() != 1) return false;
  const Shape &slides = op.operand(0)->shape(), &kernel = op.operand(1)->shape();
  const auto& dims = op.attrs().window().dimensions();
  if (dims.empty() || dims.size() != static_cast<int>(view.input_spatial().size())) return false;
  bool is_dilated = false, is_turned = true, is_straight = true;
  int64_t positions = 1, elements = 1, results = 1;
  for (int i = 0; i < dims.size(); ++i) {
    if (dims[i].stride() != 1 || dims[i].window_dilation() > 1) return false;
    is_dilated |= dims[i].base_dilation() > 1;
    (dims[i].window_reversal() ? is_straight : is_turned) = false;
    positions *= kernel.dim(view.kernel_spatial()[i]);
    elements *= slides.dim(view.input_spatial()[i]);
    results *= op.shape().dim(view.output_spatial()[i]);
  }
  if (positions == 0 || elements == 0) return false;
  const bool is_wanted = is_dilated ? is_straight && positions > results
                                    : (is_straight || is_turned) && elements > 1 && elements < positions;
  if (!is_wanted) return false;
  if (is_dilated || (is_straight && op.shape().NumElements() <= kernel.NumElements())) {
    exchange->reversed = Reversed::kResult;
  } else if (is_straight) {
    exchange->reversed = Reversed::kSliding;
  }
  for (int i = 0; i < dims.size(); ++i) {
    const auto along = exchange->reversed == Reversed::kResult ? FromLastPlace : FromEnd;
    const xla::WindowDimension now =
        along(dims[i], slides.dim(view.input_spatial()[i]), kernel.dim(view.kernel_spatial()[i]),
              op.shape().dim(view.output_spatial()[i]));
    if (now.padding_low() < 0 || now.padding_high() < 0) return false;
    *exchange->window.add_dimensions() = now;
  }
  return true;
}

Instruction* Reverse(Instruction* value, absl::Span<const int64_t> dims, const Instruction& for_op) {
  xla::HloInstructionProto* attrs;
  Instruction* reverse = value->computation()->Add(Opcode::kReverse, value->shape(), {value}, &attrs);
  for (const int64_t d : dims) attrs->add_dimensions(d);
  reverse->set_metadata(for_op.metadata());
  reverse->set_cause(for_op.cause());
  return reverse;
}

Instruction* WithExchanged(Instruction* op, const Exchange& exchange) {
  const ConvolutionView view(*op);
  Instruction* slides = op->operand(1);
  if (exchange.reversed == Reversed::kSliding) slides = Reverse(slides, view.kernel_spatial(), *op);
  xla::HloInstructionProto* attrs;
  const xla::ConvolutionDimensionNumbers before = op->attrs().convolution_dimension_numbers();
  Instruction* now =
      op->computation()->Add(Opcode::kConvolution, op->shape(), {slides, op->operand(0)}, &attrs, op->name());
  now->set_metadata(op->metadata());
  now->set_cause(op->cause());
  *attrs->mutable_window() = exchange.window;
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
  return exchange.reversed == Reversed::kResult ? Reverse(now, view.output_spatial(), *op) : now;
}

}  // namespace

absl::StatusOr<bool> ExchangedConvolutionPass::Run(std::unique_ptr<Module>* module) {
  if (!IsOn(Rule::kExchangedConvolutions)) return false;
  return ReplaceEach(module->get(), [](Instruction* op) -> Instruction* {
    Exchange exchange;
    return MayExchange(*op, &exchange) ? Marked(Rule::kExchangedConvolutions, WithExchanged(op, exchange))
                                       : nullptr;
  });
}

}  // namespace toroid
