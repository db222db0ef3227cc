// Turns products with a vector, or of two, into multiplications and a sum, which the vector unit does.
//
//   dot(A, v), v without dimensions but those that are contracted  =>  reduce(A * broadcast(v), add)
//   dot(B, V), V of batch and contracted dimensions alone                 =>  reduce(B * broadcast(V), add)
//   dot(u, w), nothing or one element contracted                          =>  broadcast(u) * broadcast(w)
// Matrix units would load a tile for a single row that passes it. If each matrix of a batch has half a tile of rows and of
// columns, they do so nevertheless, unless the vector has a dimension of one element. (A vector that is made in f32 of products
// that this pass turned into sums lost such dimensions: the weights of one query, made of its scores.)
// Example: f32[4096] = f32[4096,4096] x f32[4096]. Products of bf16 are added in f32.
// Source: XLA's algebraic simplifier (dot strength reduction); seen in Google's compiler for TPU v3.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class VectorProductPass : public Pass {
 public:
  // `tile`: rows and columns of a matrix unit.
  explicit VectorProductPass(int64_t tile) : tile_(tile) {}
  absl::string_view name() const override { return "vector_product"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  const int64_t tile_;
};

}  // namespace toroid
