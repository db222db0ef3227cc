#include "tests/hlo/ops/constraint_cases.h"

namespace toroid {

std::vector<ViolatingCase> StructureCases() {
  return {
      {"C1", "(f32[8], s32[]) parameter(23)", "the type of a parameter: found",
       [](Instruction* it) {
         it->mutable_shape() = Shape::Tuple({Shape(xla::F32, {8}), Shape()});
       }},
      {"C1", "f32[2] constant({1, 2})", "the literal: found",
       [](Instruction* it) { it->MutableAttrs()->mutable_literal()->add_f32s(3); }},
      {"C2", "f32[2] constant({1, 2})", "the literal: found f32[2], expected f32[3]",
       [](Instruction* it) { it->mutable_shape() = Shape(xla::F32, {3}); }},
      {"C1", "s32[] get-tuple-element(x), index=0", "operand 0: found f32[8,4], expected a tuple"},
      {"C2", "s32[] get-tuple-element(t), index=2",
       "index: found 2, expected one of the 2 elements of (f32[8], s32[])"},
      {"C2", "s32[] get-tuple-element(t), index=-1", "index: found -1"},
      {"C1", "token[] after-all(tok, x)", "operand 1: found f32[8,4], expected token[]"},
      {"C1", "f32[8,4] add-dependency(x, x)", "operand 1: found f32[8,4], expected token[]"},
  };
}

}  // namespace toroid
