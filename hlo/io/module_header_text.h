// The header of HLO text: the attributes after `HloModule NAME` and the stack-frame tables below it.
//
// HLO text has no fields for the records of partitioning; they are written as frontend attributes:
//   toroid.spmd_output_sharding={devices=[2]<=[2]}
//   toroid.spmd_parameters_shardings={{replicated}, {devices=[2]<=[2]}}     one per parameter
//   toroid.device_assignment={[1,2]<=[2]}                                   [replicas, partitions] or a list
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "hlo/io/text_scanner.h"
#include "hlo/ir/module.h"

namespace toroid {

// Reads `, key=value` items after the module's name into `module`. Unknown ones are skipped.
absl::Status ParseModuleAttributes(TextScanner* scanner, Module* module);
// Prints them; `layouts`: with the layouts in entry_computation_layout.
void AppendModuleAttributes(const Module& module, bool layouts, std::string* out);

// Reads those of the tables FileNames, FunctionNames, FileLocations and StackFrames that are present.
absl::Status ParseStackFrames(TextScanner* scanner, Module* module);
void AppendStackFrames(const Module& module, std::string* out);

}  // namespace toroid
