#include "hlo/passes/pass.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/ir/edit.h"
#include "hlo/ops/verify_module.h"

namespace toroid {
namespace {

absl::Status LookIfChanged(absl::string_view phase, bool changed, const Module& module,
                           const PipelineOptions& options) {
  if (options.after_pass) RETURN_IF_ERROR(options.after_pass(phase, module));
  if (!options.verify || !changed) return absl::OkStatus();
  const absl::Status valid = VerifyModule(module);
  return valid.ok() ? valid : Annotate(absl::InternalError(valid.message()), phase);
}

// Moves the result of RunOnCopy to *module; returns whether the pass changed anything.
absl::StatusOr<bool> TakeOver(absl::StatusOr<std::unique_ptr<Module>> made, std::unique_ptr<Module>* module) {
  if (!made.ok()) return made.status();
  *module = *std::move(made);
  return *module != nullptr;
}

}  // namespace

absl::Status LookAfter(absl::string_view phase, const Module& module, const PipelineOptions& options) {
  return LookIfChanged(phase, /*changed=*/true, module, options);
}

absl::StatusOr<std::unique_ptr<Module>> Pass::RunOnCopy(const Module& source) {
  std::unique_ptr<Module> copy = CloneModule(source);
  ASSIGN_OR_RETURN(const bool changed, Run(&copy));
  if (!changed) copy = nullptr;
  return copy;
}

absl::StatusOr<bool> RebuildingPass::Run(std::unique_ptr<Module>* module) {
  ASSIGN_OR_RETURN(std::unique_ptr<Module> rebuilt, Rebuild(**module));
  if (rebuilt == nullptr) return false;
  *module = std::move(rebuilt);
  return true;
}

absl::StatusOr<std::vector<PassReport>> PassPipeline::RunFrom(const Module* source,
                                                              std::unique_ptr<Module>* module,
                                                              const PipelineOptions& options) {
  std::vector<PassReport> reports;
  for (const std::unique_ptr<Pass>& pass : passes_) {
    const Stopwatch stopwatch;
    const absl::StatusOr<bool> changed =
        *module != nullptr ? pass->Run(module) : TakeOver(pass->RunOnCopy(*source), module);
    if (!changed.ok()) return Annotate(changed.status(), pass->name());
    reports.push_back({std::string(pass->name()), *changed, stopwatch.Seconds()});
    RETURN_IF_ERROR(LookIfChanged(pass->name(), *changed, *module != nullptr ? **module : *source, options));
  }
  return reports;
}

absl::StatusOr<std::vector<PassReport>> PassPipeline::Run(std::unique_ptr<Module>* module,
                                                          const PipelineOptions& options) {
  return RunFrom(nullptr, module, options);
}

absl::StatusOr<std::vector<PassReport>> PassPipeline::RunOnCopy(const Module& source,
                                                                std::unique_ptr<Module>* result,
                                                                const PipelineOptions& options) {
  *result = nullptr;
  ASSIGN_OR_RETURN(std::vector<PassReport> reports, RunFrom(&source, result, options));
  if (*result == nullptr) *result = CloneModule(source);
  return reports;
}

absl::StatusOr<PassPipeline> MakePipeline(absl::Span<const std::string> names,
                                          absl::Span<const NamedPass> known) {
  PassPipeline pipeline;
  for (const std::string& listed : names) {
    const size_t colon = listed.find(':');
    const std::string name = listed.substr(0, colon);
    const auto named =
        std::find_if(known.begin(), known.end(), [&](const NamedPass& p) { return p.name == name; });
    if (named == known.end()) {
      const auto append = [](std::string* out, const NamedPass& p) { absl::StrAppend(out, p.name); };
      return absl::InvalidArgumentError(
          absl::StrCat("there is no pass '", name, "'; there are ", absl::StrJoin(known, ", ", append)));
    }
    if (colon == std::string::npos) {
      pipeline.Add(named->make());
      continue;
    }
    int64_t number;
    if (named->make_with == nullptr || !absl::SimpleAtoi(listed.substr(colon + 1), &number) || number < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("pass '", listed,
                       "': ", named->make_with == nullptr ? "it has no number" : "expected NAME:NUMBER"));
    }
    pipeline.Add(named->make_with(number));
  }
  return pipeline;
}

}  // namespace toroid
