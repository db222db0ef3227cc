#include "hlo/passes/pass.h"

#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/ops/verify_module.h"

namespace toroid {

absl::StatusOr<std::vector<PassReport>> PassPipeline::Run(std::unique_ptr<Module>* module,
                                                          const PipelineOptions& options) {
  std::vector<PassReport> reports;
  for (const std::unique_ptr<Pass>& pass : passes_) {
    const Stopwatch stopwatch;
    const absl::StatusOr<bool> changed = pass->Run(module);
    if (!changed.ok()) return Annotate(changed.status(), std::string(pass->name()));
    reports.push_back({std::string(pass->name()), *changed, stopwatch.Seconds()});
    if (options.verify && *changed) {
      const absl::Status valid = VerifyModule(**module);
      if (!valid.ok()) {
        return Annotate(absl::InternalError(valid.message()), std::string(pass->name()));
      }
    }
    if (options.after_pass) RETURN_IF_ERROR(options.after_pass(pass->name(), **module));
  }
  return reports;
}

}  // namespace toroid
