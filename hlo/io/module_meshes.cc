#include "hlo/io/module_meshes.h"

namespace toroid {

const std::string* SdyMeshesText(const Module& module) {
  const auto& attributes = module.proto().frontend_attributes().map();
  const auto text = attributes.find(kSdyMeshes);
  return text == attributes.end() ? nullptr : &text->second;
}

absl::StatusOr<SdyMeshes> SdyMeshesOf(const Module& module) {
  const std::string* text = SdyMeshesText(module);
  return text == nullptr ? SdyMeshes() : ParseSdyMeshes(*text);
}

}  // namespace toroid
