// chip_model: predicted times beside the estimates of Google's compiler for TPU v3, program by program.
//
//   bazel run -c opt //benchmarks:chip_model
// Prints for each program the compiler's microseconds, ours and the error; then the errors of the calibrating
// third and of the rest, temporary memory as the compiler states it and as predicted, and rates measured on a
// core. With --sensitivity it writes instead benchmarks/results/sensitivity.txt: the effect of raising each parameter of the
// core by 10 %, on one-core programs and on the totals of figure 8; tools/machine_parameters.py puts it into
// docs/machine_parameters.md.
// BUILD: data = ["//tests/corpus:tpu_v3"]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/chip_estimates.h"
#include "benchmarks/figure8_model.h"
#include "benchmarks/gnuplot.h"
#include "benchmarks/program_set.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "hlo/base/command_line.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "simulator/machines/tpu_v3_core.h"

namespace toroid {
namespace {

constexpr char kCorpus[] = "tests/corpus";

void PrintRows(const std::string& title, const std::vector<ChipEstimate>& estimates) {
  std::printf("%s\n%-32s %-8s %12s %12s %8s\n", title.c_str(), "program", "class", "compiler us", "model us",
              "error");
  for (const ChipEstimate& e : estimates) {
    std::printf("%-32s %-8s %12.2f %12.2f %+7.1f%%%s\n", e.name.c_str(), e.group_class.c_str(), e.compiler_us,
                e.model_us, 100 * e.Error(), e.calibrates ? " *" : "");
  }
}

void PrintSummary(const char* title, const std::vector<ChipEstimate>& estimates) {
  const ErrorSummary s = Summarize(estimates);
  std::printf("%-32s %4d programs, median %.1f %%, 90th percentile %.1f %%, worst %.0f %%, sum x %.2f\n",
              title, s.count, 100 * s.median, 100 * s.ninetieth, 100 * s.worst, s.ratio);
  const ErrorSummary simple = SummarizeSimple(estimates);
  std::printf("%-32s %4d programs, median %.1f %%, 90th percentile %.1f %%\n", "  by plain rules",
              simple.count, 100 * simple.median, 100 * simple.ninetieth);
}

// Compares programs with more than 4 MiB.
void PrintMemory(const char* title, const std::vector<ChipEstimate>& estimates, bool rows) {
  std::vector<double> errors;
  for (const ChipEstimate& e : estimates) {
    if (e.compiler_temporary < 4 << 20) continue;
    errors.push_back(std::abs(e.TemporaryError()));
    if (!rows) continue;
    std::printf("%-32s %12.1f %12.1f %+7.1f%%\n", e.name.c_str(), e.compiler_temporary / (1 << 20),
                e.model_temporary / (1 << 20), 100 * e.TemporaryError());
  }
  std::sort(errors.begin(), errors.end());
  std::printf("%-32s %4zu programs, median %.1f %%, 90th percentile %.1f %%, worst %.0f %%\n", title,
              errors.size(), errors.empty() ? 0 : 100 * errors[errors.size() / 2],
              errors.empty() ? 0 : 100 * errors[errors.size() * 9 / 10],
              errors.empty() ? 0 : 100 * errors.back());
}

void PrintRates(const char* title, const std::vector<MeasuredRate>& rates) {
  double error = 0;
  std::printf("%-32s %9s %9s\n", title, "measured", "model");
  for (const MeasuredRate& rate : rates) {
    const double own = rate.model / rate.measured - 1;
    std::printf("%-32s %9.1f %9.1f %+6.1f%%\n", rate.name.c_str(), rate.measured, rate.model, 100 * own);
    error += std::abs(own) / static_cast<double>(rates.size());
  }
  std::printf("mean error %.1f %%\n", 100 * error);
}

// One number of a core's specification, at any depth of messages.
struct Parameter {
  std::string name;
  std::vector<const google::protobuf::FieldDescriptor*> path;
};

void AddParameters(const google::protobuf::Message& message, const Parameter& outer,
                   std::vector<Parameter>* parameters) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    Parameter inner = outer;
    absl::StrAppend(&inner.name, outer.name.empty() ? "" : ".", field->name());
    inner.path.push_back(field);
    if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) {
      AddParameters(message.GetReflection()->GetMessage(message, field), inner, parameters);
    } else if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE ||
               absl::EndsWith(field->name(), "_bytes")) {
      parameters->push_back(inner);
    }
  }
}

CoreSpec WithMoreOf(const CoreSpec& core, const Parameter& parameter) {
  CoreSpec changed = core;
  google::protobuf::Message* message = &changed;
  for (size_t i = 0; i + 1 < parameter.path.size(); ++i) {
    message = message->GetReflection()->MutableMessage(message, parameter.path[i]);
  }
  const auto* field = parameter.path.back();
  const google::protobuf::Reflection& fields = *message->GetReflection();
  if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE) {
    fields.SetDouble(message, field, 1.1 * fields.GetDouble(*message, field));
  } else {
    fields.SetInt64(message, field, fields.GetInt64(*message, field) / 10 * 11);
  }
  return changed;
}

constexpr double kShown = 5e-5;  // What moves less is left out of the table.

struct Times {
  std::vector<double> programs;  // Each one-core program.
  double figure8[2];             // For 128 and 2,048 experts, including the time in no bar.
};

// Programs at the compiler's rates, the figure at measured rates.
absl::StatusOr<Times> TimesWith(const CoreSpec& core, const CoreSpec& measured) {
  Times times;
  ASSIGN_OR_RETURN(const Batch calibration, FindBatch(kCorpus, kCalibration));
  ASSIGN_OR_RETURN(const std::vector<ChipEstimate> programs, OneCoreEstimates(calibration, core));
  for (const ChipEstimate& program : programs) times.programs.push_back(program.model_us);
  ASSIGN_OR_RETURN(const Figure8 figure, SimulateFigure8({}, measured));
  for (const int i : {0, 1}) times.figure8[i] = figure.OurTotal(2 * i) + figure.other_us[2 * i];
  return times;
}

absl::Status Sensitivity() {
  const CoreSpec& core = TpuV3Core();
  const CoreSpec& measured = TpuV3Core(Rates::kMeasured);
  ASSIGN_OR_RETURN(const Times now, TimesWith(core, measured));
  std::vector<Parameter> parameters;
  AddParameters(measured, {}, &parameters);
  std::string text = absl::StrFormat(
      "What 10 %% more of each parameter of TPU v3's core does (//benchmarks:chip_model -- --sensitivity): to the time of the one-core "
      "programs of\nbatch 00 as the compiler counts, in the mean and of the one that moves most, and to the layers of figure 8 as "
      "measured, with what is\nin no bar. Counts (of units, lanes, slots) are not raised.\n\n%-36s %15s %10s %15s %15s\n",
      "parameter", "programs, mean", "largest", "figure 8, 128E", "figure 8, 2048E");
  for (const Parameter& parameter : parameters) {
    ASSIGN_OR_RETURN(const Times then,
                     TimesWith(WithMoreOf(core, parameter), WithMoreOf(measured, parameter)));
    double mean = 0, most = 0;
    for (size_t i = 0; i < now.programs.size(); ++i) {
      const double change = then.programs[i] / now.programs[i] - 1;
      mean += change / static_cast<double>(now.programs.size());
      if (std::abs(change) > std::abs(most)) most = change;
    }
    const double fewest = then.figure8[0] / now.figure8[0] - 1,
                 largest = then.figure8[1] / now.figure8[1] - 1;
    if (std::max({std::abs(mean), std::abs(most), std::abs(fewest), std::abs(largest)}) < kShown) continue;
    absl::StrAppendFormat(&text, "%-36s %+14.2f%% %+9.1f%% %+14.2f%% %+14.2f%%\n", parameter.name, 100 * mean,
                          100 * most, 100 * fewest, 100 * largest);
  }
  std::fputs(text.c_str(), stdout);
  return WriteFile(ResultPath("sensitivity.txt"), text);
}

absl::Status Run() {
  const CoreSpec& core = TpuV3Core();
  const std::string moe_folder = absl::StrCat(kCorpus, "/tpu_v3/moe");
  ASSIGN_OR_RETURN(std::vector<Batch> batches, ReadManifest(kCorpus));
  std::vector<ChipEstimate> programs, scatters;
  std::vector<std::vector<ChipEstimate>> sets;
  std::erase_if(batches, [](const Batch& batch) { return batch.is_blind; });
  for (const Batch& batch : batches) {
    if (batch.name == kScatters) {
      ASSIGN_OR_RETURN(scatters, PartialEstimates(batch, core));
      continue;
    }
    ASSIGN_OR_RETURN(std::vector<ChipEstimate> set, OneCoreEstimates(batch, core));
    if (batch.name == kCalibration) {
      programs = std::move(set);
    } else {
      sets.push_back(std::move(set));
    }
  }
  std::erase_if(batches,
                [](const Batch& batch) { return batch.name == kScatters || batch.name == kCalibration; });
  ASSIGN_OR_RETURN(const std::vector<ChipEstimate> moe, MoeEstimates(moe_folder, PartitionedBy::kXla, core));
  ASSIGN_OR_RETURN(const std::vector<ChipEstimate> own_moe,
                   MoeEstimates(moe_folder, PartitionedBy::kToroid, core));
  PrintRows("One-core programs (* calibrates)", programs);
  for (size_t i = 0; i < sets.size(); ++i) {
    PrintRows(absl::StrCat("\n", batches[i].name, ": ", batches[i].what), sets[i]);
  }
  PrintRows("\nscatters: Single elements at indices; scatters and most reshapes left out", scatters);
  PrintRows("\nMoE layers and training steps as XLA partitions them", moe);
  PrintRows("\nThe same as Toroid partitions them, beside the estimates for XLA's programs", own_moe);
  std::vector<ChipEstimate> third, rest;
  for (const ChipEstimate& e : programs) (e.calibrates ? third : rest).push_back(e);
  std::printf("\n");
  PrintSummary("calibrating third", third);
  PrintSummary("the other two thirds", rest);
  std::vector<ChipEstimate> others;
  for (size_t i = 0; i < sets.size(); ++i) {
    PrintSummary(batches[i].name.c_str(), sets[i]);
    if (i < 4) others.insert(others.end(), sets[i].begin(), sets[i].end());
  }
  PrintSummary("scatters", scatters);
  std::printf("\nTemporary memory, MiB              compiler        model    error\n");
  PrintMemory("MoE layers and training steps, XLA's", moe, true);
  PrintMemory("MoE layers and training steps, Toroid's", own_moe, true);
  PrintMemory("one core", programs, true);
  PrintMemory("held_out, unseen, later and last", others, true);
  PrintMemory("scatters", scatters, true);
  ASSIGN_OR_RETURN(const std::vector<MeasuredRate> dots, MeasuredDots(TpuV3Core(Rates::kMeasured)));
  ASSIGN_OR_RETURN(const std::vector<MeasuredRate> elementwise,
                   MeasuredElementwise(TpuV3Core(Rates::kMeasured)));
  std::printf("\nMeasured rates (LLMCompass, figure 5); each time includes a launch\n");
  PrintRates("dots, Tflop/s", dots);
  PrintRates("rows of 4096, 1e9 elements/s", elementwise);
  return absl::OkStatus();
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Predicted times beside the estimates of Google's compiler for TPU v3.", "chip_model");
  bool sensitivity = false;
  app.add_flag("--sensitivity", sensitivity, "Only print the effect of raising each parameter by 10 %");
  return toroid::RunCommand(app, argc, argv,
                            [&] { return sensitivity ? toroid::Sensitivity() : toroid::Run(); });
}
