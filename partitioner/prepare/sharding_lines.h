// Shardings given from outside the module: NAME=SHARDING lines of a command line or a file.
//
// NAME is the name of an instruction in any computation, also with the author's scopes in front as --explain prints it;
// `parameter(K)`; `output{K}`, or `output{}` if the output is no tuple; the name of an output in the author's tree,
// result['w']; or a glob (* and ?), which means all instructions whose metadata's op_name it matches. A name that means nothing
// of these is taken as a row of --explain shows it (shown_name.h): dot.2..5, with … where it was cut. SHARDING is any spelling
// of HLO text, or a list of dimensions such as [{"model"}, {}] over the module's one Shardy mesh. It begins with the first `{`
// or `[` that follows a `=` and blanks.
#pragma once

#include <string>
#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

struct ShardingLine {
  std::string line;   // NAME=SHARDING
  std::string where;  // "FILE:LINE", the prefix of errors; empty for lines of the command line.
};

// Gives instructions of the module their shardings (Instruction::GiveSharding). A glob
// or a shown name shards those of the arrays it matches that have the sharding's rank, and adds a line with their number to
// `notes`. To shard an output, a Sharding call is inserted before the root.
// Errors: kInvalidArgument for a line without '=', a name given twice, a sharding that does not parse or has
// another rank than the named array, or a value that is manual; kNotFound for a name that matches nothing,
// with the nearest name that does.
absl::Status ApplyShardingLines(const std::vector<ShardingLine>& shardings, Module* module,
                                std::vector<std::string>* notes = nullptr);

// For each entry parameter, a NAME that means it and nothing else: its op_name, its own name, or parameter(K).
std::vector<std::string> GivenNames(const Module& module);

// The lines of an annotations file, without blank lines and comments. A comment starts with `#` at the start
// of a line or after a blank.
std::vector<ShardingLine> ReadShardingLines(absl::string_view text, absl::string_view file);

}  // namespace toroid
