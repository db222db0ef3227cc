#include "hlo/passes/pass.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/ir/edit.h"
#include "hlo/ops/verify_module.h"

namespace toroid {
namespace {

// Moves the result of RunOnCopy to *module; returns whether the pass changed anything.
absl::StatusOr<bool> TakeOver(absl::StatusOr<std::unique_ptr<Module>> made, std::unique_ptr<Module>* module) {
  if (!made.ok()) return made.status();
  *module = *std::move(made);
  return *module != nullptr;
}

// Reads a number that may end in K, M or G.
bool ReadNumber(absl::string_view text, int64_t* number) {
  constexpr absl::string_view kUnits = "KMG";
  const size_t unit = text.empty() ? absl::string_view::npos : kUnits.find(text.back());
  const int64_t factor = unit == absl::string_view::npos ? 1 : int64_t{1} << (10 * (unit + 1));
  if (factor > 1) text.remove_suffix(1);
  return absl::SimpleAtoi(text, number) && !__builtin_mul_overflow(*number, factor, number);
}

absl::Status UnknownOption(absl::string_view key, absl::Span<const PassOption> options) {
  if (options.empty()) return absl::InvalidArgumentError("the pass has no options");
  const auto append = [](std::string* out, const PassOption& option) { absl::StrAppend(out, option.key); };
  return absl::InvalidArgumentError(
      absl::StrCat("there is no option '", key, "'; there are ", absl::StrJoin(options, ", ", append)));
}

// The numbers of an entry NAME:KEY=NUMBER:..., in the order of `options`.
absl::StatusOr<std::vector<int64_t>> ReadNumbers(absl::string_view entry,
                                                 absl::Span<const PassOption> options) {
  std::vector<int64_t> numbers;
  for (const PassOption& option : options) numbers.push_back(option.by_default);
  const std::vector<absl::string_view> parts = absl::StrSplit(entry, ':');
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::pair<absl::string_view, absl::string_view> part =
        absl::StrSplit(parts[i], absl::MaxSplits('=', 1));
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const PassOption& known) { return known.key == part.first; });
    if (option == options.end()) return UnknownOption(part.first, options);
    int64_t& number = numbers[option - options.begin()];
    if (!ReadNumber(part.second, &number) || number < option->least || number > option->most) {
      return absl::InvalidArgumentError(absl::StrCat(
          "expected ", part.first, "=NUMBER, ",
          option->most == INT64_MAX ? absl::StrCat(option->least, " or more, such as 65536, 64K, 30M or 4G")
                                    : absl::StrCat("from ", option->least, " to ", option->most)));
    }
  }
  return numbers;
}

}  // namespace

absl::Status PassObserver::After(absl::string_view phase, const Module& module, bool changed) const {
  if (see) RETURN_IF_ERROR(see(phase, module));
  if (!verify || !changed) return absl::OkStatus();
  const absl::Status valid = VerifyModule(module);
  return valid.ok() ? valid : Annotate(absl::InternalError(valid.message()), phase);
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
                                                              const PassObserver& observer) {
  std::vector<PassReport> reports;
  for (const std::unique_ptr<Pass>& pass : passes_) {
    const Stopwatch stopwatch;
    const absl::StatusOr<bool> changed =
        *module != nullptr ? pass->Run(module) : TakeOver(pass->RunOnCopy(*source), module);
    if (!changed.ok()) return Annotate(changed.status(), pass->name());
    reports.push_back({std::string(pass->name()), *changed, stopwatch.Seconds()});
    RETURN_IF_ERROR(observer.After(pass->name(), *module != nullptr ? **module : *source, *changed));
  }
  return reports;
}

absl::StatusOr<std::vector<PassReport>> PassPipeline::Run(std::unique_ptr<Module>* module,
                                                          const PassObserver& observer) {
  return RunFrom(nullptr, module, observer);
}

absl::StatusOr<std::vector<PassReport>> PassPipeline::RunOnCopy(const Module& source,
                                                                std::unique_ptr<Module>* result,
                                                                const PassObserver& observer) {
  *result = nullptr;
  ASSIGN_OR_RETURN(std::vector<PassReport> reports, RunFrom(&source, result, observer));
  if (*result == nullptr) *result = CloneModule(source);
  return reports;
}

absl::string_view PassOfEntry(absl::string_view entry) { return entry.substr(0, entry.find(':')); }

absl::StatusOr<PassPipeline> MakePipeline(absl::Span<const std::string> entries,
                                          absl::Span<const NamedPass> known) {
  PassPipeline pipeline;
  for (const std::string& entry : entries) {
    const absl::string_view name = PassOfEntry(entry);
    const auto named =
        std::find_if(known.begin(), known.end(), [&](const NamedPass& p) { return p.name == name; });
    if (named == known.end()) {
      const auto append = [](std::string* out, const NamedPass& p) { absl::StrAppend(out, p.name); };
      return absl::InvalidArgumentError(
          absl::StrCat("there is no pass '", name, "'; there are ", absl::StrJoin(known, ", ", append)));
    }
    absl::StatusOr<std::vector<int64_t>> numbers = ReadNumbers(entry, named->options);
    if (!numbers.ok()) return Annotate(numbers.status(), absl::StrCat("pass '", entry, "'"));
    pipeline.Add(named->make(*numbers));
  }
  return pipeline;
}

}  // namespace toroid
