#include <vector>

#include "hlo/base/status.h"
#include "hlo/stablehlo/op_rows.h"

namespace toroid {
namespace {

// StableHLO lists arrays and a token behind them; HLO has one array, or a tuple of them, and the token.
Shape DataShape(std::vector<Shape> shapes) {
  return shapes.size() == 1 ? shapes[0] : Shape::Tuple(std::move(shapes));
}

absl::StatusOr<Instruction*> DataOperand(OpConversion& op) {
  if (op.num_operands() < 1 || !op.operand(op.num_operands() - 1)->shape().IsToken()) {
    return op.Error("its last operand is a token");
  }
  const absl::Span<Instruction* const> data = op.operands().subspan(0, op.num_operands() - 1);
  if (data.size() == 1) return data[0];
  std::vector<Shape> shapes;
  for (const Instruction* value : data) shapes.push_back(value->shape());
  return op.Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), data);
}

Instruction* Element(OpConversion& op, Instruction* tuple, int64_t index) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  attrs->set_tuple_index(index);
  return op.Add(Opcode::kGetTupleElement, tuple->shape().tuple_shape(index), {tuple}, attrs);
}

// The data's shape of an op whose last result is a token.
absl::StatusOr<Shape> ResultData(OpConversion& op) {
  std::vector<Shape> shapes;
  for (const MlirValue& result : op.op().results) shapes.push_back(result.type.shape);
  if (shapes.empty() || !shapes.back().IsToken()) return op.Error("its last result is a token");
  shapes.pop_back();
  return DataShape(std::move(shapes));
}

// `result`: (data, token).
absl::Status FinishData(OpConversion& op, Instruction* result) {
  std::vector<Instruction*> values;
  const size_t arrays = op.op().results.size() - 1;
  if (arrays > 0) {
    Instruction* data = Element(op, result, 0);
    for (size_t i = 0; i < arrays; ++i) {
      values.push_back(arrays == 1 ? data : Element(op, data, static_cast<int64_t>(i)));
    }
  }
  values.push_back(Element(op, result, 1));
  return op.FinishEach(values);
}

absl::Status ConvertInfeed(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  ASSIGN_OR_RETURN(*attrs->mutable_infeed_config(), op.String("infeed_config"));
  ASSIGN_OR_RETURN(const Shape data, ResultData(op));
  Instruction* infeed = op.Add(Opcode::kInfeed, Shape::Tuple({data, Shape::Token()}), op.operands(), attrs);
  RETURN_IF_ERROR(op.body().state().Annotate(op.op().attributes, infeed));
  return FinishData(op, infeed);
}

absl::Status ConvertOutfeed(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  ASSIGN_OR_RETURN(*attrs->mutable_outfeed_config(), op.String("outfeed_config"));
  ASSIGN_OR_RETURN(Instruction * data, DataOperand(op));
  data->shape().ToProto(attrs->mutable_outfeed_shape());
  return op.Finish(
      op.Add(Opcode::kOutfeed, Shape::Token(), {data, op.operand(op.num_operands() - 1)}, attrs));
}

absl::StatusOr<xla::HloInstructionProto*> WithChannel(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  ASSIGN_OR_RETURN(const MlirAttribute channel, op.Struct("channel_handle"));
  ASSIGN_OR_RETURN(const int64_t id, op.IntegerOfField(channel, "handle", 0));
  attrs->set_channel_id(id);
  attrs->set_is_host_transfer(op.Flag("is_host_transfer"));
  return attrs;
}

absl::Status ConvertSend(OpConversion& op) {
  ASSIGN_OR_RETURN(const auto* attrs, WithChannel(op));
  ASSIGN_OR_RETURN(Instruction * data, DataOperand(op));
  const Shape state = Shape::Tuple({data->shape(), Shape(xla::U32, {}), Shape::Token()});
  Instruction* send = op.Add(Opcode::kSend, state, {data, op.operand(op.num_operands() - 1)}, attrs);
  RETURN_IF_ERROR(op.body().state().Annotate(op.op().attributes, send));
  return op.Finish(op.Add(Opcode::kSendDone, Shape::Token(), {send}, attrs));
}

absl::Status ConvertRecv(OpConversion& op) {
  ASSIGN_OR_RETURN(const auto* attrs, WithChannel(op));
  ASSIGN_OR_RETURN(const Shape data, ResultData(op));
  const Shape state = Shape::Tuple({data, Shape(xla::U32, {}), Shape::Token()});
  Instruction* recv = op.Add(Opcode::kRecv, state, op.operands(), attrs);
  RETURN_IF_ERROR(op.body().state().Annotate(op.op().attributes, recv));
  Instruction* done = op.Add(Opcode::kRecvDone, Shape::Tuple({data, Shape::Token()}), {recv}, attrs);
  RETURN_IF_ERROR(op.body().state().Annotate(op.op().attributes, done));
  return FinishData(op, done);
}

constexpr OpRow kRows[] = {
    {"stablehlo.infeed", Opcode::kInfeed, ConvertInfeed},
    {"stablehlo.outfeed", Opcode::kOutfeed, ConvertOutfeed},
    {"stablehlo.recv", Opcode::kRecv, ConvertRecv},
    {"stablehlo.send", Opcode::kSend, ConvertSend},
};

}  // namespace

absl::Span<const OpRow> TransferRows() { return kRows; }

}  // namespace toroid
