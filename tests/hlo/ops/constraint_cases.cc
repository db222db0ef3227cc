#include "tests/hlo/ops/constraint_cases.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo/base/status.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "tests/corpus_files.h"
#include "tests/hlo/ops/environment.h"

namespace toroid {
namespace {

struct Row {
  Opcode opcode;
  const char* name;
  const char* family;
};

const Row kTable[] = {
#define HLO_OP(enumerator, name, arity, family, attributes, traits) {Opcode::enumerator, name, #family},
#include "hlo/opcode.inc"
#undef HLO_OP
};

// GetTupleElement -> get-tuple-element.
std::string InLowerCase(absl::string_view family) {
  std::string out;
  for (const char letter : family) {
    if (absl::ascii_isupper(letter) && !out.empty()) out += "-";
    out += absl::ascii_tolower(letter);
  }
  return out;
}

bool IsName(absl::string_view text) {
  return !text.empty() && absl::ascii_islower(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
  });
}

// "C12" in "C12 words"; empty if there is none.
std::string NumberAt(absl::string_view line) {
  const std::string word(line.substr(0, line.find(' ')));
  const bool letter = word.size() > 1 && (word[0] == 'A' || word[0] == 'C' || word[0] == 'M');
  return letter && std::all_of(word.begin() + 1, word.end(), absl::ascii_isdigit) ? word : "";
}

// The names in "gather, scatter: words"; empty if the line has another form.
std::vector<std::string> NamesAt(absl::string_view line) {
  const size_t colon = line.find(':');
  if (colon == absl::string_view::npos) return {};
  std::vector<std::string> names = absl::StrSplit(line.substr(0, colon), ", ");
  if (!std::all_of(names.begin(), names.end(), [](const std::string& name) { return IsName(name); }))
    return {};
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

ConstraintList ConstraintsIn(const std::string& header) {
  ConstraintList list;
  std::vector<std::string> names;
  std::string open;  // A line of names that is continued.
  for (const absl::string_view line : absl::StrSplit(ReadCorpusFile(header), '\n')) {
    if (!absl::StartsWith(line, "//")) break;
    if (absl::StartsWith(line, "//   ")) {
      const std::string number = NumberAt(line.substr(5));
      if (!number.empty() && !names.empty()) list[names].push_back(number);
      continue;
    }
    const std::string text = absl::StrCat(open, line.size() > 3 ? line.substr(3) : "");
    open = absl::EndsWith(text, ",") ? absl::StrCat(text, " ") : "";
    const std::vector<std::string> found = NamesAt(text);
    if (found.empty()) continue;
    names = found;
    list[names];
  }
  return list;
}

std::vector<std::string> NamesOf(Opcode opcode) {
  for (const Row& row : kTable) {
    if (row.opcode == opcode) return {row.name, InLowerCase(row.family), "every-opcode", "module"};
  }
  return {};
}

absl::StatusOr<std::unique_ptr<Module>> ModuleOf(const ViolatingCase& c) {
  const size_t last = c.instruction.rfind('\n') + 1;
  return ParseModule(absl::StrCat(c.header, kEnvironment, c.instruction.substr(0, last),
                                  "ROOT it = ", c.instruction.substr(last), "\n}\n"));
}

absl::StatusOr<Verdict> VerdictOf(const ViolatingCase& c) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ModuleOf(c));
  Instruction* const it = module->entry()->root();
  Verdict verdict;
  verdict.opcode = it->opcode();
  if (c.edit != nullptr) c.edit(it);
  verdict.status = VerifyModule(*module);
  return verdict;
}

const std::vector<ConstraintTable>& ConstraintTables() {
  static const auto* const tables = new std::vector<ConstraintTable>{
      {"hlo/ops/collectives.h", CollectivesCases()},
      {"hlo/ops/control_flow.h", ControlFlowCases()},
      {"hlo/ops/convolution.h", ConvolutionCases()},
      {"hlo/ops/data_movement.h", DataMovementCases()},
      {"hlo/ops/dot.h", DotCases()},
      {"hlo/ops/elementwise.h", ElementwiseCases()},
      {"hlo/ops/indexing.h", IndexingCases()},
      {"hlo/ops/infer_shape.h", AnyOpcodeCases()},
      {"hlo/ops/linear_algebra.h", LinearAlgebraCases()},
      {"hlo/ops/random.h", RandomCases()},
      {"hlo/ops/reduce.h", ReduceCases()},
      {"hlo/ops/sort.h", SortCases()},
      {"hlo/ops/structure.h", StructureCases()},
      {"hlo/ops/transfer.h", TransferCases()},
      {"hlo/ops/verify_module.h", ModuleCases()},
  };
  return *tables;
}

std::vector<ViolatingCase> Joined(const std::vector<std::vector<ViolatingCase>>& parts) {
  std::vector<ViolatingCase> all;
  for (const std::vector<ViolatingCase>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace toroid
