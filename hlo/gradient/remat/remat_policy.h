// Rematerialization policies: which values are kept for the backward pass, and which are recomputed.
//
//   GradientOptions options;                                              keeps all
//   KeepDots(&options);                                                   all but contractions again
//   RETURN_IF_ERROR(KeepLayerInputs(computation, {x0, x1, x2}, &options));  layer by layer
//   KeepDots(&options); KeepLayerInputs(...);                             layer by layer, contractions kept
//
// Under every policy, values that take no work (kept_values.h) are recomputed where they are needed, and
// parameters and values that cannot be repeated are kept. FitMemory (memory_fit.h) chooses values by a memory
// limit.
// Source: Chen et al., Training deep nets with sublinear memory cost, arXiv:1604.06174 (layers);
// jax.checkpoint_policies.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/gradient/sweep/gradient_options.h"
#include "hlo/ir/module.h"

namespace toroid {

// Keeps the results of contractions (dots, convolutions, ...), of loops, branches and calls that hold one, of
// collectives and of custom calls. Also keeps the rows that a gather or dynamic-slice picks, if they are
// smaller than the table: if the table is sharded, picking them again costs communication.
void KeepDots(GradientOptions* options);

// A layer is the program between two consecutive boundaries: x[k+1] = layer(x[k], ...). When the backward
// pass reaches a layer, it recomputes the values it needs from the layer's inputs. Kept in each layer are
// only the values that later layers use (the smallest array from which such a value can be made without
// work), and those that `options->keep` keeps. Before the first boundary and behind the last, all values that
// take work are kept. A value that depends on no boundary belongs to the first layer that uses it. Each trip
// of a loop in a layer is a layer of its own.
// Example: embedding -> x0 -> attention -> x1 -> attention -> x2 -> loss keeps all of embedding and loss, and
// x0, x1, x2.
// `boundaries`: in program order; those of a decoder may follow those of its encoder.
// Errors: kInvalidArgument "computation/instruction: ..." for a boundary of another computation or out of
// order.
absl::Status KeepLayerInputs(const Computation& computation, absl::Span<const Instruction* const> boundaries,
                             GradientOptions* options);

// The same for layers that are scopes in op names: for "jit(f)/encoder/layer_3/mlp/dot" and prefix "layer_"
// the layer is "jit(f)/encoder/layer_3". A value without such a name belongs to a layer if it lies on a path
// between two values of the layer.
// Errors: kInvalidArgument if no op is in such a scope, or a layer needs values of one that ends after it.
absl::Status KeepScopeInputs(const Computation& computation, absl::string_view prefix,
                             GradientOptions* options);

}  // namespace toroid
