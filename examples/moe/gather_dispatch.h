// Sends tokens to experts and back by rows picked by index, in a program written for each device.
//
// Slot e C + c of a group is place c in the buffer of expert e. The region is manual along the axes of the
// groups; in it x is [G/D,S,M]:
//
//   s_indices[g, slot] = the token that has the slot, S for none              scatter of 2 S numbers
//   expert_in[e,g,c]   = x[g, s_indices[g, e C + c]], 0 for none              gather of E C rows
//   y[g,s]             = sum over both choices of                             2 gathers of S rows
//                        gate * expert_out[g, slot of the choice]
//
// The compiler, for which an index may point anywhere, does not need to know that rows come from the token's
// own group. Values equal those of the one-hot einsums, and so do the collectives: the experts' buffers leave
// the region cut by groups and reach their experts by an all-to-all.
// Source: GShard, arXiv:2006.16668, section 3.2.
#pragma once

#include "examples/moe/gating.h"

namespace toroid {

// The slots of each token's two choices.
struct Slots {
  // present: as in MoeLayerInputs.
  Slots(const Gating& gating, Value present, ModelBuilder* m);

  Value slot[2];  // s32[G,S]; E C for a choice without a slot.
  Value gate[2];  // f32[G,S]; 0 for a choice without a slot.
};

// x [G,S,M] -> [E,G,C,M], cut by groups.
Value DispatchByGather(const Slots& slots, Value x, ModelBuilder* m);

// [E,G,C,M] -> [G,S,M].
Value CombineByGather(const Slots& slots, Value expert_out, ModelBuilder* m);

}  // namespace toroid
