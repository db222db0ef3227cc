#include "runtime/collectives/host_transfer.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo/base/status.h"
#include "runtime/collectives/exchange.h"
#include "runtime/loops/convert_loops.h"
#include "runtime/mesh/literal_buffer.h"
#include "runtime/mesh/mesh_rows.h"
#include "runtime/transport/transport.h"

namespace toroid {
namespace {

MeshBuffer Token() { return MeshBuffer::Array(0, /*uniform=*/true); }

bool HasDynamicArray(const Shape& shape) {
  for (const Shape& element : shape.tuple_shapes()) {
    if (HasDynamicArray(element)) return true;
  }
  return shape.IsArray() && shape.IsDynamic();
}

bool SameKind(PrimitiveType a, PrimitiveType b) {
  return a == b || (IsInt(a) && IsInt(b)) || (IsFloat(a) && IsFloat(b)) || (IsComplex(a) && IsComplex(b));
}

// Takes the next value off the infeed; it has the array's sizes, or a leading dimension with one entry per
// device.
absl::StatusOr<Literal> NextOfInfeed(const MeshContext& mesh, const Shape& shape) {
  RunState& run = *mesh.run;
  if (run.infeed == nullptr || run.infeed_taken == run.infeed->size()) {
    return absl::InvalidArgumentError(absl::StrCat("nothing is left in the infeed for ", shape.ToString()));
  }
  ASSIGN_OR_RETURN(Literal value, run.infeed->Value(run.infeed_taken++, shape.element_type()));
  const Shape& given = value.shape();
  Dims stacked = {mesh.num_devices()};
  stacked.insert(stacked.end(), shape.dims().begin(), shape.dims().end());
  if (!SameKind(given.element_type(), shape.element_type()) ||
      (!given.SameDims(shape) && given.dims() != absl::MakeConstSpan(stacked))) {
    return absl::InvalidArgumentError(
        absl::StrCat("the infeed has ", given.ToString(), " for ", shape.ToString(),
                     mesh.num_devices() > 1 ? "; give that, or one for each device" : ""));
  }
  return value;
}

// Rank 0 has the infeed. It tells the other ranks whether the next value is one for all devices, one per
// device, or an error.
absl::Status TakeSharedArray(OpCall& call, const Shape& shape, MeshBuffer* result) {
  constexpr char kUniform = 'u', kRows = 'r', kError = 'e';
  const MeshContext& mesh = call.mesh();
  Transport& transport = *mesh.run->transport;
  absl::StatusOr<Literal> value = absl::UnknownError("");
  std::string form;
  if (transport.rank() == 0) {
    value = NextOfInfeed(mesh, shape);
    if (!value.ok()) {
      form = absl::StrCat(std::string(1, kError), value.status().message());
    } else {
      form = std::string(1, value->shape().SameDims(shape) ? kUniform : kRows);
    }
  }
  RETURN_IF_ERROR(transport.Broadcast(&form));
  if (form[0] == kError) return absl::InvalidArgumentError(form.substr(1));
  const bool uniform = form[0] == kUniform;
  RETURN_IF_ERROR(call.New(shape.ByteSize(), uniform, result));
  if (shape.ByteSize() == 0) return absl::OkStatus();
  MeshBuffer converted;
  if (transport.rank() == 0) {
    const int64_t values = uniform ? 1 : mesh.num_devices();
    RETURN_IF_ERROR(call.New(shape.ByteSize() * values, /*uniform=*/true, &converted));
    FindConvertLoop(value->shape().element_type(), shape.element_type())(
        value->bytes(), converted.mutable_data(), shape.NumElements() * values);
  }
  const StridedLoop loop = OneRun(shape.ByteSize());
  const Ranks ranks(mesh);
  return MovePieces(call, [&](auto visit) {
    const int64_t copies = uniform ? transport.size() : mesh.num_active;
    for (int64_t i = 0; i < copies; ++i) {
      Piece piece{0, uniform ? static_cast<int>(i) : ranks.Of(i), &loop};
      if (transport.rank() == 0)
        piece.read = converted.data() + (uniform ? 0 : mesh.DeviceAt(i) * shape.ByteSize());
      if (piece.target == transport.rank())
        piece.write = result->mutable_data() + (uniform ? 0 : (i - mesh.first_here) * shape.ByteSize());
      visit(piece);
    }
  });
}

// Takes the next value of the infeed as an array of this shape.
absl::Status TakeArray(OpCall& call, const Shape& shape, MeshBuffer* result) {
  if (call.mesh().shared()) return TakeSharedArray(call, shape, result);
  ASSIGN_OR_RETURN(const Literal value, NextOfInfeed(call.mesh(), shape));
  const int64_t n = shape.NumElements();
  const bool uniform = value.shape().SameDims(shape);
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

// The rows of all active devices, on rank 0; elsewhere an empty array.
absl::Status CollectRows(const OpCall& call, const MeshBuffer& value, int64_t row_bytes, MeshBuffer* all) {
  const MeshContext& mesh = call.mesh();
  const Ranks ranks(mesh);
  RETURN_IF_ERROR(call.New(ranks.mine() == 0 ? row_bytes * mesh.num_active : 0, /*uniform=*/true, all));
  all->set_uniform(false);
  const StridedLoop loop = OneRun(row_bytes);
  return MovePieces(call, [&](auto visit) {
    for (int64_t place = 0; place < mesh.num_active && row_bytes > 0; ++place) {
      Piece piece{ranks.Of(place), 0, &loop};
      if (piece.source == ranks.mine()) piece.read = value.data() + (place - mesh.first_here) * row_bytes;
      if (ranks.mine() == 0) piece.write = all->mutable_data() + place * row_bytes;
      visit(piece);
    }
  });
}

absl::Status GiveValue(OpCall& call, const MeshBuffer& given, const Shape& shape) {
  if (shape.IsTuple()) {
    for (int i = 0; i < static_cast<int>(shape.tuple_shapes().size()); ++i) {
      RETURN_IF_ERROR(GiveValue(call, given.element(i), shape.tuple_shape(i)));
    }
    return absl::OkStatus();
  }
  if (!shape.IsArray()) return absl::OkStatus();
  const MeshContext& mesh = call.mesh();
  MeshBuffer value = given;
  if (mesh.shared() && !given.uniform()) {
    RETURN_IF_ERROR(CollectRows(call, given, shape.ByteSize(), &value));
    if (given.sizes() != nullptr) {
      MeshBuffer sizes = *given.sizes();
      if (!sizes.uniform())
        RETURN_IF_ERROR(CollectRows(call, *given.sizes(), shape.rank() * sizeof(int32_t), &sizes));
      value.set_sizes(std::move(sizes));
    }
  }
  // The outfeed is on rank 0.
  if (mesh.shared() && mesh.run->transport->rank() != 0) return absl::OkStatus();
  Outfeed& outfeed = mesh.run->outfeed;
  std::vector<int64_t> devices;
  if (mesh.num_active < mesh.num_devices()) {
    for (int64_t place = 0; place < mesh.num_active; ++place) devices.push_back(mesh.DeviceAt(place));
  }
  if (value.uniform() || mesh.num_active == 1 || shape.IsDynamic()) {
    outfeed.push_back({LiteralFromBuffer(value, shape, 0, mesh.num_active), std::move(devices)});
    return absl::OkStatus();
  }
  Dims stacked = {mesh.num_active};
  stacked.insert(stacked.end(), shape.dims().begin(), shape.dims().end());
  Literal literal(Shape(shape.element_type(), stacked));
  std::memcpy(literal.mutable_bytes(), value.data(), value.bytes());
  outfeed.push_back({std::move(literal), std::move(devices)});
  return absl::OkStatus();
}

// The device that each device sends to; -1: none.
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
  return absl::UnimplementedError(
      "a transfer in a computation that is applied to single elements, such as a reducer");
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

struct Message {
  int64_t place, target;         // The sender's place; the receiving device.
  int source_rank, target_rank;  // Ranks of the sender and of the target.
  MeshBuffer value;              // Set on the target's rank.
};

// Moves the arrays of the messages to their targets.
absl::Status Deliver(const OpCall& call, const MeshBuffer& operand, const Shape& shape,
                     absl::Span<Message> messages, absl::Span<MeshBuffer* const> values) {
  const MeshContext& mesh = call.mesh();
  const int mine = mesh.run->transport->rank();
  if (shape.IsTuple()) {
    for (int i = 0; i < static_cast<int>(shape.tuple_shapes().size()); ++i) {
      std::vector<MeshBuffer*> elements;
      for (MeshBuffer* value : values) {
        if (value != nullptr && value->empty())
          *value = MeshBuffer::Tuple(static_cast<int>(shape.tuple_shapes().size()));
        elements.push_back(value == nullptr ? nullptr : &value->mutable_element(i));
      }
      RETURN_IF_ERROR(Deliver(call, operand.element(i), shape.tuple_shape(i), messages, elements));
    }
    return absl::OkStatus();
  }
  if (operand.uniform()) {
    for (MeshBuffer* value : values) {
      if (value != nullptr) *value = operand;
    }
    return absl::OkStatus();
  }
  const int64_t bytes = shape.ByteSize();
  for (MeshBuffer* value : values) {
    if (value == nullptr) continue;
    RETURN_IF_ERROR(call.New(bytes, /*uniform=*/true, value));
    value->set_uniform(false);
  }
  const StridedLoop loop = OneRun(bytes);
  return MovePieces(call, [&](auto visit) {
    for (size_t m = 0; m < messages.size() && bytes > 0; ++m) {
      const Message& message = messages[m];
      Piece piece{message.source_rank, message.target_rank, &loop};
      if (piece.source == mine) piece.read = operand.data() + (message.place - mesh.first_here) * bytes;
      if (piece.target == mine) piece.write = values[m]->mutable_data();
      visit(piece);
    }
  });
}

// Sends the messages of all active devices, on every rank: a message waits on the target's rank for its
// recv-done.
absl::Status SendMessages(OpCall& call) {
  const MeshContext& mesh = call.mesh();
  ASSIGN_OR_RETURN(const std::vector<int64_t> targets, TargetsOf(call));
  auto& waiting = mesh.run->messages;
  const int64_t channel = call.attrs().channel_id();
  if (!mesh.shared()) {
    for (int64_t row = 0; row < call.copies(); ++row) {
      const int64_t target = targets[mesh.DeviceOfRow(row)];
      if (target < 0) continue;
      MeshBuffer message;
      RETURN_IF_ERROR(GatherRows(call.operand(0), call.copies(), {row}, &message));
      waiting[{channel, target}].push_back(std::move(message));
    }
    return absl::OkStatus();
  }
  if (HasDynamicArray(call.operand_shape(0))) {
    return absl::UnimplementedError(
        "messages of arrays with dynamic dimensions between ranks; run in one process");
  }
  const Transport& transport = *mesh.run->transport;
  const Ranks ranks(mesh);
  const auto rank_of = [&](int64_t device) {
    int rank = 0;
    while (transport.ShareOf(rank, mesh.num_devices()).second <= device) ++rank;
    return rank;
  };
  std::vector<Message> messages;
  for (int64_t place = 0; place < mesh.num_active; ++place) {
    const int64_t target = targets[mesh.DeviceAt(place)];
    if (target >= 0) messages.push_back({place, target, ranks.Of(place), rank_of(target), MeshBuffer()});
  }
  std::vector<MeshBuffer*> values;
  for (Message& message : messages) {
    values.push_back(message.target_rank == transport.rank() ? &message.value : nullptr);
  }
  RETURN_IF_ERROR(Deliver(call, call.operand(0), call.operand_shape(0), absl::MakeSpan(messages), values));
  for (Message& message : messages) {
    if (message.target_rank == transport.rank())
      waiting[{channel, message.target}].push_back(std::move(message.value));
  }
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
  RETURN_IF_ERROR(GiveValue(call, call.operand(0), call.operand_shape(0)));
  call.result() = Token();
  return absl::OkStatus();
}

absl::Status ExecuteSend(OpCall& call) {
  RETURN_IF_ERROR(CheckNotLifted(call));
  if (call.attrs().is_host_transfer()) {
    RETURN_IF_ERROR(GiveValue(call, call.operand(0), call.operand_shape(0)));
  } else {
    RETURN_IF_ERROR(SendMessages(call));
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

// The context, u32[], is the channel plus 1 if the device gets a message, else 0.
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
    if (call.mesh().num_active == 1 && !call.mesh().shared()) {
      data = message;
    } else {
      RETURN_IF_ERROR(MergeRows(message, {row}, call.copies(), &data, KeepUniform(call.mesh())));
    }
  }
  // A rank whose devices receive nothing spreads its rows as well.
  if (call.mesh().shared()) RETURN_IF_ERROR(SpreadRows(call.copies(), &data));
  call.result() = MeshBuffer::Tuple({std::move(data), Token()});
  return absl::OkStatus();
}

}  // namespace toroid
