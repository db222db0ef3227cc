#include "runtime/kernels/control_flow.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "hlo/base/status.h"
#include "runtime/mesh_rows.h"
#include "runtime/progress.h"
#include "runtime/run_plan.h"

namespace toroid {
namespace {

using Arguments = absl::InlinedVector<MeshBuffer, 8>;

// The mesh of the devices at some rows of another.
struct SubMesh {
  SubMesh(const MeshContext& mesh, absl::Span<const int64_t> rows) : context(mesh) {
    for (const int64_t row : rows) devices.push_back(mesh.DeviceOfRow(row));
    context.copies = static_cast<int64_t>(rows.size());
    context.devices = &devices;
  }
  std::vector<int64_t> devices;
  MeshContext context;
};

bool RowsAgree(const MeshBuffer& buffer, int64_t copies) {
  if (buffer.uniform() || copies == 1) return true;
  const int64_t row_bytes = buffer.bytes() / copies;
  return std::memcmp(buffer.data(), buffer.data() + row_bytes, (copies - 1) * row_bytes) == 0;
}

// The loop once devices disagree: `active` are the rows still looping, `state` theirs alone.
absl::Status FinishLoopInGroups(OpCall& call, std::vector<int64_t> active, MeshBuffer state,
                                MeshBuffer* result) {
  Plan& body = call.called(0);
  Plan& condition = call.called(1);
  while (!active.empty()) {
    const SubMesh mesh(call.mesh(), active);
    const int64_t copies = mesh.context.copies;
    bool changed = false;
    while (!changed) {
      RETURN_IF_ERROR(RunPlan(body, absl::MakeSpan(&state, 1), mesh.context, &state));
      MeshBuffer argument = state, again;
      RETURN_IF_ERROR(RunPlan(condition, absl::MakeSpan(&argument, 1), mesh.context, &again));
      const bool* go = reinterpret_cast<const bool*>(again.data());
      if (RowsAgree(again, copies) && go[0]) continue;
      changed = true;
      std::vector<int64_t> stay, leave, stay_rows, leave_rows;
      for (int64_t i = 0; i < copies; ++i) {
        const bool stays = go[again.uniform() ? 0 : i];
        (stays ? stay : leave).push_back(i);
        (stays ? stay_rows : leave_rows).push_back(active[i]);
      }
      MeshBuffer finished, rest;
      RETURN_IF_ERROR(GatherRows(state, copies, leave, &finished));
      RETURN_IF_ERROR(MergeRows(finished, leave_rows, call.copies(), result));
      RETURN_IF_ERROR(GatherRows(state, copies, stay, &rest));
      state = std::move(rest);
      active = std::move(stay_rows);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ExecuteCall(OpCall& call) {
  Arguments arguments;
  for (int i = 0; i < call.num_operands(); ++i) arguments.push_back(call.TakeOperand(i));
  MeshBuffer result;
  RETURN_IF_ERROR(RunPlan(call.called(0), absl::MakeSpan(arguments), call.mesh(), &result));
  call.result() = std::move(result);
  return absl::OkStatus();
}

absl::Status ExecuteFusion(OpCall& call) { return ExecuteCall(call); }

absl::Status ExecuteWhile(OpCall& call) {
  Plan& body = call.called(0);
  Plan& condition = call.called(1);
  MeshBuffer state = call.TakeOperand(0);
  RunState& run = *call.mesh().run;
  const double begin = run.progress_begin, width = run.progress_width;
  const double trips = run.progress != nullptr ? EstimatedTrips(call.instruction()) : 1;
  for (int64_t trip = 0;; ++trip) {
    if (run.progress != nullptr) {
      run.progress_begin = begin + width * std::min(1.0, static_cast<double>(trip) / trips);
      run.progress_width = static_cast<double>(trip) < trips ? width / trips : 0;
    }
    MeshBuffer argument = state, again;
    RETURN_IF_ERROR(RunPlan(condition, absl::MakeSpan(&argument, 1), call.mesh(), &again));
    const bool* go = reinterpret_cast<const bool*>(again.data());
    if (!RowsAgree(again, call.copies())) {
      std::vector<int64_t> active;
      for (int64_t row = 0; row < call.copies(); ++row) {
        if (go[row]) active.push_back(row);
      }
      MeshBuffer rest, result = std::move(state);
      RETURN_IF_ERROR(GatherRows(result, call.copies(), active, &rest));
      RETURN_IF_ERROR(FinishLoopInGroups(call, std::move(active), std::move(rest), &result));
      call.result() = std::move(result);
      return absl::OkStatus();
    }
    if (!go[0]) break;
    RETURN_IF_ERROR(RunPlan(body, absl::MakeSpan(&state, 1), call.mesh(), &state));
  }
  call.result() = std::move(state);
  return absl::OkStatus();
}

absl::Status ExecuteConditional(OpCall& call) {
  const int branches = call.num_called();
  const bool by_pred = call.operand_shape(0).element_type() == xla::PRED;
  const auto branch_of = [&](int64_t row) -> int {
    if (by_pred) return reinterpret_cast<const bool*>(call.data(0))[row] ? 0 : 1;
    const int32_t index = reinterpret_cast<const int32_t*>(call.data(0))[row];
    return index < 0 || index >= branches ? branches - 1 : index;
  };
  std::vector<std::vector<int64_t>> rows(branches);
  for (int64_t row = 0; row < call.rows(0); ++row) rows[branch_of(row)].push_back(row);
  for (int b = 0; b < branches; ++b) {
    if (static_cast<int64_t>(rows[b].size()) != call.rows(0)) continue;
    MeshBuffer argument = call.TakeOperand(b + 1), result;
    RETURN_IF_ERROR(RunPlan(call.called(b), absl::MakeSpan(&argument, 1), call.mesh(), &result));
    call.result() = std::move(result);
    return absl::OkStatus();
  }
  MeshBuffer merged;
  for (int b = 0; b < branches; ++b) {
    if (rows[b].empty()) continue;
    const SubMesh mesh(call.mesh(), rows[b]);
    MeshBuffer argument, result;
    RETURN_IF_ERROR(GatherRows(call.operand(b + 1), call.copies(), rows[b], &argument));
    RETURN_IF_ERROR(RunPlan(call.called(b), absl::MakeSpan(&argument, 1), mesh.context, &result));
    RETURN_IF_ERROR(MergeRows(result, rows[b], call.copies(), &merged));
  }
  call.result() = std::move(merged);
  return absl::OkStatus();
}

// The state of an asynchronous call: ((operands), result, ...), the rest empty tokens.
absl::Status ExecuteAsyncStart(OpCall& call) {
  MeshBuffer operands = MeshBuffer::Tuple(call.num_operands());
  Arguments arguments;
  for (int i = 0; i < call.num_operands(); ++i) {
    operands.mutable_element(i) = call.operand(i);
    arguments.push_back(call.operand(i));
  }
  MeshBuffer result;
  RETURN_IF_ERROR(RunPlan(call.called(0), absl::MakeSpan(arguments), call.mesh(), &result));
  const auto shapes = call.shape().tuple_shapes();
  if (shapes.size() < 2) return absl::InvalidArgumentError("the result is no ((operands), result) tuple");
  MeshBuffer state = MeshBuffer::Tuple(static_cast<int>(shapes.size()));
  state.mutable_element(0) = std::move(operands);
  state.mutable_element(1) = std::move(result);
  for (size_t i = 2; i < shapes.size(); ++i) {
    MeshBuffer context;
    RETURN_IF_ERROR(call.New(shapes[i].ByteSize(), /*uniform=*/true, &context));
    std::memset(context.mutable_data(), 0, context.bytes());
    state.mutable_element(i) = std::move(context);
  }
  call.result() = std::move(state);
  return absl::OkStatus();
}

absl::Status ExecuteAsyncUpdate(OpCall& call) {
  call.result() = call.TakeOperand(0);
  return absl::OkStatus();
}

absl::Status ExecuteAsyncDone(OpCall& call) {
  call.result() = call.operand(0).element(1);
  return absl::OkStatus();
}

}  // namespace toroid
