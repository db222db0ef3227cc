#include "hlo/io/hlo_text_names.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/unique_names.h"
#include "hlo/io/text_scanner.h"

namespace toroid {
std::string SpellableName(absl::string_view name, absl::string_view fallback) {
  std::string out(name.empty() ? fallback : name);
  for (char& c : out) {
    if (!IsNameCharacter(c)) c = '_';
  }
  if (out.empty() || (!absl::ascii_isalpha(static_cast<unsigned char>(out[0])) && out[0] != '_')) {
    out.insert(out.begin(), '_');
  }
  // Keywords that would be ambiguous as names.
  for (const absl::string_view word :
       {"ENTRY", "ROOT", "HloModule", "FileNames", "FunctionNames", "FileLocations", "StackFrames"}) {
    if (out == word) out.push_back('_');
  }
  return out;
}

TextNames::TextNames(const Module& module) {
  UniqueNames computation_names;
  computations_.reserve(module.num_computations());
  instructions_.resize(module.num_computations());
  for (const auto& computation : module.computations()) {
    computations_.push_back(computation_names.Add(SpellableName(computation->name(), "computation")));
    UniqueNames names;
    std::vector<std::string>& own = instructions_[computation->index()];
    own.reserve(computation->size());
    for (const auto& instruction : computation->instructions()) {
      own.push_back(names.Add(SpellableName(instruction->name(), instruction->opcode_name())));
    }
  }
}

}  // namespace toroid
