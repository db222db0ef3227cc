// Expands composite ops (expand_op.h), so that each part gets a sharding of its own.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"

namespace toroid {

// A copy of the verified `module` with all composite ops expanded; null if there are none. The value that
// replaces an op (a tuple if the op has several results) takes its name and shardings.
absl::StatusOr<std::unique_ptr<Module>> ExpandOps(const Module& module);

class ExpandOpsPass : public RebuildingPass {
 public:
  absl::string_view name() const override { return "expand_ops"; }
  absl::StatusOr<std::unique_ptr<Module>> Rebuild(const Module& source) override { return ExpandOps(source); }
};

}  // namespace toroid
