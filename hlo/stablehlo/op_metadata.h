// Locations of MLIR as the metadata of HLO instructions.
//
//   loc("jit(f)/dot"(callsite("g"("m.py":3:5) at "f"("m.py":9:1))))
// gives op_name="jit(f)/dot" and a stack frame (g, line 3) inside (f, line 9). A name that ends in ':' is the kind
// of an operation and names nothing; fused locations give their names, separated by ';'.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"
#include "hlo/stablehlo/mlir_tree.h"

namespace toroid {

class OpMetadataTable {
 public:
  // Frames are added to the module's tables.
  explicit OpMetadataTable(Module* module) : module_(*module) {}

  // Null if the location says nothing.
  const xla::OpMetadata* Of(const MlirLocation* location);

 private:
  // Appends the names of the operation at the location.
  void AppendNames(const MlirLocation* location, int depth, std::string* out);
  // The frame of the innermost call, below `parent`; `parent` if there is none.
  int FrameOf(const MlirLocation* location, int parent, absl::string_view function, int depth);
  int AddFrame(const MlirLocation& file, absl::string_view function, int parent);
  int IdOf(absl::string_view text, google::protobuf::RepeatedPtrField<std::string>* list,
           absl::flat_hash_map<std::string, int>* ids);

  Module& module_;
  int64_t steps_ = 0;
  absl::flat_hash_map<const MlirLocation*, const xla::OpMetadata*> known_;
  absl::flat_hash_map<std::string, int> files_, functions_;
  std::map<std::tuple<int, int, int, int, int, int>, int> places_;
  std::map<std::pair<int, int>, int> frames_;
};

}  // namespace toroid
