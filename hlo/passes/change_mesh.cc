#include "hlo/passes/change_mesh.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/base/suggestion.h"
#include "hlo/devices/device_limit.h"
#include "hlo/io/module_meshes.h"
#include "hlo/io/sdy_sharding.h"
#include "hlo/passes/mesh_groups.h"
#include "hlo/passes/mesh_regions.h"

namespace toroid {
namespace {

// ["data"=4, "model"=2]
template <typename Axes>
std::string AxesText(const Axes& axes) {
  return absl::StrCat("[",
                      absl::StrJoin(axes, ", ",
                                    [](std::string* out, const auto& axis) {
                                      absl::StrAppend(out, "\"", axis.name, "\"=", axis.size);
                                    }),
                      "]");
}

// Reads the whole module before it writes, so that an error leaves the module as it was.
class MeshChange {
 public:
  MeshChange(absl::Span<const AxisSize> sizes, Module* module) : module_(*module), sizes_(sizes) {}

  absl::Status Read() {
    const auto& attributes = module_.proto().frontend_attributes().map();
    if (const std::string* text = SdyMeshesText(module_)) {
      ASSIGN_OR_RETURN(meshes_, ParseSdyMeshes(*text));
      ASSIGN_OR_RETURN(std::string changed, WithSizes(*text));
      module_texts_.emplace_back(kSdyMeshes, std::move(changed));
    }
    RETURN_IF_ERROR(ReadTexts(attributes, &module_texts_));
    for (const auto& computation : module_.computations()) {
      for (const auto& instruction : computation->instructions()) {
        RETURN_IF_ERROR(Annotate(ReadInstruction(instruction.get()), instruction->Path()));
      }
    }
    if (axes_.empty() && by_number_ == nullptr) RETURN_IF_ERROR(GiveMesh());
    if (by_number_ != nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the sharding of ", by_number_->Path(),
          " lists devices and names no axes of a mesh; lower the program with Shardy, JAX's default"));
    }
    for (const AxisSize& size : sizes_) {
      if (absl::c_linear_search(axes_, size.name)) continue;
      return absl::InvalidArgumentError(absl::StrCat("no mesh of the module has an axis \"", size.name, "\"",
                                                     DidYouMean(size.name, axes_), "; its axes are ",
                                                     absl::StrJoin(axes_, ", ")));
    }
    if (!changes_) return absl::OkStatus();
    ASSIGN_OR_RETURN(groups_, RegionsOnMesh(module_, meshes_, [&](const std::string& name, int64_t size) {
                       return SizeOf(name, size);
                     }));
    return absl::OkStatus();
  }

  void Write(std::vector<std::string>* notes) {
    if (!changes_) return;
    auto& map = *module_.mutable_proto()->mutable_frontend_attributes()->mutable_map();
    for (const auto& [key, text] : module_texts_) map[key] = text;
    for (const auto& [instruction, texts] : texts_) {
      xla::FrontendAttributes* attributes = module_.New(*instruction->frontend_attributes());
      for (const auto& [key, text] : texts) (*attributes->mutable_map())[key] = text;
      instruction->set_frontend_attributes(attributes);
    }
    for (const auto& [instruction, sharding] : shardings_) instruction->set_sharding(sharding);
    for (const RegionGroups& groups : groups_) SetGroups(groups.groups, groups.collective);
    module_.config().num_partitions = devices_;
    module_.config().identity_device_assignment = false;
    module_.mutable_proto()->clear_device_assignment();
    if (drops_order_ && notes != nullptr) {
      notes->emplace_back(
          "the module lists the devices of its mesh in an order of its own; with other sizes they are in the plain order");
    }
  }

 private:
  using Texts = std::vector<std::pair<std::string, std::string>>;

  // The size that an axis has afterwards.
  int64_t SizeOf(const std::string& name, int64_t size) {
    if (!absl::c_linear_search(axes_, name)) axes_.push_back(name);
    for (const AxisSize& asked : sizes_) {
      if (asked.name != name) continue;
      changes_ |= asked.size != size;
      return asked.size;
    }
    return size;
  }

  absl::Status NoteDevices(int64_t n) {
    if (devices_ != 0 && devices_ != n) {
      return absl::InvalidArgumentError(absl::StrCat("the module has several meshes, which would have ",
                                                     devices_, " and ", n,
                                                     " devices; give the sizes of the axes of each"));
    }
    devices_ = n;
    if (n <= kMaxDevices) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("a mesh of ", n, " devices; there can be ", kMaxDevices));
  }

  // The text with other sizes in each mesh<["data"=4, "model"=2]> of it. A mesh without axes stays.
  absl::StatusOr<std::string> WithSizes(const std::string& value) {
    constexpr char kMesh[] = "mesh<";
    std::string text = value;
    if (absl::StrContains(value, "\\\"") && !absl::CUnescape(value, &text)) return value;
    std::string out;
    size_t done = 0;
    for (size_t at = text.find(kMesh); at != std::string::npos; at = text.find(kMesh, done)) {
      const size_t end = text.find('>', at);
      if (end == std::string::npos) break;
      absl::StrAppend(&out, text.substr(done, at - done));
      done = end + 1;
      ASSIGN_OR_RETURN(const std::string mesh, MeshWithSizes(text.substr(at, done - at)));
      absl::StrAppend(&out, mesh);
    }
    return absl::StrCat(out, text.substr(done));
  }

  absl::StatusOr<std::string> MeshWithSizes(const std::string& text) {
    ASSIGN_OR_RETURN(SdyMeshes one, ParseSdyMeshes(absl::StrCat("{mesh = #sdy.", text, "}")));
    SdyMesh& mesh = one.begin()->second;
    if (mesh.axes.empty()) return text;
    int64_t devices = 1;
    bool same = true;
    for (SdyMesh::Axis& axis : mesh.axes) {
      const int64_t size = SizeOf(axis.name, axis.size);
      same = same && size == axis.size;
      axis.size = size;
      devices = SaturatingMultiply(devices, size);
    }
    RETURN_IF_ERROR(NoteDevices(devices));
    if (same) return text;
    drops_order_ |= !mesh.device_ids.empty();
    return absl::StrCat("mesh<", AxesText(mesh.axes), ">");
  }

  // Adds to `texts` the shardings among the attributes that hold a mesh of their own.
  template <typename Map>
  absl::Status ReadTexts(const Map& attributes, Texts* texts) {
    for (const char* key : kSdyShardingAttributes) {
      const auto text = attributes.find(key);
      if (text == attributes.end()) continue;
      ASSIGN_OR_RETURN(const std::vector<SdySharding> shardings, ParseSdyShardings(text->second, meshes_));
      for (const SdySharding& sharding : shardings) RETURN_IF_ERROR(HasNoPart(sharding));
      if (!absl::StrContains(text->second, "mesh<")) continue;
      ASSIGN_OR_RETURN(std::string changed, WithSizes(text->second));
      texts->emplace_back(key, std::move(changed));
    }
    return absl::OkStatus();
  }

  absl::Status HasNoPart(const SdySharding& sharding) {
    std::vector<SdyAxisRef> refs = sharding.replicated;
    refs.insert(refs.end(), sharding.unreduced.begin(), sharding.unreduced.end());
    for (const SdyDim& dim : sharding.dims) refs.insert(refs.end(), dim.axes.begin(), dim.axes.end());
    for (const SdyAxisRef& ref : refs) {
      if (ref.size == 0) continue;
      for (const SdyMesh::Axis& axis : sharding.mesh.axes) {
        if (axis.name != ref.name || SizeOf(axis.name, axis.size) == axis.size) continue;
        return IsPart(ref.name);
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadInstruction(Instruction* instruction) {
    if (instruction->frontend_attributes() != nullptr) {
      Texts texts;
      RETURN_IF_ERROR(ReadTexts(instruction->frontend_attributes()->map(), &texts));
      if (!texts.empty()) texts_.emplace_back(instruction, std::move(texts));
    }
    if (instruction->sharding() == nullptr) return absl::OkStatus();
    // Beside Shardy's shardings the ordinary ones are a copy that nothing reads, save where there is no other.
    const bool is_copy = !meshes_.empty() && instruction->opcode() != Opcode::kInfeed &&
                         instruction->opcode() != Opcode::kOutfeed &&
                         (!IsCallTo(*instruction, "Sharding") ||
                          instruction->FrontendAttribute(kSdyShardingAttributes[0]) != nullptr);
    xla::OpSharding* sharding = is_copy ? nullptr : module_.New(*instruction->sharding());
    if (!is_copy) RETURN_IF_ERROR(ChangeSharding(*instruction, sharding));
    shardings_.emplace_back(instruction, sharding);
    return absl::OkStatus();
  }

  // An ordinary sharding: with a mesh of its own, replicated, manual, or over devices by number.
  absl::Status ChangeSharding(const Instruction& instruction, xla::OpSharding* sharding) {
    for (xla::OpSharding& leaf : *sharding->mutable_tuple_shardings()) {
      RETURN_IF_ERROR(ChangeSharding(instruction, &leaf));
    }
    if (sharding->type() == xla::OpSharding::OTHER && !sharding->has_named_sharding())
      by_number_ = &instruction;
    if (!sharding->has_named_sharding()) return absl::OkStatus();
    xla::NamedShardingProto& named = *sharding->mutable_named_sharding();
    int64_t devices = 1;
    for (auto& axis : *named.mutable_mesh()->mutable_axes()) {
      const int64_t size = SizeOf(axis.name(), axis.size());
      if (size != axis.size() && NamesParts(named)) return IsPart(axis.name());
      drops_order_ |= size != axis.size() && named.mesh().device_ids_size() > 0;
      axis.set_size(size);
      devices = SaturatingMultiply(devices, size);
    }
    return named.mesh().axes().empty() ? absl::OkStatus() : NoteDevices(devices);
  }

  static bool NamesParts(const xla::NamedShardingProto& named) {
    const auto has_part = [](const auto& axes) {
      return absl::c_any_of(axes, [](const xla::AxisRefProto& axis) { return axis.has_sub_axis_info(); });
    };
    return has_part(named.replicated_axes()) || has_part(named.unreduced_axes()) ||
           has_part(named.manual_axes()) ||
           absl::c_any_of(named.dim_shardings(), [&](const auto& dim) { return has_part(dim.axes()); });
  }

  // A part of an axis, "x":(2)4, has no meaning if the axis has another size.
  static absl::Status IsPart(absl::string_view axis) {
    return absl::InvalidArgumentError(absl::StrCat("a sharding is over a part of the axis \"", axis,
                                                   "\", which therefore cannot have another size"));
  }

  // A module without any sharding gets a mesh of the named axes, over which shardings can be given.
  absl::Status GiveMesh() {
    int64_t devices = 1;
    for (const AxisSize& size : sizes_) devices = SaturatingMultiply(devices, size.size);
    module_texts_.emplace_back(kSdyMeshes, absl::StrCat("{mesh = #sdy.mesh<", AxesText(sizes_), ">}"));
    for (const AxisSize& size : sizes_) axes_.push_back(size.name);
    changes_ = true;
    return NoteDevices(devices);
  }

  Module& module_;
  absl::Span<const AxisSize> sizes_;
  SdyMeshes meshes_;               // As the module has them.
  std::vector<std::string> axes_;  // Of all meshes.
  int64_t devices_ = 0;            // Of the meshes afterwards; 0 before the first mesh is read.
  bool changes_ = false;           // Whether some axis has another size.
  bool drops_order_ = false;
  const Instruction* by_number_ = nullptr;  // Has a sharding that lists devices.
  Texts module_texts_;
  std::vector<std::pair<Instruction*, Texts>> texts_;
  std::vector<std::pair<Instruction*, const xla::OpSharding*>> shardings_;
  std::vector<RegionGroups> groups_;  // Of the collectives in manual regions.
};

}  // namespace

absl::StatusOr<std::vector<AxisSize>> ParseAxisSizes(absl::string_view text) {
  std::vector<AxisSize> sizes;
  int64_t devices = 1;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> named =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    AxisSize size{std::string(absl::StripAsciiWhitespace(named.first))};
    if (size.name.empty() || absl::StrContains(size.name, '"') ||
        !absl::SimpleAtoi(named.second, &size.size) || size.size < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", part, "': give the axes of a mesh as NAME=SIZE, as in data=32,model=16"));
    }
    for (const AxisSize& other : sizes) {
      if (other.name == size.name)
        return absl::InvalidArgumentError(absl::StrCat("the axis ", size.name, " has two sizes"));
    }
    devices = SaturatingMultiply(devices, size.size);
    sizes.push_back(std::move(size));
  }
  if (devices > kMaxDevices) {
    return absl::InvalidArgumentError(
        absl::StrCat("a mesh of ", devices, " devices; there can be ", kMaxDevices));
  }
  return sizes;
}

absl::Status ChangeMesh(absl::Span<const AxisSize> sizes, Module* module, std::vector<std::string>* notes) {
  if (sizes.empty()) return absl::OkStatus();
  MeshChange change(sizes, module);
  RETURN_IF_ERROR(change.Read());
  change.Write(notes);
  return absl::OkStatus();
}

}  // namespace toroid
