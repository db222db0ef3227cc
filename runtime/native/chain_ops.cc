#include "runtime/native/chain_ops.h"

#include "hlo/base/status.h"
#include "runtime/loops/float_functions.h"

namespace toroid {
namespace {

using asmjit::x86::Compiler;
using asmjit::x86::Xmm;
using asmjit::x86::Ymm;

// scalar_ops.h says which operand a maximum gives.
Floats Maximum(const Floats& a, const Floats& b) { return Choose(IsNan(a), a, GreaterOrSecond(a, b)); }
Floats Minimum(const Floats& a, const Floats& b) { return Choose(IsNan(a), a, LesserOrSecond(a, b)); }

Floats Rounded(const Floats& x, int mode) {
  return Append(x.lanes,
                [mode](auto& code, const auto& to, const auto& from) { code.vroundps(to, from, mode | 8); });
}

Lanes FloatOp(Opcode opcode, const Floats& a, const Floats& b) {
  constexpr int kNearest = 0, kDown = 1, kUp = 2;
  switch (opcode) {
    case Opcode::kAdd:
      return (a + b).lanes;
    case Opcode::kSubtract:
      return (a - b).lanes;
    case Opcode::kMultiply:
      return (a * b).lanes;
    case Opcode::kDivide:
      return (a / b).lanes;
    case Opcode::kMaximum:
      return Maximum(a, b).lanes;
    case Opcode::kMinimum:
      return Minimum(a, b).lanes;
    case Opcode::kNegate:
      return (-a).lanes;
    case Opcode::kAbs:
      return Magnitude(a).lanes;
    case Opcode::kSign:
      return Choose(a > 0.0f, 1.0f, Choose(a < 0.0f, -1.0f, a)).lanes;
    case Opcode::kSqrt:
      return SquareRoot(a).lanes;
    case Opcode::kRsqrt:
      return (Floats(1.0f) / SquareRoot(a)).lanes;
    case Opcode::kFloor:
      return Rounded(a, kDown).lanes;
    case Opcode::kCeil:
      return Rounded(a, kUp).lanes;
    case Opcode::kRoundNearestEven:
      return Rounded(a, kNearest).lanes;
    case Opcode::kExp:
      return ExpOf<Floats>(a).lanes;
    case Opcode::kTanh:
      return TanhOf<Floats>(a).lanes;
    case Opcode::kLog:
      return LogOf<Floats>(a).lanes;
    case Opcode::kLog1p:
      return Log1pOf<Floats>(a).lanes;
    case Opcode::kLogistic:
      return LogisticOf<Floats>(a).lanes;
    default:
      break;
  }
  TOROID_CHECK(false, "no machine code for ", OpcodeName(opcode), " on f32");
  return {};
}

// Without a sign, numbers are in order once the highest bit is exchanged; so are true, all bits set, and false.
Ints InOrder(const Ints& x, bool is_signed) { return is_signed ? x : x ^ Ints(0x80000000u); }

Lanes IntOp(Opcode opcode, bool is_signed, const Ints& a, const Ints& b) {
  switch (opcode) {
    case Opcode::kAdd:
      return (a + b).lanes;
    case Opcode::kSubtract:
      return (a - b).lanes;
    case Opcode::kMultiply:
      return (a * b).lanes;
    case Opcode::kMaximum:
      return is_signed ? Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vpmaxsd))
                       : Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vpmaxud));
    case Opcode::kMinimum:
      return is_signed ? Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vpminsd))
                       : Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vpminud));
    case Opcode::kNegate:
      return (Ints(0) - a).lanes;
    case Opcode::kAbs:
      return Append(a.lanes, TOROID_LANES_OF_ONE(vpabsd));
    case Opcode::kAnd:
      return (a & b).lanes;
    case Opcode::kOr:
      return (a | b).lanes;
    case Opcode::kXor:
      return (a ^ b).lanes;
    case Opcode::kNot:
      return (a ^ Ints(~0u)).lanes;
    // Shifts by 32 bits and more leave what HLO says.
    case Opcode::kShiftLeft:
      return Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vpsllvd));
    case Opcode::kShiftRightLogical:
      return Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vpsrlvd));
    case Opcode::kShiftRightArithmetic:
      return Append(a.lanes, b.lanes, TOROID_LANES_OF_TWO(vpsravd));
    default:
      break;
  }
  TOROID_CHECK(false, "no machine code for ", OpcodeName(opcode), " on integers");
  return {};
}

Lanes Compared(const ChainOp& op, const Lanes& x, const Lanes& y) {
  using Direction = ChainDirection;
  if (op.from == xla::F32) {
    constexpr FloatOrder kOrders[] = {FloatOrder::kEq, FloatOrder::kNe, FloatOrder::kGe,
                                      FloatOrder::kGt, FloatOrder::kLe, FloatOrder::kLt};
    return Compare(x, y, kOrders[static_cast<int>(op.direction)]).lanes;
  }
  const Ints a = InOrder(x, op.from == xla::S32), b = InOrder(y, op.from == xla::S32);
  switch (op.direction) {
    case Direction::kEq:
      return (a == b).lanes;
    case Direction::kNe:
      return (!(a == b)).lanes;
    case Direction::kGe:
      return (!(b > a)).lanes;
    case Direction::kGt:
      return (a > b).lanes;
    case Direction::kLe:
      return (!(a > b)).lanes;
    case Direction::kLt:
      return (b > a).lanes;
  }
  return {};
}

// Saturates; NaN gives 0.
Ints ToInt(const Floats& x, float low, float greatest) {
  const Floats number = Choose(IsNan(x), 0.0f, x);
  return Truncated(LesserOrSecond(GreaterOrSecond(number, low), greatest));
}

Ints FloatToInt(const Floats& x, PrimitiveType to) {
  switch (to) {
    case xla::S8:
      return ToInt(x, -128, 127);
    case xla::U8:
      return ToInt(x, 0, 255);
    case xla::S16:
      return ToInt(x, -32768, 32767);
    case xla::U16:
      return ToInt(x, 0, 65535);
    default:
      break;
  }
  constexpr float kEnd = 2147483648.0f, kGreatest = 2147483520.0f;  // The greatest float below 2^31.
  return Choose(x >= kEnd, Ints(0x7FFFFFFF), ToInt(x, -kEnd, kGreatest));
}

// The nearest float: both halves are exact, and their sum rounds once.
Floats UnsignedToFloat(const Ints& x) {
  return ToFloat(ShiftRightLogical(x, 16)) * 65536.0f + ToFloat(x & Ints(0xFFFF));
}

// Modulo 2^bits.
Ints Wrapped(const Ints& x, PrimitiveType to) {
  switch (to) {
    case xla::S8:
      return (x << 24) >> 24;
    case xla::U8:
      return x & Ints(0xFF);
    case xla::S16:
      return (x << 16) >> 16;
    case xla::U16:
      return x & Ints(0xFFFF);
    default:
      return x;
  }
}

// The 16 bits nearest to a float, ties to even, NaN to the quiet NaN of its sign.
Ints ToBf16(const Floats& x) {
  const Ints bits = BitsOf(x), high = ShiftRightLogical(bits, 16);
  const Ints nearest = ShiftRightLogical(bits + Ints(0x7FFF) + (high & Ints(1)), 16);
  return Choose(IsNan(x), (high & Ints(0x8000)) | Ints(0x7FC0), nearest);
}

Ints ToHalf(const Floats& x) {
  return Append(x.lanes, [](Compiler& code, const Ymm& to, const Ymm& from) {
    const Xmm halves = code.newXmm();
    code.vcvtps2ph(halves, from, 0);
    code.vpmovzxwd(to, halves);
  });
}

Floats FromHalf(const Ints& x) {
  return Append(x.lanes, [](Compiler& code, const Ymm& to, const Ymm& from) {
    const Ymm packed = code.newYmm();
    code.vpackusdw(packed, from, from);  // Each half of the register by itself.
    code.vpermq(packed, packed, 0x08);
    code.vcvtph2ps(to, packed.xmm());
  });
}

Floats Widened(const Lanes& x, PrimitiveType type) {
  return type == xla::BF16 ? FloatOfBits(Ints(x) << 16) : FromHalf(x);
}
Lanes Narrowed(const Floats& x, PrimitiveType type) {
  return (type == xla::BF16 ? ToBf16(x) : ToHalf(x)).lanes;
}

Lanes Converted(const ChainOp& op, const Lanes& x) {
  if (IsHalf(op.from)) return Widened(x, op.from).lanes;
  if (IsHalf(op.to)) return Narrowed(x, op.to);
  if (op.from == xla::PRED) {
    return (Ints(x) & (op.to == xla::F32 ? BitsOf(Floats(1.0f)) : Ints(1))).lanes;
  }
  if (op.to == xla::PRED) {
    return op.from == xla::F32 ? Compare(x, 0.0f, FloatOrder::kNe).lanes : (!(Ints(x) == Ints(0))).lanes;
  }
  if (op.from == xla::F32) return FloatToInt(x, op.to).lanes;
  if (op.to == xla::F32) return (op.from == xla::U32 ? UnsignedToFloat(x) : ToFloat(x)).lanes;
  return Wrapped(x, op.to).lanes;
}

// The low 16, or 8, bits of each lane, side by side.
Xmm Packed(Compiler& code, const Ymm& lanes, int width) {
  const Ymm low = code.newYmm();
  code.vpand(low, lanes, InMemory(code, width == 2 ? 0xFFFF : 0xFF));
  code.vpackusdw(low, low, low);
  code.vpermq(low, low, 0x08);
  if (width == 1) code.vpackuswb(low.xmm(), low.xmm(), low.xmm());
  return low.xmm();
}

// From bytes 0 and 1 to all bits or none.
Lanes FromMemory(PrimitiveType type, const Lanes& lanes) {
  return type == xla::PRED ? (Ints(lanes) > Ints(0)).lanes : lanes;
}

void Load(Compiler& code, PrimitiveType type, const Ymm& lanes, const asmjit::x86::Mem& at) {
  switch (type) {
    case xla::S8:
      code.vpmovsxbd(lanes, at);
      break;
    case xla::U8:
    case xla::PRED:
      code.vpmovzxbd(lanes, at);
      break;
    case xla::S16:
      code.vpmovsxwd(lanes, at);
      break;
    case xla::U16:
    case xla::BF16:
    case xla::F16:
      code.vpmovzxwd(lanes, at);
      break;
    default:
      code.vmovups(lanes, at);
  }
}

}  // namespace

Lanes AppendOp(const ChainOp& op, absl::Span<const Lanes> operands) {
  const Lanes& first = operands[0];
  const Lanes second = operands.size() > 1 ? operands[1] : Lanes{};
  switch (op.opcode) {
    case Opcode::kConvert:
      return Converted(op, first);
    case Opcode::kReducePrecision:
      return Widened(Narrowed(first, op.to), op.to).lanes;
    case Opcode::kCompare:
      return Compared(op, first, second);
    case Opcode::kSelect:
      return Blend({first}, second, operands[2]);
    default:
      break;
  }
  return op.from == xla::F32 ? FloatOp(op.opcode, first, second)
                             : IntOp(op.opcode, op.from == xla::S32, first, second);
}

Lanes AppendLoad(Compiler& code, PrimitiveType type, asmjit::x86::Mem at, int registers) {
  const Lanes lanes = NewLanes(code, registers);
  for (int i = 0; i < registers; ++i) {
    Load(code, type, lanes.reg[i], at);
    at.addOffset(static_cast<int64_t>(at.size()));
  }
  return FromMemory(type, lanes);
}

Lanes AppendRepeated(Compiler& code, PrimitiveType type, asmjit::x86::Mem at, int registers) {
  const Ymm lanes = code.newYmm();
  if (ByteWidth(type) == 4) {
    code.vbroadcastss(lanes, at);
  } else {
    const asmjit::x86::Gp one = code.newInt32();
    if (type == xla::S8 || type == xla::S16) {
      code.movsx(one, at);
    } else {
      code.movzx(one, at);
    }
    code.vmovd(lanes.xmm(), one);
    code.vpbroadcastd(lanes, lanes.xmm());
  }
  const Lanes once = FromMemory(type, {&code, 1, {lanes}, 0});
  return {&code, registers, {once.reg[0], once.reg[0]}, 0};
}

void AppendStore(PrimitiveType type, const Lanes& value, asmjit::x86::Mem at) {
  Compiler& code = *value.code;
  const Lanes bytes = type == xla::PRED ? (Ints(value) & Ints(1)).lanes : value;
  for (int i = 0; i < value.registers; ++i) {
    switch (ByteWidth(type)) {
      case 2:
        code.vmovups(at, Packed(code, bytes.reg[i], 2));
        break;
      case 1:
        code.vmovq(at, Packed(code, bytes.reg[i], 1));
        break;
      default:
        code.vmovups(at, bytes.reg[i]);
    }
    at.addOffset(static_cast<int64_t>(at.size()));
  }
}

}  // namespace toroid
