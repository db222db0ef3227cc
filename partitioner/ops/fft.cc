// `fft`: dimensions in front of the transformed ones are a batch. Transformed dimensions may be cut too. The
// local program transforms one dimension after the other; for a cut one it chooses the scheme that sends
// fewer bytes:
//
//   lines      An all-to-all gives each of s devices whole lines of n elements, and a second one returns the
//              tiles of the result. A device sends 2 (s - 1) / s tiles, if padding the number of lines to a
//              multiple of s adds few.
//   four steps For few lines. n = s m; with i = i1 m + i2, k = k1 + s k2,
//                X[k] = sum over i2 of W_m^(i2 k2) W_n^(i2 k1) (sum over i1 of W_s^(i1 k1) x[i])
//              by an all-to-all before the inner sums, one between the sums, and one after them. A device
//              sends 3 (s - 1) / s tiles. Requires that s^2 divides n; not for IRFFT.
//
// Assignments compare these bytes with those of gathering, and of moving the cut to the batch, where it can
// stay from one transform to the next. So no sharding flows along transformed dimensions.
// Example: c64[1048576] over 8: 3 all-to-alls of a tile of 1 MiB, 2.75 MB; gathering sends 7.3 MB.
// Uneven: lines are padded to a multiple of s, and the results of padding lines are dropped; padding within a
//          line is sliced off before the transform.
// Source: D. H. Bailey, FFTs in external or hierarchical memory (1990), for the four steps.
#include <algorithm>
#include <numbers>

#include "hlo/base/math.h"
#include "partitioner/ops/op_families.h"
#include "partitioner/reshard/halo_exchange.h"

namespace toroid {
namespace {

// The transform along one dimension that is cut in `tiles`.
struct LineTransform {
  xla::FftType type;
  int64_t n_in, n_out;   // Elements of a line.
  int64_t w_in, w_out;   // Bytes of an element.
  int64_t tiles, lines;  // Number of tiles; number of local lines.

  int64_t TileIn() const { return CeilOfRatio(n_in, tiles); }
  int64_t TileOut() const { return CeilOfRatio(n_out, tiles); }

  // True if the four steps are possible and a device then sends fewer bytes than by lines.
  bool TakesFourSteps() const {
    if (type == xla::IRFFT || n_in % (tiles * tiles) != 0) return false;
    const double s = static_cast<double>(tiles), others = (s - 1) / s;
    const double in = static_cast<double>(TileIn() * w_in), out = static_cast<double>(TileOut() * w_out);
    const double complex = static_cast<double>(TileIn() * std::max(w_in, w_out));
    const double by_lines = others * static_cast<double>(CeilOfRatio(lines, tiles) * tiles) * (in + out);
    const double in_steps =
        static_cast<double>(lines) * (others * (in + 2 * complex) + (type == xla::RFFT ? out : 0));
    return in_steps < by_lines;
  }
};

int NumTransformed(const Instruction& op) { return op.attrs().fft_length_size(); }

// The type of the transform along dimension d: RFFT and IRFFT are real along the last dimension only, and
// complex along the others.
xla::FftType TypeAlong(const Instruction& op, int d) {
  const xla::FftType type = op.attrs().fft_type();
  if (d == op.shape().rank() - 1 || type == xla::FFT || type == xla::IFFT) return type;
  return type == xla::RFFT ? xla::FFT : xla::IFFT;
}

// The op's transform along dimension d, of `lines` local lines.
LineTransform TransformOf(const Instruction& op, int d, int64_t tiles, int64_t lines) {
  const Shape &in = op.operand(0)->shape(), &out = op.shape();
  const int64_t complex = std::max(ByteWidth(in.element_type()), ByteWidth(out.element_type()));
  const xla::FftType type = TypeAlong(op, d);
  return {type,
          in.dim(d),
          out.dim(d),
          type == xla::RFFT ? ByteWidth(in.element_type()) : complex,
          type == xla::IRFFT ? ByteWidth(out.element_type()) : complex,
          tiles,
          lines};
}

class FftWriter {
 public:
  explicit FftWriter(OpContext& context) : context_(context), op_(*context.op), b_(*context.b) {}

  Instruction* Write() {
    const int rank = op_.shape().rank(), first = rank - NumTransformed(op_);
    Instruction* x = context_.operands[0];
    const bool last_to_first = op_.attrs().fft_type() != xla::IRFFT;
    for (int i = first; i < rank; ++i) x = Along(x, last_to_first ? rank - 1 - (i - first) : i);
    return x;
  }

 private:
  // `x` transformed along dimension d.
  Instruction* Along(Instruction* x, int d) {
    const AxisList& axes = context_.AxesOf(0, d);
    const int64_t tiles = b_.mesh().Product(axes), own = x->shape().dim(d);
    // Transposes and reshapes x to [lines, tile]: dimension d last, all others together are the lines.
    std::vector<int64_t> there, back;
    for (int i = 0; i < x->shape().rank(); ++i) {
      if (i != d) there.push_back(i);
    }
    there.push_back(d);
    back.resize(there.size());
    for (size_t i = 0; i < there.size(); ++i) back[there[i]] = static_cast<int64_t>(i);
    x = b_.Transpose(x, there);
    Dims dims(x->shape().dims().begin(), x->shape().dims().end());
    const int64_t lines = x->shape().NumElements() / own;
    x = b_.Reshape(x, {lines, own});
    const LineTransform transform = TransformOf(op_, d, tiles, lines);
    if (axes.empty()) {
      x = Fft(x, transform.type, transform.type == xla::RFFT ? transform.n_in : transform.n_out);
    } else {
      x = transform.TakesFourSteps() ? InFourSteps(x, transform, axes) : ByLines(x, transform, axes);
    }
    dims.back() = x->shape().dim(1);
    return b_.Transpose(b_.Reshape(x, dims), back);
  }

  // Transforms the lines x [lines, n], which are whole.
  Instruction* Fft(Instruction* x, xla::FftType type, int64_t length) {
    xla::HloInstructionProto* attrs = b_.NewAttrs();
    attrs->set_fft_type(type);
    attrs->add_fft_length(length);
    Dims dims(x->shape().dims().begin(), x->shape().dims().end());
    dims.back() = type == xla::RFFT ? length / 2 + 1 : length;
    return b_.Op(Opcode::kFft, Shape(TypeAfter(x->shape().element_type(), type), dims), {x}, attrs);
  }

  static PrimitiveType TypeAfter(PrimitiveType type, xla::FftType fft) {
    if (fft == xla::RFFT) return type == xla::F64 ? xla::C128 : xla::C64;
    if (fft == xla::IRFFT) return type == xla::C128 ? xla::F64 : xla::F32;
    return type;
  }

  Instruction* WholeLine(Instruction* x, const LineTransform& t) {
    return Fft(b_.SliceAlong(x, 1, 0, t.n_in), t.type, t.type == xla::RFFT ? t.n_in : t.n_out);
  }

  Instruction* ByLines(Instruction* x, const LineTransform& t, const AxisList& axes) {
    const int64_t own = CeilOfRatio(t.lines, t.tiles);
    x = b_.Reshape(b_.PadAlong(x, 0, 0, own * t.tiles - t.lines), {t.tiles, own, t.TileIn()});
    x = b_.Transpose(b_.AllToAll(x, axes, 0), {1, 0, 2});
    x = WholeLine(b_.Reshape(x, {own, t.tiles * t.TileIn()}), t);
    x = b_.Reshape(b_.PadAlong(x, 1, 0, t.tiles * t.TileOut() - t.n_out), {own, t.tiles, t.TileOut()});
    x = b_.AllToAll(b_.Transpose(x, {1, 0, 2}), axes, 0);
    return b_.SliceAlong(b_.Reshape(x, {own * t.tiles, t.TileOut()}), 0, 0, t.lines);
  }

  Instruction* InFourSteps(Instruction* x, const LineTransform& t, const AxisList& axes) {
    const int64_t s = t.tiles, m = t.TileIn(), part = m / s, lines = t.lines;
    const xla::FftType type = t.type == xla::IFFT ? xla::IFFT : xla::FFT;
    // After the all-to-all: [lines, i1, i2], every device has a part of i2.
    x = b_.AllToAll(b_.Reshape(x, {lines, s, part}), axes, 1);
    if (t.type == xla::RFFT) x = b_.Convert(x, TypeAfter(x->shape().element_type(), xla::RFFT));
    x = Fft(b_.Transpose(x, {0, 2, 1}), type, s);  // [lines, i2, k1]
    x = b_.Multiply(x, Twiddles(x, t, axes));
    // After the all-to-all: [lines, i2], every device has one k1.
    x = b_.Transpose(b_.AllToAll(x, axes, 2), {0, 2, 1});
    x = Fft(b_.Reshape(x, {lines, m}), type, m);  // [lines, k2]
    // After the all-to-all: [lines, k2, k1], every device has a part of k2.
    x = b_.Transpose(b_.AllToAll(b_.Reshape(x, {lines, s, part}), axes, 1), {0, 2, 1});
    x = b_.Reshape(x, {lines, m});
    if (t.type != xla::RFFT) return x;
    return FetchWindow(b_, x, 1, t.n_in, axes, axes, {.scale = t.TileOut(), .length = t.TileOut()});
  }

  // W_n^(i2 k1), in the shape [.., i2, k1] of x, which holds this device's part of i2.
  Instruction* Twiddles(Instruction* x, const LineTransform& t, const AxisList& axes) {
    const auto dims = x->shape().dims();
    const PrimitiveType index = SpmdBuilder::IndexType(t.n_in);
    const PrimitiveType real = x->shape().element_type() == xla::C128 ? xla::F64 : xla::F32;
    Instruction* row = b_.Add(b_.Iota(index, dims, 1), b_.Broadcast(b_.Offset(axes, dims[1], index), dims));
    Instruction* turns = b_.Convert(b_.Multiply(row, b_.Iota(index, dims, 2)), real);
    const double sign = t.type == xla::IFFT ? 1 : -1;
    Instruction* angle = b_.MultiplyNumber(turns, sign * 2 * std::numbers::pi / static_cast<double>(t.n_in));
    Instruction *real_part = b_.Unary(Opcode::kCos, angle), *imaginary = b_.Unary(Opcode::kSin, angle);
    return b_.Op(Opcode::kComplex, x->shape(), {real_part, imaginary});
  }

  OpContext& context_;
  const Instruction& op_;
  SpmdBuilder& b_;
};

ShardingRule FftShardingRule(const Instruction& op) {
  const int rank = op.shape().rank();
  ShardingRule rule = PointwiseRule(op.shape().dims(), 1);
  for (int d = rank - NumTransformed(op); d < rank; ++d) rule.factors[d].kind = FactorKind::kExchanged;
  rule.weighs_gathering = true;
  return rule;
}

std::vector<Instruction*> PartitionFft(OpContext& context) {
  const int rank = context.op->shape().rank();
  bool is_cut = false;
  for (int d = rank - NumTransformed(*context.op); d < rank; ++d) is_cut |= context.IsCut(0, d);
  if (!is_cut || context.op->operand(0)->shape().NumElements() == 0) return context.CloneLocal();
  return {FftWriter(context).Write()};
}

}  // namespace

const OpFamily families::kFft = {FftShardingRule, PartitionFft};

}  // namespace toroid
