#include "runtime/kernels/host_transfer.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo/base/status.h"
#include "runtime/kernels/convert.h"
#include "runtime/literal_buffer.h"
#include "runtime/mesh_rows.h"

namespace toroid {
namespace {

MeshBuffer Token() { return MeshBuffer::Array(0, /*uniform=*/true); }

bool SameKind(PrimitiveType a, PrimitiveType b) {
  return a == b || (IsInt(a) && IsInt(b)) || (IsFloat(a) && IsFloat(b)) || (IsComplex(a) && IsComplex(b));
}

// The next value of the infeed as an array of this shape.
absl::Status TakeArray(OpCall& call, const Shape& shape, MeshBuffer* result) {
  RunState& run = *call.mesh().run;
  if (run.infeed.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("nothing is left in the infeed for ", shape.ToString()));
  }
  NpyArray array = std::move(run.infeed.back());
  run.infeed.pop_back();
  if (!array.untyped.empty()) {
    ASSIGN_OR_RETURN(array.values, AsType(array, shape.element_type()));
  }
  const Literal& value = array.values;
  const int64_t devices = call.mesh().num_devices(), n = shape.NumElements();
  Dims stacked = {devices};
  stacked.insert(stacked.end(), shape.dims().begin(), shape.dims().end());
  const bool uniform = value.shape().SameDims(shape);
  if (!SameKind(value.shape().element_type(), shape.element_type()) ||
      (!uniform && value.shape().dims() != absl::MakeConstSpan(stacked))) {
    return absl::InvalidArgumentError(absl::StrCat("the infeed has ", value.shape().ToString(), " for ",
                                                   shape.ToString(),
                                                   devices > 1 ? "; give that, or one for each device" : ""));
  }
  RETURN_IF_ERROR(call.New(shape.ByteSize(), uniform, result));
  const ConvertLoop convert = FindConvertLoop(value.shape().element_type(), shape.element_type());
  const int64_t width = ByteWidth(value.shape().element_type());
  for (int64_t row = 0; row < (uniform ? 1 : call.copies()); ++row) {
    const int64_t device = uniform ? 0 : call.mesh().DeviceOfRow(row);
    convert(value.bytes() + device * n * width, result->mutable_data() + row * shape.ByteSize(), n);
  }
  return absl::OkStatus();
}

absl::Status TakeValue(OpCall& call, const Shape& shape, MeshBuffer* result) {
  if (shape.IsArray()) return TakeArray(call, shape, result);
  if (!shape.IsTuple()) {
    *result = Token();
    return absl::OkStatus();
  }
  *result = MeshBuffer::Tuple(static_cast<int>(shape.tuple_shapes().size()));
  for (int i = 0; i < static_cast<int>(shape.tuple_shapes().size()); ++i) {
    RETURN_IF_ERROR(TakeValue(call, shape.tuple_shape(i), &result->mutable_element(i)));
  }
  return absl::OkStatus();
}

void GiveValue(OpCall& call, const MeshBuffer& value, const Shape& shape) {
  if (shape.IsTuple()) {
    for (int i = 0; i < static_cast<int>(shape.tuple_shapes().size()); ++i) {
      GiveValue(call, value.element(i), shape.tuple_shape(i));
    }
    return;
  }
  if (!shape.IsArray()) return;
  Outfeed& outfeed = call.mesh().run->outfeed;
  std::vector<int64_t> devices;
  if (call.copies() < call.mesh().num_devices()) {
    for (int64_t row = 0; row < call.copies(); ++row) devices.push_back(call.mesh().DeviceOfRow(row));
  }
  if (value.uniform() || call.copies() == 1 || shape.IsDynamic()) {
    outfeed.push_back({LiteralFromBuffer(value, shape, 0, call.copies()), std::move(devices)});
    return;
  }
  Dims stacked = {call.copies()};
  stacked.insert(stacked.end(), shape.dims().begin(), shape.dims().end());
  Literal literal(Shape(shape.element_type(), stacked));
  std::memcpy(literal.mutable_bytes(), value.data(), value.bytes());
  outfeed.push_back({std::move(literal), std::move(devices)});
}

// The device that each device sends to (-1: none) or, for `receivers`, whether it is sent something.
absl::StatusOr<std::vector<int64_t>> TargetsOf(const OpCall& call) {
  const MeshContext& mesh = call.mesh();
  const int64_t devices = mesh.num_devices();
  std::vector<int64_t> targets(devices, -1);
  const std::string* text = call.instruction().FrontendAttribute("_xla_send_recv_source_target_pairs");
  if (text == nullptr) {
    for (int64_t device = 0; device < devices; ++device) targets[device] = device;
    return targets;
  }
  std::vector<int64_t> numbers;
  for (const absl::string_view piece : absl::StrSplit(*text, absl::ByAnyChar("{}, "), absl::SkipEmpty())) {
    int64_t number;
    if (!absl::SimpleAtoi(piece, &number)) numbers.clear();
    if (!absl::SimpleAtoi(piece, &number)) break;
    numbers.push_back(number);
  }
  const bool partitions = mesh.num_partitions > 1;
  const int64_t instances = partitions ? mesh.num_partitions : mesh.num_replicas;
  bool valid = numbers.size() % 2 == 0 && (!numbers.empty() || *text == "{}");
  for (const int64_t number : numbers) valid &= 0 <= number && number < instances;
  if (!valid) {
    return absl::InvalidArgumentError(absl::StrCat("source and target pairs ", *text, " on ", instances,
                                                   partitions ? " partitions" : " replicas",
                                                   "; give {{0,1},..}"));
  }
  for (size_t i = 0; i < numbers.size(); i += 2) {
    for (int64_t r = 0; r < (partitions ? mesh.num_replicas : 1); ++r) {
      int64_t& target = targets[r * mesh.num_partitions + numbers[i]];
      if (target >= 0)
        return absl::InvalidArgumentError(absl::StrCat("device ", numbers[i], " sends twice in ", *text));
      target = r * mesh.num_partitions + numbers[i + 1];
    }
  }
  return targets;
}

absl::Status CheckNotLifted(const OpCall& call) {
  if (!call.mesh().lifted) return absl::OkStatus();
  return absl::UnimplementedError("a transfer inside a computation over elements");
}

// Zeros on every device.
absl::Status Zeros(const OpCall& call, const Shape& shape, MeshBuffer* result) {
  if (shape.IsTuple()) {
    *result = MeshBuffer::Tuple(static_cast<int>(shape.tuple_shapes().size()));
    for (int i = 0; i < static_cast<int>(shape.tuple_shapes().size()); ++i) {
      RETURN_IF_ERROR(Zeros(call, shape.tuple_shape(i), &result->mutable_element(i)));
    }
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(call.New(shape.ByteSize(), /*uniform=*/true, result));
  std::memset(result->mutable_data(), 0, result->bytes());
  return absl::OkStatus();
}

}  // namespace

absl::Status ExecuteInfeed(OpCall& call) {
  RETURN_IF_ERROR(CheckNotLifted(call));
  MeshBuffer data;
  RETURN_IF_ERROR(TakeValue(call, call.shape().tuple_shape(0), &data));
  call.result() = MeshBuffer::Tuple({std::move(data), Token()});
  return absl::OkStatus();
}

absl::Status ExecuteOutfeed(OpCall& call) {
  RETURN_IF_ERROR(CheckNotLifted(call));
  GiveValue(call, call.operand(0), call.operand_shape(0));
  call.result() = Token();
  return absl::OkStatus();
}

absl::Status ExecuteSend(OpCall& call) {
  RETURN_IF_ERROR(CheckNotLifted(call));
  if (call.attrs().is_host_transfer()) {
    GiveValue(call, call.operand(0), call.operand_shape(0));
  } else {
    ASSIGN_OR_RETURN(const std::vector<int64_t> targets, TargetsOf(call));
    for (int64_t row = 0; row < call.copies(); ++row) {
      const int64_t target = targets[call.mesh().DeviceOfRow(row)];
      if (target < 0) continue;
      MeshBuffer message;
      RETURN_IF_ERROR(GatherRows(call.operand(0), call.copies(), {row}, &message));
      call.mesh().run->messages[{call.attrs().channel_id(), target}].push_back(std::move(message));
    }
  }
  MeshBuffer context;
  RETURN_IF_ERROR(Zeros(call, Shape(xla::U32, {}), &context));
  call.result() = MeshBuffer::Tuple({call.operand(0), std::move(context), Token()});
  return absl::OkStatus();
}

absl::Status ExecuteSendDone(OpCall& call) {
  call.result() = Token();
  return absl::OkStatus();
}

// The context, u32[], is the channel and 1 where a message comes for the device, 0 where none does.
absl::Status ExecuteRecv(OpCall& call) {
  RETURN_IF_ERROR(CheckNotLifted(call));
  MeshBuffer data, context;
  const Shape& shape = call.shape().tuple_shape(0);
  RETURN_IF_ERROR(call.New(sizeof(uint32_t), /*uniform=*/false, &context));
  uint32_t* expects = reinterpret_cast<uint32_t*>(context.mutable_data());
  std::fill_n(expects, call.copies(), 0);
  if (call.attrs().is_host_transfer()) {
    RETURN_IF_ERROR(TakeValue(call, shape, &data));
  } else {
    RETURN_IF_ERROR(Zeros(call, shape, &data));
    ASSIGN_OR_RETURN(const std::vector<int64_t> targets, TargetsOf(call));
    std::vector<bool> receives(targets.size(), false);
    for (const int64_t target : targets) {
      if (target >= 0) receives[target] = true;
    }
    for (int64_t row = 0; row < call.copies(); ++row) {
      if (receives[call.mesh().DeviceOfRow(row)])
        expects[row] = static_cast<uint32_t>(call.attrs().channel_id() + 1);
    }
  }
  call.result() = MeshBuffer::Tuple({std::move(data), std::move(context), Token()});
  return absl::OkStatus();
}

absl::Status ExecuteRecvDone(OpCall& call) {
  const MeshBuffer context = call.operand(0).element(1);
  MeshBuffer data = call.operand(0).element(0);
  for (int64_t row = 0; row < call.copies(); ++row) {
    const uint32_t expects = reinterpret_cast<const uint32_t*>(context.data())[context.uniform() ? 0 : row];
    if (expects == 0) continue;
    const int64_t channel = int64_t{expects} - 1;
    const int64_t device = call.mesh().DeviceOfRow(row);
    auto& waiting = call.mesh().run->messages[{channel, device}];
    if (waiting.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("device ", device, " waits for a message of channel ", channel,
                       " that is not sent before; send first, on the same channel"));
    }
    const MeshBuffer message = std::move(waiting.front());
    waiting.pop_front();
    if (call.copies() == 1) {
      data = message;
    } else {
      RETURN_IF_ERROR(MergeRows(message, {row}, call.copies(), &data));
    }
  }
  call.result() = MeshBuffer::Tuple({std::move(data), Token()});
  return absl::OkStatus();
}

}  // namespace toroid
