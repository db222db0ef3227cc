#include "simulator/chip/matrix_work.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/ir/attribute_views.h"
#include "simulator/program/convolutions.h"
#include "simulator/program/tiling.h"

namespace toroid {
namespace {

double Dim(const Shape& shape, int64_t d) {
  return d >= 0 && d < shape.rank() ? static_cast<double>(std::max<int64_t>(shape.dim(d), 0)) : 1;
}

double RoundUp(double n, double multiple) { return std::ceil(n / multiple) * multiple; }

MatrixWork SizesOfDot(const Instruction& dot) {
  MatrixWork work;
  const auto& attrs = dot.attrs();
  const DotView view(dot.opcode() == Opcode::kRaggedDot
                         ? attrs.ragged_dot_dimension_numbers().dot_dimension_numbers()
                         : attrs.dot_dimension_numbers());
  const Shape& lhs = dot.operand(0)->shape();
  const Shape& rhs = dot.operand(1)->shape();
  for (const int64_t d : view.lhs_batch()) work.batch *= Dim(lhs, d);
  for (const int64_t d : view.lhs_contracting()) work.k *= Dim(lhs, d);
  const double lhs_all = static_cast<double>(lhs.NumElements()),
               rhs_all = static_cast<double>(rhs.NumElements());
  work.m = work.batch * work.k > 0 ? lhs_all / (work.batch * work.k) : 0;
  double rhs_bound = 1;
  for (const int64_t d : view.rhs_batch()) rhs_bound *= Dim(rhs, d);
  for (const int64_t d : view.rhs_contracting()) rhs_bound *= Dim(rhs, d);
  if (dot.opcode() == Opcode::kRaggedDot) {
    for (const int64_t d : attrs.ragged_dot_dimension_numbers().rhs_group_dimensions())
      rhs_bound *= Dim(rhs, d);
  }
  work.n = rhs_bound > 0 ? rhs_all / rhs_bound : 0;
  return work;
}

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

double CyclesOfRows(double batch, double rows, double together, bool in_parts, double k, double columns,
                    const CoreSpec& core);

// Images that stay along lanes are contracted with features in groups of a register's rows where that loads fewer rows than whole tiles
// by more than it takes to add the groups up. A kernel that is read from its end is loaded in parts anyway.
void TakeParts(bool is_turned, double inputs, const CoreSpec& core, MatrixWork* work) {
  const double tile = static_cast<double>(core.matrix().tile()),
               sublanes = static_cast<double>(core.vector().sublanes());
  const double registers = std::ceil(work->m / sublanes) * std::ceil(work->n / tile),
               parts = std::ceil(inputs / sublanes);
  const double sums = is_turned ? 0
                                : (parts - 1) * registers *
                                      (core.matrix().added_sum_cycles() + core.matrix().accumulate_cycles());
  const auto rows = [&](bool in_parts) {
    return CyclesOfRows(1, work->m, work->rows_together, in_parts, work->k, work->n, core);
  };
  work->passes_part = rows(true) + sums < rows(false);
  if (work->passes_part) work->part_sum_cycles = sums;
}

MatrixWork SizesOfConvolution(const Instruction& convolution, const CoreSpec& core) {
  MatrixWork work;
  const ConvolutionView view(convolution);
  const Shape& kernel = convolution.operand(1)->shape();
  const Shape& result = convolution.shape();
  const double features = Dim(kernel, view.kernel_output_feature());
  const double inputs = Dim(kernel, view.kernel_input_feature());
  double positions = 1;
  for (const int64_t d : view.kernel_spatial()) positions *= Dim(kernel, d);
  work.batch = static_cast<double>(std::max(view.feature_groups(), view.batch_groups()));
  const double all = static_cast<double>(result.NumElements());
  work.m = features > 0 ? all / features : 0;
  work.n = features / work.batch;
  if (work.batch > 1 && inputs == 1 && work.n == 1) {
    // Each channel on its own: the vector unit multiplies and adds, position by position of the kernel.
    work.channel_taps = positions;
    work.n = features;
    work.batch = 1;
  } else if (view.batch_groups() > 1 && features == work.batch &&
             Dim(convolution.operand(0)->shape(), view.input_batch()) == features) {
    // The gradient of such a kernel: position by position of the result.
    work.channel_taps = work.m;
    work.n = features;
    work.batch = 1;
  }
  work.k = positions * inputs;
  const double images = Dim(convolution.operand(0)->shape(), view.input_batch());
  double elements = 1;
  for (const int64_t d : view.input_spatial()) elements *= Dim(convolution.operand(0)->shape(), d);
  if (elements == 1 && positions > 1 && work.batch == 1 && work.channel_taps == 0) {
    // Of one place each position of the kernel makes one of the results, as if it were features.
    work.n *= images > 0 ? std::min(positions, work.m / images) : 0;
    work.m = images;
    work.k = inputs;
    return work;
  }
  // Zeros between the elements of a dilated input are not multiplied. Each position passes alone, as positions that follow each
  // other do not lie beside each other: all its images, one position of the kernel after the other.
  double dilation = 1;
  for (const auto& d : convolution.attrs().window().dimensions())
    dilation *= static_cast<double>(std::max<int64_t>(1, d.base_dilation()));
  // Channel by channel every other position of those that meet no zeros is for nothing.
  if (work.channel_taps > 0 && dilation > 1) work.channel_taps *= 2 / dilation;
  if (dilation > 1 && work.channel_taps == 0) {
    work.m *= positions / dilation;
    work.k = inputs;
    // One image is cut into as many as a register has rows.
    work.rows_together = images > 1 ? images : static_cast<double>(core.vector().sublanes());
    work.positions = positions;
    if (HoldsImages(convolution, images, core)) {
      work.m *= work.n / std::max(1.0, images);
      work.rows_together = work.n;
      work.n = RoundUp(images, static_cast<double>(core.matrix().tile()));
    }
    return work;
  }
  const auto& rows_of_window = convolution.attrs().window().dimensions();
  if (view.input_spatial().size() > 1 && rows_of_window.size() > 1 && rows_of_window[0].size() == 1 &&
      rows_of_window[0].stride() > 1 && rows_of_window[0].base_dilation() <= 1) {
    work.row_windows = Dim(result, view.output_spatial()[0]);
    work.row_step = static_cast<double>(rows_of_window[0].stride());
  }
  const bool is_gradient = IsKernelGradient(convolution);
  if (is_gradient || positions > 1) work.places = PlacesOf(convolution, is_gradient, core);
  work.contracts_places = is_gradient;
  const Dims slides_over = PhysicalOrder(convolution.operand(0)->shape()), becomes = PhysicalOrder(result);
  if (is_gradient && work.channel_taps == 0 && !slides_over.empty() &&
      slides_over[0] != view.input_feature()) {
    work.gradient_positions = 1;
    for (const int64_t d : view.output_spatial()) work.gradient_positions *= Dim(result, d);
    work.holds_lhs = becomes[0] == view.output_batch();
  }
  // Images along lanes of both are contracted place by place, in tiles of their own.
  const Dims slides = PhysicalOrder(kernel);
  const bool contracts_images =
      is_gradient && work.channel_taps == 0 && work.batch == 1 && !slides_over.empty() && !slides.empty() &&
      slides_over[0] == view.input_feature() && slides[0] == view.kernel_input_feature();
  if (HoldsImagesOfGroups(convolution) && !slides_over.empty() && is_gradient &&
      slides_over[0] == view.input_feature()) {
    // Positions of the kernel pass with the features of a group, place by place.
    work.k = positions * RoundUp(inputs, static_cast<double>(core.matrix().tile()));
    work.holds_rhs = true;
    return work;
  }
  if (HoldsImagesOfGroups(convolution) && !slides_over.empty() && slides_over[0] == view.input_batch()) {
    const double places = images > 0 ? work.m / images : 0;
    work.k = positions * RoundUp(inputs, static_cast<double>(core.vector().sublanes()));
    work.m = places * work.n;
    work.rows_together = work.n;
    work.n = RoundUp(images, static_cast<double>(core.matrix().tile()));
    work.passes_part = work.k > static_cast<double>(core.matrix().tile());
    return work;
  }
  if (SlidesOverImagesAlongLanes(convolution, positions)) {
    const double tile = static_cast<double>(core.matrix().tile()), places = images > 0 ? work.m / images : 0;
    if (HoldsImages(convolution, images, core)) {
      work.k = positions * inputs;
      work.m = places * features;
      work.n = RoundUp(images, tile);
      work.rows_together = features;
      if (work.k > tile && absl::c_all_of(convolution.attrs().window().dimensions(),
                                          [](const auto& d) { return d.stride() <= 1; })) {
        TakeParts(HasReversedKernel(convolution), inputs, core, &work);
      }
      return work;
    }
    const double sublanes = static_cast<double>(core.vector().sublanes());
    const bool alone = work.n == 1 && HasReversedKernel(convolution);
    if (inputs < sublanes && (!alone || images <= sublanes)) {
      // Images of each place become rows of a tile of its own; for one feature each position of a turned kernel passes alone.
      work.k = positions * (alone ? tile : inputs);
      work.m = places * std::max(images, tile / 2);
      work.holds_rhs = true;
      return work;
    }
  }
  // Images are rows of tiles. Of one image, which is cut into several, and of kernels that are turned, units add to each other's sums unless
  // they have whole tiles of features of their own.
  const double sublanes = static_cast<double>(core.vector().sublanes()),
               tile = static_cast<double>(core.matrix().tile());
  const Dims lies = PhysicalOrder(convolution.operand(0)->shape());
  const bool along_lanes = !lies.empty() && lies[0] == view.input_feature();
  const bool has_part = std::fmod(inputs, tile) != 0;
  if (view.batch_groups() == 1 && positions > 1) {
    const bool apart =
        work.n >= static_cast<double>(core.matrix().units() * core.matrix().tile()) && images > 1;
    const double least =
        (apart ? 1 : static_cast<double>(core.matrix().units())) * core.matrix().accumulate_cycles();
    const double rows = images > sublanes ? RoundUp(images, sublanes)
                        : images > 1 && work.batch == 1 && !(has_part && HasReversedKernel(convolution))
                            ? images
                            : std::max(images, least);
    work.m *= rows / std::max(1.0, images);
  }
  const bool is_by_places = positions > 1 || (becomes.size() > 1 && becomes[1] == view.output_batch());
  if (!is_gradient && along_lanes && is_by_places && view.input_spatial().size() <= 2 && images > 1 &&
      2 * images <= sublanes && work.channel_taps == 0 && work.batch == 1) {
    // Each place of few images is a tile of its own, which passes registers on its way in, longest if it is rounded there, and on its way
    // out, however many features it has.
    double read = 1, made = 1, rows = 2;
    while (rows < images) rows *= 2;
    for (const int64_t d : view.input_spatial()) read *= Dim(convolution.operand(0)->shape(), d);
    for (const int64_t d : view.output_spatial()) made *= Dim(result, d);
    const bool is_float32 = convolution.operand(0)->shape().element_type() == xla::F32;
    work.places_in_cycles =
        read * std::ceil(inputs / tile) *
        (is_float32 ? core.matrix().place_row_cycles() * rows : core.matrix().place_bfloat16_cycles());
    work.places_out_cycles = made * std::ceil(work.n / tile) *
                             (core.matrix().place_result_cycles() + core.matrix().place_row_cycles() * rows);
    // A kernel whose positions are apart reads them row by row, with what it reaches beyond them, in whichever windows.
    const auto& last =
        convolution.attrs().window().dimensions(convolution.attrs().window().dimensions_size() - 1);
    const double columns = Dim(convolution.operand(0)->shape(), view.input_spatial().back());
    if (positions > 1 && 4 * positions * images <= work.m && last.window_dilation() > 1 && columns > 0) {
      const double row = Dim(kernel, view.kernel_spatial().back()),
                   reach = static_cast<double>(last.window_dilation()) * (row - 1);
      const double place =
          is_float32 ? core.matrix().place_row_cycles() : core.matrix().place_bfloat16_cycles();
      work.places_out_cycles += (positions / row * (columns + reach) / columns - 1) * read *
                                std::ceil(inputs / tile) * place * rows;
    }
  }
  // Positions of a kernel that is turned do not follow each other, but by strides; those of what was exchanged with it for its gradient do.
  int64_t stride = 1;
  for (const auto& d : convolution.attrs().window().dimensions())
    stride = std::max<int64_t>(stride, d.stride());
  if (!is_gradient && stride == 1 && HasReversedKernel(convolution) && inputs >= sublanes && has_part) {
    work.k = positions * RoundUp(inputs, tile);
    work.holds_rhs = true;
    return work;
  }
  work.holds_rhs = positions > 1 && !is_gradient;
  if (contracts_images) work.k = positions * RoundUp(inputs, tile);
  // A row of the kernel's window at a time; two, where the next window reads one of them again.
  // Features along lanes are put beside each other position by position; along rows they follow each other anyway. For the
  // gradient of a kernel, in which as much slides as it slides over, it is what slides that is large, and images are all features of it.
  // Of features that fill whole tiles and a part, the part of each position comes along with its neighbour's; parts of half a tile at most
  // by two. Rows of many positions, and of more than one and a half tiles of weights, pass by themselves.
  // Nothing passes together whose results fill fewer lanes than it does. Halves of a tile pass by two, whatever row they are of. Units
  // that have results of their own share an odd half: whole tiles for half of the results take as long.
  if (along_lanes && positions > 1 && !is_gradient && dilation == 1 &&
      positions * std::max(1.0, images) <= work.m) {
    const double whole = std::floor(inputs / tile), part = inputs - whole * tile;
    const double last = work.n - std::floor((work.n - 1) / tile) * tile;
    const bool fills_less =
        whole == 0 ? work.n < inputs : part > 0 && (work.n < tile ? work.n <= part : last < part);
    if (fills_less) {
      work.k = positions * RoundUp(inputs, tile);
      return work;
    }
    if (part > 0 && (whole > 0 || 2 * part > tile)) {
      const double row = Dim(kernel, view.kernel_spatial().back()),
                   tiles = whole + (2 * part <= tile ? 0.5 : 1);
      const bool by_rows = row < positions && row > 1 && (row >= 5 || inputs * work.n > 1.5 * tile * tile);
      // What stands alone at the end of a row is put together with nothing.
      constexpr double kAlone = 0.25;
      work.k = (by_rows ? positions / row * (row - 1 + kAlone) : positions - 1) * tiles * tile;
      return work;
    }
  }
  const bool is_small = (inputs < sublanes && !is_gradient) ||
                        (along_lanes && inputs < tile && positions * std::max(1.0, images) <= work.m);
  if (along_lanes && is_small && positions > 1 && 2 * inputs == tile) {
    work.k = (work.n > tile ? positions : std::floor(positions / 2)) * tile;
    if (work.n > tile) work.n /= 2;
  } else if (!view.kernel_spatial().empty() && is_small && positions > 1) {
    const double row = Dim(kernel, view.kernel_spatial().back()), rows = positions / row;
    const double together = stride <= 2 && inputs < sublanes ? std::min(2.0, rows) : 1;
    work.k = std::ceil(rows / together) * RoundUp(together * row * inputs, tile);
  }
  // To put positions of halves of tiles beside each other takes as long as five tiles, and places of few images little less than others.
  if (along_lanes && view.kernel_spatial().size() > 1 &&
      positions > Dim(kernel, view.kernel_spatial().back()) && !is_gradient && work.places_out_cycles == 0 &&
      inputs >= sublanes && 2 * inputs <= tile) {
    const double places = all / std::max(1.0, features * images),
                 rows = std::max(images, (images + sublanes) / 2);
    work.k = std::max(work.k, 5 * tile * places * rows / std::max(1.0, work.m));
  }
  return work;
}

// Tiles of one operand are held, rows of the other pass. While they do the next tile is loaded, which takes as many rows as it has,
// whichever way round it is held; of `rows` as many pass at once as `together`, all if 0. `in_parts`: only the rows of the last tile are loaded.
double CyclesOfRows(double batch, double rows, double together, bool in_parts, double k, double columns,
                    const CoreSpec& core) {
  const double tile = static_cast<double>(core.matrix().tile()),
               sublanes = static_cast<double>(core.vector().sublanes());
  const double load = RoundUp(std::min({tile, k, columns}), sublanes);
  const double times = together > 0 ? rows / together : 1,
               passing = RoundUp(together > 0 ? together : rows, sublanes);
  double tiles = std::max(load, passing) * std::ceil(k / tile);
  const double last = std::fmod(k, tile);
  if (in_parts && last > 0) {
    tiles = std::max(load, passing) * std::floor(k / tile) +
            std::max(RoundUp(std::min(last, columns), sublanes), passing);
  }
  return batch * times * tiles * std::ceil(columns / tile) / static_cast<double>(core.matrix().units());
}

// Of a kernel's gradient each position passes alone: the features of its images while half a tile of what slides over them is loaded,
// or the other way round while a whole one is.
double CyclesOfGradient(const MatrixWork& work, double batch, double m, double k, double n,
                        const CoreSpec& core) {
  const double tile = static_cast<double>(core.matrix().tile()),
               sublanes = static_cast<double>(core.vector().sublanes());
  const double positions = std::max(1.0, std::min(work.gradient_positions, m)), features = m / positions;
  const double held_lhs = std::max(std::min(tile, k), RoundUp(n, sublanes)) * std::ceil(features / tile);
  const double held_rhs = std::max(std::min(tile / 2, k), RoundUp(features, sublanes)) * std::ceil(n / tile);
  return batch * positions * std::ceil(k / tile) *
         (work.holds_lhs ? held_lhs : std::min(held_lhs, held_rhs)) /
         static_cast<double>(core.matrix().units());
}

double Cycles(const MatrixWork& work, double batch, double m, double k, double n, const CoreSpec& core) {
  if (work.channel_taps > 0) return 0;
  const MatrixUnitSpec& unit = core.matrix();
  double rows = CyclesOfRows(batch, m, work.rows_together, work.passes_part && k > unit.tile(), k, n, core);
  if (work.rows_together == 0 && !work.holds_rhs)
    rows = std::min(rows, CyclesOfRows(batch, n, 0, false, k, m, core));
  if (work.gradient_positions > 0) rows = CyclesOfGradient(work, batch, m, k, n, core);
  const double each = work.float32 ? unit.cycles_per_float32_row() : unit.cycles_per_row();
  const double tile = static_cast<double>(unit.tile()),
               sublanes = static_cast<double>(core.vector().sublanes());
  const double sums = work.sum_accesses * core.vector().access_cycles() * batch * std::ceil(m / sublanes) *
                      std::ceil(n / tile) * std::ceil(k / tile);
  const double part_sums = work.part_sum_cycles > 0
                               ? work.part_sum_cycles * (batch / work.batch) * (m / work.m) * (n / work.n)
                               : 0;
  return rows * each * (work.full_precision ? static_cast<double>(unit.full_precision_passes()) : 1) + sums +
         part_sums;
}

double BytesBeside(const JoinedOperand& joined, double contracted_cuts, double free_cuts) {
  return (joined.is_contracted ? contracted_cuts : free_cuts) > joined.outer ? joined.cut_bytes
                                                                             : joined.bytes;
}

// 1, 2, 4, ... while the pieces stay at least `least` long, and all up to 64 that share out whole pieces of that length evenly.
std::vector<double> Cuts(double size, double least) {
  std::vector<double> cuts = {1};
  while (cuts.back() * 2 * least <= size && cuts.size() < 20) cuts.push_back(cuts.back() * 2);
  const double tiles = size / least;
  for (double cut = 3; cut <= std::min(tiles, 64.0); ++cut) {
    if (std::fmod(tiles, cut) == 0 && std::find(cuts.begin(), cuts.end(), cut) == cuts.end())
      cuts.push_back(cut);
  }
  return cuts;
}

}  // namespace

double ReadsOfParts(const SlidingWindow& places, double parts) {
  if (parts <= 1 || places.rows < 1 || std::max(places.row_reach, places.column_reach) <= 1) return 1;
  // Windows at the edges are as large as others.
  const auto windows = [](double count, double cut) { return std::ceil(count / std::ceil(count / cut)); };
  const auto loaded = [](double count, double cut, double step, double reach) {
    return std::floor((std::ceil(count / cut) - 1) * step + reach);
  };
  const auto tiles = [&](double columns, bool is_cut) {
    return RoundUp(columns, places.column_tile) +
           (is_cut && places.column_reach > 1 && places.column_tile > 1 ? places.column_tile : 0);
  };
  const double all =
      places.rows * places.row_step * RoundUp(places.columns * places.column_step, places.column_tile);
  double least = 0;
  for (double down = 1; down <= std::min(parts, places.rows); down *= 2) {
    const double across = std::min(parts / down, places.columns);
    const double rows = loaded(places.rows, down, places.row_step, places.row_reach);
    const double columns =
        tiles(loaded(places.columns, across, places.column_step, places.column_reach), across > 1);
    const double reads = windows(places.rows, down) * rows * windows(places.columns, across) * columns / all;
    if (least == 0 || reads < least) least = reads;
  }
  // Images are cut rather than places whose windows overlap by more than they are apart.
  constexpr double kMostReads = 2.6;
  return least > kMostReads && parts > 2 ? ReadsOfParts(places, parts / 2) : std::max(1.0, least);
}

MatrixWork MatrixSizes(const Instruction& instruction, const CoreSpec& core) {
  if (instruction.num_operands() < 2) return MatrixWork();
  MatrixWork work = instruction.opcode() == Opcode::kConvolution ? SizesOfConvolution(instruction, core)
                                                                 : SizesOfDot(instruction);
  bool all_float32 = true;
  for (int i = 0; i < 2; ++i) {
    const bool is_float32 = instruction.operand(i)->shape().element_type() == xla::F32;
    // Images are rounded as they are put beside each other.
    work.float32 |= is_float32 && instruction.opcode() != Opcode::kConvolution;
    all_float32 &= is_float32;
  }
  for (const int precision : instruction.attrs().precision_config().operand_precision()) {
    work.full_precision |= all_float32 && precision == xla::PrecisionConfig::HIGHEST;
  }
  return work;
}

void FindWholeBatch(const Instruction& dot, int64_t sublanes, MatrixWork* work) {
  if (dot.opcode() != Opcode::kDot || dot.num_operands() < 2) return;
  const DotView view(dot);
  for (int side = 0; side < 2; ++side) {
    const auto batch = side == 0 ? view.lhs_batch() : view.rhs_batch();
    const Shape& shape = dot.operand(side)->shape();
    const Dims order = PhysicalOrder(shape);
    for (size_t i = 0; i < std::min<size_t>(2, order.size()); ++i) {
      if (std::find(batch.begin(), batch.end(), order[i]) == batch.end()) continue;
      work->whole_batch =
          std::max(work->whole_batch, std::min(Dim(shape, order[i]), static_cast<double>(sublanes)));
    }
  }
}

double SumAccesses(const Instruction& outer) {
  if (outer.opcode() != Opcode::kDot) return 3;
  const DotView view(outer);
  for (int side = 0; side < 2; ++side) {
    const auto contracting = side == 0 ? view.lhs_contracting() : view.rhs_contracting();
    if (std::find(contracting.begin(), contracting.end(), outer.operand(side)->shape().rank() - 1) !=
        contracting.end())
      return 3;
  }
  return 2;
}

double MatrixCycles(const MatrixWork& work, const CoreSpec& core) {
  if (work.channel_taps > 0) return 0;
  return Cycles(work, work.batch, work.m, work.k, work.n, core);
}

double StreamRate(const CoreSpec& core) {
  return core.memory().bytes_per_second() * core.memory().stream_efficiency() / core.clock_hertz();
}

double WriteRate(const CoreSpec& core) {
  const double share = core.memory().write_efficiency();
  return share > 0 ? core.memory().bytes_per_second() * share / core.clock_hertz() : StreamRate(core);
}

WindowedTime TimeInWindows(const MatrixWork& work, const ProductResults& results, const CoreSpec& core) {
  const double stream = StreamRate(core);
  const double slots = static_cast<double>(std::max<int64_t>(1, core.vector().slots()));
  const double budget = static_cast<double>(core.memory().window_budget_bytes());
  const double tile = static_cast<double>(core.matrix().tile());
  const double sublanes = static_cast<double>(core.vector().sublanes());
  const double row_bytes = static_cast<double>(core.vector().lanes()) * sizeof(float);
  // Sums of all tiles of what is contracted but the first are loaded, added to and stored.
  const double added = work.sum_accesses > 0 || work.channel_taps > 0
                           ? 0
                           : core.matrix().added_sum_cycles() * work.batch * std::ceil(work.m / sublanes) *
                                 std::ceil(work.n / tile) * std::max(0.0, std::ceil(work.k / tile) - 1);
  WindowedTime best;
  best.cycles = std::numeric_limits<double>::infinity();
  double best_excess = std::numeric_limits<double>::infinity();
  const std::vector<double> b_cuts = Cuts(work.batch, work.whole_batch), n_cuts = Cuts(work.n, tile),
                            m_cuts = Cuts(work.m, sublanes), k_cuts = Cuts(work.k, tile);
  std::vector<double> reads_of_parts;
  for (const double parts : work.contracts_places ? k_cuts : m_cuts)
    reads_of_parts.push_back(ReadsOfParts(work.places, parts));
  for (const double nb : b_cuts) {
    for (const double nn : n_cuts) {
      for (size_t i_m = 0; i_m < m_cuts.size(); ++i_m) {
        for (size_t i_k = 0; i_k < k_cuts.size(); ++i_k) {
          const double nm = m_cuts[i_m], nk = k_cuts[i_k];
          const double np = std::min(nm, work.positions);
          const double again = reads_of_parts[work.contracts_places ? i_k : i_m];
          const double lhs_bytes = work.lhs_bytes /
                                       (work.row_windows > 0 && nm >= work.row_windows ? work.row_step : 1) +
                                   BytesBeside(work.lhs_joined, nk, nm),
                       rhs_bytes = work.rhs_bytes + BytesBeside(work.rhs_joined, nk, nn);
          const double lhs_windows = nb * nm * nk / again, rhs_windows = nb * nn * nk * np;
          const double a = lhs_bytes / lhs_windows, b = rhs_bytes / rhs_windows,
                       o = results.bytes / (nb * nm * nn);
          // Sums that stay until all is added up stand there once.
          const double held = 2 * (a + b) + (nb * nm * nn == 1 && nk > 1 ? o : 2 * o);
          // Nothing fits: the cuts that come nearest.
          const double excess = std::max(0.0, held + (work.places.rows > 0 ? a / 2 + o : 0) - budget);
          if (excess > best_excess) continue;
          const double windows = nb * nn * nm * nk;
          const double lhs_made = nm * nk == 1 ? 1 : nn, lhs_reads = again * lhs_made,
                       rhs_reads = nk == 1 ? 1 : nm / np;
          const double read = lhs_bytes * lhs_reads + rhs_bytes * rhs_reads;
          const double memory = read / stream + results.cycles;
          const double made = (work.lhs_slots * (work.channel_taps > 0 ? lhs_reads : lhs_made) +
                               work.rhs_slots * rhs_reads + results.slots) /
                              slots;
          const double vector = made > 0 ? made + added : 0;
          const double matrix =
              windows * Cycles(work, work.batch / nb, work.m / nm, work.k / nk, work.n / nn, core);
          const double moved = work.lhs_moved * lhs_made + work.rhs_moved * rhs_reads;
          double placed = work.places_in_cycles * again * lhs_made + work.places_out_cycles;
          // What results meet comes row by row too.
          if (work.places_out_cycles > 0)
            placed += core.matrix().place_row_cycles() * results.read_bytes / row_bytes;
          // A share of the shorter of both is not hidden, nor what makes the images.
          const double shown = core.matrix().place_shown_share() * std::min(matrix, placed);
          const double with_images = placed > 0 ? placed + work.lhs_slots * lhs_made / slots : 0;
          const double core_cycles = std::max({std::max(matrix, placed) + shown, vector, with_images, moved});
          // Steps in which both operands are loaded and a result is stored, and the others.
          const double start = core.memory().transfer_cycles(),
                       stored = results.cycles / (nb * nm * nn) + start;
          const double step = core_cycles / windows + core.matrix().window_cycles(),
                       load_a = a / stream + start, load_b = b / stream + start;
          double changes, other_load;
          if (nk > 1) {
            changes = windows / nk;
            other_load = load_a + load_b;
          } else if (nm > 1) {
            changes = nb * nn;
            other_load = load_a + stored;
          } else {
            changes = nb;
            other_load = load_b + stored;
          }
          const double steps = (changes - 1) * std::max(step, load_a + load_b + stored) +
                               (windows - changes) * std::max(step, other_load);
          const double cycles = load_a + load_b + steps + step + stored;
          if (excess == best_excess && cycles >= best.cycles) continue;
          best_excess = excess;
          best = {cycles, matrix, vector, memory, read + results.bytes};
        }
      }
    }
  }
  return best;
}

}  // namespace toroid
