// The layers of a dense stack as a pipeline by shifting.
//
// The P layers of each of S stages are stacked: weights are [S,P,...], cut over the mesh axis "stage". Each
// stage has as many copies as the axis "data" has devices; copies work on different sequences. Stage s and
// copy d are place z = s D + d of Z = S D, one on each device. One program computes all places at once, on
// one microbatch per stage, in a loop of m + S - 1 trips for m microbatches:
//
//   in    = first stage: the next microbatch of the stream; other stages: the last trip's result of the stage
//           before
//   state = layers(in)
//   the stream moves on by one stage; the last stage's result takes the place at its end
//
// The stream [Z,R,...], R = m / S, is cut over the places too: microbatch n is at stage n / R, column n mod
// R. Trip t reads and writes column t mod R, and the results end where the microbatches were, except that the
// columns are rotated. So each trip sends two microbatches per stage, one to the next stage and one to the
// stage before: collective-permutes. Weights enter the loop as [Z,...], one copy per place, so that their
// derivatives are summed over copies once, after the loop.
//
// S - 1 of the trips fill and empty the pipeline: a share (S - 1) / (m + S - 1) of the work is wasted.
// Source: Huang et al., GPipe, arXiv:1811.06965; Xu et al., GSPMD, arXiv:2105.04663, section 3.3.
#pragma once

#include <string>

#include "examples/moe/model_builder.h"

namespace toroid {

// Runs half of the config's layers on x [G,B,L,M]: encoder layers, or, if `memory`, the encoder's result of
// the same shape, is given, decoder layers. Groups are on the devices in their order. Weights are the layers'
// (layers.h) under NAME, with [S,P] in front.
// Requires: config.Check(), config.stages > 1.
Value RunPipeline(Value x, Value memory, const std::string& name, ModelBuilder* m);

}  // namespace toroid
