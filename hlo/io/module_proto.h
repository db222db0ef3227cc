// HloModuleProto <-> Module.
//
// The reader takes fields that have members in the IR from the wire bytes, and keeps the others as the
// instruction's attributes, so that every field, known or unknown, is written again. Equal metadata,
// shardings and attributes are parsed once and shared. The writer emits wire bytes directly.
// Requires, as the wire format does: operands before users, callees before callers.
// BUILD: srcs += "module_proto_reader.cc", "module_proto_writer.cc"
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"

namespace toroid {

// Fills the empty `module` from the bytes of an HloModuleProto, which are not needed afterwards.
// Errors: kInvalidArgument "damaged HloModuleProto, or a string in it is not UTF-8";
// "computation/instruction: ..." for dangling or forward references, duplicate ids, parameter numbers with
// gaps, bad shapes; a missing entry. The verifier, not the reader, checks the constraints of opcodes.
absl::Status ReadModuleProto(absl::string_view bytes, Module* module);
absl::StatusOr<std::unique_ptr<Module>> ReadModuleProto(absl::string_view bytes);

// Appends the bytes of the module as an HloModuleProto. Ids are kept if every instruction has one; otherwise
// all are renumbered as (computation id << 32) | index. Missing and repeated names are made unique.
void AppendModuleProto(const Module& module, std::string* bytes);

}  // namespace toroid
