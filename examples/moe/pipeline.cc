#include "examples/moe/pipeline.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "examples/moe/random_bits.h"
#include "examples/moe/softmax.h"

namespace toroid {
namespace {

// The mesh axes of a pipeline's places.
AxisNames Places() { return {"stage", "data"}; }

// Weights of a stack in the order in which a layer uses them: [S,P,...].
struct StackedWeights {
  std::vector<Value> values;

  void AddNorm(const std::string& name, ModelBuilder* m) {
    Add({m->config().model}, absl::StrCat(name, ".scale"), 0, m);
  }
  void AddAttention(const std::string& name, ModelBuilder* m) {
    const int64_t model = m->config().model, n = m->config().heads, k = m->config().head_dim;
    for (const char* weight : {".wq", ".wk", ".wv"}) Add({model, n, k}, name + weight, model, m);
    Add({n, k, model}, name + ".wo", n * k, m);
  }
  void AddFeedForward(const std::string& name, ModelBuilder* m) {
    const int64_t model = m->config().model, hidden = m->config().hidden;
    Add({model, hidden}, name + ".wi", model, m);
    Add({hidden, model}, name + ".wo", hidden, m);
  }

 private:
  void Add(const Sizes& of_layer, const std::string& name, int64_t fan_in, ModelBuilder* m) {
    const MoeTransformerConfig& config = m->config();
    Sizes dims = {config.stages, config.layers / 2 / config.stages};
    dims.insert(dims.end(), of_layer.begin(), of_layer.end());
    values.push_back(m->Activation(m->StageWeight(dims, name, fan_in)));
  }
};

// [S,P,...] -> layer `layer` for each place, [Z,...]. Broadcasting before the loop makes the derivatives of
// the copies add up once after it, not in each trip.
Value AtEachPlace(Value weight, int64_t layer, ModelBuilder* m) {
  Builder& b = m->b();
  Sizes dims = SizesOf(weight), kept = {0};
  dims[1] = m->config().devices / m->config().stages;
  for (size_t d = 2; d < dims.size(); ++d) kept.push_back(static_cast<int64_t>(d));
  Sizes of_stage = dims;
  of_stage.erase(of_stage.begin() + 1);
  Value own = b.Reshape(b.SliceAlong(weight, 1, layer, layer + 1), of_stage);
  Value copies = b.Broadcast(own, dims, kept);
  of_stage[0] *= dims[1];
  std::vector<AxisNames> axes(of_stage.size());
  axes[0] = Places();
  return b.Shard(b.Reshape(copies, of_stage), axes);
}

// The layers of all places, in one computation, on x and memory [Z,B,L,M].
class StageLayers {
 public:
  StageLayers(absl::Span<const Value> weights, Value seed, InstructionBuilder* b, ModelBuilder* m)
      : weights_(weights), seed_(seed), b_(*b), m_(*m) {}

  Value Run(Value x, Value memory) {
    const int64_t layers = m_.config().layers / 2 / m_.config().stages;
    for (int64_t layer = 0; layer < layers; ++layer) {
      Value normal = Norm(x);
      x = b_.Add(x, Drop(Attention(normal, normal, /*is_causal=*/memory != nullptr)));
      if (memory != nullptr) x = b_.Add(x, Drop(Attention(Norm(x), memory, /*is_causal=*/false)));
      x = b_.Add(x, Drop(FeedForward(Norm(x))));
    }
    return x;
  }

 private:
  // The next weight, [Z,...].
  Value Weight() { return weights_[next_++]; }

  Value Drop(Value x) { return m_.Dropout(x, seed_, &b_); }

  Value Norm(Value x) {
    const Sizes dims = SizesOf(x);
    Value wide = b_.Convert(x, xla::F32);
    Value mean = b_.MultiplyNumber(b_.Sum(b_.Multiply(wide, wide), {3}), 1.0 / static_cast<double>(dims[3]));
    Value factor = b_.Rsqrt(b_.AddNumber(mean, 1e-6));
    Value normal = b_.Convert(b_.Multiply(wide, b_.Broadcast(factor, dims, {0, 1, 2})), m_.config().type);
    return b_.Multiply(normal, b_.Broadcast(Weight(), dims, {0, 3}));
  }

  Value Attention(Value x, Value memory, bool is_causal) {
    Value query = b_.Einsum("ZBLM,ZMNK->ZBLNK", x, Weight());
    Value key = b_.Einsum("ZBTM,ZMNK->ZBTNK", memory, Weight());
    Value value = b_.Einsum("ZBTM,ZMNK->ZBTNK", memory, Weight());
    query = b_.MultiplyNumber(query, 1.0 / std::sqrt(static_cast<double>(m_.config().head_dim)));
    Value scores = b_.Convert(b_.Einsum("ZBLNK,ZBTNK->ZBNLT", query, key), xla::F32);
    if (is_causal) {
      const Sizes dims = SizesOf(scores), square = {dims[3], dims[4]};
      Value visible = b_.Compare(b_.Iota(xla::S32, square, 0), b_.Iota(xla::S32, square, 1), "GE");
      scores = b_.Select(b_.Broadcast(visible, dims, {3, 4}), scores, b_.FullLike(scores, -1e9));
    }
    Value shares = Drop(b_.Convert(LateSoftmax(scores, &b_, &m_), m_.config().type));
    return b_.Einsum("ZBLNK,ZNKM->ZBLM", b_.Einsum("ZBNLT,ZBTNK->ZBLNK", shares, value), Weight());
  }

  Value FeedForward(Value x) {
    Value h = b_.Einsum("ZBLM,ZMH->ZBLH", x, Weight());
    return b_.Einsum("ZBLH,ZHM->ZBLM", m_.HiddenRelu(h, &b_), Weight());
  }

  const absl::Span<const Value> weights_;
  const Value seed_;
  InstructionBuilder& b_;
  ModelBuilder& m_;
  size_t next_ = 0;
};

// Moves x [Z,...], where each stage has `copies` rows, to the next stage or to the one before; zeros where no
// stage sends.
Value Shift(Value x, bool forward, int64_t copies, InstructionBuilder& b) {
  return b.PadAlong(x, 0, forward ? copies : -copies, forward ? -copies : copies);
}

class Pipeline {
 public:
  Pipeline(bool has_memory, const std::string& name, ModelBuilder* m)
      : m_(*m), b_(m->b()), has_memory_(has_memory) {
    StackedWeights stacked;
    stacked.AddNorm(name + ".self_norm", m);
    stacked.AddAttention(name + ".self", m);
    if (has_memory) {
      stacked.AddNorm(name + ".cross_norm", m);
      stacked.AddAttention(name + ".cross", m);
    }
    stacked.AddNorm(name + ".ffn_norm", m);
    stacked.AddFeedForward(name + ".ffn", m);
    for (int64_t layer = 0; layer < m->config().layers / 2 / m->config().stages; ++layer) {
      for (Value weight : stacked.values) weights_.push_back(AtEachPlace(weight, layer, m));
    }
  }

  Value Run(Value x, Value memory) {
    const MoeTransformerConfig& config = m_.config();
    const Sizes full = SizesOf(x);
    std::vector<Value> init = {b_.Zero(xla::S32)};
    if (m_.is_training()) init.push_back(m_.seed());
    for (Value from : {x, memory}) {
      if (from == nullptr) continue;
      Value stream = Stream(from);
      Sizes state = SizesOf(stream);
      state.erase(state.begin() + 1);
      init.push_back(stream);
      init.push_back(b_.Shard(b_.Zeros(config.type, state), {Places(), {}, {}, {}}));
    }
    arrays_ = init.size();
    init.insert(init.end(), weights_.begin(), weights_.end());
    Value start = b_.Tuple(init);
    Value result = b_.While(start, Condition(start->shape()), Body(start->shape()));
    Value stream = b_.GetTupleElement(result, m_.is_training() ? 2 : 1);
    return FromStream(stream, full);
  }

 private:
  int64_t columns() const { return m_.config().microbatches / m_.config().stages; }

  int64_t copies() const { return m_.config().devices / m_.config().stages; }

  // [G,B,L,M] -> [Z,R,B',L,M]: each group of a place is cut into R parts.
  Value Stream(Value x) {
    const Sizes d = SizesOf(x);
    const int64_t z = m_.config().devices, r = columns();
    Value parts = b_.Transpose(b_.Reshape(x, {z, d[0] / z, r, d[1] / r, d[2], d[3]}), {0, 2, 1, 3, 4, 5});
    return b_.Shard(b_.Reshape(parts, {z, r, d[0] / z * (d[1] / r), d[2], d[3]}), {Places(), {}, {}, {}, {}});
  }

  Value FromStream(Value stream, const Sizes& full) {
    const int64_t z = m_.config().devices, r = columns();
    // A stage's microbatch of column c ends in column (c + S - 1) mod R.
    const int64_t first = (m_.config().stages - 1) % r;
    if (first > 0)
      stream = b_.Concatenate({b_.SliceAlong(stream, 1, first, r), b_.SliceAlong(stream, 1, 0, first)}, 1);
    Value parts = b_.Reshape(stream, {z, r, full[0] / z, full[1] / r, full[2], full[3]});
    return m_.SplitGroups(b_.Reshape(b_.Transpose(parts, {0, 2, 1, 3, 4, 5}), full));
  }

  Computation* Condition(const Shape& state) {
    InstructionBuilder b = b_.InNewComputation("pipeline_goes_on");
    Value trip = b.GetTupleElement(b.Parameter(state, "state"), 0);
    return b.Finish(b.Compare(trip, b.IntScalar(m_.config().microbatches + m_.config().stages - 1), "LT"));
  }

  Computation* Body(const Shape& state) {
    InstructionBuilder b = b_.InNewComputation("pipeline_trip");
    b.set_metadata(b_.metadata());
    Value given = b.Parameter(state, "state");
    std::vector<Value> values;
    for (int64_t i = 0; i < static_cast<int64_t>(state.tuple_shapes().size()); ++i)
      values.push_back(b.GetTupleElement(given, i));
    Value trip = values[0];
    size_t at = 1;
    Value seed = m_.is_training() ? SeedOfStep(values[at++], trip, &b) : nullptr;
    Value column = b.Binary(Opcode::kRemainder, trip, b.IntScalar(columns()));
    Value x = Take(b, column, values[at], values[at + 1]);
    Value memory = has_memory_ ? Take(b, column, values[at + 2], values[at + 3]) : nullptr;
    Value y = Layers(b, x, memory, absl::MakeSpan(values).subspan(arrays_), seed);
    values[0] = b.Add(trip, b.IntScalar(1));
    values[at] = MoveOn(b, column, values[at], y);
    values[at + 1] = y;
    if (has_memory_) {
      values[at + 2] = MoveOn(b, column, values[at + 2], nullptr);
      values[at + 3] = memory;
    }
    return b.Finish(b.Tuple(values));
  }

  // pred of the shape of `like`: whether the place belongs to the first stage, or to the last.
  Value IsFirst(InstructionBuilder& b, Value like) const { return Compared(b, like, "LT", copies()); }
  Value IsLast(InstructionBuilder& b, Value like) const {
    return Compared(b, like, "GE", m_.config().devices - copies());
  }
  static Value Compared(InstructionBuilder& b, Value like, absl::string_view direction, int64_t limit) {
    const Sizes dims = SizesOf(like);
    Value is =
        b.Compare(b.Iota(xla::S32, {dims[0]}, 0), b.Broadcast(b.IntScalar(limit), {dims[0]}), direction);
    return b.Broadcast(is, dims, {0});
  }

  static Value Column(InstructionBuilder& b, Value stream, Value column) {
    Sizes dims = SizesOf(stream);
    Value slice = b.DynamicSliceAlong(stream, 1, column, 1);
    dims.erase(dims.begin() + 1);
    return b.Reshape(slice, dims);
  }

  // The stages' inputs: the stream's column for the first stage, the result of the stage before for the
  // others.
  Value Take(InstructionBuilder& b, Value column, Value stream, Value state) const {
    Value next = Column(b, stream, column);
    return b.Select(IsFirst(b, next), next, Shift(state, /*forward=*/true, copies(), b));
  }

  // The stream after its column has moved one stage nearer to the first; `result`, if any, comes in at the
  // last stage.
  Value MoveOn(InstructionBuilder& b, Value column, Value stream, Value result) const {
    Value moved = Shift(Column(b, stream, column), /*forward=*/false, copies(), b);
    if (result != nullptr) moved = b.Select(IsLast(b, moved), result, moved);
    Sizes dims = SizesOf(stream);
    dims[1] = 1;
    Value zero = b.IntScalar(0);
    return b.DynamicUpdateSlice(stream, b.Reshape(moved, dims), {zero, column, zero, zero, zero});
  }

  // If stages are recomputed, their layers are a call: the backward pass recomputes it from its operands.
  Value Layers(InstructionBuilder& b, Value x, Value memory, absl::Span<const Value> weights, Value seed) {
    if (!m_.recomputes_stages()) return StageLayers(weights, seed, &b, &m_).Run(x, memory);
    InstructionBuilder stage = b.InNewComputation("stage_layers");
    stage.set_metadata(b.metadata());
    std::vector<Value> operands;
    const auto pass = [&](Value value) -> Value {
      if (value == nullptr) return nullptr;
      operands.push_back(value);
      return stage.Parameter(value->shape(), absl::StrCat("p", operands.size()));
    };
    Value own_x = pass(x), own_memory = pass(memory), own_seed = pass(seed);
    std::vector<Value> own_weights;
    for (Value weight : weights) own_weights.push_back(pass(weight));
    Computation* layers =
        stage.Finish(StageLayers(own_weights, own_seed, &stage, &m_).Run(own_x, own_memory));
    return b.Call(layers, operands);
  }

  ModelBuilder& m_;
  Builder& b_;
  const bool has_memory_;
  std::vector<Value> weights_;  // Layer by layer.
  size_t arrays_ = 0;           // Arrays of the loop's state before the weights.
};

}  // namespace

Value RunPipeline(Value x, Value memory, const std::string& name, ModelBuilder* m) {
  Builder::Scope scope(&m->b(), name);
  Pipeline pipeline(memory != nullptr, name, m);
  return pipeline.Run(m->Dropout(x), memory);
}

}  // namespace toroid
