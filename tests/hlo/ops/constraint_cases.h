// Tables of violated constraints: an instruction in HLO text, the constraint it breaks, words of the message.
//
//   std::vector<ViolatingCase> DotCases() {
//     return {{"C2", "f32[8,6] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
//              "found 0 of f32[8,4] and 0 of f32[4,6]"}};
//   }
//
// The headers of hlo/ops are read as data. There, the line `// gather, scatter: ...` names ops (or a family
// of the opcode table, in lower case), and `//   C3 ...` below it a constraint of theirs. constraints_test.cc
// compares tables and headers.
// BUILD: srcs += "any_opcode_cases.cc", "collectives_cases.cc", "control_flow_cases.cc", "convolution_cases.cc", "data_movement_cases.cc", "dot_cases.cc", "elementwise_cases.cc", "indexing_cases.cc", "linear_algebra_cases.cc", "random_cases.cc", "reduce_cases.cc", "sort_cases.cc", "structure_cases.cc", "transfer_cases.cc"
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

struct ViolatingCase {
  std::string constraint;
  // The text after `ROOT it =`; all lines but the last are placed before it. It may use the values and
  // computations of kEnvironment in environment.h.
  std::string instruction;
  // Words of the message, in addition to the place, the constraint, "found" and "expected".
  std::string words;
  // Makes an instruction that HLO text cannot express.
  void (*edit)(Instruction* it) = nullptr;
  // Text before the computations of kEnvironment.
  std::string header = "HloModule m";
  // The start of the message.
  std::string place = "main/it: ";
};

// Constraints by the names above them: {"gather, scatter", {"C1", "C2", ..}}; names are sorted.
using ConstraintList = std::map<std::vector<std::string>, std::vector<std::string>>;
ConstraintList ConstraintsIn(const std::string& header);

// The names under which a header may list an opcode: its own, that of its family, "every-opcode" and
// "module".
std::vector<std::string> NamesOf(Opcode opcode);

// The module of a case before its edit. The instruction is the root `it` of the entry.
absl::StatusOr<std::unique_ptr<Module>> ModuleOf(const ViolatingCase& c);

// The verifier's result for a case.
struct Verdict {
  Opcode opcode = Opcode::kUnknown;
  absl::Status status;
};
// Errors: the text of the case cannot be read.
absl::StatusOr<Verdict> VerdictOf(const ViolatingCase& c);

struct ConstraintTable {
  std::string header;
  std::vector<ViolatingCase> cases;
};
// The tables for all headers that list constraints.
const std::vector<ConstraintTable>& ConstraintTables();

// The parts of ConstraintTables, one per file *_cases.cc.
std::vector<ViolatingCase> AnyOpcodeCases();
std::vector<ViolatingCase> CollectivesCases();
std::vector<ViolatingCase> ControlFlowCases();
std::vector<ViolatingCase> ConvolutionCases();
std::vector<ViolatingCase> DataMovementCases();
std::vector<ViolatingCase> DotCases();
std::vector<ViolatingCase> ElementwiseCases();
std::vector<ViolatingCase> IndexingCases();
std::vector<ViolatingCase> LinearAlgebraCases();
std::vector<ViolatingCase> ModuleCases();
std::vector<ViolatingCase> RandomCases();
std::vector<ViolatingCase> ReduceCases();
std::vector<ViolatingCase> SortCases();
std::vector<ViolatingCase> StructureCases();
std::vector<ViolatingCase> TransferCases();

// Concatenates lists.
std::vector<ViolatingCase> Joined(const std::vector<std::vector<ViolatingCase>>& parts);

}  // namespace toroid
