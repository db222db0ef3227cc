// A convolution as products of matrices, for convolution_sizes.
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

// The kernel is read from its end, as for the gradient of what it slides over.
bool HasReversedKernel(const Instruction& convolution);

// A convolution as it is cut into products, form by form: the first form that applies gives the sizes.
class Convolution {
 public:
  Convolution(const Instruction& op, const CoreSpec& core);

  MatrixWork Sizes();

 private:
  // Forms that give all sizes.
  bool IsOfOnePlace();
  bool IsDilated();
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

}  // namespace toroid
