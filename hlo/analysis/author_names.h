// The names that an author gave to the parts of a program, out of the metadata that frameworks record.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"

namespace toroid {

// The author's scopes in an op_name, without the scopes that tracing adds: "model/layers_3" of
// "jit(step)/jvp(model)/while/body/closed_call/layers_3/dot_general"; "" if there are none.
std::string AuthorScopes(absl::string_view op_name);

// `name` in the author's scopes of an instruction: "layers_3/mlp/dot_general.57".
std::string InAuthorScopes(const Instruction& instruction, absl::string_view name);

// The author's scopes and the last part of the op_name of an instruction; "" if it has no metadata.
std::string NameFromMetadata(const Instruction& instruction);

}  // namespace toroid
