// Top-2 gating with capacities and an auxiliary loss.
// Source: GShard, arXiv:2006.16668, Algorithm 1.
#pragma once

#include "examples/moe/model_builder.h"

namespace toroid {

// One of the two choices of each token.
struct Choice {
  Value gate;      // f32[G,S]: weight of the expert's output; 0 if the second expert is dropped.
  Value mask;      // pred[G,S,E], one expert per token; none for padding.
  Value expert;    // s32[G,S]
  Value position;  // s32[G,S]: place in the expert's buffer; C or more means that there is no room.
};

struct Gating {
  Choice first, second;
  Value aux;   // f32[G]
  Value load;  // f32[G,E]: number of tokens whose first choice is the expert.
};

// gates: f32[G,S,E], whose sum over E is 1. uniform: f32[G,S] in [0, 1): the second expert is kept if twice
// its gate is more. present: pred[G,S], false for padding; null if there is none.
// All first choices come before any second one; a choice counts whether it fits or not.
Gating Top2Gating(Value gates, Value uniform, Value present, ModelBuilder* m);

}  // namespace toroid
