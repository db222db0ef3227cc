#include "runtime/kernels/control_flow.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "hlo/base/status.h"
#include "runtime/mesh/active_devices.h"
#include "runtime/mesh/mesh_rows.h"
#include "runtime/plan/progress.h"
#include "runtime/plan/run_plan.h"

namespace toroid {
namespace {

using Arguments = absl::InlinedVector<MeshBuffer, 8>;

// The predicate's value on every active device.
struct Decision {
  bool agree = true;
  const bool* go = nullptr;  // By place; one value for all if they agree.
  std::vector<char> storage;

  absl::Status Read(const MeshContext& mesh, const MeshBuffer& pred) {
    static constexpr bool kNobody = false;
    if (mesh.num_active == 0) go = &kNobody;
    if (mesh.num_active == 0) return absl::OkStatus();
    go = reinterpret_cast<const bool*>(pred.data());
    if (pred.uniform()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const char* rows, EveryRow(mesh, pred.data(), sizeof(bool), &storage));
    agree = RowsAgree(rows, mesh.num_active, sizeof(bool));
    go = reinterpret_cast<const bool*>(rows);
    return absl::OkStatus();
  }
};

// Continues a loop after devices have disagreed: `active` are the places that still loop, `state` is their
// state.
absl::Status FinishLoopInGroups(OpCall& call, std::vector<int64_t> active, MeshBuffer state,
                                MeshBuffer* result) {
  Plan& body = call.called(0);
  Plan& condition = call.called(1);
  while (!active.empty()) {
    const SubMesh mesh(call.mesh(), active);
    bool changed = false;
    while (!changed) {
      RETURN_IF_ERROR(RunPlan(body, absl::MakeSpan(&state, 1), mesh.context, &state));
      MeshBuffer argument = state, again;
      RETURN_IF_ERROR(RunPlan(condition, absl::MakeSpan(&argument, 1), mesh.context, &again));
      Decision decision;
      RETURN_IF_ERROR(decision.Read(mesh.context, again));
      if (decision.agree && decision.go[0]) continue;
      changed = true;
      std::vector<int64_t> stay, leave, stay_places;
      for (int64_t i = 0; i < mesh.context.num_active; ++i) {
        const bool stays = decision.go[again.uniform() ? 0 : i];
        (stays ? stay : leave).push_back(i);
        if (stays) stay_places.push_back(active[i]);
      }
      const SubMesh left(mesh.context, leave), staying(mesh.context, stay);
      std::vector<int64_t> left_rows;
      for (const int64_t row : left.rows) left_rows.push_back(mesh.rows[row]);
      MeshBuffer finished, rest;
      RETURN_IF_ERROR(GatherRows(state, mesh.context.copies, left.rows, &finished));
      RETURN_IF_ERROR(MergeRows(finished, left_rows, call.copies(), result, KeepUniform(call.mesh())));
      RETURN_IF_ERROR(GatherRows(state, mesh.context.copies, staying.rows, &rest));
      state = std::move(rest);
      active = std::move(stay_places);
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
    Decision decision;
    RETURN_IF_ERROR(decision.Read(call.mesh(), again));
    if (!decision.agree) {
      std::vector<int64_t> active;
      for (int64_t place = 0; place < call.mesh().num_active; ++place) {
        if (decision.go[place]) active.push_back(place);
      }
      MeshBuffer rest, result = std::move(state);
      RETURN_IF_ERROR(GatherRows(result, call.copies(), SubMesh(call.mesh(), active).rows, &rest));
      RETURN_IF_ERROR(FinishLoopInGroups(call, std::move(active), std::move(rest), &result));
      call.result() = std::move(result);
      return absl::OkStatus();
    }
    if (!decision.go[0]) break;
    RETURN_IF_ERROR(RunPlan(body, absl::MakeSpan(&state, 1), call.mesh(), &state));
  }
  call.result() = std::move(state);
  return absl::OkStatus();
}

absl::Status ExecuteConditional(OpCall& call) {
  const int branches = call.num_called();
  const bool by_pred = call.operand_shape(0).element_type() == xla::PRED;
  const bool uniform = call.uniform(0);
  std::vector<char> storage;
  const char* choice = call.data(0);
  if (!uniform) {
    ASSIGN_OR_RETURN(choice, EveryRow(call.mesh(), choice, call.operand_shape(0).ByteSize(), &storage));
  }
  const auto branch_of = [&](int64_t place) -> int {
    if (by_pred) return reinterpret_cast<const bool*>(choice)[place] ? 0 : 1;
    const int32_t index = reinterpret_cast<const int32_t*>(choice)[place];
    return index < 0 || index >= branches ? branches - 1 : index;
  };
  const int64_t choices = uniform ? 1 : call.mesh().num_active;
  std::vector<std::vector<int64_t>> places(branches);
  for (int64_t place = 0; place < choices; ++place) places[branch_of(place)].push_back(place);
  for (int b = 0; b < branches; ++b) {
    if (static_cast<int64_t>(places[b].size()) != choices) continue;
    MeshBuffer argument = call.TakeOperand(b + 1), result;
    RETURN_IF_ERROR(RunPlan(call.called(b), absl::MakeSpan(&argument, 1), call.mesh(), &result));
    call.result() = std::move(result);
    return absl::OkStatus();
  }
  MeshBuffer merged;
  for (int b = 0; b < branches; ++b) {
    if (places[b].empty()) continue;
    const SubMesh mesh(call.mesh(), places[b]);
    MeshBuffer argument, result;
    RETURN_IF_ERROR(GatherRows(call.operand(b + 1), call.copies(), mesh.rows, &argument));
    RETURN_IF_ERROR(RunPlan(call.called(b), absl::MakeSpan(&argument, 1), mesh.context, &result));
    RETURN_IF_ERROR(MergeRows(result, mesh.rows, call.copies(), &merged, KeepUniform(call.mesh())));
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
