#include "partitioner/ops/column_sort.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "partitioner/reshard/halo_exchange.h"

// Why every row is at most w = (s - 1)^2 rows from its final place after step 4: take row i of tile j after
// step 3. i rows precede it in that tile; a_c of them come from tile c of step 1, where they were rows j, j +
// s, ... So at least j + (a_c - 1) s + 1 and at most j + a_c s rows of tile c precede it; for the tile that
// it comes from itself, exactly j + a_c s. Summed over the s tiles, its final place is in [s i + s j - (s -
// 1)^2, s i + s j]. Step 4 puts it at s i + j, and 0 <= j < s.

namespace toroid {
namespace {

// True if rows that compare equal are identical, so that their order does not matter.
bool AreEqualRowsAlike(const Instruction& op) {
  if (op.num_operands() != 1) return false;
  const Instruction& root = *op.called(0)->root();
  if (root.opcode() != Opcode::kCompare) return false;
  const Instruction &a = *root.operand(0), &b = *root.operand(1);
  if (a.opcode() != Opcode::kParameter || b.opcode() != Opcode::kParameter || &a == &b) return false;
  return !IsFloat(a.shape().element_type()) || root.attrs().comparison_type() == "TOTALORDER";
}

// The largest value of an integer type, at most 2^62; -1 for other types.
int64_t LargestOf(PrimitiveType type) {
  if (!IsInt(type)) return -1;
  const int bits = BitWidth(type) - (IsSignedInt(type) ? 1 : 0);
  return bits > 62 ? int64_t{1} << 62 : (int64_t{1} << bits) - 1;
}

// The sort's comparison with ties broken by a number: operand `number` of the sort or, if that is the count
// of its operands, one more operand of `type`. Rows whose number is at least `padding` come behind all others
// (-1: no padding).
Computation* LessByNumber(const OpContext& context, int number, PrimitiveType type, int64_t padding) {
  const Computation& less = *context.op->called(0);
  InstructionBuilder b = context.b->InNewComputation(absl::StrCat(less.name(), ".numbered"));
  std::vector<Instruction*> arguments, swapped;
  for (const Instruction* parameter : less.parameters())
    arguments.push_back(b.Parameter(parameter->shape(), ""));
  for (size_t i = 0; i < arguments.size(); ++i) swapped.push_back(arguments[i ^ 1]);
  Instruction *left, *right;
  if (number < context.op->num_operands()) {
    left = arguments[2 * number];
    right = arguments[2 * number + 1];
  } else {
    left = b.Parameter(Shape(type, {}), "");
    right = b.Parameter(Shape(type, {}), "");
  }
  const int root = less.root()->index();
  Instruction* before = context.CopyInto(less, arguments, b.computation())[root];
  Instruction* behind = context.CopyInto(less, swapped, b.computation())[root];
  Instruction* result = b.Or(before, b.And(b.Not(behind), b.Compare(left, right, "LT")));
  if (padding >= 0) {
    Instruction* limit = b.IntScalar(padding, type);
    result = b.And(b.Compare(left, limit, "LT"), b.Or(b.Compare(right, limit, "GE"), result));
  }
  return b.Finish(result);
}

// The index of an operand of the sort that counts rows: an iota along the sorted dimension, or a broadcast of
// one, in a type that holds numbers beyond the row count. -1: none. It gives the original order of equal
// rows.
int CounterOf(const Instruction& op) {
  const int dim = static_cast<int>(op.dimension());
  const int64_t n = op.operand(0)->shape().dim(dim);
  for (int i = 0; i < op.num_operands(); ++i) {
    const Instruction* operand = op.operand(i);
    int64_t along = dim;
    if (operand->opcode() == Opcode::kBroadcast) {
      const auto dimensions = operand->dimensions();
      const auto it = std::find(dimensions.begin(), dimensions.end(), along);
      if (it == dimensions.end()) continue;
      along = it - dimensions.begin();
      operand = operand->operand(0);
    }
    if (operand->opcode() != Opcode::kIota || operand->dimension() != along) continue;
    if (LargestOf(operand->shape().element_type()) > n) return i;
  }
  return -1;
}

}  // namespace

std::vector<Instruction*> SortOf(const OpContext& context, absl::Span<Instruction* const> operands,
                                 Computation* less) {
  SpmdBuilder& b = *context.b;
  std::vector<Shape> shapes;
  for (const Instruction* operand : operands) shapes.push_back(operand->shape());
  Instruction* sorted = b.Clone(*context.op, shapes.size() == 1 ? shapes[0] : Shape::Tuple(shapes), operands);
  Computation* called[] = {less};
  sorted->set_called(called);
  return b.Flatten(sorted);
}

Computation* LessWithFlag(const OpContext& context) {
  const Computation& less = *context.op->called(0);
  InstructionBuilder b = context.b->InNewComputation(absl::StrCat(less.name(), ".flagged"));
  std::vector<Instruction*> arguments;
  for (const Instruction* parameter : less.parameters())
    arguments.push_back(b.Parameter(parameter->shape(), ""));
  Instruction* left = b.Parameter(Shape(xla::PRED, {}), "");
  Instruction* right = b.Parameter(Shape(xla::PRED, {}), "");
  const std::vector<Instruction*> copies = context.CopyInto(less, arguments, b.computation());
  return b.Finish(b.And(b.Not(left), b.Or(right, copies[less.root()->index()])));
}

namespace {

class ColumnSortWriter {
 public:
  explicit ColumnSortWriter(const OpContext& context)
      : context_(context),
        b_(*context.b),
        dim_(static_cast<int>(context.op->dimension())),
        axes_(context.AxesOf(0, dim_)),
        n_(context.GlobalDim(0, dim_)),
        tiles_(b_.mesh().Product(axes_)),
        tile_(CeilOfRatio(n_, tiles_)),
        border_((tiles_ - 1) * (tiles_ - 1)),
        rows_(CeilOfRatio(std::max(tile_, 2 * border_), tiles_) * tiles_),
        index_type_(SpmdBuilder::IndexType(rows_ * tiles_ + 1)),
        counter_(CounterOf(*context.op)),
        arrays_(context.operands) {
    const Instruction& op = *context.op;
    numbers_ = counter_ < 0 &&
               (IsPadded() || ((op.attrs().is_stable() || op.num_operands() > 1) && !AreEqualRowsAlike(op)));
    const int64_t most = rows_ * tiles_;
    number_type_ = most <= UINT8_MAX ? xla::U8 : most <= UINT16_MAX ? xla::U16 : SpmdBuilder::IndexType(most);
  }

  std::vector<Instruction*> Build() {
    SortOwnRows();
    for (Instruction*& array : arrays_) array = Deal(array);
    if (numbers_) arrays_.push_back(Numbers());
    arrays_ = SortOf(context_, arrays_, less_);
    for (Instruction*& array : arrays_) array = Stack(array);
    arrays_ = SortOf(context_, arrays_, less_);
    if (border_ > 0) MergeBorders();
    arrays_.resize(context_.operands.size());
    if (rows_ != tile_) {
      for (Instruction*& array : arrays_) {
        array = FetchWindow(b_, array, dim_, rows_ * tiles_, axes_, axes_, {.scale = tile_, .length = tile_});
      }
    }
    return arrays_;
  }

 private:
  // Step 1: pads the tile to r rows and sorts it. Sets `less_`, the comparison of all later steps.
  void SortOwnRows() {
    Computation* given = b_.CopyOf(context_.op->called(0));
    less_ = given;
    const int64_t more = rows_ - tile_;
    if (counter_ >= 0) {
      Instruction*& counter = arrays_[counter_];
      const PrimitiveType type = counter->shape().element_type();
      Instruction* last = b_.IntScalar(n_, type);
      counter = b_.MaskPadding(counter, dim_, n_, axes_, last);
      for (int i = 0; i < static_cast<int>(arrays_.size()); ++i) {
        arrays_[i] = b_.PadAlong(arrays_[i], dim_, 0, more, i == counter_ ? last : nullptr);
      }
      less_ = LessByNumber(context_, counter_, type, IsPadded() ? n_ : -1);
      arrays_ = SortOf(context_, arrays_, less_);
      return;
    }
    Computation* first = given;
    if (IsPadded()) {
      Instruction* yes = b_.Constant(Literal::Scalar<bool>(true));
      Instruction* flags =
          b_.Broadcast(b_.Constant(Literal::Scalar<bool>(false)), arrays_[0]->shape().dims());
      flags = b_.PadAlong(b_.MaskPadding(flags, dim_, n_, axes_, yes), dim_, 0, more, yes);
      for (Instruction*& array : arrays_) array = b_.PadAlong(array, dim_, 0, more);
      arrays_.push_back(flags);
      first = LessWithFlag(context_);
    }
    arrays_ = SortOf(context_, arrays_, first);
    arrays_.resize(context_.operands.size());
    if (numbers_) {
      less_ =
          LessByNumber(context_, static_cast<int>(arrays_.size()), number_type_, IsPadded() ? Padding() : -1);
    }
  }

  bool IsPadded() const { return rows_ * tiles_ != n_; }

  // The number that padding rows carry, greater than that of any other row.
  int64_t Padding() const { return rows_ * tiles_; }

  // The dimensions of x with the sorted one split in two: [..., major, minor, ...].
  Dims Split(const Instruction* x, int64_t major, int64_t minor) const {
    Dims dims(x->shape().dims().begin(), x->shape().dims().end());
    dims[dim_] = major;
    dims.insert(dims.begin() + dim_ + 1, minor);
    return dims;
  }

  // Step 2: afterwards position m s + c of tile j holds row m s + j of tile c.
  Instruction* Deal(Instruction* x) {
    Instruction* split = b_.Reshape(x, Split(x, rows_ / tiles_, tiles_));
    return b_.Reshape(b_.AllToAll(split, axes_, dim_ + 1), x->shape().dims());
  }

  // Step 4: afterwards tile j holds rows [j r / s, (j + 1) r / s) of all tiles, in order of the tiles.
  Instruction* Stack(Instruction* x) {
    Instruction* split = b_.Reshape(x, Split(x, tiles_, rows_ / tiles_));
    return b_.Reshape(b_.AllToAll(split, axes_, dim_), x->shape().dims());
  }

  // The numbers of the rows that a tile holds after step 2: r c + k for row k of tile c.
  Instruction* Numbers() {
    const auto dims = arrays_[0]->shape().dims();
    const Dims split = Split(arrays_[0], rows_ / tiles_, tiles_);
    const auto full = [&](int64_t value) { return b_.Broadcast(b_.IntScalar(value, index_type_), split); };
    Instruction* own = b_.Broadcast(b_.Offset(axes_, 1, index_type_), split);
    Instruction* row = b_.Add(b_.Multiply(b_.Iota(index_type_, split, dim_), full(tiles_)), own);
    Instruction* tile = b_.Iota(index_type_, split, dim_ + 1);
    Instruction* number = b_.Add(row, b_.Multiply(tile, full(rows_)));
    if (IsPadded()) {
      Instruction* at = b_.Add(row, b_.Multiply(tile, full(tile_)));
      Instruction* is_row = b_.And(b_.Compare(row, full(tile_), "LT"), b_.Compare(at, full(n_), "LT"));
      number = b_.Select(is_row, number, full(Padding()));
    }
    return b_.Reshape(b_.Convert(number, number_type_), dims);
  }

  // Step 5: the last w rows of a tile and the first w of the next are sorted together.
  void MergeBorders() {
    const int64_t w = border_, r = rows_;
    // The w rows on each side of the border before the tile, and of the border behind it.
    std::vector<Instruction*> before, behind;
    for (Instruction* array : arrays_) {
      Instruction* window = FetchWindow(b_, array, dim_, r * tiles_, axes_, axes_,
                                        {.scale = r, .shift = -w, .length = r + 2 * w});
      before.push_back(b_.SliceAlong(window, dim_, 0, 2 * w));
      behind.push_back(b_.SliceAlong(window, dim_, r, r + 2 * w));
    }
    before = SortOf(context_, before, less_);
    behind = SortOf(context_, behind, less_);
    Instruction* own = b_.Coordinate(axes_);
    Instruction* is_first = b_.Compare(own, b_.IntScalar(0), "EQ");
    Instruction* is_last = b_.Compare(own, b_.IntScalar(tiles_ - 1), "EQ");
    for (size_t i = 0; i < arrays_.size(); ++i) {
      Instruction* x = arrays_[i];
      const auto pick = [&](Instruction* at_end, int64_t start, Instruction* merged) {
        Instruction* kept = b_.SliceAlong(x, dim_, start, start + w);
        return b_.Select(b_.Broadcast(at_end, kept->shape().dims()), kept, merged);
      };
      Instruction* first = pick(is_first, 0, b_.SliceAlong(before[i], dim_, w, 2 * w));
      Instruction* last = pick(is_last, r - w, b_.SliceAlong(behind[i], dim_, 0, w));
      std::vector<Instruction*> parts = {first};
      if (r > 2 * w) parts.push_back(b_.SliceAlong(x, dim_, w, r - w));
      parts.push_back(last);
      arrays_[i] = b_.Concatenate(parts, dim_);
    }
  }

  const OpContext& context_;
  SpmdBuilder& b_;
  const int dim_;
  const AxisList& axes_;
  const int64_t n_, tiles_, tile_;
  const int64_t border_;  // w
  const int64_t rows_;    // r
  const PrimitiveType index_type_;
  const int counter_;     // The operand that counts rows; -1: none.
  bool numbers_ = false;  // True if each row carries a number, of number_type_.
  PrimitiveType number_type_ = xla::S32;
  std::vector<Instruction*> arrays_;
  Computation* less_ = nullptr;
};

}  // namespace

std::vector<Instruction*> ColumnSort(const OpContext& context) { return ColumnSortWriter(context).Build(); }

}  // namespace toroid
