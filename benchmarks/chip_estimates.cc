#include "benchmarks/chip_estimates.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "benchmarks/tables.h"
#include "hlo/base/status.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/chip/chip_model.h"
#include "simulator/chip/op_class.h"
#include "simulator/compiler/lower.h"
#include "simulator/memory/temporaries.h"
#include "simulator/program/columns.h"
#include "simulator/program/tiling.h"
#include "simulator/simple/lower_simply.h"
#include "simulator/simple/simple_core.h"

namespace toroid {
namespace {

absl::StatusOr<double> MicrosecondsOf(absl::string_view before, absl::string_view entry,
                                      const CoreSpec& core) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module,
                   ParseModule(absl::StrCat(before, "ENTRY main {\n", entry, "\n}")));
  ASSIGN_OR_RETURN(const ProgramTime time, PredictProgram(*module, core));
  return time.microseconds + core.launch_seconds() * 1e6;
}

// Google's compiler estimates groups and single ops, except these, and scatters into what they fill before. Of reshapes it
// estimates those of vectors that become columns, and those that join tiles, which are copies to it.
bool HasEstimate(const Instruction& op, const Tiling& tiling) {
  const bool is_group = op.opcode() == Opcode::kFusion && !op.called().empty();
  switch (is_group ? op.called(0)->root()->opcode() : op.opcode()) {
    case Opcode::kGather:
    case Opcode::kScatter:
    case Opcode::kSort:
      return false;
    case Opcode::kReshape:
      return is_group || IsVectorToColumn(op, tiling) || JoinsTiles(op, tiling);
    default:
      return true;
  }
}

Tiling TilingOf(const CoreSpec& core) { return {core.vector().sublanes(), core.vector().lanes()}; }

ProgramTime TimeOfGroups(const Module& lowered, CoreModel* model, const Tiling& tiling) {
  ProgramTime time;
  const ArraySize size = [tiling](const Shape& array) {
    return static_cast<int64_t>(std::min(PaddedBytes(array, tiling), 9e18));
  };
  time.temporary_bytes = static_cast<double>(ComputeMemoryNeeds(lowered, &size).temporary);
  absl::btree_map<std::string, double> by_class;
  for (const auto& op : lowered.entry()->instructions()) {
    const double microseconds = static_cast<double>(model->TimeOf(*op).picoseconds) * 1e-6;
    if (microseconds == 0) continue;
    time.microseconds += microseconds;
    if (!HasEstimate(*op, tiling)) {
      time.without_estimate += microseconds;
      continue;
    }
    by_class[std::string(GroupClassOf(*op))] += microseconds;
  }
  time.by_class.assign(by_class.begin(), by_class.end());
  return time;
}

// Of one program of a batch: what its index says, and the prediction.
absl::StatusOr<ChipEstimate> EstimateOf(const EstimatedProgram& program, bool is_partial,
                                        const CoreSpec& core) {
  ChipEstimate estimate;
  estimate.name = program.name;
  estimate.kind = program.kind;
  estimate.compiler_us = program.compiler_us;
  estimate.compiler_temporary = program.temporary_bytes;
  ASSIGN_OR_RETURN(const ProgramTime time, PredictProgram(*program.file.module, core));
  estimate.model_us = time.microseconds - (is_partial ? time.without_estimate : 0);
  estimate.model_temporary = time.temporary_bytes;
  ASSIGN_OR_RETURN(const ProgramTime simple, PredictSimply(*program.file.module, core));
  estimate.simple_us = simple.microseconds - (is_partial ? simple.without_estimate : 0);
  return estimate;
}

}  // namespace

absl::StatusOr<ProgramTime> PredictProgram(const Module& module, const CoreSpec& core, Decisions* decisions) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> lowered, Lower(module, core, {}, decisions));
  ChipModel model(core, decisions);
  return TimeOfGroups(*lowered, &model, TilingOf(core));
}

absl::StatusOr<ProgramTime> PredictSimply(const Module& module, const CoreSpec& core) {
  CoreSpec simple = core;
  simple.mutable_simple()->set_product_efficiency(1);
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> lowered, LowerSimply(module, simple));
  SimpleCore model(simple);
  return TimeOfGroups(*lowered, &model, TilingOf(core));
}

absl::StatusOr<std::vector<ChipEstimate>> OneCoreEstimates(const Batch& batch, const CoreSpec& core) {
  ASSIGN_OR_RETURN(const std::vector<EstimatedProgram> programs, ReadPrograms(batch.path, Programs::kWhole));
  std::vector<ChipEstimate> estimates;
  for (const EstimatedProgram& program : programs) {
    ASSIGN_OR_RETURN(ChipEstimate estimate, EstimateOf(program, /*is_partial=*/false, core));
    estimate.calibrates = batch.name == kCalibration && program.row % 3 == 0;
    estimates.push_back(std::move(estimate));
  }
  return estimates;
}

absl::StatusOr<std::vector<ChipEstimate>> PartialEstimates(const Batch& batch, const CoreSpec& core) {
  ASSIGN_OR_RETURN(const std::vector<EstimatedProgram> programs, ReadPrograms(batch.path, Programs::kAll));
  std::vector<ChipEstimate> estimates;
  for (const EstimatedProgram& program : programs) {
    ASSIGN_OR_RETURN(ChipEstimate estimate, EstimateOf(program, /*is_partial=*/true, core));
    estimates.push_back(std::move(estimate));
  }
  return estimates;
}

absl::StatusOr<std::vector<ChipEstimate>> MoeEstimates(const std::string& folder, PartitionedBy partitioner,
                                                       const CoreSpec& core) {
  const bool is_xla = partitioner == PartitionedBy::kXla;
  ASSIGN_OR_RETURN(const auto rows, ReadTable(folder + "/index.tsv", 3));
  ASSIGN_OR_RETURN(const auto memory, ReadTable(folder + "/memory.tsv", 2));
  std::vector<ChipEstimate> estimates;
  for (size_t first = 0; first < rows.size();) {
    const std::string& name = rows[first][0];
    ASSIGN_OR_RETURN(HloFile file,
                     ReadHloFile(ModuleFile(is_xla ? folder + "/partitioned_by_xla" : folder, name)));
    if (!is_xla) {
      ASSIGN_OR_RETURN(Partitioned partitioned, PartitionModule(*file.module, PartitionOptions()));
      file.module = std::move(partitioned.module);
    }
    ASSIGN_OR_RETURN(const ProgramTime time, PredictProgram(*file.module, core));
    ChipEstimate all;
    all.name = name;
    all.model_us = time.microseconds - time.without_estimate;
    all.model_temporary = time.temporary_bytes;
    ASSIGN_OR_RETURN(const ProgramTime simple, PredictSimply(*file.module, core));
    all.simple_us = simple.microseconds - simple.without_estimate;
    for (const std::vector<std::string>& row : memory) {
      if (row[0] != name) continue;
      ASSIGN_OR_RETURN(all.compiler_temporary, Number(row[1]));
    }
    size_t next = first;
    std::vector<ChipEstimate> classes;
    for (; next < rows.size() && rows[next][0] == name; ++next) {
      ChipEstimate own;
      own.name = name;
      own.group_class = rows[next][1];
      ASSIGN_OR_RETURN(own.compiler_us, Number(rows[next][2]));
      all.compiler_us += own.compiler_us;
      for (const auto& [group_class, microseconds] : time.by_class) {
        if (group_class == own.group_class) own.model_us = microseconds;
      }
      classes.push_back(std::move(own));
    }
    estimates.push_back(std::move(all));
    for (ChipEstimate& own : classes) estimates.push_back(std::move(own));
    first = next;
  }
  return estimates;
}

ErrorSummary Summarize(const std::vector<ChipEstimate>& estimates) {
  ErrorSummary summary;
  std::vector<double> errors;
  double model = 0, compiler = 0;
  for (const ChipEstimate& estimate : estimates) {
    errors.push_back(std::abs(estimate.Error()));
    summary.mean += errors.back() / static_cast<double>(estimates.size());
    model += estimate.model_us;
    compiler += estimate.compiler_us;
  }
  if (errors.empty()) return summary;
  std::sort(errors.begin(), errors.end());
  summary.count = static_cast<int>(errors.size());
  summary.median = errors[errors.size() / 2];
  summary.ninetieth = errors[errors.size() * 9 / 10];
  summary.worst = errors.back();
  summary.ratio = model / compiler;
  return summary;
}

ErrorSummary SummarizeSimple(std::vector<ChipEstimate> estimates) {
  std::erase_if(estimates, [](const ChipEstimate& e) { return e.simple_us == 0; });
  for (ChipEstimate& e : estimates) e.model_us = e.simple_us;
  return Summarize(estimates);
}

absl::StatusOr<std::vector<MeasuredRate>> MeasuredDots(const CoreSpec& core) {
  struct Point {
    int64_t m, n;
    double tflops;
  };
  static constexpr Point kPoints[] = {
      {64, 12288, 20},   {128, 12288, 38},    {256, 12288, 39},  {512, 12288, 51}, {1024, 12288, 55},
      {2048, 12288, 57}, {4096, 12288, 58.5}, {8192, 12288, 60}, {8192, 256, 5},   {8192, 512, 16},
      {8192, 1024, 35},  {8192, 2048, 41},    {8192, 4096, 54},  {8192, 8192, 57}, {8192, 16384, 59.5}};
  std::vector<MeasuredRate> rates;
  for (const Point& p : kPoints) {
    ASSIGN_OR_RETURN(
        const double microseconds,
        MicrosecondsOf(
            "",
            absl::StrFormat(
                "a = bf16[%d,%d] parameter(0) b = bf16[%d,%d] parameter(1) ROOT d = bf16[%d,%d] dot(a, "
                "b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                p.m, p.n, p.n, p.n, p.m, p.n),
            core));
    rates.push_back({absl::StrFormat("%dx%dx%d", p.m, p.n, p.n), p.tflops,
                     2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.n) /
                         microseconds * 1e-6});
  }
  return rates;
}

absl::StatusOr<std::vector<MeasuredRate>> MeasuredElementwise(const CoreSpec& core) {
  struct Program {
    const char* name;
    double measured;  // 1e9 elements per second, for any size from 2^24 elements up.
    const char* entry;
  };
  static constexpr char kReducers[] =
      "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
      "max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }\n";
  // In the form that JAX emits: gelu by tanh, the variance as mean(x^2) - mean(x)^2.
  static constexpr Program kPrograms[] = {{"gelu", 40, R"(
  k = f32[] constant(0.044715)  kb = f32[ROWS,4096] broadcast(k), dimensions={}
  c = f32[] constant(0.79788)   cb = f32[ROWS,4096] broadcast(c), dimensions={}
  o = f32[] constant(1)         ob = f32[ROWS,4096] broadcast(o), dimensions={}
  h = f32[] constant(0.5)       hb = f32[ROWS,4096] broadcast(h), dimensions={}
  s = f32[ROWS,4096] multiply(x, x)
  t = f32[ROWS,4096] multiply(s, x)
  u = f32[ROWS,4096] multiply(t, kb)
  v = f32[ROWS,4096] add(x, u)
  w = f32[ROWS,4096] multiply(v, cb)
  e = f32[ROWS,4096] tanh(w)
  p = f32[ROWS,4096] add(e, ob)
  q = f32[ROWS,4096] multiply(p, hb)
  ROOT r = f32[ROWS,4096] multiply(x, q))"},
                                          {"layer norm", 22, R"(
  zero = f32[] constant(0)
  n = f32[] constant(0.000244140625)  nb = f32[ROWS] broadcast(n), dimensions={}
  s = f32[ROWS] reduce(x, zero), dimensions={1}, to_apply=add
  m = f32[ROWS] multiply(s, nb)
  xx = f32[ROWS,4096] multiply(x, x)
  ss = f32[ROWS] reduce(xx, zero), dimensions={1}, to_apply=add
  sm = f32[ROWS] multiply(ss, nb)
  mm = f32[ROWS] multiply(m, m)
  v = f32[ROWS] subtract(sm, mm)
  i = f32[ROWS] rsqrt(v)
  mb = f32[ROWS,4096] broadcast(m), dimensions={0}
  d = f32[ROWS,4096] subtract(x, mb)
  ib = f32[ROWS,4096] broadcast(i), dimensions={0}
  ROOT r = f32[ROWS,4096] multiply(d, ib))"},
                                          {"softmax", 11, R"(
  zero = f32[] constant(0)
  least = f32[] constant(-inf)
  m = f32[ROWS] reduce(x, least), dimensions={1}, to_apply=max
  mb = f32[ROWS,4096] broadcast(m), dimensions={0}
  d = f32[ROWS,4096] subtract(x, mb)
  e = f32[ROWS,4096] exponential(d)
  s = f32[ROWS] reduce(e, zero), dimensions={1}, to_apply=add
  sb = f32[ROWS,4096] broadcast(s), dimensions={0}
  ROOT r = f32[ROWS,4096] divide(e, sb))"}};
  std::vector<MeasuredRate> rates;
  for (const Program& program : kPrograms) {
    for (const int log_elements : {24, 26, 28}) {
      const int64_t rows = (int64_t{1} << log_elements) / 4096;
      const std::string entry = absl::StrReplaceAll(
          absl::StrCat("x = f32[ROWS,4096] parameter(0)", program.entry), {{"ROWS", absl::StrCat(rows)}});
      ASSIGN_OR_RETURN(const double microseconds, MicrosecondsOf(kReducers, entry, core));
      rates.push_back({absl::StrCat(program.name, ", 2^", log_elements, " elements"), program.measured,
                       static_cast<double>(rows) * 4096 / microseconds * 1e-3});
    }
  }
  return rates;
}

}  // namespace toroid
