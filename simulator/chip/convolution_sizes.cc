#include "simulator/chip/convolution_sizes.h"

#include "simulator/chip/convolution.h"

namespace toroid {
namespace {

// A kernel of several positions slides over images that lie along lanes.
bool SlidesOverImagesAlongLanes(const Instruction& convolution, double positions) {
  const ConvolutionView view(convolution);
  const Dims lies = PhysicalOrder(convolution.operand(0)->shape());
  if (lies.empty() || lies[0] != view.input_batch() || view.input_spatial().size() > 2) return false;
  return positions > 1 && !IsKernelGradient(convolution) && view.feature_groups() == 1 &&
         view.batch_groups() == 1;
}

// Images fill lanes and stay there: features pass, place by place, while the next tile of images is loaded.
bool HoldsImages(const Instruction& convolution, double images, const CoreSpec& core) {
  const ConvolutionView view(convolution);
  const Dims lies = PhysicalOrder(convolution.operand(0)->shape()), made = PhysicalOrder(convolution.shape());
  return !lies.empty() && !made.empty() && lies[0] == view.input_batch() && made[0] == view.output_batch() &&
         images >= Thresholds().held_images_share() * static_cast<double>(core.matrix().tile());
}

SlidingWindow PlacesOf(const Instruction& convolution, bool is_gradient, const CoreSpec& core) {
  SlidingWindow places;
  const ConvolutionView view(convolution);
  const auto& window = convolution.attrs().window().dimensions();
  const int n = static_cast<int>(view.input_spatial().size());
  if (n == 0 || window.size() != n) return places;
  const auto along = [&](int i, double* count, double* step, double* reach) {
    const double base = static_cast<double>(std::max<int64_t>(1, window[i].base_dilation()));
    const double stride = static_cast<double>(std::max<int64_t>(1, window[i].stride())) / base;
    const double dilation = static_cast<double>(std::max<int64_t>(1, window[i].window_dilation())) / base;
    const double result = SizeOf(convolution.shape(), view.output_spatial()[i]);
    const double kernel = SizeOf(convolution.operand(1)->shape(), view.kernel_spatial()[i]);
    *count = is_gradient ? kernel : result;
    *step = is_gradient ? dilation : stride;
    *reach = is_gradient ? (result - 1) * stride + 1 : (kernel - 1) * dilation + 1;
  };
  places.rows = 1;
  if (n > 1) along(0, &places.rows, &places.row_step, &places.row_reach);
  along(n - 1, &places.columns, &places.column_step, &places.column_reach);
  const Dims lies = PhysicalOrder(convolution.operand(0)->shape());
  if (lies.size() > 1 && lies[1] == view.input_spatial().back())
    places.column_tile = static_cast<double>(core.vector().sublanes());
  return places;
}

}  // namespace

// The kernel is read from its end, as for the gradient of what it slides over.
bool HasReversedKernel(const Instruction& convolution) {
  const Instruction* kernel = convolution.operand(1);
  while (kernel->opcode() == Opcode::kConvert || kernel->opcode() == Opcode::kTranspose ||
         kernel->opcode() == Opcode::kCopy)
    kernel = kernel->operand(0);
  if (kernel->opcode() == Opcode::kReverse) return true;
  const auto& window = convolution.attrs().window().dimensions();
  return std::any_of(window.begin(), window.end(), [](const auto& d) { return d.window_reversal(); });
}

Convolution::Convolution(const Instruction& op, const CoreSpec& core)
    : op_(op),
      core_(core),
      view_(op),
      kernel_(op.operand(1)->shape()),
      tile_(static_cast<double>(core.matrix().tile())),
      sublanes_(static_cast<double>(core.vector().sublanes())),
      features_(SizeOf(kernel_, view_.kernel_output_feature())),
      inputs_(SizeOf(kernel_, view_.kernel_input_feature())),
      lies_(PhysicalOrder(op.operand(0)->shape())),
      slides_(PhysicalOrder(kernel_)),
      made_(PhysicalOrder(op.shape())) {
  for (const int64_t d : view_.kernel_spatial()) positions_ *= SizeOf(kernel_, d);
  images_ = SizeOf(op.operand(0)->shape(), view_.input_batch());
  for (const auto& d : op.attrs().window().dimensions()) {
    dilation_ *= static_cast<double>(std::max<int64_t>(1, d.base_dilation()));
    stride_ = std::max<int64_t>(stride_, d.stride());
  }
  along_lanes_ = !lies_.empty() && lies_[0] == view_.input_feature();
  has_part_ = std::fmod(inputs_, tile_) != 0;
}

const Convolution::Form Convolution::kForms[] = {
    {Rule::kConvolutionOfOnePlace, &Convolution::IsOfOnePlace},
    {Rule::kDilatedConvolution, &Convolution::IsDilated},
};
const Convolution::Form Convolution::kLateForms[] = {
    {Rule::kGroupsOfImages, &Convolution::IsOfGroups},
    {Rule::kImagesAlongLanes, &Convolution::HoldsImagesAlongLanes},
    {Rule::kFewFeaturesOfImages, &Convolution::HasFewFeaturesOfImages},
};

MatrixWork Convolution::Sizes() {
  work_.batch = static_cast<double>(std::max(view_.feature_groups(), view_.batch_groups()));
  work_.m = features_ > 0 ? static_cast<double>(op_.shape().NumElements()) / features_ : 0;
  work_.n = features_ / work_.batch;
  TakeChannels();
  work_.k = positions_ * inputs_;
  for (const Form& form : kForms) {
    if (TakesForm(form)) return work_;
  }
  TakePlaces();
  for (const Form& form : kLateForms) {
    if (TakesForm(form)) return work_;
  }
  TakeRowsOfImages();
  TakeFewImages();
  if (TakesForm({Rule::kReversedKernel, &Convolution::ReversesKernel})) return work_;
  work_.holds_rhs = positions_ > 1 && !is_gradient_;
  // Images along lanes of both are contracted place by place, in tiles of their own.
  const bool contracts_images = is_gradient_ && work_.channel_taps == 0 && work_.batch == 1 &&
                                !lies_.empty() && !slides_.empty() && lies_[0] == view_.input_feature() &&
                                slides_[0] == view_.kernel_input_feature();
  if (contracts_images && Decides(Rule::kContractedImages, op_))
    work_.k = positions_ * RoundUpTo(inputs_, tile_);
  // A row of the kernel's window at a time; two, where the next window reads one of them again. Features along lanes are put
  // beside each other position by position; along rows they follow each other anyway. For the gradient of a kernel, in which as
  // much slides as it slides over, it is what slides that is large, and images are all features of it.
  if (along_lanes_ && positions_ > 1 && !is_gradient_ && dilation_ == 1 &&
      positions_ * std::max(1.0, images_) <= work_.m) {
    if (TakesForm({Rule::kResultsFillFewerLanes, &Convolution::FillsLessThanItTakes})) return work_;
    if (TakesForm({Rule::kPartsOfTilesTogether, &Convolution::HasPartOfTile})) return work_;
  }
  TakeRowsOfKernel();
  return work_;
}

void Convolution::TakeChannels() {
  if (work_.batch > 1 && inputs_ == 1 && work_.n == 1 && Decides(Rule::kDepthwise, op_)) {
    // Each channel on its own: the vector unit multiplies and adds, position by position of the kernel.
    work_.channel_taps = positions_;
    work_.n = features_;
    work_.batch = 1;
  } else if (view_.batch_groups() > 1 && features_ == work_.batch && images_ == features_ &&
             Decides(Rule::kDepthwiseGradient, op_)) {
    // The gradient of such a kernel: position by position of the result.
    work_.channel_taps = work_.m;
    work_.n = features_;
    work_.batch = 1;
  }
}

// Of one place each position of the kernel makes one of the results, as if it were features.
bool Convolution::IsOfOnePlace() {
  double elements = 1;
  for (const int64_t d : view_.input_spatial()) elements *= SizeOf(op_.operand(0)->shape(), d);
  if (elements != 1 || positions_ <= 1 || work_.batch != 1 || work_.channel_taps != 0) return false;
  work_.n *= images_ > 0 ? std::min(positions_, work_.m / images_) : 0;
  work_.m = images_;
  work_.k = inputs_;
  return true;
}

// Zeros between the elements of a dilated input are not multiplied. Each position passes alone, as positions that follow each
// other do not lie beside each other: all its images, one position of the kernel after the other.
bool Convolution::IsDilated() {
  if (dilation_ <= 1) return false;
  if (work_.channel_taps > 0) {
    // Channel by channel, positions that meet zeros are left out, but not all.
    work_.channel_taps *= Thresholds().dilated_taps() / dilation_;
    return false;
  }
  work_.m *= positions_ / dilation_;
  work_.k = inputs_;
  // One image is cut into as many as a register has rows.
  work_.rows_together = images_ > 1 ? images_ : sublanes_;
  work_.positions = positions_;
  if (HoldsImages(op_, images_, core_)) {
    work_.m *= work_.n / std::max(1.0, images_);
    work_.rows_together = work_.n;
    work_.n = RoundUpTo(images_, tile_);
  }
  return true;
}

void Convolution::TakePlaces() {
  const auto& window = op_.attrs().window().dimensions();
  if (view_.input_spatial().size() > 1 && window.size() > 1 && window[0].size() == 1 &&
      window[0].stride() > 1 && window[0].base_dilation() <= 1) {
    work_.row_windows = SizeOf(op_.shape(), view_.output_spatial()[0]);
    work_.row_step = static_cast<double>(window[0].stride());
  }
  is_gradient_ = IsKernelGradient(op_);
  if (is_gradient_ || positions_ > 1) work_.places = PlacesOf(op_, is_gradient_, core_);
  work_.contracts_places = is_gradient_;
  if (!is_gradient_ || work_.channel_taps != 0 || lies_.empty() || lies_[0] == view_.input_feature() ||
      !Decides(Rule::kGradientByPositions, op_))
    return;
  work_.gradient_positions = 1;
  for (const int64_t d : view_.output_spatial()) work_.gradient_positions *= SizeOf(op_.shape(), d);
  work_.holds_lhs = made_[0] == view_.output_batch();
}

bool Convolution::IsOfGroups() {
  if (!HoldsImagesOfGroups(op_) || lies_.empty() || lies_[0] != view_.input_batch()) return false;
  const double places = images_ > 0 ? work_.m / images_ : 0;
  work_.k = positions_ * RoundUpTo(inputs_, sublanes_);
  work_.m = places * work_.n;
  work_.rows_together = work_.n;
  work_.n = RoundUpTo(images_, tile_);
  work_.passes_part = work_.k > tile_;
  return true;
}

bool Convolution::HoldsImagesAlongLanes() {
  if (!SlidesOverImagesAlongLanes(op_, positions_) || !HoldsImages(op_, images_, core_)) return false;
  const double places = images_ > 0 ? work_.m / images_ : 0;
  work_.k = positions_ * inputs_;
  work_.m = places * features_;
  work_.n = RoundUpTo(images_, tile_);
  work_.rows_together = features_;
  const bool has_steps =
      absl::c_all_of(op_.attrs().window().dimensions(), [](const auto& d) { return d.stride() <= 1; });
  if (work_.k > tile_ && has_steps) TakeParts();
  return true;
}

void Convolution::TakeParts() {
  const double registers = std::ceil(work_.m / sublanes_) * std::ceil(work_.n / tile_),
               parts = std::ceil(inputs_ / sublanes_);
  const double sums = HasReversedKernel(op_)
                          ? 0
                          : (parts - 1) * registers *
                                (core_.matrix().added_sum_cycles() + core_.matrix().accumulate_cycles());
  const auto rows = [&](bool in_parts) {
    return CyclesOfRows(1, work_.m, work_.rows_together, in_parts, work_.k, work_.n, core_);
  };
  work_.passes_part = rows(true) + sums < rows(false);
  if (work_.passes_part) work_.part_sum_cycles = sums;
}

// Images of each place become rows of a tile of its own; for one feature each position of a reversed kernel passes alone.
bool Convolution::HasFewFeaturesOfImages() {
  if (!SlidesOverImagesAlongLanes(op_, positions_) || HoldsImages(op_, images_, core_)) return false;
  const double places = images_ > 0 ? work_.m / images_ : 0;
  const bool alone = work_.n == 1 && HasReversedKernel(op_);
  if (inputs_ >= sublanes_ || (alone && images_ > sublanes_)) return false;
  work_.k = positions_ * (alone ? tile_ : inputs_);
  work_.m = places * std::max(images_, static_cast<double>(Thresholds().rows_of_few_features()));
  work_.holds_rhs = true;
  return true;
}

MatrixWork SizesOfConvolution(const Instruction& convolution, const CoreSpec& core) {
  return Convolution(convolution, core).Sizes();
}

}  // namespace toroid
