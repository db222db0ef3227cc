#include "runtime/groups/scalar_run.h"

#include <cstring>

#include "hlo/base/status.h"

namespace toroid {

using Kind = BlockOp::Kind;

absl::Status RunOneElement(const Group& group, const BlockProgram& program, bool uniform, OpCall& call) {
  struct alignas(16) Value {
    char bytes[16];
  };
  Value values[kMostScalars];
  char* at[kMostScalars];
  for (const int o : program.outputs)
    RETURN_IF_ERROR(call.New(group.outputs[o].bytes, uniform, &call.result(o)));
  for (size_t r = 0; r < program.registers.size(); ++r) {
    const BlockProgram::Register& reg = program.registers[r];
    at[r] = reg.place == BlockProgram::Register::Place::kOutput ? call.result(reg.index).mutable_data()
                                                                : values[r].bytes;
  }
  for (const BlockOp& op : program.ops) {
    switch (op.kind) {
      case Kind::kRead: {
        const GroupNode& node = group.nodes[op.node];
        at[op.to] = const_cast<char*>(call.data(node.input)) + node.view.offset * op.width;
        break;
      }
      case Kind::kCount:
        op.count(group.nodes[op.node].view.offset, 0, 1, at[op.to]);
        break;
      case Kind::kWiden:
        NarrowToFloat(op.type, at[op.a], reinterpret_cast<float*>(at[op.to]), 1);
        break;
      case Kind::kNarrow:
        FloatToNarrow(op.type, reinterpret_cast<const float*>(at[op.a]), at[op.to], 1);
        break;
      case Kind::kRound:
        RoundToNarrow(op.type, reinterpret_cast<const float*>(at[op.a]), reinterpret_cast<float*>(at[op.to]),
                      1);
        break;
      case Kind::kCopy:
        std::memcpy(at[op.to], at[op.a], op.width);
        break;
      case Kind::kUnary:
        op.unary(at[op.a], at[op.to], 1);
        break;
      case Kind::kBinary:
        op.binary(at[op.a], at[op.b], at[op.to], 1, Repeat::kNone);
        break;
      case Kind::kSelect:
        op.select({reinterpret_cast<const bool*>(at[op.a]), 1}, {at[op.b], 1}, {at[op.c], 1}, at[op.to], 1);
        break;
      case Kind::kReduceRows:
      case Kind::kExpand:
      case Kind::kFoldLines:
      case Kind::kFoldPart:
        TOROID_CHECK(false, "a row of one element");
    }
  }
  return absl::OkStatus();
}

}  // namespace toroid
