#include "simulator/chip/convolution_sizes.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "hlo/ir/attribute_views.h"
#include "simulator/program/convolutions.h"
#include "simulator/program/tiling.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

double Dim(const Shape& shape, int64_t d) {
  return d >= 0 && d < shape.rank() ? static_cast<double>(std::max<int64_t>(shape.dim(d), 0)) : 1;
}

double RoundUp(double n, double multiple) { return std::ceil(n / multiple) * multiple; }

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
         2 * images >= static_cast<double>(core.matrix().tile());
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
    const double result = Dim(convolution.shape(), view.output_spatial()[i]);
    const double kernel = Dim(convolution.operand(1)->shape(), view.kernel_spatial()[i]);
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

// A convolution as it is cut into products, form by form: the first form that applies gives the sizes.
class Convolution {
 public:
  Convolution(const Instruction& op, const CoreSpec& core);

  MatrixWork Sizes();

 private:
  // Forms that give all sizes.
  bool IsOfOnePlace();
  bool IsDilated();
  bool IsGradientOfGroups();
  bool IsOfGroups();
  bool HoldsImagesAlongLanes();
  bool HasFewFeaturesOfImages();
  bool ReversesKernel();
  bool FillsLessThanItTakes();
  bool HasPartOfTile();
  // What other forms are corrected by.
  void TakeChannels();
  void TakePlaces();
  void TakeRowsOfImages();
  void TakeFewImages();
  void TakePositionsApart(double read, double place_rows);
  void TakeRowsOfKernel();
  // Images that stay along lanes are contracted with features in groups of a register's rows where that loads fewer rows than whole
  // tiles by more than it takes to add the groups up. A kernel that is read from its end is loaded in parts anyway.
  void TakeParts();

  struct Form {
    Rule rule;
    bool (Convolution::*applies)();
  };
  static const Form kForms[];
  static const Form kLateForms[];
  bool TakesForm(const Form& form) {
    return IsOn(form.rule) && (this->*form.applies)() && Decides(form.rule, op_);
  }

  const Instruction& op_;
  const CoreSpec& core_;
  const ConvolutionView view_;
  const Shape& kernel_;
  const double tile_, sublanes_;
  const double features_, inputs_;  // Of the kernel.
  double positions_ = 1;            // Of the kernel.
  double images_ = 1;
  double dilation_ = 1;  // Of the input, over all dimensions.
  int64_t stride_ = 1;   // The largest.
  bool is_gradient_ = false, along_lanes_ = false, has_part_ = false;
  Dims lies_, slides_, made_;  // Orders of what it slides over, of the kernel, of the result.
  MatrixWork work_;
};

Convolution::Convolution(const Instruction& op, const CoreSpec& core)
    : op_(op),
      core_(core),
      view_(op),
      kernel_(op.operand(1)->shape()),
      tile_(static_cast<double>(core.matrix().tile())),
      sublanes_(static_cast<double>(core.vector().sublanes())),
      features_(Dim(kernel_, view_.kernel_output_feature())),
      inputs_(Dim(kernel_, view_.kernel_input_feature())),
      lies_(PhysicalOrder(op.operand(0)->shape())),
      slides_(PhysicalOrder(kernel_)),
      made_(PhysicalOrder(op.shape())) {
  for (const int64_t d : view_.kernel_spatial()) positions_ *= Dim(kernel_, d);
  images_ = Dim(op.operand(0)->shape(), view_.input_batch());
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
    {Rule::kGradientOfGroups, &Convolution::IsGradientOfGroups},
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
    work_.k = positions_ * RoundUp(inputs_, tile_);
  // A row of the kernel's window at a time; two, where the next window reads one of them again. Features along lanes are put beside
  // each other position by position; along rows they follow each other anyway. For the gradient of a kernel, in which as much slides as
  // it slides over, it is what slides that is large, and images are all features of it.
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
  for (const int64_t d : view_.input_spatial()) elements *= Dim(op_.operand(0)->shape(), d);
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
    // Channel by channel every other position of those that meet no zeros is for nothing.
    work_.channel_taps *= 2 / dilation_;
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
    work_.n = RoundUp(images_, tile_);
  }
  return true;
}

void Convolution::TakePlaces() {
  const auto& window = op_.attrs().window().dimensions();
  if (view_.input_spatial().size() > 1 && window.size() > 1 && window[0].size() == 1 &&
      window[0].stride() > 1 && window[0].base_dilation() <= 1) {
    work_.row_windows = Dim(op_.shape(), view_.output_spatial()[0]);
    work_.row_step = static_cast<double>(window[0].stride());
  }
  is_gradient_ = IsKernelGradient(op_);
  if (is_gradient_ || positions_ > 1) work_.places = PlacesOf(op_, is_gradient_, core_);
  work_.contracts_places = is_gradient_;
  if (!is_gradient_ || work_.channel_taps != 0 || lies_.empty() || lies_[0] == view_.input_feature() ||
      !Decides(Rule::kGradientByPositions, op_))
    return;
  work_.gradient_positions = 1;
  for (const int64_t d : view_.output_spatial()) work_.gradient_positions *= Dim(op_.shape(), d);
  work_.holds_lhs = made_[0] == view_.output_batch();
}

// Positions of the kernel pass with the features of a group, place by place.
bool Convolution::IsGradientOfGroups() {
  if (!HoldsImagesOfGroups(op_) || lies_.empty() || !is_gradient_ || lies_[0] != view_.input_feature())
    return false;
  work_.k = positions_ * RoundUp(inputs_, tile_);
  work_.holds_rhs = true;
  return true;
}

bool Convolution::IsOfGroups() {
  if (!HoldsImagesOfGroups(op_) || lies_.empty() || lies_[0] != view_.input_batch()) return false;
  const double places = images_ > 0 ? work_.m / images_ : 0;
  work_.k = positions_ * RoundUp(inputs_, sublanes_);
  work_.m = places * work_.n;
  work_.rows_together = work_.n;
  work_.n = RoundUp(images_, tile_);
  work_.passes_part = work_.k > tile_;
  return true;
}

bool Convolution::HoldsImagesAlongLanes() {
  if (!SlidesOverImagesAlongLanes(op_, positions_) || !HoldsImages(op_, images_, core_)) return false;
  const double places = images_ > 0 ? work_.m / images_ : 0;
  work_.k = positions_ * inputs_;
  work_.m = places * features_;
  work_.n = RoundUp(images_, tile_);
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
  work_.m = places * std::max(images_, tile_ / 2);
  work_.holds_rhs = true;
  return true;
}

// Images are rows of tiles. Of one image, which is cut into several, and of kernels that are reversed, units add to each other's sums
// unless they have whole tiles of features of their own.
void Convolution::TakeRowsOfImages() {
  if (view_.batch_groups() != 1 || positions_ <= 1 || !Decides(Rule::kImagesAreRows, op_)) return;
  const auto units = static_cast<double>(core_.matrix().units());
  const bool apart = work_.n >= units * tile_ && images_ > 1;
  const double least = (apart ? 1 : units) * core_.matrix().accumulate_cycles();
  const bool as_they_are = images_ > 1 && work_.batch == 1 && !(has_part_ && HasReversedKernel(op_));
  const double rows = images_ > sublanes_ ? RoundUp(images_, sublanes_)
                      : as_they_are       ? images_
                                          : std::max(images_, least);
  work_.m *= rows / std::max(1.0, images_);
}

// Each place of few images is a tile of its own, which passes registers on its way in, longest if it is rounded there, and on its way
// out, however many features it has.
void Convolution::TakeFewImages() {
  const bool is_by_places = positions_ > 1 || (made_.size() > 1 && made_[1] == view_.output_batch());
  if (is_gradient_ || !along_lanes_ || !is_by_places || view_.input_spatial().size() > 2 || images_ <= 1 ||
      2 * images_ > sublanes_ || work_.channel_taps != 0 || work_.batch != 1 ||
      !Decides(Rule::kPlacesOfFewImages, op_))
    return;
  const MatrixUnitSpec& unit = core_.matrix();
  double read = 1, made = 1, rows = 2;
  while (rows < images_) rows *= 2;
  for (const int64_t d : view_.input_spatial()) read *= Dim(op_.operand(0)->shape(), d);
  for (const int64_t d : view_.output_spatial()) made *= Dim(op_.shape(), d);
  const bool is_float32 = op_.operand(0)->shape().element_type() == xla::F32;
  work_.places_in_cycles = read * std::ceil(inputs_ / tile_) *
                           (is_float32 ? unit.place_row_cycles() * rows : unit.place_bfloat16_cycles());
  work_.places_out_cycles =
      made * std::ceil(work_.n / tile_) * (unit.place_result_cycles() + unit.place_row_cycles() * rows);
  TakePositionsApart(read, (is_float32 ? unit.place_row_cycles() : unit.place_bfloat16_cycles()) * rows);
}

// A kernel whose positions are apart reads them row by row, with what it reaches beyond them, in whichever windows.
void Convolution::TakePositionsApart(double read, double place_rows) {
  const auto& last = op_.attrs().window().dimensions(op_.attrs().window().dimensions_size() - 1);
  const double columns = Dim(op_.operand(0)->shape(), view_.input_spatial().back());
  if (positions_ <= 1 || Thresholds().apart_times() * positions_ * images_ > work_.m ||
      last.window_dilation() <= 1 || columns <= 0 || !Decides(Rule::kPositionsApart, op_))
    return;
  const double row = Dim(kernel_, view_.kernel_spatial().back()),
               reach = static_cast<double>(last.window_dilation()) * (row - 1);
  work_.places_out_cycles +=
      (positions_ / row * (columns + reach) / columns - 1) * read * std::ceil(inputs_ / tile_) * place_rows;
}

// Positions of a reversed kernel are not adjacent in memory, but strided; those of what was swapped with it for its gradient are
// adjacent.
bool Convolution::ReversesKernel() {
  if (is_gradient_ || stride_ != 1 || !HasReversedKernel(op_) || inputs_ < sublanes_ || !has_part_)
    return false;
  work_.k = positions_ * RoundUp(inputs_, tile_);
  work_.holds_rhs = true;
  return true;
}

// Positions do not pass together if the results fill fewer lanes than the inputs.
bool Convolution::FillsLessThanItTakes() {
  const double whole = std::floor(inputs_ / tile_), part = inputs_ - whole * tile_;
  const double last = work_.n - std::floor((work_.n - 1) / tile_) * tile_;
  const bool fills_less =
      whole == 0 ? work_.n < inputs_ : part > 0 && (work_.n < tile_ ? work_.n <= part : last < part);
  if (!fills_less) return false;
  work_.k = positions_ * RoundUp(inputs_, tile_);
  return true;
}

// Of features that fill whole tiles and a part, the part of each position comes along with its neighbour's; parts of half a tile at most
// by two. Rows of many positions, and of more than some tiles of weights, pass by themselves.
bool Convolution::HasPartOfTile() {
  const CompilerSpec& most = Thresholds();
  const double whole = std::floor(inputs_ / tile_), part = inputs_ - whole * tile_;
  if (part <= 0 || (whole <= 0 && 2 * part <= tile_)) return false;
  const double row = Dim(kernel_, view_.kernel_spatial().back()),
               tiles = whole + (2 * part <= tile_ ? 0.5 : 1);
  const bool by_rows =
      row < positions_ && row > 1 &&
      (row >= most.long_kernel_row() || inputs_ * work_.n > most.tiles_of_kernel_row() * tile_ * tile_);
  // What stands alone at the end of a row is put together with nothing.
  work_.k =
      (by_rows ? positions_ / row * (row - 1 + most.last_position_share()) : positions_ - 1) * tiles * tile_;
  return true;
}

void Convolution::TakeRowsOfKernel() {
  const bool is_small = (inputs_ < sublanes_ && !is_gradient_) ||
                        (along_lanes_ && inputs_ < tile_ && positions_ * std::max(1.0, images_) <= work_.m);
  if (along_lanes_ && is_small && positions_ > 1 && 2 * inputs_ == tile_ && IsOn(Rule::kHalvesOfTiles)) {
    // Halves of a tile pass by two, whatever row they are of. Units that have results of their own share an odd half: whole tiles for
    // half of the results take as long.
    Decides(Rule::kHalvesOfTiles, op_);
    work_.k = (work_.n > tile_ ? positions_ : std::floor(positions_ / 2)) * tile_;
    if (work_.n > tile_) work_.n /= 2;
  } else if (!view_.kernel_spatial().empty() && is_small && positions_ > 1 &&
             Decides(Rule::kRowsOfKernel, op_)) {
    const double row = Dim(kernel_, view_.kernel_spatial().back()), rows = positions_ / row;
    const double together = stride_ <= 2 && inputs_ < sublanes_ ? std::min(2.0, rows) : 1;
    work_.k = std::ceil(rows / together) * RoundUp(together * row * inputs_, tile_);
  }
  // To put positions of halves of tiles beside each other takes as long as some tiles, and places of few images little less than others.
  if (along_lanes_ && view_.kernel_spatial().size() > 1 &&
      positions_ > Dim(kernel_, view_.kernel_spatial().back()) && !is_gradient_ &&
      work_.places_out_cycles == 0 && inputs_ >= sublanes_ && 2 * inputs_ <= tile_ &&
      Decides(Rule::kHalvesPutTogether, op_)) {
    const double places = static_cast<double>(op_.shape().NumElements()) / std::max(1.0, features_ * images_),
                 rows = std::max(images_, (images_ + sublanes_) / 2);
    work_.k = std::max(work_.k,
                       Thresholds().tiles_to_join_halves() * tile_ * places * rows / std::max(1.0, work_.m));
  }
}

}  // namespace

MatrixWork SizesOfConvolution(const Instruction& convolution, const CoreSpec& core) {
  return Convolution(convolution, core).Sizes();
}

}  // namespace toroid
