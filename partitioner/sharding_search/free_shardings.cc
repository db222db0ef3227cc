#include "partitioner/sharding_search/free_shardings.h"

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/glob.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/io/module_meshes.h"

namespace toroid {
namespace {

bool Matches(const std::vector<std::string>& globs, const Instruction& instruction) {
  return absl::c_any_of(globs, [&](const std::string& glob) {
    if (GlobMatches(glob, instruction.name())) return true;
    return instruction.metadata() != nullptr && GlobMatches(glob, instruction.metadata()->op_name());
  });
}

bool HasAttribute(const Instruction& instruction) {
  return absl::c_any_of(kSdyShardingAttributes,
                        [&](const char* key) { return instruction.FrontendAttribute(key) != nullptr; });
}

// What states the shardings of manual regions: their bodies are written for these.
absl::flat_hash_set<const Instruction*> OfManualRegions(const Module& module) {
  absl::flat_hash_set<const Instruction*> found;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (instruction->sharding() != nullptr && IsManual(*instruction->sharding()))
        found.insert(instruction.get());
      const RegionBorder border = BorderOf(*instruction);
      if (border == RegionBorder::kNone) continue;
      found.insert(instruction.get());
      if (border == RegionBorder::kEnters)
        found.insert(instruction->operands().begin(), instruction->operands().end());
    }
  }
  return found;
}

void DropAttributes(Module* module, Instruction* instruction) {
  if (!HasAttribute(*instruction)) return;
  xla::FrontendAttributes left = *instruction->frontend_attributes();
  for (const char* key : kSdyShardingAttributes) left.mutable_map()->erase(key);
  instruction->set_frontend_attributes(left.map().empty() ? nullptr : module->New(left));
}

}  // namespace

absl::StatusOr<int> FreeShardings(const std::vector<std::string>& freed, const std::vector<std::string>& kept,
                                  Module* module) {
  int count = 0;
  for (const std::string& glob : freed) {
    bool is_used = glob == "*";
    for (const auto& computation : module->computations()) {
      for (const auto& instruction : computation->instructions()) is_used |= Matches({glob}, *instruction);
    }
    if (!is_used) {
      return absl::NotFoundError(
          absl::StrCat("--free=", glob, " matches no name and no op_name; --explain prints names"));
    }
  }
  const absl::flat_hash_set<const Instruction*> manual = OfManualRegions(*module);
  for (const auto& computation : module->computations()) {
    for (const auto& instruction : computation->instructions()) {
      const bool has_own = instruction->sharding() != nullptr || HasAttribute(*instruction);
      if (!has_own || !Matches(freed, *instruction) || Matches(kept, *instruction)) continue;
      if (manual.contains(instruction.get())) continue;
      instruction->set_sharding(nullptr);
      DropAttributes(module, instruction.get());
      ++count;
    }
  }
  if (absl::c_linear_search(freed, "*")) {
    for (const char* key : kSdyShardingAttributes)
      module->mutable_proto()->mutable_frontend_attributes()->mutable_map()->erase(key);
    module->mutable_proto()->clear_spmd_parameters_shardings();
    module->mutable_proto()->clear_spmd_output_sharding();
  }
  return count;
}

bool StatesShardings(const Module& module) {
  if (SdyMeshesText(module) != nullptr) return true;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (instruction->sharding() != nullptr || HasAttribute(*instruction)) return true;
    }
  }
  return false;
}

}  // namespace toroid
