#include "examples/moe/beam_search.h"

#include <limits>
#include <vector>

namespace toroid {
namespace {

using Sizes = std::vector<int64_t>;

// Scores below every candidate: for excluded words, and for candidates that were taken already.
constexpr double kExcluded = -1e30, kTaken = -2e30;

// (value, index), (value, index) -> the pair with the larger value; if values are equal, the one with the
// lower index.
Computation* LargerValue(InstructionBuilder* outer) {
  InstructionBuilder b = outer->InNewComputation("larger_value");
  const Shape value(xla::F32, {}), index(xla::S32, {});
  Value value1 = b.Parameter(value, "value1"), index1 = b.Parameter(index, "index1");
  Value value2 = b.Parameter(value, "value2"), index2 = b.Parameter(index, "index2");
  Value is_lower = b.And(b.Compare(value1, value2, "EQ"), b.Compare(index1, index2, "LT"));
  Value is_first = b.Or(b.Compare(value1, value2, "GT"), is_lower);
  return b.Finish(b.Tuple({b.Select(is_first, value1, value2), b.Select(is_first, index1, index2)}));
}

// ((5 + n) / 6)^length_power for n: f32[..].
Value LengthPenalty(Value n, const BeamOptions& options, InstructionBuilder* b) {
  return b->Binary(Opcode::kPower, b->MultiplyNumber(b->AddNumber(n, 5), 1.0 / 6),
                   b->FullLike(n, options.length_power));
}

// Moves values from the old places of hypotheses to their new places.
class Parents {
 public:
  // places: s32[G,B,K].
  Parents(Value places, InstructionBuilder* b) : b_(*b) {
    const Shape& shape = places->shape();
    const Sizes gbjk = {shape.dim(0), shape.dim(1), shape.dim(2), shape.dim(2)};
    is_parent_ = b_.Compare(b_.Iota(xla::S32, gbjk, 3), b_.Broadcast(places, gbjk, {0, 1, 2}), "EQ");
  }

  // x: f32[G,B,K].
  Value Of(Value x) const {
    Value spread = b_.Broadcast(x, is_parent_->shape().dims(), {0, 1, 3});
    return b_.Sum(b_.Select(is_parent_, spread, b_.FullLike(spread, 0)), {3});
  }
  // x: pred[G,B,K,N], for any N.
  Value OfMask(Value x) const {
    Value sum = b_.Einsum("GBJK,GBKN->GBJN", b_.Convert(is_parent_, xla::F32), b_.Convert(x, xla::F32));
    return b_.Compare(sum, b_.FullLike(sum, 0.5), "GT");
  }

 private:
  InstructionBuilder& b_;
  Value is_parent_;
};

// f32[G,B,K,V]: for each hypothesis and next word the log probability to rank by. A finished hypothesis has
// one candidate, padding: the log probability that gives its score at the length of the others, `step` + 1
// words.
Value Candidates(const Hypotheses& now, Value log_probabilities, Value length_penalty,
                 const BeamOptions& options, InstructionBuilder* b) {
  const Sizes gbkv(log_probabilities->shape().dims().begin(), log_probabilities->shape().dims().end());
  Value word = b->Iota(xla::S32, gbkv, 3);
  Value excluded = b->Full(xla::F32, gbkv, kExcluded);
  Value is_padding = b->Compare(word, b->FullLike(word, options.padding), "EQ");
  Value is_no_word = b->Or(is_padding, b->Compare(word, b->FullLike(word, options.begin), "EQ"));
  Value longer = b->Add(b->Broadcast(now.log_probability, gbkv, {0, 1, 2}), log_probabilities);
  Value worth = b->Divide(b->Multiply(now.log_probability, length_penalty),
                          LengthPenalty(b->Convert(now.length, xla::F32), options, b));
  return b->Select(b->Broadcast(now.finished, gbkv, {0, 1, 2}),
                   b->Select(is_padding, b->Broadcast(worth, gbkv, {0, 1, 2}), excluded),
                   b->Select(is_no_word, excluded, longer));
}

}  // namespace

Largest TakeLargest(Value x, int64_t k, InstructionBuilder* b) {
  const int64_t g = x->shape().dim(0), sentences = x->shape().dim(1);
  Value index = b->Iota(xla::S32, x->shape().dims(), 2);
  Computation* larger = LargerValue(b);
  std::vector<Value> values, indices;
  for (int64_t i = 0; i < k; ++i) {
    Value none = b->IntScalar(std::numeric_limits<int32_t>::max());
    Value best = b->Reduce({x, index}, {b->Full(xla::F32, {}, -3e38), none}, {2}, larger);
    Value best_index = b->GetTupleElement(best, 1);
    values.push_back(b->Reshape(b->GetTupleElement(best, 0), {g, sentences, 1}));
    indices.push_back(b->Reshape(best_index, {g, sentences, 1}));
    Value is_taken = b->Compare(index, b->Broadcast(best_index, x->shape().dims(), {0, 1}), "EQ");
    x = b->Select(is_taken, b->FullLike(x, kTaken), x);
  }
  return {b->Concatenate(values, 2), b->Concatenate(indices, 2)};
}

Hypotheses RankHypotheses(const Hypotheses& now, Value log_probabilities, Value step,
                          const BeamOptions& options, InstructionBuilder* b) {
  const Sizes gbk(now.length->shape().dims().begin(), now.length->shape().dims().end());
  const int64_t vocabulary = log_probabilities->shape().dim(3);
  Value words_now = b->Broadcast(b->AddNumber(b->Convert(step, xla::F32), 1), gbk);
  Value candidates = Candidates(now, log_probabilities, LengthPenalty(words_now, options, b), options, b);
  const Largest best =
      TakeLargest(b->Reshape(candidates, {gbk[0], gbk[1], gbk[2] * vocabulary}), options.beam, b);

  Value size = b->FullLike(best.indices, static_cast<double>(vocabulary));
  Value place = b->Divide(best.indices, size);
  const Parents parents(place, b);
  Value was_finished = parents.Of(b->Convert(now.finished, xla::F32));
  was_finished = b->Compare(was_finished, b->FullLike(was_finished, 0.5), "GT");
  Hypotheses next;
  next.words = b->Subtract(best.indices, b->Multiply(place, size));
  next.log_probability = b->Select(was_finished, parents.Of(now.log_probability), best.values);
  next.length =
      b->Convert(b->Select(was_finished, parents.Of(b->Convert(now.length, xla::F32)), words_now), xla::S32);
  next.finished = b->Or(was_finished, b->Compare(next.words, b->FullLike(next.words, options.end), "EQ"));
  next.mask = parents.OfMask(now.mask);
  return next;
}

}  // namespace toroid
