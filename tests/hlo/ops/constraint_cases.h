// Tables of violated constraints: an instruction in HLO text, the constraint it breaks, words of the message.
//
//   TEST(DotConstraintsTest, EachIsViolated) {
//     ExpectViolated("hlo/ops/dot.h",
//                    {{"C2", "f32[8,6] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
//                      "found 0 of f32[8,4] and 0 of f32[4,6]"}});
//   }
//
// The header is read as data: a constraint that it lists for an op and no case violates is a failure, and so is a
// case whose constraint it does not list. In a header, the line `// gather, scatter: ...` names ops (or a family of
// the opcode table, in lower case), and `//   C3 ...` below it a constraint of theirs.
#ifndef TOROID_TESTS_HLO_OPS_CONSTRAINT_CASES_H_
#define TOROID_TESTS_HLO_OPS_CONSTRAINT_CASES_H_

#include <map>
#include <string>
#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

struct ViolatingCase {
  std::string constraint;
  // What stands after `ROOT it =`; lines before the last one stand before it. The values and computations that it
  // may use are those of kEnvironment in constraint_cases.cc.
  std::string instruction;
  // Words of the message; the place, the constraint, "found" and "expected" are always looked for.
  std::string words;
  // Makes what HLO text cannot say.
  void (*edit)(Instruction* it) = nullptr;
  std::string header = "HloModule m";
};

// Constraints by the names above them: {"gather, scatter", {"C1", "C2", ..}}; names are sorted.
using ConstraintList = std::map<std::vector<std::string>, std::vector<std::string>>;
ConstraintList ConstraintsIn(const std::string& header);

// The names under which a header may list an opcode: its own and that of its family, and "every-opcode".
std::vector<std::string> NamesOf(Opcode opcode);

// Every case violates its constraint and no other, and all constraints of the header are violated.
void ExpectViolated(const std::string& header, const std::vector<ViolatingCase>& cases);

}  // namespace toroid

#endif  // TOROID_TESTS_HLO_OPS_CONSTRAINT_CASES_H_
