#include "hlo/io/sharding_text.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/io/mesh_text.h"
#include "hlo/io/metadata_text.h"

namespace toroid {
namespace {

using Metadata = google::protobuf::RepeatedPtrField<xla::OpMetadata>;

// Reads the value of metadata=: one block or a list of blocks.
absl::Status ParseMetadataList(TextScanner* scanner, Metadata* metadata) {
  const size_t begin = scanner->Position();
  RETURN_IF_ERROR(scanner->Expect("{"));
  const bool list = scanner->Peek() == '{';
  scanner->Reset(begin);
  if (!list) return ParseMetadata(scanner, metadata->Add());
  return scanner->List("{", "}", [&] { return ParseMetadata(scanner, metadata->Add()); });
}

std::string MetadataListToString(const Metadata& metadata) {
  const auto to_string = [](const xla::OpMetadata& m) {
    const std::string text = MetadataToString(m);
    return text.empty() ? std::string("{}") : text;
  };
  if (metadata.size() == 1) return absl::StrCat("metadata=", to_string(metadata[0]));
  return absl::StrCat(
      "metadata={",
      absl::StrJoin(metadata, ", ",
                    [&](std::string* s, const xla::OpMetadata& m) { s->append(to_string(m)); }),
      "}");
}

std::optional<xla::OpSharding::Type> KindOfWord(absl::string_view word) {
  if (word == "replicated") return xla::OpSharding::REPLICATED;
  if (word == "manual") return xla::OpSharding::MANUAL;
  if (word == "unreduced") return xla::OpSharding::UNREDUCED;
  if (word == "unknown") return xla::OpSharding::UNKNOWN;
  return std::nullopt;
}

// ---- Mesh form --------------------------------------------------------------------------------------------

absl::Status ParseDimension(TextScanner* scanner, xla::NamedShardingProto* sharding) {
  xla::NamedShardingProto::DimensionSharding* dimension = sharding->add_dim_shardings();
  dimension->set_is_closed(true);
  return scanner->List("{", "}", [&]() -> absl::Status {
    if (!dimension->is_closed()) return scanner->Error("expected '}' after '?'");
    if (scanner->Consume("?")) {
      dimension->set_is_closed(false);
      return absl::OkStatus();
    }
    return ParseAxis(sharding->mesh(), scanner, dimension->add_axes());
  });
}

void AddAllAxes(const xla::MeshProto& mesh, AxisRefs* axes) {
  for (int i = 0; i < mesh.axes_size(); ++i) axes->Add()->set_mesh_axis_index(i);
}

bool IsAllAxes(const xla::MeshProto& mesh, const AxisRefs& axes) {
  if (axes.empty() || axes.size() != mesh.axes_size()) return false;
  for (int i = 0; i < axes.size(); ++i) {
    if (axes[i].mesh_axis_index() != i || axes[i].has_sub_axis_info()) return false;
  }
  return true;
}

absl::Status ParseNamedItem(TextScanner* scanner, xla::NamedShardingProto* sharding) {
  ASSIGN_OR_RETURN(const absl::string_view word,
                   scanner->Word("a list of dimensions, replicated, unreduced, manual or metadata"));
  const bool list = scanner->Consume("=");
  if (word == "metadata" && list) return ParseMetadataList(scanner, sharding->mutable_metadata());
  AxisRefs* axes = word == "replicated"  ? sharding->mutable_replicated_axes()
                   : word == "unreduced" ? sharding->mutable_unreduced_axes()
                   : word == "manual"    ? sharding->mutable_manual_axes()
                                         : nullptr;
  if (axes == nullptr) return scanner->Error(absl::StrCat("unknown item ", word, " before this"));
  if (list) return ParseAxes(sharding->mesh(), scanner, axes);
  if (word != "replicated") AddAllAxes(sharding->mesh(), axes);
  return absl::OkStatus();
}

// Reads from after the opening brace up to the shard group or the closing brace.
absl::Status ParseNamed(TextScanner* scanner, xla::NamedShardingProto* sharding) {
  if (scanner->ConsumeWord("maximal_mesh")) {
    RETURN_IF_ERROR(scanner->Expect("["));
    if (!scanner->ConsumeWord("device_id")) return scanner->Error("expected device_id=");
    RETURN_IF_ERROR(scanner->Expect("="));
    ASSIGN_OR_RETURN(const int64_t device, scanner->Integer());
    sharding->mutable_mesh()->add_device_ids(device);
    RETURN_IF_ERROR(scanner->Expect("]"));
  } else {
    RETURN_IF_ERROR(ParseMesh(scanner, sharding->mutable_mesh()));
  }
  while (scanner->Consume(",")) {
    if (scanner->Peek() == '[') {
      RETURN_IF_ERROR(scanner->List("[", "]", [&] { return ParseDimension(scanner, sharding); }));
    } else {
      RETURN_IF_ERROR(ParseNamedItem(scanner, sharding));
    }
  }
  return absl::OkStatus();
}

std::string NamedToString(const xla::NamedShardingProto& sharding) {
  const xla::MeshProto& mesh = sharding.mesh();
  std::string out;
  if (mesh.axes_size() == 0 && mesh.device_ids_size() == 1) {
    out = absl::StrCat("maximal_mesh[device_id=", mesh.device_ids(0), "]");
  } else {
    out = MeshToString(mesh);
    const bool no_dimensions = sharding.dim_shardings_size() == 0;
    if (no_dimensions && sharding.replicated_axes().empty() && sharding.unreduced_axes().empty() &&
        IsAllAxes(mesh, sharding.manual_axes())) {
      out += ", manual";
    } else if (no_dimensions && sharding.replicated_axes().empty() && sharding.manual_axes().empty() &&
               IsAllAxes(mesh, sharding.unreduced_axes())) {
      out += ", unreduced";
    } else {
      out += ", [";
      for (int i = 0; i < sharding.dim_shardings_size(); ++i) {
        const auto& dimension = sharding.dim_shardings(i);
        std::vector<std::string> items;
        for (const xla::AxisRefProto& axis : dimension.axes()) items.push_back(AxisToString(mesh, axis));
        if (!dimension.is_closed()) items.push_back("?");
        absl::StrAppend(&out, i > 0 ? ", {" : "{", absl::StrJoin(items, ", "), "}");
      }
      out += "]";
      const auto add = [&](absl::string_view name, const AxisRefs& axes) {
        if (!axes.empty()) absl::StrAppend(&out, ", ", name, "=", AxesToString(mesh, axes));
      };
      add("replicated", sharding.replicated_axes());
      add("unreduced", sharding.unreduced_axes());
      add("manual", sharding.manual_axes());
    }
  }
  if (sharding.metadata_size() > 0) absl::StrAppend(&out, ", ", MetadataListToString(sharding.metadata()));
  return out;
}

// ---- Tile assignment form ---------------------------------------------------------------------------------

absl::Status CheckDistinct(TextScanner* scanner, size_t begin, std::vector<int64_t> ids) {
  std::sort(ids.begin(), ids.end());
  if (!ids.empty() && ids.front() < 0) return scanner->ErrorAt(begin, "negative device id");
  if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) {
    return scanner->ErrorAt(begin, "a device occurs twice");
  }
  return absl::OkStatus();
}

// Reads the value of `devices=`.
absl::Status ParseTiles(TextScanner* scanner, xla::OpSharding* sharding) {
  sharding->set_type(xla::OpSharding::OTHER);
  const size_t begin = scanner->Position();
  ASSIGN_OR_RETURN(const std::vector<int64_t> tiles, scanner->IntegerList("[", "]"));
  sharding->mutable_tile_assignment_dimensions()->Add(tiles.begin(), tiles.end());
  ASSIGN_OR_RETURN(const int64_t count, DeviceCount(tiles, scanner));
  int64_t found = 0;
  if (scanner->Consume("<=")) {
    std::vector<int64_t> dims, permutation;
    RETURN_IF_ERROR(ParseIota(scanner, &dims, &permutation));
    ASSIGN_OR_RETURN(found, DeviceCount(dims, scanner));
    sharding->mutable_iota_reshape_dims()->Add(dims.begin(), dims.end());
    for (const int64_t d : permutation) sharding->add_iota_transpose_perm(static_cast<int32_t>(d));
  } else {
    std::vector<int64_t> ids;
    do {
      ASSIGN_OR_RETURN(const int64_t id, scanner->Integer());
      ids.push_back(id);
    } while (scanner->Consume(","));
    found = static_cast<int64_t>(ids.size());
    sharding->mutable_tile_assignment_devices()->Add(ids.begin(), ids.end());
    RETURN_IF_ERROR(CheckDistinct(scanner, begin, std::move(ids)));
  }
  if (found == count) return absl::OkStatus();
  return scanner->ErrorAt(begin, absl::StrCat("the tiles take ", count, " devices, ", found, " are listed"));
}

absl::Status ParseSubgroups(TextScanner* scanner, xla::OpSharding* sharding) {
  return scanner->List("{", "}", [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const absl::string_view word, scanner->Word("replicated, manual or unreduced"));
    const std::optional<xla::OpSharding::Type> kind = KindOfWord(word);
    if (!kind || *kind == xla::OpSharding::UNKNOWN) {
      return scanner->Error("expected replicated, manual or unreduced before this");
    }
    sharding->add_last_tile_dims(*kind);
    return absl::OkStatus();
  });
}

absl::Status ParseItem(TextScanner* scanner, xla::OpSharding* sharding) {
  const size_t begin = scanner->Position();
  ASSIGN_OR_RETURN(const absl::string_view word, scanner->Word("a sharding"));
  if (const std::optional<xla::OpSharding::Type> kind = KindOfWord(word)) {
    sharding->set_type(*kind);
    return absl::OkStatus();
  }
  if (word == "last_tile_dim_replicate") {
    if (sharding->tile_assignment_dimensions().empty())
      return scanner->ErrorAt(begin, "expected devices= first");
    sharding->set_replicate_on_last_tile_dim(true);
    return absl::OkStatus();
  }
  if (word == "shard_as" || word == "shard_like") {
    ASSIGN_OR_RETURN(const int64_t group, scanner->Integer());
    sharding->set_is_shard_group(true);
    sharding->set_shard_group_id(group);
    sharding->set_shard_group_type(word == "shard_as" ? xla::OpSharding::AS : xla::OpSharding::LIKE);
    return absl::OkStatus();
  }
  if (word == "maximal") {
    sharding->set_type(xla::OpSharding::MAXIMAL);
    return absl::OkStatus();
  }
  if (word != "device" && word != "devices" && word != "last_tile_dims" && word != "metadata") {
    return scanner->ErrorAt(begin, absl::StrCat("unknown word ", word, " in a sharding"));
  }
  RETURN_IF_ERROR(scanner->Expect("="));
  if (word == "metadata") return ParseMetadataList(scanner, sharding->mutable_metadata());
  if (word == "devices") return ParseTiles(scanner, sharding);
  if (word == "last_tile_dims") return ParseSubgroups(scanner, sharding);
  ASSIGN_OR_RETURN(const int64_t device, scanner->Integer());
  sharding->set_type(xla::OpSharding::MAXIMAL);
  sharding->add_tile_assignment_dimensions(1);
  sharding->add_tile_assignment_devices(device);
  return absl::OkStatus();
}

absl::Status CheckConsistent(TextScanner* scanner, size_t begin, const xla::OpSharding& sharding) {
  const int subgroups = sharding.last_tile_dims_size() + (sharding.replicate_on_last_tile_dim() ? 1 : 0);
  if (subgroups > sharding.tile_assignment_dimensions_size()) {
    return scanner->ErrorAt(begin, "more subgroup dimensions than tile dimensions");
  }
  if (sharding.replicate_on_last_tile_dim() && sharding.last_tile_dims_size() > 0) {
    return scanner->ErrorAt(begin, "last_tile_dim_replicate and last_tile_dims exclude each other");
  }
  if (sharding.type() == xla::OpSharding::MAXIMAL && sharding.tile_assignment_devices_size() != 1) {
    return scanner->ErrorAt(begin, "a maximal sharding names one device, {maximal device=0}");
  }
  return absl::OkStatus();
}

absl::StatusOr<xla::OpSharding> ParseOne(TextScanner* scanner, bool in_tuple) {
  const size_t begin = scanner->Position();
  RETURN_IF_ERROR(scanner->Expect("{"));
  xla::OpSharding sharding;
  if (scanner->Peek() == '{' || scanner->Peek() == '}') {
    if (in_tuple) return scanner->ErrorAt(begin, "tuple shardings list leaves and do not nest");
    scanner->Reset(begin);
    sharding.set_type(xla::OpSharding::TUPLE);
    RETURN_IF_ERROR(scanner->List("{", "}", [&]() -> absl::Status {
      ASSIGN_OR_RETURN(*sharding.add_tuple_shardings(), ParseOne(scanner, /*in_tuple=*/true));
      return absl::OkStatus();
    }));
    return sharding;
  }
  if (AtMesh(scanner) || scanner->PeekWord() == "maximal_mesh") {
    RETURN_IF_ERROR(ParseNamed(scanner, sharding.mutable_named_sharding()));
  } else {
    RETURN_IF_ERROR(ParseItem(scanner, &sharding));
  }
  while (!scanner->Consume("}")) {
    scanner->Consume(",");
    RETURN_IF_ERROR(ParseItem(scanner, &sharding));
  }
  RETURN_IF_ERROR(CheckConsistent(scanner, begin, sharding));
  return sharding;
}

std::string TilesToString(const xla::OpSharding& sharding) {
  std::string out = absl::StrCat("devices=[", absl::StrJoin(sharding.tile_assignment_dimensions(), ","), "]");
  if (sharding.iota_reshape_dims_size() > 0) {
    absl::StrAppend(&out, "<=[", absl::StrJoin(sharding.iota_reshape_dims(), ","), "]");
    // One dimension has one order only.
    if (sharding.iota_reshape_dims_size() > 1) {
      absl::StrAppend(&out, "T(", absl::StrJoin(sharding.iota_transpose_perm(), ","), ")");
    }
  } else {
    absl::StrAppend(&out, absl::StrJoin(sharding.tile_assignment_devices(), ","));
  }
  if (sharding.replicate_on_last_tile_dim()) out += " last_tile_dim_replicate";
  if (sharding.last_tile_dims_size() > 0) {
    absl::StrAppend(&out, " last_tile_dims={",
                    absl::StrJoin(sharding.last_tile_dims(), ", ",
                                  [](std::string* s, int type) {
                                    const std::string& name =
                                        xla::OpSharding::Type_Name(static_cast<xla::OpSharding::Type>(type));
                                    s->append(name.empty() ? "unknown" : absl::AsciiStrToLower(name));
                                  }),
                    "}");
  }
  return out;
}

}  // namespace

absl::StatusOr<xla::OpSharding> ParseSharding(TextScanner* scanner) {
  return ParseOne(scanner, /*in_tuple=*/false);
}

absl::StatusOr<xla::OpSharding> ParseSharding(absl::string_view text) {
  return ParseWhole(text, [](TextScanner* scanner) { return ParseSharding(scanner); });
}

std::string ShardingToString(const xla::OpSharding& sharding) {
  std::string out = "{";
  if (sharding.has_named_sharding()) {
    out += NamedToString(sharding.named_sharding());
  } else {
    switch (sharding.type()) {
      case xla::OpSharding::TUPLE:
        for (int i = 0; i < sharding.tuple_shardings_size(); ++i) {
          if (i > 0) out += ", ";
          if (i > 0 && i % 5 == 0) absl::StrAppend(&out, "/*index=", i, "*/");
          // Valid shardings have no nested tuples; print one as unknown instead of recursing.
          const xla::OpSharding& leaf = sharding.tuple_shardings(i);
          out += leaf.type() == xla::OpSharding::TUPLE && !leaf.has_named_sharding() ? "{unknown}"
                                                                                     : ShardingToString(leaf);
        }
        return out + "}";
      case xla::OpSharding::MAXIMAL:
        absl::StrAppend(
            &out, "maximal device=",
            sharding.tile_assignment_devices_size() > 0 ? sharding.tile_assignment_devices(0) : 0);
        break;
      case xla::OpSharding::OTHER:
        out += TilesToString(sharding);
        break;
      case xla::OpSharding::MANUAL:
        out += "manual";
        break;
      case xla::OpSharding::UNREDUCED:
        out += "unreduced";
        break;
      case xla::OpSharding::REPLICATED:
        out += "replicated";
        break;
      default:
        out += "unknown";  // Also for types that this program has no name for.
    }
  }
  if (sharding.is_shard_group()) {
    absl::StrAppend(&out, sharding.shard_group_type() == xla::OpSharding::AS ? " shard_as " : " shard_like ",
                    sharding.shard_group_id());
  }
  if (sharding.metadata_size() > 0) absl::StrAppend(&out, " ", MetadataListToString(sharding.metadata()));
  return out + "}";
}

}  // namespace toroid
