#include "tests/hlo/ops/constraint_cases.h"

namespace toroid {

std::vector<ViolatingCase> ControlFlowCases() {
  const std::string call = " custom-call(x), custom_call_target=";
  return {
      {"C1", "f32[] call(s), to_apply=add", "operands: found 1, expected 2, as add takes"},
      {"C1", "f32[] fusion(s, s, s), kind=kLoop, calls=add", "operands: found 3"},
      {"C2", "f32[] call(s, i), to_apply=add", "operand 1 for add: found s32[], expected f32[]"},
      {"C2", "f32[] fusion(v, s), kind=kLoop, calls=add", "operand 0 for add: found f32[8], expected f32[]"},
      {"C1", "f32[8] while(v), condition=more, body=more",
       "result of body more: found pred[], expected f32[8]"},
      {"C1", "f32[4] while(v4), condition=more, body=body",
       "parameter 0 of body body: found f32[8], expected f32[4]"},
      {"C1", "f32[] while(s), condition=more, body=add", "parameters of body add: found 2, expected 1"},
      {"C2", "f32[8] while(v), condition=body, body=body",
       "result of condition body: found f32[8], expected pred[]"},
      {"C1", "f32[8] conditional(s, v, v), branch_computations={body, body}",
       "the index: found f32[] of 2 branches, expected pred[] for two, s32[] for any number"},
      {"C1", "f32[8] conditional(q, v, v, v), branch_computations={body, body, body}",
       "found pred[] of 3 branches"},
      {"C2", "f32[8] conditional(i, v), branch_computations={body, body}",
       "operands of branches: found 1, expected 2"},
      {"C3", "f32[8] conditional(q, v, v4), branch_computations={body, body}",
       "parameter 0 of branch body: found f32[8], expected f32[4]"},
      {"C4", "f32[8] conditional(q, v, v), branch_computations={body, more}",
       "result of branch more: found pred[], expected f32[8]"},
      {"C1", "f32[8,5]" + call + "\"Sharding\"", "the result of Sharding: found f32[8,5], expected f32[8,4]"},
      {"C1", "f32[8,4] custom-call(x, x), custom_call_target=\"ShardBarrierFrom\"",
       "operands of ShardBarrierFrom: found 2, expected 1"},
      {"C1", "s32[8,4]" + call + "\"ShardBarrierTo\"", "found s32[8,4]"},
      {"C2", "f32[8]" + call + "\"SPMDFullToShardShape\"",
       "found f32[8], expected type and rank of f32[8,4]"},
      {"C2", "s32[8,4]" + call + "\"SPMDShardToFullShape\"", "found s32[8,4]"},
      {"C3", "u64[8,4] custom-call(u), custom_call_target=\"X64Combine\"",
       "the result of X64Combine: found u64[8,4], expected 64 bits per element"},
      {"C3", "u32[8,4] custom-call(u, u), custom_call_target=\"X64Combine\"", "found u32[8,4]"},
      {"C4", "u32[8,4] custom-call(u), custom_call_target=\"X64SplitLow\"",
       "found u32[8,4], expected 32 bits per element, of an operand of 64"},
      {"C4", "u32[3] custom-call(state), custom_call_target=\"X64SplitHigh\"", "found u32[3]"},
      {"C5", "(f32[8,5], s32[8,5])" + call + "\"TopK\"",
       "expected (values, s32 indices) of the sizes of f32[8,4]"},
      {"C5", "(f32[8,2], s64[8,2])" + call + "\"mhlo.topk\"", "found (f32[8,2], s64[8,2])"},
      {"C5", "f32[8,2]" + call + "\"TopK\"", "found f32[8,2]"},
  };
}

}  // namespace toroid
