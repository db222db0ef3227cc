#include "simulator/chip/convolution.h"

namespace toroid {

// Images are rows of tiles. Of one image, which is cut into several, and of kernels that are reversed, units add to each
// other's sums unless they have whole tiles of features of their own.
void Convolution::TakeRowsOfImages() {
  if (view_.batch_groups() != 1 || positions_ <= 1 || !Decides(Rule::kImagesAreRows, op_)) return;
  const auto units = static_cast<double>(core_.matrix().units());
  const bool apart = work_.n >= units * tile_ && images_ > 1;
  const double least = (apart ? 1 : units) * core_.matrix().accumulate_cycles();
  const bool as_they_are = images_ > 1 && work_.batch == 1 && !(has_part_ && HasReversedKernel(op_));
  const double rows = images_ > sublanes_ ? RoundUpTo(images_, sublanes_)
                      : as_they_are       ? images_
                                          : std::max(images_, least);
  work_.m *= rows / std::max(1.0, images_);
}

// Each place of few images is a tile of its own, which passes registers on its way in, longest if it is rounded there, and on
// its way out, however many features it has.
void Convolution::TakeFewImages() {
  const bool is_by_places = positions_ > 1 || (made_.size() > 1 && made_[1] == view_.output_batch());
  if (is_gradient_ || !along_lanes_ || !is_by_places || view_.input_spatial().size() > 2 || images_ <= 1 ||
      images_ > static_cast<double>(Thresholds().most_few_images()) || work_.channel_taps != 0 ||
      work_.batch != 1 || !Decides(Rule::kPlacesOfFewImages, op_))
    return;
  const MatrixUnitSpec& unit = core_.matrix();
  double read = 1, made = 1, rows = 2;
  while (rows < images_) rows *= 2;
  for (const int64_t d : view_.input_spatial()) read *= SizeOf(op_.operand(0)->shape(), d);
  for (const int64_t d : view_.output_spatial()) made *= SizeOf(op_.shape(), d);
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
  const double columns = SizeOf(op_.operand(0)->shape(), view_.input_spatial().back());
  if (positions_ <= 1 || Thresholds().apart_times() * positions_ * images_ > work_.m ||
      last.window_dilation() <= 1 || columns <= 0 || !Decides(Rule::kPositionsApart, op_))
    return;
  const double row = SizeOf(kernel_, view_.kernel_spatial().back()),
               reach = static_cast<double>(last.window_dilation()) * (row - 1);
  work_.places_out_cycles +=
      (positions_ / row * (columns + reach) / columns - 1) * read * std::ceil(inputs_ / tile_) * place_rows;
}

// Positions of a reversed kernel are not adjacent in memory, but strided; those of what was swapped with it for its gradient
// are adjacent.
bool Convolution::ReversesKernel() {
  if (is_gradient_ || stride_ != 1 || !HasReversedKernel(op_) || inputs_ < sublanes_ || !has_part_)
    return false;
  work_.k = positions_ * RoundUpTo(inputs_, tile_);
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
  work_.k = positions_ * RoundUpTo(inputs_, tile_);
  return true;
}

// Of features that fill whole tiles and a part, the part of each position comes along with its neighbour's; parts of half a
// tile at most by two. Rows of many positions, and of more than some tiles of weights, pass by themselves.
bool Convolution::HasPartOfTile() {
  const CompilerSpec& most = Thresholds();
  const double whole = std::floor(inputs_ / tile_), part = inputs_ - whole * tile_;
  if (part <= 0 || (whole <= 0 && 2 * part <= tile_)) return false;
  const double row = SizeOf(kernel_, view_.kernel_spatial().back()),
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
    // Halves of a tile pass by two, whatever row they are of. Units that have results of their own share an odd half: whole
    // tiles for half of the results take as long.
    Decides(Rule::kHalvesOfTiles, op_);
    work_.k = (work_.n > tile_ ? positions_ : std::floor(positions_ / 2)) * tile_;
    if (work_.n > tile_) work_.n /= 2;
  } else if (!view_.kernel_spatial().empty() && is_small && positions_ > 1 &&
             Decides(Rule::kRowsOfKernel, op_)) {
    const double row = SizeOf(kernel_, view_.kernel_spatial().back()), rows = positions_ / row;
    const CompilerSpec& most = Thresholds();
    const double together = stride_ <= most.stride_of_joined_rows() && inputs_ < sublanes_
                                ? std::min(most.joined_kernel_rows(), rows)
                                : 1;
    work_.k = std::ceil(rows / together) * RoundUpTo(together * row * inputs_, tile_);
  }
  // To put positions of halves of tiles beside each other takes as long as some tiles, and places of few images little less
  // than others.
  if (along_lanes_ && view_.kernel_spatial().size() > 1 &&
      positions_ > SizeOf(kernel_, view_.kernel_spatial().back()) && !is_gradient_ &&
      work_.places_out_cycles == 0 && inputs_ >= sublanes_ && 2 * inputs_ <= tile_ &&
      Decides(Rule::kHalvesPutTogether, op_)) {
    const double places = static_cast<double>(op_.shape().NumElements()) / std::max(1.0, features_ * images_),
                 rows = std::max(images_, Thresholds().rows_to_join_halves() * (images_ + sublanes_));
    work_.k = std::max(work_.k,
                       Thresholds().tiles_to_join_halves() * tile_ * places * rows / std::max(1.0, work_.m));
  }
}

}  // namespace toroid
