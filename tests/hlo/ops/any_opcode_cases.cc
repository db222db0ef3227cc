// Constraints of every opcode, and of modules.
#include "absl/strings/str_cat.h"
#include "hlo/ops/verify_module.h"
#include "tests/hlo/ops/constraint_cases.h"

namespace toroid {
namespace {

// Sixteen nested tuples of two elements: the last has 2^16 leaves.
std::string DoublingTuples() {
  std::string text = "t1 = (f32[], f32[]) tuple(s, s)\n";
  std::string shape = "(f32[], f32[])";
  for (int i = 2; i <= 15; ++i) {
    shape = absl::StrCat("(", shape, ", ", shape, ")");
    absl::StrAppend(&text, "t", i, " = ", shape, " tuple(t", i - 1, ", t", i - 1, ")\n");
  }
  return text + "f32[] tuple(t15, t15)";
}

// Nested calls, one more level than is allowed below `it`.
std::string NestedCalls() {
  std::string text = "c0 { ROOT x = f32[] parameter(0) }\n";
  for (int i = 1; i < kMaxCallDepth; ++i) {
    absl::StrAppend(&text, "c", i, " { x = f32[] parameter(0) ROOT y = f32[] call(x), to_apply=c", i - 1,
                    " }\n");
  }
  return absl::StrCat("HloModule m\n", text);
}

Computation* MainOf(Instruction* it) { return it->computation(); }

}  // namespace

std::vector<ViolatingCase> AnyOpcodeCases() {
  return {
      {"A1", "f32[8,4] copy(x, x)", "operands of copy: found 2, expected 1"},
      {"A1", "f32[8,4] select(q, x)", "operands of select: found 2, expected 3"},
      {"A1", "f32[8,4] concatenate(), dimensions={0}",
       "operands of concatenate: found 0, expected at least 1"},
      {"A1", "u32[] partition-id(x)", "operands of partition-id: found 1, expected 0"},
      {"A1", "u32[] replica-id(x)", "operands of replica-id: found 1, expected 0"},
      {"A1", "u64[2] rng-get-and-update-state(x), delta=1", "operands of rng-get-and-update-state: found 1"},
      {"A1", "f32[8,4] opt-barrier(x, x)", "operands of opt-barrier: found 2"},
      {"A1", "f32[8,4] domain(x, x), domain={kind=\"sharding\", entry={replicated}, exit={replicated}}",
       "operands of domain: found 2"},
      {"A1", "(f32[8], f32[8], u32[]) copy-start(v, v)", "operands of copy-start: found 2"},
      {"A2", "f32[] call(s, s), to_apply=add", "computations called by call: found 0, expected at least 1",
       [](Instruction* it) { it->set_called({}); }},
      {"A2", "f32[8,4] negate(x)", "computations called by negate: found 1, expected at most 0",
       [](Instruction* it) {
         Computation* const callee = it->computation()->module()->computation(0);
         it->set_called({callee});
       }},
      {"A3", "f32[8,4] negate(tok)", "operand 0: found token[], expected an array"},
      {"A4", "s32[8,4] convert(x)",
       "the result of convert: found no shape, expected the shape, which does not follow",
       [](Instruction* it) { it->mutable_shape() = Shape(); }},
      {"A5", "f32[8,7] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
       "the shape: found f32[8,7], expected f32[8,6]"},
      {"A5", "u8[8,4] bitcast-convert(x)", "the shape: found u8[8,4], expected u8[8,4,4]"},
      {"A5", "(f32[8], f32[]) tuple(v, i)", "the shape: found (f32[8], f32[]), expected (f32[8], s32[])"},
      {"A6", DoublingTuples(),
       "the leaves and inner tuples of a tuple: found more than 65536, expected at most 65536"},
      {"A6",
       "w = f32[4611686018427387,100] broadcast(s), dimensions={}\nf32[] concatenate(w, w), dimensions={1}",
       "the bytes of the result"},
      {"A7", "f32[?,4] parameter(23)", "the shape: found f32[?,4], expected sizes that are known"},
  };
}

std::vector<ViolatingCase> ModuleCases() {
  return {
      {"M1", "f32[8,4] negate(x)", "m: the entry: found none, expected one of the module's computations",
       [](Instruction* it) { MainOf(it)->module()->set_entry(nullptr); }, "HloModule m", "m: "},
      {"M2", "f32[8,4] negate(x)", "the root: found none, expected an instruction of this computation",
       [](Instruction* it) { MainOf(it)->set_root(nullptr); }, "HloModule m", "main: "},
      {"M2", "f32[8,4] negate(x)", "the root: found s",
       [](Instruction* it) { MainOf(it)->set_root(MainOf(it)->module()->computation(0)->root()); },
       "HloModule m", "main: "},
      {"M3", "f32[8,4] negate(x)", "operand: found it, expected an instruction that stands earlier",
       [](Instruction* it) { it->set_operand(0, it); }},
      {"M3", "f32[8,4] negate(x)", "operand: found s",
       [](Instruction* it) { it->set_operand(0, MainOf(it)->module()->computation(0)->root()); }},
      {"M4", "f32[8,4] negate(x)",
       "control predecessor: found it, expected an instruction that stands earlier",
       [](Instruction* it) { it->AddControlPredecessor(it); }},
      {"M5", "f32[] call(s, s), to_apply=add",
       "called computation: found main, expected a computation that stands before main",
       [](Instruction* it) { it->set_called({MainOf(it)}); }},
      {"M6", "f32[] call(s), to_apply=c511", "the depth of calls: found 513, expected at most 512", nullptr,
       NestedCalls()},
      {"M7", "f32[8] parameter(23)", "parameter number: found 30, expected 0 .. 23, each once",
       [](Instruction* it) { it->MutableAttrs()->set_parameter_number(30); }},
  };
}

}  // namespace toroid
