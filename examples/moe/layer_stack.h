// The layers of a Transformer, one after the other, and its embedding tables.
#pragma once

#include <string>
#include <vector>

#include "examples/moe/layers.h"
#include "examples/moe/model_builder.h"

namespace toroid {

// Builds layers, and collects the auxiliary losses and loads of MoE layers.
class LayerStack {
 public:
  LayerStack(Value uniform, ModelBuilder* m) : m_(*m), uniform_(uniform) {}

  // The layers of one stack: the decoder's if `memory`, the encoder's result, is given. present: pred[G,B,L],
  // null if no token is padding.
  Value Run(Value x, Value present, Value memory, Value memory_present, const std::string& name);
  // One layer: x + f(norm(x)) for each sublayer f.
  Value SelfAttention(Value x, const AttentionMask& mask, const std::string& name);
  Value CrossAttention(Value x, Value memory, const AttentionMask& mask, const std::string& name);
  Value FeedForward(Value x, Value present, bool is_moe, const std::string& name);

  // One value per MoE layer: its auxiliary loss, f32[G], and the load of its experts, f32[G,E].
  const std::vector<Value>& aux() const { return aux_; }
  const std::vector<Value>& load() const { return load_; }

 private:
  Value Experts(Value x, Value present, const std::string& name);
  Value UniformOfNextLayer();

  ModelBuilder& m_;
  Value uniform_;
  std::vector<Value> aux_, load_;
};

struct Tables {
  Value source, target, softmax;  // [V,M]
};
// The tables to make; the others are null.
struct WhichTables {
  bool source = true, target = true;  // `target` includes that of the softmax.
};
Tables MakeTables(ModelBuilder* m, WhichTables which = {});

// pred, false where a token is padding; null if the model has no padding.
Value Present(Value tokens, ModelBuilder* m);

}  // namespace toroid
