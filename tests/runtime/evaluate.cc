// BUILD: deps += "//runtime/kernels/linear_algebra"
#include "tests/runtime/evaluate.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/io/hlo_text.h"
#include "hlo/io/literal_text.h"
#include "hlo/ops/verify_module.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "tests/runtime/ranks/thread_ranks.h"

namespace toroid {

std::unique_ptr<Module> MakeModule(absl::string_view body, absl::string_view computations) {
  const std::string text = absl::StrCat("HloModule test\n", computations, "\nENTRY main {\n", body, "\n}");
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  TOROID_CHECK(module.ok(), module.status().ToString(), "\n", text);
  const absl::Status verified = VerifyModule(**module);
  TOROID_CHECK(verified.ok(), verified.ToString(), "\n", text);
  return *std::move(module);
}

Literal ParseLiteral(absl::string_view text) {
  const size_t end = text.find(' ');
  const auto module =
      MakeModule(absl::StrCat("ROOT c = ", text.substr(0, end), " constant(", text.substr(end + 1), ")"));
  absl::StatusOr<Literal> literal = RunSingle(*module, {});
  TOROID_CHECK(literal.ok(), literal.status().ToString());
  return *std::move(literal);
}

std::string ToText(const Literal& literal) {
  std::string text;
  AppendLiteral(literal, &text);
  return text;
}

std::string Evaluate(absl::string_view body, absl::string_view computations,
                     absl::Span<const Literal> arguments) {
  const auto module = MakeModule(body, computations);
  const absl::StatusOr<Literal> result = RunSingle(*module, arguments);
  return result.ok() ? ToText(*result) : result.status().ToString();
}

namespace {

absl::StatusOr<std::vector<Literal>> RunInProcess(const Module& module,
                                                  const std::vector<std::vector<Literal>>& arguments,
                                                  const RunOptions& options) {
  std::vector<MeshValue> values;
  for (const std::vector<Literal>& argument : arguments) {
    if (argument.size() == 1) {
      ASSIGN_OR_RETURN(MeshValue value, MeshValue::Uniform(argument[0], options.num_devices()));
      values.push_back(std::move(value));
    } else {
      ASSIGN_OR_RETURN(MeshValue value, MeshValue::PerDevice(argument));
      values.push_back(std::move(value));
    }
  }
  ASSIGN_OR_RETURN(const MeshValue result, RunModule(module, std::move(values), options));
  std::vector<Literal> literals;
  for (int64_t device = 0; device < options.num_devices(); ++device)
    literals.push_back(result.ToLiteral(device));
  return literals;
}

// The difference of a run over ranks; empty if there is none.
std::string DifferenceOverRanks(const absl::StatusOr<std::vector<Literal>>& expected, const Outfeed& outfeed,
                                const absl::StatusOr<std::vector<Literal>>& actual,
                                const Outfeed& actual_outfeed) {
  if (!expected.ok()) {
    if (actual.ok()) return "no error";
    // Compares the text after the place: names that occur in several computations change when a module is
    // sent.
    const absl::string_view what =
        expected.status().message().substr(expected.status().message().find(": ") + 1);
    return absl::StrContains(actual.status().message(), what) ? "" : std::string(actual.status().message());
  }
  if (!actual.ok()) return std::string(actual.status().message());
  for (size_t device = 0; device < expected->size(); ++device) {
    if (!SameBits((*expected)[device], (*actual)[device]))
      return absl::StrCat("device ", device, " has ", ToText((*actual)[device]), ", not ",
                          ToText((*expected)[device]));
  }
  if (outfeed.size() != actual_outfeed.size())
    return absl::StrCat(actual_outfeed.size(), " arrays in the outfeed");
  for (size_t i = 0; i < outfeed.size(); ++i) {
    if (!SameBits(outfeed[i].value, actual_outfeed[i].value) ||
        outfeed[i].devices != actual_outfeed[i].devices)
      return absl::StrCat("array ", i, " of the outfeed is ", ToText(actual_outfeed[i].value));
  }
  return "";
}

}  // namespace

absl::StatusOr<Literal> RunOnThreads(const Module& module, absl::Span<const Literal> arguments) {
  RunOptions options;
  options.threads = 1;
  ASSIGN_OR_RETURN(Literal result, RunSingle(module, arguments, options));
  for (const int threads : {2, 3}) {
    options.threads = threads;
    ASSIGN_OR_RETURN(const Literal again, RunSingle(module, arguments, options));
    if (!(again == result))
      return absl::InternalError(absl::StrCat(threads, " threads give another result than one"));
  }
  return result;
}

absl::StatusOr<std::vector<Literal>> RunOnDevices(const Module& module,
                                                  const std::vector<std::vector<Literal>>& arguments,
                                                  const RunOptions& options) {
  Outfeed outfeed;
  RunOptions here = options;
  here.outfeed = &outfeed;
  auto expected = RunInProcess(module, arguments, here);
  for (const int ranks : {2, 3}) {
    if (static_cast<int>(arguments.size()) != module.entry()->num_parameters()) break;
    Outfeed over_ranks;
    here.outfeed = &over_ranks;
    const std::string difference =
        DifferenceOverRanks(expected, outfeed, RunOnThreadRanks(module, arguments, here, ranks), over_ranks);
    if (!difference.empty()) return absl::InternalError(absl::StrCat("over ", ranks, " ranks: ", difference));
  }
  if (options.outfeed != nullptr) *options.outfeed = std::move(outfeed);
  return expected;
}

absl::StatusOr<std::vector<Literal>> RunOnDevices(const Module& module,
                                                  const std::vector<std::vector<Literal>>& arguments,
                                                  int64_t num_partitions, int64_t num_replicas) {
  RunOptions options;
  options.num_partitions = num_partitions;
  options.num_replicas = num_replicas;
  return RunOnDevices(module, arguments, options);
}

std::vector<std::string> EvaluateOnDevices(absl::string_view body, absl::string_view computations,
                                           const std::vector<std::vector<Literal>>& arguments,
                                           int64_t num_partitions, int64_t num_replicas) {
  const auto module = MakeModule(body, computations);
  const auto results = RunOnDevices(*module, arguments, num_partitions, num_replicas);
  if (!results.ok()) return {results.status().ToString()};
  std::vector<std::string> texts;
  for (const Literal& result : *results) texts.push_back(ToText(result));
  return texts;
}

std::string ReducerText(absl::string_view name, absl::string_view type, absl::string_view op) {
  return absl::StrCat(name, " { a = ", type, "[] parameter(0)\n b = ", type,
                      "[] parameter(1)\n ROOT c = ", type, "[] ", op, "(a, b) }\n");
}

}  // namespace toroid
