// Ready answers to what is kept for the backward pass, and what is computed again.
//
//   GradientOptions options;                                              keep all
//   KeepDots(&options);                                                   all but contractions again
//   RETURN_IF_ERROR(KeepLayerInputs(computation, {x0, x1, x2}, &options));  layer by layer
//   KeepDots(&options); KeepLayerInputs(...);                             layer by layer, contractions kept
//
// Whatever the policy, what takes no work (kept_values.h) is made again where it is needed, and kept are
// parameters and what cannot be repeated. FitMemory (memory_fit.h) chooses by a limit.
// Source: Chen et al., Training deep nets with sublinear memory cost, arXiv:1604.06174 (layers);
// jax.checkpoint_policies.
#ifndef TOROID_HLO_GRADIENT_REMAT_POLICY_H_
#define TOROID_HLO_GRADIENT_REMAT_POLICY_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/gradient/gradient_options.h"
#include "hlo/ir/module.h"

namespace toroid {

// Kept are results of dots, convolutions and other contractions, of loops, branches and calls that hold one,
// of collectives and of custom calls; and the rows that a gather or dynamic slice picks, if they are fewer
// than there are: of a table that lies in parts on many devices picking them again would cost communication
// too.
void KeepDots(GradientOptions* options);

// Layers lie between one boundary and the next: x[k+1] = layer(x[k], ...). The backward pass of a layer
// computes again what it needs of it from the layer's inputs, when it gets there. Kept are, of each layer,
// what later ones use (the least array from which it follows without work), what `options->keep` keeps, and
// nothing else; before the first boundary and behind the last all that takes work. What depends on no
// boundary belongs to the first layer that uses it. Loops: each trip of one in a layer is a layer of its own.
// Example: embedding -> x0 -> attention -> x1 -> attention -> x2 -> loss: kept are embedding and loss as they
// are, x0, x1, x2. `boundaries`: in the order in which they are computed; that of one decoder may follow that
// of its encoder.
// Errors: kInvalidArgument "computation/instruction: ..." for a boundary of another computation or out of
// order.
absl::Status KeepLayerInputs(const Computation& computation, absl::Span<const Instruction* const> boundaries,
                             GradientOptions* options);

// The same for layers that are scopes of op names: of "jit(f)/encoder/layer_3/mlp/dot" with prefix "layer_"
// that is "jit(f)/encoder/layer_3". What has another name, or none, belongs to a layer if it stands between
// two values of it.
// Errors: kInvalidArgument if no op is in such a scope, or a layer needs values of one that ends after it.
absl::Status KeepScopeInputs(const Computation& computation, absl::string_view prefix,
                             GradientOptions* options);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_REMAT_POLICY_H_
