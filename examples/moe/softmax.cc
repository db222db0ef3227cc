#include "examples/moe/softmax.h"

namespace toroid {
namespace {

int64_t LastDimension(Value x) { return x->shape().rank() - 1; }

// Broadcasts one number per row of x over the row.
Value AlongRows(Value numbers, Value x, InstructionBuilder* b) {
  return b->BroadcastOver(numbers, x->shape().dims(), {LastDimension(x)});
}

}  // namespace

Value Softmax(Value x, ModelBuilder* m) {
  Builder& b = m->b();
  Builder::Scope scope(&b, "softmax");
  Value exponentials = b.Exp(b.Subtract(x, AlongRows(m->Shift(x), x, &b)));
  return b.Divide(exponentials, AlongRows(b.Sum(exponentials, {LastDimension(x)}), x, &b));
}

Value LateSoftmax(Value x, ModelBuilder* m) {
  Builder::Scope scope(&m->b(), "softmax");
  return LateSoftmax(x, &m->b(), m);
}

Value LateSoftmax(Value x, InstructionBuilder* b, ModelBuilder* m) {
  Value largest = m->Shift(x, b);
  Value sum = b->Sum(b->Exp(b->Subtract(x, AlongRows(largest, x, b))), {LastDimension(x)});
  return b->Exp(b->Subtract(x, AlongRows(b->Add(b->Log(sum), largest), x, b)));
}

ShiftedLogits ShiftLogits(Value x, ModelBuilder* m) {
  Builder& b = m->b();
  Value shifted = b.Subtract(x, AlongRows(m->Shift(x), x, &b));
  return {shifted, b.Log(b.Sum(b.Exp(shifted), {LastDimension(x)}))};
}

}  // namespace toroid
