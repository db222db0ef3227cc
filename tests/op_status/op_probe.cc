#include "tests/op_status/op_probe.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "hlo/base/status.h"
#include "hlo/io/hlo_text.h"
#include "hlo/io/module_proto.h"
#include "hlo/opcode.h"
#include "hlo/ops/constraint.h"
#include "hlo/ops/infer_shape.h"
#include "hlo/ops/verify_module.h"
#include "partitioner/ops/op_families.h"
#include "runtime/engine/executor.h"
#include "tests/hlo/ops/constraint_cases.h"
#include "tests/op_status/partition_probe.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/op_programs.h"

namespace toroid {
namespace {

std::string TextOf(const OpProgram& program) {
  return absl::StrCat("HloModule sample\n", program.computations, "\nENTRY main {\n", program.body, "\n}\n");
}

std::vector<const Instruction*> InstructionsOf(const Module& module, Opcode opcode) {
  std::vector<const Instruction*> found;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (instruction->opcode() == opcode) found.push_back(instruction.get());
    }
  }
  return found;
}

absl::Status Check(bool holds, const std::string& message) {
  return holds ? absl::OkStatus() : absl::InternalError(message);
}

// The sample is read from text, and from the proto written from it.
absl::Status Read(const OpProgram& program, Opcode opcode) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ParseModule(TextOf(program)));
  RETURN_IF_ERROR(Check(!InstructionsOf(*module, opcode).empty(), "the sample lacks the opcode"));
  std::string bytes;
  AppendModuleProto(*module, &bytes);
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> again, ReadModuleProto(bytes));
  return Check(InstructionsOf(*again, opcode).size() == InstructionsOf(*module, opcode).size(),
               "the proto has other opcodes");
}

absl::Status Print(const OpProgram& program, Opcode /*opcode*/) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ParseModule(TextOf(program)));
  const std::string text = PrintModule(*module);
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> again, ParseModule(text));
  return Check(PrintModule(*again) == text && absl::StrContains(text, absl::StrCat(" ", program.opcode, "(")),
               absl::StrCat("printed ", text, "\nand then ", PrintModule(*again)));
}

absl::Status Infer(const OpProgram& program, Opcode opcode) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ParseModule(TextOf(program)));
  for (const Instruction* instruction : InstructionsOf(*module, opcode)) {
    ASSIGN_OR_RETURN(const Shape shape, InferShape(*instruction));
    RETURN_IF_ERROR(
        Check(SameShape(shape, instruction->shape()), absl::StrCat("inferred ", shape.ToString())));
  }
  return absl::OkStatus();
}

// The verifier accepts the sample, and refuses some instruction of the opcode by the number of a constraint.
absl::Status Verify(const OpProgram& program, Opcode opcode) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ParseModule(TextOf(program)));
  RETURN_IF_ERROR(VerifyModule(*module));
  static const auto* const refused = [] {
    auto* opcodes = new std::set<Opcode>;
    for (const ConstraintTable& table : ConstraintTables()) {
      for (const ViolatingCase& c : table.cases) {
        const absl::StatusOr<Verdict> verdict = VerdictOf(c);
        if (c.constraint[0] == 'M' || !verdict.ok()) continue;
        if (absl::EndsWith(verdict->status.message(), absl::StrCat("(", c.constraint, ")"))) {
          opcodes->insert(verdict->opcode);
        }
      }
    }
    return opcodes;
  }();
  return Check(refused->count(opcode) > 0, "no case is refused");
}

absl::Status Execute(const OpProgram& program, Opcode) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ParseModule(TextOf(program)));
  RunOptions options;
  options.num_partitions = program.devices;
  const int32_t values[] = {5, 6};
  options.infeed =
      std::make_shared<LiteralInfeed>(std::vector<Literal>{Literal::Array<int32_t>({2}, values)});
  ASSIGN_OR_RETURN(const MeshValue result, RunModule(*module, {}, options));
  std::vector<std::string> texts;
  for (int device = 0; device < program.devices; ++device) texts.push_back(ToText(result.ToLiteral(device)));
  const std::string found = absl::StrReplaceAll(absl::StrJoin(texts, " | "), {{"-nan", "nan"}});
  return Check(found == program.expected, absl::StrCat("found ", found, ", expected ", program.expected));
}

// Whether some dimension may be cut, or sharding propagates along it.
bool HasRule(const Module& module, Opcode opcode) {
  for (const Instruction* instruction : InstructionsOf(module, opcode)) {
    const ShardingRule rule = ShardingRuleOf(*instruction);
    if (std::any_of(rule.factors.begin(), rule.factors.end(),
                    [](const Factor& factor) { return factor.kind != FactorKind::kBlocked; })) {
      return true;
    }
  }
  return false;
}

// Ops that occur only inside a partitioned program, or that read values from outside the program.
bool IsLocal(const OpProgram& program) {
  return program.devices > 1 || absl::StrContains(program.body, " infeed(") ||
         absl::StrContains(program.body, " outfeed(");
}

std::string Mark(const PartitionProbe& probe) {
  if (!probe.failures.empty()) return kNo;
  if (probe.cut == 0) return kNothing;
  if (probe.replicated.empty()) return kYes;
  return static_cast<int>(probe.replicated.size()) < probe.cut ? kSome : kWhole;
}

OpStatus ProbeOpcode(const OpProgram& program, Opcode opcode) {
  OpStatus status;
  status.opcode = program.opcode;
  const auto mark = [&](const char* column, absl::Status (*probe)(const OpProgram&, Opcode)) {
    const absl::Status result = probe(program, opcode);
    if (!result.ok())
      status.failures.push_back(absl::StrCat(program.opcode, ", ", column, ": ", result.ToString()));
    return result.ok() ? kYes : kNo;
  };
  status.read = mark("read", Read);
  status.print = mark("print", Print);
  status.infer = mark("infer", Infer);
  status.verify = mark("verify", Verify);
  status.execute = mark("execute", Execute);
  const absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(TextOf(program));
  if (!module.ok()) return status;
  status.rule = HasRule(**module, opcode) ? kYes : kNothing;
  const PartitionProbe probe = IsLocal(program) ? PartitionProbe() : ProbePartitioning(**module);
  status.partition = Mark(probe);
  status.whole_cuts = probe.replicated;
  for (const std::string& failure : probe.failures) {
    status.failures.push_back(absl::StrCat(program.opcode, ", partition: ", failure));
  }
  return status;
}

constexpr char kHead[] = R"(# Op status

The status of each opcode of `hlo/opcode.inc`. A program tries every opcode and writes the table; a test checks that it is up to date:

    bazel run -c opt //tests/op_status -- --write      # writes this page again
    bazel test //tests/op_status/...                   # fails if the page is out of date

| column | `yes` means |
| --- | --- |
| read | a sample program is read from HLO text and from a proto |
| print | its text is read again and prints the same |
| infer | the shape inferred from operands and attributes equals the given one |
| verify | the sample passes the verifier; an instruction that breaks a numbered constraint is rejected with that number |
| execute | the sample has the result that the semantics define; on a mesh of one device, for collectives and messages of two |
| sharding rule | the op has a rule of its own: some dimension may be cut, or shardings propagate through it |
| partition | every operand, cut in two along every dimension, gives the unpartitioned result, and no array is whole on every device |

In the last two columns, `some` and `whole` mean that the results are right, but some (all) of the cuts make the op run
on whole arrays; the cuts and reasons are [below](#cuts-after-which-an-op-runs-on-whole-arrays). `—`: no rule, or nothing
to cut: a scalar, a token, or an op that occurs only in the program of one partition. Ops that group values or call
computations need no rule, since their contents are partitioned.

| opcode | read | print | infer | verify | execute | sharding rule | partition |
| --- | --- | --- | --- | --- | --- | --- | --- |
)";

constexpr char kCutsHead[] = R"(
## Cuts after which an op runs on whole arrays

The samples are small, so that gathering a few bytes often sends least. The random programs of `tests/random` cut larger arrays.

| opcode | cut in two | why the arrays are whole |
| --- | --- | --- |
)";

}  // namespace

const std::map<std::string, std::string>& WhyWhole() {
  static const auto* const why = new std::map<std::string, std::string>{
      {"bitcast", "as reshape"},
      {"reshape",
       "the rows of a merged minor dimension alternate in the result, so that each result tile needs "
       "elements of every operand tile; an exchange by way of the other dimension would send as much for "
       "six elements"},
      {"dynamic-update-slice",
       "the place of the update may be known only at run time, and collectives have fixed partners: the "
       "update is then gathered, and the array stays cut; an update at a constant place is shifted"},
      {"scatter",
       "indices decide at run time where the rows of updates go: indices and updates are gathered, or "
       "tables made of parts of the updates are added up, whichever sends less (for three rows, "
       "gathering); the table stays cut"},
      {"ragged-dot",
       "the first row of a group is the sum of all sizes before it, so that two sizes are gathered; two "
       "weights are gathered too, which sends less than adding up partial results"},
      {"convolution",
       "for a window of two rows, gathering sends less than adding up partial results; larger kernels stay"
       " cut, and partial results are added up (kernel gradients)"},
      {"sort",
       "a sorted line of at least about 2 D³ rows over D devices stays cut "
       "(`partitioner/ops/column_sort.h`); for shorter ones the lines are gathered, or exchanged so that "
       "each device sorts whole lines"},
      {"fft",
       "lines of two elements; longer lines are exchanged so that each device has whole lines, or "
       "transformed in four steps (`partitioner/ops/fft.cc`)"},
      {"cholesky",
       "matrices of two rows; larger ones are factored in blocks if that sends less "
       "(`partitioner/ops/cholesky.cc`)"},
      {"rng",
       "the numbers are not specified, and one generator with a hidden state makes them in order: if it "
       "were cut, all devices would draw the same numbers. Each device therefore makes all numbers and "
       "keeps its tile. Generators with a key are cut: see rng-bit-generator"},
      {"rng-get-and-update-state",
       "nothing to cut: one state of two words, which every device advances in the same way"},
      {"rng-bit-generator",
       "only the key could be cut, and every device needs both its words; the generated bits are cut"},
      {"get-dimension-size",
       "the size is known only at run time: a tile does not know how much of it is valid, and such arrays "
       "are kept whole"},
      {"set-dimension-size", "as get-dimension-size"},
      {"dynamic-reshape", "as get-dimension-size"},
  };
  return *why;
}

std::vector<OpStatus> ProbeOpcodes() {
  std::map<std::string, const OpProgram*> programs;
  for (const OpProgram& program : OpPrograms()) programs.emplace(program.opcode, &program);
  std::vector<OpStatus> statuses;
  for (int i = 0; i < kNumOpcodes; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    const auto found = programs.find(std::string(OpcodeName(opcode)));
    if (found == programs.end()) {
      statuses.push_back({std::string(OpcodeName(opcode))});
      statuses.back().failures = {absl::StrCat(OpcodeName(opcode), " has no sample in op_programs.cc")};
      continue;
    }
    statuses.push_back(ProbeOpcode(*found->second, opcode));
  }
  return statuses;
}

std::string StatusPage(const std::vector<OpStatus>& statuses) {
  std::string page = kHead;
  for (const OpStatus& s : statuses) {
    absl::StrAppend(
        &page, "| ",
        absl::StrJoin({s.opcode, s.read, s.print, s.infer, s.verify, s.execute, s.rule, s.partition}, " | "),
        " |\n");
  }
  absl::StrAppend(&page, kCutsHead);
  for (const OpStatus& s : statuses) {
    if (s.whole_cuts.empty()) continue;
    const auto why = WhyWhole().find(s.opcode);
    absl::StrAppend(&page, "| ", s.opcode, " | ", absl::StrJoin(s.whole_cuts, "; "), " | ",
                    why == WhyWhole().end() ? "?" : why->second, " |\n");
  }
  return page;
}

}  // namespace toroid
