#include "tests/hlo/ops/constraint_cases.h"

namespace toroid {
namespace {

std::vector<ViolatingCase> MessageCases() {
  return {
      {"C1", "(f32[3], token[]) infeed(x)", "operand 0: found f32[8,4], expected token[]"},
      {"C2", "f32[3] infeed(tok)", "the result: found f32[3], expected (data, token[])"},
      {"C1", "token[] outfeed(x, x), outfeed_shape=f32[8,4]", "operand 1: found f32[8,4], expected token[]"},
      {"C2", "token[] outfeed(x, tok), outfeed_shape=f32[3]",
       "outfeed_shape: found f32[3], expected f32[8,4]"},
      {"C1", "(f32[8,4], u32[], token[]) send(x, x), channel_id=1",
       "operand 1: found f32[8,4], expected token[]"},
      {"C1", "(f32[8,4], u32[], token[]) recv(x), channel_id=1",
       "operand 0: found f32[8,4], expected token[]"},
      {"C2", "(f32[8,4], token[]) recv(tok), channel_id=1",
       "the result: found (f32[8,4], token[]), expected (data, u32[], token[])"},
      {"C1", "token[] send-done(x), channel_id=1",
       "operand 0: found f32[8,4], expected (data, u32[], token[])"},
      {"C1", "(f32[8], token[]) recv-done(t), channel_id=1", "operand 0: found (f32[8], s32[])"},
      {"C1", "f32[8,4] copy-done(x)", "operand 0: found f32[8,4], expected (x, x, context)"},
      {"C1", "w = (f32[8], s32[], u32[]) parameter(23)\nf32[8] copy-done(w)", "found (f32[8], s32[], u32[])"},
  };
}

std::vector<ViolatingCase> AsyncCases() {
  const std::string state = "w = ((f32[8]), f32[8]) parameter(23)\n";
  return {
      {"C1", "((f32[8]), f32[8]) async-start(v), calls=body",
       "wrapped computations: found none, expected one", [](Instruction* it) { it->set_called({}); }},
      {"C2", "((f32[8]), f32[8]) async-start(v), calls=add",
       "parameters of wrapped computation add: found 2, expected 1"},
      {"C2", "((f32[4]), f32[8]) async-start(v4), calls=body",
       "parameter 0 of wrapped computation body: found f32[8], expected f32[4]"},
      {"C3", "((f32[8]), pred[]) async-start(v), calls=body",
       "the state: found ((f32[8]), pred[]), expected ((operands), f32[8], ..)"},
      {"C3", "f32[8] async-start(v), calls=body", "the state: found f32[8]"},
      {"C1", "f32[8] async-update(v)", "operand 0: found f32[8], expected ((operands), result, ..)"},
      {"C1", "f32[8] async-done(t)", "operand 0: found (f32[8], s32[])"},
      {"C2", state + "f32[8] async-done(w), calls=more", "result of more: found pred[], expected f32[8]"},
      {"C2", state + "((f32[8]), f32[8]) async-update(w), calls=more", "result of more: found pred[]"},
  };
}

std::vector<ViolatingCase> SizeCases() {
  return {
      {"C1", "s32[] get-dimension-size(x), dimensions={2}", "dimension: found 2"},
      {"C1", "f32[8,4] set-dimension-size(x, i), dimensions={-1}", "dimension: found -1"},
      {"C2", "f32[8,<=4] set-dimension-size(x, s), dimensions={1}", "operand 1: found f32[], expected s32[]"},
      {"C1", "f32[32] dynamic-reshape(x)", "sizes: found 0, expected one per dimension of f32[32]"},
      {"C1", "f32[32] dynamic-reshape(x, s)", "operand 1: found f32[], expected s32[]"},
      {"C2", "f32[33] dynamic-reshape(x, i)", "the result: found f32[33], expected an array of 32 elements"},
      {"C3", "s32[32] dynamic-reshape(x, i)", "the result: found s32[32], expected type f32"},
  };
}

}  // namespace

std::vector<ViolatingCase> TransferCases() { return Joined({MessageCases(), AsyncCases(), SizeCases()}); }

}  // namespace toroid
