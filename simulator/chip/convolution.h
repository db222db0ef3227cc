// A convolution as products of matrices: which forms there are, and what each makes of it. convolution_sizes.h is what others
// call.
#pragma once

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "hlo/ir/attribute_views.h"
#include "simulator/chip/matrix_work.h"
#include "simulator/program/convolutions.h"
#include "simulator/program/tiling.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {

// The size of a dimension; 1 if there is none.
inline double SizeOf(const Shape& shape, int64_t d) {
  return d >= 0 && d < shape.rank() ? static_cast<double>(std::max<int64_t>(shape.dim(d), 0)) : 1;
}

inline double RoundUpTo(double n, double multiple) { return std::ceil(n / multiple) * multiple; }

// The kernel is reversed, as in the gradient of the images.
bool HasReversedKernel(const Instruction& convolution);

// The sizes of one convolution. The first form that applies gives them all; without one the sizes of the plain product are
// corrected step by step.
class Convolution {
 public:
  Convolution(const Instruction& op, const CoreSpec& core);

  MatrixWork Sizes();

 private:
  // Forms, each a rule of docs/rules.md: true if it applies, which has set all sizes.
  bool IsOfOnePlace();
  bool IsDilated();
  bool IsOfGroups();
  bool HoldsImagesAlongLanes();
  bool HasFewFeaturesOfImages();
  bool ReversesKernel();
  bool FillsLessThanItTakes();
  bool HasPartOfTile();
  // Corrections of the plain product.
  void TakeChannels();
  void TakePlaces();
  void TakeRowsOfImages();
  void TakeFewImages();
  void TakePositionsApart(double read, double place_rows);
  void TakeRowsOfKernel();
  // Images along lanes: features may be contracted in groups of as many as a register has rows rather than in whole tiles. That
  // is done if it saves more loaded rows than adding up the groups' sums takes; with a reversed kernel adding up is free.
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
  Dims lies_, slides_, made_;  // In which order the dimensions of images, kernel and result lie, minor first.
  MatrixWork work_;
};

}  // namespace toroid
