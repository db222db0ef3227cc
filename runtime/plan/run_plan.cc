#include "runtime/plan/run_plan.h"

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/mesh/limit_error.h"
#include "runtime/plan/op_call.h"
#include "runtime/plan/progress.h"
#include "runtime/plan/rowless.h"
#include "runtime/plan/step_timer.h"

namespace toroid {
namespace {

absl::Status Locate(const absl::Status& status, const Instruction& instruction, RunState& run) {
  if (run.located) return status;
  run.located = true;
  return AnnotateMarked(
      status,
      absl::StrCat(instruction.computation()->name(), "/",
                   instruction.name().empty() ? std::string(instruction.opcode_name()) : instruction.name()));
}

int64_t RowsOf(const MeshBuffer& value, const MeshContext& mesh) {
  return value.empty() || value.is_tuple() || value.uniform() ? 1 : mesh.copies;
}

absl::Status RunSteps(Plan& plan, Frame& frame, const MeshContext& mesh) {
  MeshBuffer* const slots = frame.data();
  RunState& run = *mesh.run;
  const double begin = run.progress_begin, width = run.progress_width;
  const bool rowless = mesh.copies == 0 && !mesh.lifted;
  double done = 0;
  for (Step& step : plan.steps) {
    if (run.progress != nullptr) {
      // Called computations report progress within this step's part.
      run.progress_begin = begin + width * done / plan.work;
      run.progress_width = width * step.work / plan.work;
      run.progress->Update(run.progress_begin, step.called.empty() ? step.work * mesh.copies : 0);
      done += step.work;
    }
    if ((mesh.run->steps_left -= step.instructions) < 0) {
      return Locate(absl::ResourceExhaustedError("the limit of executed instructions is reached"),
                    *step.instruction, *mesh.run);
    }
    OpCall call(step, slots, mesh);
    if (run.timer != nullptr) run.timer->Begin();
    const absl::Status status =
        rowless && !step.handles_no_rows ? ExecuteWithoutRows(step.kernel, call) : step.kernel(call);
    if (run.timer != nullptr) run.timer->End(step, RowsOf(slots[step.result], mesh));
    if (!status.ok()) {
      return Locate(status, *step.instruction, *mesh.run);
    }
    for (const int slot : step.frees) slots[slot].Reset();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunPlan(Plan& plan, absl::Span<MeshBuffer> arguments, const MeshContext& mesh,
                     MeshBuffer* result) {
  std::unique_ptr<Frame> frame;
  if (plan.idle_frames.empty()) {
    frame = std::make_unique<Frame>(plan.constants);
  } else {
    frame = std::move(plan.idle_frames.back());
    plan.idle_frames.pop_back();
  }
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    if (plan.parameter_used[i]) {
      (*frame)[plan.parameters[i]] = std::move(arguments[i]);
    } else {
      arguments[i].Reset();
    }
  }
  if (absl::Status status = RunSteps(plan, *frame, mesh); !status.ok()) return status;
  *result = plan.root_is_constant ? (*frame)[plan.root] : std::move((*frame)[plan.root]);
  plan.idle_frames.push_back(std::move(frame));
  return absl::OkStatus();
}

absl::Status RunLifted(Plan& plan, absl::Span<MeshBuffer> arguments, int64_t n, const MeshContext& mesh,
                       MeshBuffer* result) {
  MeshContext lifted;
  lifted.copies = n;
  lifted.num_active = n;
  lifted.lifted = true;
  lifted.run = mesh.run;
  return RunPlan(plan, arguments, lifted, result);
}

}  // namespace toroid
