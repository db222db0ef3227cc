#include "benchmarks/ablation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>
#include <utility>

#include "benchmarks/program_set.h"
#include "benchmarks/tables.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

double ErrorOf(const JudgedProgram& program, const ProgramTime& time) {
  const double model = time.microseconds - (program.is_partial ? time.without_estimate : 0);
  return std::abs(model / program.compiler_us - 1);
}

// Programs partitioned by XLA; the compiler's time is that of all classes of groups.
absl::Status AddMoe(const std::string& folder, JudgedPrograms* judged) {
  judged->batches.push_back("moe");
  ASSIGN_OR_RETURN(const auto rows, ReadTable(folder + "/index.tsv", 3));
  for (const std::vector<std::string>& row : rows) {
    if (judged->programs.back().name != row[0]) {
      JudgedProgram program;
      program.name = row[0];
      program.batch = static_cast<int>(judged->batches.size()) - 1;
      program.is_partial = true;
      ASSIGN_OR_RETURN(program.file, ReadHloFile(ModuleFile(folder + "/partitioned_by_xla", row[0])));
      judged->programs.push_back(std::move(program));
    }
    ASSIGN_OR_RETURN(const double microseconds, Number(row[2]));
    judged->programs.back().compiler_us += microseconds;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AddBatch(const std::string& path, const std::string& name, JudgedPrograms* judged) {
  const bool is_partial = name == kScatters;
  judged->batches.push_back(name);
  ASSIGN_OR_RETURN(std::vector<EstimatedProgram> programs,
                   ReadPrograms(path, is_partial ? Programs::kAll : Programs::kWhole));
  for (EstimatedProgram& program : programs) {
    judged->programs.push_back({program.name, static_cast<int>(judged->batches.size()) - 1,
                                std::move(program.file), program.compiler_us, is_partial});
  }
  return absl::OkStatus();
}

absl::StatusOr<JudgedPrograms> ReadBatches(const std::string& corpus) {
  JudgedPrograms judged;
  ASSIGN_OR_RETURN(const std::vector<Batch> batches, ReadManifest(corpus));
  for (const Batch& batch : batches) {
    if (!batch.is_blind) RETURN_IF_ERROR(AddBatch(batch.path, batch.name, &judged));
  }
  RETURN_IF_ERROR(AddMoe(corpus + "/tpu_v3/moe", &judged));
  return judged;
}

absl::StatusOr<Judgement> Judge(const JudgedProgram& program, const CoreSpec& core) {
  Decisions decisions;
  ASSIGN_OR_RETURN(const ProgramTime time, PredictProgram(*program.file.module, core, &decisions));
  return Judgement{ErrorOf(program, time), decisions.decided, decisions.asked};
}

absl::StatusOr<std::vector<Judgement>> JudgeAll(absl::Span<const JudgedProgram> programs,
                                                const CoreSpec& core, int threads) {
  std::vector<Judgement> judgements(programs.size());
  std::vector<absl::Status> errors(threads);
  const auto run = [&](int thread) {
    for (size_t i = thread; i < programs.size(); i += threads) {
      absl::StatusOr<Judgement> one = Judge(programs[i], core);
      if (one.ok()) judgements[i] = *std::move(one);
      errors[thread].Update(one.status());
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(run, t);
  run(0);
  for (std::thread& other : others) other.join();
  for (const absl::Status& error : errors) RETURN_IF_ERROR(error);
  return judgements;
}

absl::StatusOr<std::vector<double>> SimpleErrors(absl::Span<const JudgedProgram> programs,
                                                 const CoreSpec& core) {
  std::vector<double> errors;
  for (const JudgedProgram& program : programs) {
    ASSIGN_OR_RETURN(const ProgramTime time, PredictSimply(*program.file.module, core));
    const double counted = time.microseconds - (program.is_partial ? time.without_estimate : 0);
    errors.push_back(counted == 0 ? -1 : ErrorOf(program, time));
  }
  return errors;
}

absl::StatusOr<RuleWorth> WorthOf(Rule rule, absl::Span<const JudgedProgram> programs,
                                  absl::Span<const Judgement> with_all, const CoreSpec& core, int threads) {
  const auto bit = static_cast<size_t>(rule);
  const CoreSpec without = Without(core, RowOf(rule).name);
  RuleWorth worth;
  std::vector<size_t> asked;
  for (size_t i = 0; i < programs.size(); ++i) {
    worth.errors.push_back(with_all[i].error);
    if (with_all[i].asked[bit]) asked.push_back(i);
  }
  std::vector<absl::Status> errors(threads);
  const auto run = [&](int thread) {
    for (size_t k = thread; k < asked.size(); k += threads) {
      const absl::StatusOr<Judgement> one = Judge(programs[asked[k]], without);
      if (one.ok()) worth.errors[asked[k]] = one->error;
      errors[thread].Update(one.status());
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(run, t);
  run(0);
  for (std::thread& other : others) other.join();
  for (const absl::Status& error : errors) RETURN_IF_ERROR(error);
  for (size_t i = 0; i < programs.size(); ++i) {
    const bool is_decided = with_all[i].decided[bit], is_changed = worth.errors[i] != with_all[i].error;
    worth.decided += is_decided;
    worth.changed += is_changed;
    if (is_decided || is_changed) worth.of_touched.push_back(static_cast<int>(i));
  }
  worth.touched = static_cast<int>(worth.of_touched.size());
  return worth;
}

Errors ErrorsOf(std::vector<double> errors) {
  if (errors.empty()) return {};
  std::sort(errors.begin(), errors.end());
  return {errors[errors.size() / 2], errors[errors.size() * 9 / 10],
          std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size())};
}

CoreSpec Without(const CoreSpec& core, absl::string_view rule) {
  CoreSpec without = core;
  without.mutable_compiler()->add_without_rule(std::string(rule));
  return without;
}

}  // namespace toroid
