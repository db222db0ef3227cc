// `cholesky`: dimensions in front of the matrix are a batch. The rows of the matrix may be cut too if the op
// reads the lower triangle, its columns if the op reads the upper one. The upper case is the lower one of the
// conjugate transpose:
//
//   L L^H = A, in blocks of t rows, one per device. For k = 0, 1, ..:
//     device k:   L_kk = cholesky(A_kk - sum over l < k of L_kl L_kl^H); it sends L_k0 .. L_kk to all others
//     device i:   L_ik = (A_ik - sum over l < k of L_il L_kl^H) L_kk^-H, for i > k
//
// Example: f32[4096,4096] over 8: 7 broadcasts of 1 to 7 blocks of 1 MiB, 29 MB; gathering sends 59 MB.
// Flops: about n^3 / D on each of D devices, instead of n^3 / 3.
// Uneven: rows and columns beyond the matrix are filled with those of the identity.
#include "hlo/base/math.h"
#include "partitioner/ops/block_matrix.h"
#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

// The dimension that may be cut.
int CutDimension(const Instruction& op) {
  return op.shape().rank() - (op.attrs().cholesky_options().lower() ? 2 : 1);
}

class CholeskyWriter {
 public:
  explicit CholeskyWriter(OpContext& context)
      : op_(*context.op),
        b_(*context.b),
        m_(b_),
        axes_(context.AxesOf(0, CutDimension(op_))),
        n_(op_.shape().dim(op_.shape().rank() - 1)) {}

  Instruction* Write(Instruction* a) {
    const bool lower = op_.attrs().cholesky_options().lower();
    if (!lower) a = m_.Conjugate(m_.Transpose(a));
    Instruction* factor = Lower(a);
    return lower ? factor : m_.Conjugate(m_.Transpose(factor));
  }

 private:
  // This device's rows of L, from its rows of A.
  Instruction* Lower(Instruction* a) {
    const int64_t t = BlockMatrix::Rows(a), blocks = CeilOfRatio(n_, t);
    Instruction* start = b_.Offset(axes_, t, SpmdBuilder::IndexType(t * b_.mesh().Product(axes_)));
    a = Completed(a, start, t * b_.mesh().Product(axes_));
    Instruction* diagonal = b_.DynamicSliceAlong(a, a->shape().rank() - 1, start, t);
    std::vector<Instruction*> row;  // This device's blocks L_i0, L_i1, ...
    for (int64_t k = 0; k < blocks; ++k) {
      Instruction* own = b_.Clone(op_, diagonal->shape(), {diagonal});
      if (op_.attrs().cholesky_options().lower() == false) own = AsLower(diagonal);
      if (k + 1 == blocks) {
        row.push_back(m_.WhereOwned(axes_, k, own, m_.ZerosLike(own)));
        break;
      }
      std::vector<Instruction*> sent = row;
      sent.push_back(own);
      Instruction* theirs = b_.BroadcastFrom(m_.Beside(sent), axes_, k);
      Instruction* rest = m_.ColumnsOf(a, k * t, (k + 1) * t);
      if (k > 0) {
        Instruction* before = m_.Conjugate(m_.ColumnsOf(theirs, 0, k * t));
        rest = b_.Subtract(rest, m_.TimesTransposed(m_.Beside(row), before));
      }
      Instruction* block = Solve(m_.ColumnsOf(theirs, k * t, (k + 1) * t), rest);
      diagonal = b_.Subtract(diagonal, m_.TimesTransposed(block, m_.Conjugate(block)));
      row.push_back(m_.WhereOwned(axes_, k, own, block));
    }
    Instruction* all = m_.ColumnsOf(m_.Beside(row), 0, n_);
    Instruction* is_below = b_.Compare(m_.ColumnNumbers(all, b_.Zero(start->shape().element_type())),
                                       m_.RowNumbers(all, start), "LE");
    return b_.Select(is_below, all, m_.ZerosLike(all));
  }

  // `a` padded to `columns` columns; rows from n on are those of the identity.
  Instruction* Completed(Instruction* a, Instruction* start, int64_t columns) {
    if (columns == n_) return a;
    a = b_.PadAlong(a, a->shape().rank() - 1, 0, columns - n_);
    const PrimitiveType type = start->shape().element_type();
    Instruction* rows = m_.RowNumbers(a, start);
    Instruction* is_row = b_.Compare(rows, b_.Broadcast(b_.IntScalar(n_, type), a->shape().dims()), "LT");
    Instruction* is_one = b_.Compare(rows, m_.ColumnNumbers(a, b_.Zero(type)), "EQ");
    Instruction* identity = b_.Convert(b_.Convert(is_one, xla::F32), a->shape().element_type());
    return b_.Select(is_row, a, identity);
  }

  // L from the lower triangle of a, by an op that reads the upper one.
  Instruction* AsLower(Instruction* a) {
    Instruction* upper = m_.Conjugate(m_.Transpose(a));
    return m_.Conjugate(m_.Transpose(b_.Clone(op_, upper->shape(), {upper})));
  }

  // Solves x l^H = y for x.
  Instruction* Solve(Instruction* l, Instruction* y) {
    xla::HloInstructionProto* attrs = b_.NewAttrs();
    auto* options = attrs->mutable_triangular_solve_options();
    options->set_lower(true);
    options->set_transpose_a(xla::TriangularSolveOptions::ADJOINT);
    return b_.Op(Opcode::kTriangularSolve, y->shape(), {l, y}, attrs);
  }

  const Instruction& op_;
  SpmdBuilder& b_;
  BlockMatrix m_;
  const AxisList& axes_;
  const int64_t n_;
};

ShardingRule CholeskyShardingRule(const Instruction& op) {
  const int rank = op.shape().rank();
  ShardingRule rule = BatchRule(op, rank - 2);
  rule.factors[CutDimension(op)].kind = FactorKind::kExchanged;
  rule.weighs_gathering = true;
  return rule;
}

std::vector<Instruction*> PartitionCholesky(OpContext& context) {
  if (!context.IsCut(0, CutDimension(*context.op))) return context.CloneLocal();
  return {CholeskyWriter(context).Write(context.operands[0])};
}

}  // namespace

const OpFamily families::kCholesky = {CholeskyShardingRule, PartitionCholesky};

}  // namespace toroid
