#include "tests/hlo/ops/constraint_cases.h"

namespace toroid {

std::vector<ViolatingCase> ConvolutionCases() {
  const std::string conv = "f32[2,7,7,8] convolution(img, ker), ", labels = ", dim_labels=b01f_01io->b01f";
  return {
      {"C1", conv + "window={size=3}, dim_labels=b0f_0io->b0f",
       "dimension numbers of the input: found 3, expected 4"},
      {"C1", conv + "window={size=3x3}" + labels, "input dimension: found 0 twice",
       [](Instruction* it) {
         it->MutableAttrs()->mutable_convolution_dimension_numbers()->set_input_feature_dimension(0);
       }},
      {"C1", conv + "window={size=3x3}" + labels, "kernel dimension: found 9",
       [](Instruction* it) {
         it->MutableAttrs()->mutable_convolution_dimension_numbers()->set_kernel_spatial_dimensions(1, 9);
       }},
      {"C1", conv + "window={size=3x3}" + labels, "output dimension: found -1",
       [](Instruction* it) {
         it->MutableAttrs()->mutable_convolution_dimension_numbers()->set_output_batch_dimension(-1);
       }},
      {"C1", conv + "window={size=3x3}" + labels, "found 2, 3 and 2, expected equally many",
       [](Instruction* it) {
         it->MutableAttrs()->mutable_convolution_dimension_numbers()->add_kernel_spatial_dimensions(4);
       }},
      {"C2", conv + "window={size=3}" + labels, "window dimensions: found 1, expected 2"},
      {"C2", conv + "window={size=3x2}" + labels,
       "size of window dimension 1: found 2, expected 3, as in the kernel"},
      {"C3", conv + "window={size=3x3 stride=0x1}" + labels, "stride 0"},
      {"C3", conv + "window={size=3x3 rhs_dilate=0x1}" + labels, "window dilation 0"},
      {"C3", conv + "window={size=3x3 pad=9223372036854775807_0x0_0}" + labels,
       "expected sizes that do not overflow"},
      {"C3", conv + "window={size=3x3 stride=4611686018427387904x1}" + labels, "do not overflow"},
      {"C4", conv + "window={size=3x3}, feature_group_count=-1" + labels, "found -1 and"},
      {"C4", conv + "window={size=3x3}, feature_group_count=2, batch_group_count=2" + labels,
       "found 2 and 2, expected 1 or more, at most one above 1"},
      {"C5", conv + "window={size=3x3}, feature_group_count=2" + labels,
       "input features: found 4, expected 2 groups of 4"},
      {"C6", conv + "window={size=3x3}, batch_group_count=3" + labels,
       "found 8 and 2, expected multiples of feature_group_count 1 and batch_group_count 3"},
      {"C7", "c64[2,7,7,8] convolution(img, ker), window={size=3x3}" + labels, "found f32 times f32 as c64"},
      {"C8",
       "f32[2,1,1,8] convolution(img, ker), window={size=3x3 stride=2199023255552x2199023255552 "
       "pad=1073741824_1073741824x1073741824_1073741824}" +
           labels,
       "the bytes of the padded input"},
  };
}

}  // namespace toroid
