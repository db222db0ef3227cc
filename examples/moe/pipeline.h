// The layers of a dense stack as a pipeline by shifting.
//
// The P layers of each of S stages are stacked: weights are [S,P,...], cut over the mesh axis "stage". Each stage has as many copies
// as the axis "data" has devices, which work on different sequences; stage s and copy d are place z = s D + d of Z = S D, one on
// each device. One program computes all places at once, on one microbatch for each stage, in a loop of m + S - 1 trips for m
// microbatches:
//
//   in    = first stage: the next microbatch of the stream; other stages: what the stage before gave in the last trip
//   state = layers(in)
//   the stream moves on by one stage; behind it stands what the last stage gave
//
// The stream [Z,R,...], R = m / S, is cut over the places too: microbatch n lies at stage n / R, column n mod R. Trip t reads and
// writes column t mod R, and the results end where the microbatches were, but for a rotation of the columns. So all that travels,
// twice a trip, is one microbatch from each stage to the next or the one before: a collective-permute. Weights enter the loop as
// [Z,...], a copy for each place, so that their derivatives are summed over copies once, behind the loop.
//
// S - 1 of the trips fill and empty the pipeline: the share (S - 1) / (m + S - 1) of the work is done on nothing.
// Source: Huang et al., GPipe, arXiv:1811.06965; Xu et al., GSPMD, arXiv:2105.04663, section 3.3.
#ifndef TOROID_EXAMPLES_MOE_PIPELINE_H_
#define TOROID_EXAMPLES_MOE_PIPELINE_H_

#include <string>

#include "examples/moe/model_builder.h"

namespace toroid {

// As many layers as half of the config says on x [G,B,L,M]; with `memory` alike, the encoder's result, those of a decoder. Groups
// lie on the devices in their order. Weights are those of the layers (layers.h) under NAME, [S,P] in front.
// Requires: config.Check(), config.stages > 1.
Value RunPipeline(Value x, Value memory, const std::string& name, ModelBuilder* m);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_MOE_PIPELINE_H_
