// Inlines every `call`, so that only control flow and reductions call computations.
//
// Before: r = call(a, b), to_apply=f     After: the instructions of f over a and b
// Shardings, metadata and attributes stay. An inlined instruction without a source line takes the call's;
// under JAX its op_name is appended to the call's. The sharding of a call, or of a parameter of its callee,
// goes to a Sharding annotation on the value that replaces it.
// The pass also makes these changes:
// - Every loop and conditional gets copies of its bodies, conditions and branches, with unique names, so that
//   each of these computations has one caller: two loops over one body may need different shardings in it.
// - An asynchronous pair becomes the op it carries out, or the instructions of its computation.
// - A bitcast between layouts becomes transposes (row_major_bitcast.h), so that layouts carry no meaning. One that
//   would read the padding of tiles is left out with all that nothing needs, and an error if something needs it.
// - A vector of starts becomes scalars (scalar_starts.h).
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"

namespace toroid {

// A copy of `module` without calls; computations that nothing reaches are left out.
// Errors: kResourceExhausted, before anything is built, if more than 16 million instructions are inlined;
//         kUnimplemented for a bitcast that reads padding and that the result or a side effect needs.
absl::StatusOr<std::unique_ptr<Module>> InlineCalls(const Module& module);

class InlineCallsPass : public RebuildingPass {
 public:
  absl::string_view name() const override { return "inline_calls"; }
  absl::StatusOr<std::unique_ptr<Module>> Rebuild(const Module& source) override {
    return InlineCalls(source);
  }
};

}  // namespace toroid
