#include "hlo/stablehlo/op_metadata.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

// Locations may be nested through aliases, in a circle even.
constexpr int kMaxDepth = 2000;
constexpr size_t kMaxName = 4096;
// Aliases that are used twice at every level double the steps at each; no program of this size needs so many.
constexpr int64_t kMaxSteps = 50000000;

}  // namespace

void OpMetadataTable::AppendNames(const MlirLocation* location, int depth, std::string* out) {
  if (location == nullptr || depth > kMaxDepth || out->size() > kMaxName || ++steps_ > kMaxSteps) return;
  switch (location->kind) {
    case MlirLocation::Kind::kName:
      if (!absl::EndsWith(location->name, ":")) {
        if (!out->empty() && !location->name.empty()) out->push_back(';');
        out->append(location->name, 0, location->name.find('@'));
      } else if (!location->children.empty()) {
        AppendNames(location->children[0], depth + 1, out);
      }
      return;
    case MlirLocation::Kind::kCallSite:
    case MlirLocation::Kind::kAlias:
      if (!location->children.empty()) AppendNames(location->children[0], depth + 1, out);
      return;
    case MlirLocation::Kind::kFused:
      for (const MlirLocation* child : location->children) {
        if (out->size() <= kMaxName) AppendNames(child, depth + kMaxDepth / 20, out);
      }
      return;
    case MlirLocation::Kind::kFile:
    case MlirLocation::Kind::kUnknown:
      return;
  }
}

int OpMetadataTable::IdOf(absl::string_view text, google::protobuf::RepeatedPtrField<std::string>* list,
                          absl::flat_hash_map<std::string, int>* ids) {
  const auto [it, is_new] = ids->emplace(std::string(text), list->size() + 1);
  if (is_new) *list->Add() = std::string(text);
  return it->second;
}

int OpMetadataTable::AddFrame(const MlirLocation& file, absl::string_view function, int parent) {
  xla::StackFrameIndexProto& index = *module_.mutable_proto()->mutable_stack_frame_index();
  const int file_id = IdOf(file.name, index.mutable_file_names(), &files_);
  const int function_id = IdOf(function, index.mutable_function_names(), &functions_);
  const auto [place, is_new_place] = places_.emplace(
      std::make_tuple(file_id, function_id, file.line, file.column, file.end_line, file.end_column),
      index.file_locations_size() + 1);
  if (is_new_place) {
    auto* added = index.add_file_locations();
    added->set_file_name_id(file_id);
    added->set_function_name_id(function_id);
    added->set_line(file.line);
    added->set_column(file.column);
    added->set_end_line(file.end_line);
    added->set_end_column(file.end_column);
  }
  const auto [frame, is_new_frame] =
      frames_.emplace(std::make_pair(place->second, parent), index.stack_frames_size() + 1);
  if (is_new_frame) {
    auto* added = index.add_stack_frames();
    added->set_file_location_id(place->second);
    added->set_parent_frame_id(parent);
  }
  return frame->second;
}

int OpMetadataTable::FrameOf(const MlirLocation* location, int parent, absl::string_view function,
                             int depth) {
  // Callers nest in a loop, since stacks are long.
  for (; location != nullptr && depth <= kMaxDepth && ++steps_ <= kMaxSteps; ++depth) {
    switch (location->kind) {
      case MlirLocation::Kind::kUnknown:
        return parent;
      case MlirLocation::Kind::kFile:
        return AddFrame(*location, function, parent);
      case MlirLocation::Kind::kCallSite:
        parent = FrameOf(location->children[1], parent, "", depth + 1);
        location = location->children[0];
        continue;
      case MlirLocation::Kind::kName:
        function = location->name;
        [[fallthrough]];
      case MlirLocation::Kind::kAlias:
      case MlirLocation::Kind::kFused:
        location = location->children.empty() ? nullptr : location->children[0];
        continue;
    }
  }
  return parent;
}

const xla::OpMetadata* OpMetadataTable::Of(const MlirLocation* location) {
  if (location == nullptr) return nullptr;
  const auto [it, is_new] = known_.emplace(location, nullptr);
  if (!is_new) return it->second;
  std::string name;
  AppendNames(location, 0, &name);
  // The name of the operation is not that of a function.
  const MlirLocation* place = location;
  for (int depth = 0; place != nullptr && place->kind == MlirLocation::Kind::kAlias && depth < kMaxDepth;
       ++depth) {
    place = place->children.empty() ? nullptr : place->children[0];
  }
  if (place != nullptr && place->kind == MlirLocation::Kind::kName) {
    place = place->children.empty() ? nullptr : place->children[0];
  }
  const int frame = FrameOf(place, 0, "", 0);
  if (name.empty() && frame == 0) return nullptr;
  auto* metadata = module_.New<xla::OpMetadata>();
  metadata->set_op_name(name);
  if (frame > 0) metadata->set_stack_frame_id(frame);
  return it->second = metadata;
}

}  // namespace toroid
