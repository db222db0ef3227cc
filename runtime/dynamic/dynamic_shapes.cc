#include "runtime/dynamic/dynamic_shapes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/ir/module.h"
#include "runtime/dynamic/dynamic_inference.h"
#include "runtime/dynamic/dynamic_size.h"
#include "runtime/mesh/active_devices.h"
#include "runtime/mesh/mesh_rows.h"

namespace toroid {
namespace {

bool AnyDynamic(const Shape& shape) {
  for (const Shape& element : shape.tuple_shapes()) {
    if (AnyDynamic(element)) return true;
  }
  return shape.IsArray() && shape.IsDynamic();
}

// An op over static shapes, ready to run.
struct StaticOp {
  std::unique_ptr<Module> module;
  Step step;
};

struct DynamicCache : KernelCache {
  explicit DynamicCache(const OpCall&) {}
  // Keyed by the run-time sizes of all operands, in order.
  std::map<std::vector<int64_t>, std::unique_ptr<StaticOp>> ops;
};

constexpr size_t kMaxCachedOps = 64;

absl::StatusOr<StaticOp*> FindStaticOp(OpCall& call, const std::vector<Shape>& shapes) {
  DynamicCache& cache = call.Cache<DynamicCache>();
  std::vector<int64_t> key;
  for (const Shape& shape : shapes) key.insert(key.end(), shape.dims().begin(), shape.dims().end());
  if (cache.ops.size() > kMaxCachedOps) cache.ops.clear();
  std::unique_ptr<StaticOp>& op = cache.ops[key];
  if (op != nullptr) return op.get();
  auto made = std::make_unique<StaticOp>();
  ASSIGN_OR_RETURN(made->module, MakeStaticOp(call.instruction(), shapes));
  const Instruction& instruction = *made->module->entry()->root();
  made->step.kernel = made->step.static_kernel = call.static_kernel();
  made->step.instruction = &instruction;
  made->step.elements = instruction.shape().NumElements();
  made->step.bytes = instruction.shape().ByteSize();
  for (int i = 0; i < call.num_operands(); ++i) {
    made->step.operands.push_back(i);
    if (i < 64) made->step.last_uses |= uint64_t{1} << i;
  }
  made->step.result = call.num_operands();
  for (int i = 0; i < call.num_called(); ++i) made->step.called.push_back(&call.called(i));
  op = std::move(made);
  return op.get();
}

// Puts the arrays of a result back into their bounds.
absl::Status PadResults(const MeshBuffer& buffer, const Shape& shape, const Shape& bound, int64_t copies,
                        MeshBuffer* result) {
  if (shape.IsTuple()) {
    *result = MeshBuffer::Tuple(static_cast<int>(shape.tuple_shapes().size()));
    for (int i = 0; i < static_cast<int>(shape.tuple_shapes().size()); ++i) {
      RETURN_IF_ERROR(PadResults(buffer.element(i), shape.tuple_shape(i), bound.tuple_shape(i), copies,
                                 &result->mutable_element(i)));
    }
    return absl::OkStatus();
  }
  if (shape.SameDims(bound) && !bound.IsDynamic()) {
    *result = buffer;
    return absl::OkStatus();
  }
  return PadToBound(buffer, shape, bound, buffer.uniform() ? 1 : copies, result);
}

// Runs the op on devices that agree on the run-time shapes of all operands.
absl::Status RunGroup(OpCall& call, std::vector<MeshBuffer> operands, std::vector<Shape> shapes,
                      const MeshContext& mesh, MeshBuffer* result) {
  RETURN_IF_ERROR(ReconcileShapes(call.instruction(), &shapes));
  ASSIGN_OR_RETURN(StaticOp * op, FindStaticOp(call, shapes));
  std::vector<MeshBuffer> slots(operands.size() + 1);
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& bound = call.operand_shape(static_cast<int>(i));
    if (shapes[i].SameDims(bound)) {
      slots[i] = operands[i];
    } else {
      RETURN_IF_ERROR(
          CutValidPart(operands[i], bound, shapes[i], operands[i].uniform() ? 1 : mesh.copies, &slots[i]));
    }
  }
  OpCall inner(op->step, slots.data(), mesh);
  RETURN_IF_ERROR(op->step.kernel(inner));
  return PadResults(slots.back(), op->step.instruction->shape(), call.shape(), mesh.copies, result);
}

bool SizesAgree(const MeshBuffer& sizes, int64_t copies) {
  return sizes.uniform() || copies == 0 || RowsAgree(sizes.data(), copies, sizes.bytes() / copies);
}

// Whether an array has the same run-time size on every device of every rank.
absl::StatusOr<bool> SizesAgreeEverywhere(const MeshContext& mesh, const MeshBuffer& array, int rank) {
  const int64_t bytes = rank * static_cast<int64_t>(sizeof(int32_t));
  if (array.sizes() != nullptr && array.sizes()->uniform()) return true;
  std::vector<char> mine(static_cast<size_t>(mesh.copies * bytes) + 1, -1), storage;
  if (array.sizes() != nullptr && array.sizes()->bytes() == mesh.copies * bytes) {
    std::copy_n(array.sizes()->data(), mesh.copies * bytes, mine.data());
  }
  ASSIGN_OR_RETURN(const char* all, EveryRow(mesh, mine.data(), bytes, &storage));
  return RowsAgree(all, mesh.num_active, bytes);
}

// A collective runs on the bound; the valid part must be the same on every device.
absl::Status RunCollective(OpCall& call) {
  std::vector<MeshBuffer> sizes(call.num_operands());
  for (int i = 0; i < call.num_operands(); ++i) {
    if (call.operand(i).is_tuple()) continue;
    if (call.operand(i).sizes() != nullptr) sizes[i] = *call.operand(i).sizes();
    bool agree = sizes[i].empty() || SizesAgree(sizes[i], call.copies());
    if (call.mesh().shared() && call.operand_shape(i).IsDynamic()) {
      ASSIGN_OR_RETURN(agree,
                       SizesAgreeEverywhere(call.mesh(), call.operand(i), call.operand_shape(i).rank()));
    }
    if (!agree) {
      return absl::InvalidArgumentError(
          absl::StrCat("the run-time sizes of operand ", i, " differ between devices"));
    }
  }
  RETURN_IF_ERROR(call.static_kernel()(call));
  MeshBuffer result = call.result();
  call.result().Reset();
  const auto mark = [&](int i, const Shape& shape, MeshBuffer* array) -> absl::Status {
    if (array->is_tuple() || sizes[i].empty() || !shape.IsDynamic() ||
        !shape.SameDims(call.operand_shape(i))) {
      return absl::OkStatus();
    }
    MeshBuffer copy;
    RETURN_IF_ERROR(CopyArray(*array, &copy));
    copy.set_sizes(sizes[i]);
    *array = std::move(copy);
    return absl::OkStatus();
  };
  if (!result.is_tuple()) {
    RETURN_IF_ERROR(mark(0, call.shape(), &result));
  } else if (static_cast<int>(result.elements().size()) == call.num_operands()) {
    for (int i = 0; i < call.num_operands(); ++i) {
      RETURN_IF_ERROR(mark(i, call.shape().tuple_shape(i), &result.mutable_element(i)));
    }
  }
  call.result() = std::move(result);
  return absl::OkStatus();
}

}  // namespace

bool ComputesOnValidParts(const Instruction& instruction) {
  const Opcode opcode = instruction.opcode();
  if (HasTrait(opcode, kTakesAnyBuffer)) return false;
  // The kernels of these ops handle run-time sizes themselves.
  if (opcode == Opcode::kDynamicReshape || opcode == Opcode::kCustomCall) return false;
  for (const Instruction* operand : instruction.operands()) {
    if (AnyDynamic(operand->shape())) return true;
  }
  return false;
}

absl::Status ExecuteOnValidParts(OpCall& call) {
  if (IsCollective(call.opcode())) return RunCollective(call);
  bool known = false, agree = true;
  for (int i = 0; i < call.num_operands(); ++i) {
    if (call.operand(i).is_tuple()) return call.static_kernel()(call);
    const MeshBuffer* sizes = call.operand(i).sizes();
    if (sizes == nullptr || !call.operand_shape(i).IsDynamic()) continue;
    known = true;
    // Ranks that share the devices must all take the same branch, whatever their own rows hold.
    agree &= sizes->uniform() || (!call.mesh().shared() && SizesAgree(*sizes, call.copies()));
  }
  if (!known) return call.static_kernel()(call);
  const auto shapes_of = [&](int64_t row) {
    std::vector<Shape> shapes;
    for (int i = 0; i < call.num_operands(); ++i)
      shapes.push_back(RunTimeShape(call.operand(i), call.operand_shape(i), row));
    return shapes;
  };
  std::vector<MeshBuffer> operands;
  for (int i = 0; i < call.num_operands(); ++i) operands.push_back(call.operand(i));
  MeshBuffer result;
  if (agree) {
    RETURN_IF_ERROR(RunGroup(call, std::move(operands), shapes_of(0), call.mesh(), &result));
    call.result() = std::move(result);
    return absl::OkStatus();
  }
  std::map<std::vector<int64_t>, std::vector<int64_t>> groups;  // Rows by run-time sizes.
  for (int64_t row = 0; row < call.copies(); ++row) {
    std::vector<int64_t> key;
    for (const Shape& shape : shapes_of(row)) key.insert(key.end(), shape.dims().begin(), shape.dims().end());
    groups[key].push_back(row);
  }
  for (const auto& [key, rows] : groups) {
    std::vector<int64_t> places;
    for (const int64_t row : rows) places.push_back(call.mesh().first_here + row);
    const SubMesh mesh(call.mesh(), places);
    std::vector<MeshBuffer> gathered(call.num_operands());
    for (int i = 0; i < call.num_operands(); ++i) {
      RETURN_IF_ERROR(GatherRows(operands[i], call.copies(), rows, &gathered[i]));
    }
    MeshBuffer part;
    RETURN_IF_ERROR(RunGroup(call, std::move(gathered), shapes_of(rows[0]), mesh.context, &part));
    RETURN_IF_ERROR(MergeRows(part, rows, call.copies(), &result, KeepUniform(call.mesh())));
  }
  call.result() = std::move(result);
  return absl::OkStatus();
}

}  // namespace toroid
