#include "examples/training/checkpoint.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "runtime/arguments/npz.h"

namespace toroid {
namespace {

constexpr absl::string_view kConfiguration = "configuration.json";
constexpr absl::string_view kGiveAnother = "give another checkpoint, or start anew without resuming";

absl::Status Damaged(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(why, "; ", kGiveAnother));
}

Literal TextArray(const std::string& text) {
  return Literal::Array<uint8_t>({static_cast<int64_t>(text.size())},
                                 absl::MakeSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

absl::StatusOr<nlohmann::json> ReadConfiguration(NpzReader& reader, size_t member) {
  ASSIGN_OR_RETURN(const NpyArray array, reader.Read(member));
  if (array.values.shape().element_type() != xla::U8 || array.values.shape().rank() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(kConfiguration, ": is ", array.values.shape().ToString(), ", no text"));
  }
  const absl::Span<const uint8_t> bytes = array.values.data<uint8_t>();
  nlohmann::json json =
      nlohmann::json::parse(bytes.begin(), bytes.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return absl::InvalidArgumentError(absl::StrCat(kConfiguration, ": is no JSON object"));
  return json;
}

// The first entry that differs, in alphabetical order.
absl::Status CheckConfiguration(const nlohmann::json& given, const nlohmann::json& wanted) {
  nlohmann::json all = wanted;
  all.update(given);
  for (const auto& [key, value] : all.items()) {
    const auto text = [&key = key](const nlohmann::json& json) {
      if (!json.contains(key)) return absl::StrCat("no ", key);
      if (json[key].is_structured()) return absl::StrCat("another ", key);
      return absl::StrCat(key, "=", json[key].dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
    };
    if (given.contains(key) && wanted.contains(key) && given[key] == wanted[key]) continue;
    return absl::InvalidArgumentError(absl::StrCat("is of another run, with ", text(given), ", this one has ",
                                                   text(wanted), "; use the same flags, or ", kGiveAnother));
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> ReadArray(NpzReader& reader, size_t member, const NamedShape& wanted) {
  ASSIGN_OR_RETURN(const NpyHeader header, reader.Header(member));
  RETURN_IF_ERROR(
      Annotate(CheckType(header.shape.element_type(), header.untyped, wanted.shape.element_type()),
               absl::StrCat("array ", wanted.name)));
  if (!header.shape.SameDims(wanted.shape)) {
    return absl::InvalidArgumentError(absl::StrCat("array ", wanted.name, " is ", header.shape.ToString(),
                                                   ", that of the model ", wanted.shape.ToString()));
  }
  ASSIGN_OR_RETURN(const NpyArray array, reader.Read(member));
  return AsType(array, wanted.shape.element_type());
}

// The members of a checkpoint, by name.
struct Archive {
  static absl::StatusOr<Archive> Open(absl::string_view bytes);
  absl::StatusOr<nlohmann::json> TakeConfiguration();
  absl::StatusOr<Literal> Take(const NamedShape& wanted);

  NpzReader reader;
  absl::flat_hash_map<std::string, size_t> left;  // Members that no array has taken.
};

absl::StatusOr<Archive> Archive::Open(absl::string_view bytes) {
  absl::StatusOr<NpzReader> opened = NpzReader::Open(bytes);
  if (!opened.ok()) return Damaged(absl::StrCat("is no checkpoint: ", opened.status().message()));
  Archive archive = {*std::move(opened), {}};
  for (size_t i = 0; i < archive.reader.names().size(); ++i) {
    const std::string& name = archive.reader.names()[i];
    if (!archive.left.emplace(name, i).second)
      return Damaged(absl::StrCat("has two arrays ", absl::CHexEscape(name)));
  }
  if (!archive.left.contains(kConfiguration))
    return Damaged(absl::StrCat("is no checkpoint: has no ", kConfiguration));
  return archive;
}

absl::StatusOr<nlohmann::json> Archive::TakeConfiguration() {
  const auto it = left.find(kConfiguration);
  absl::StatusOr<nlohmann::json> given = ReadConfiguration(reader, it->second);
  if (!given.ok()) return Damaged(given.status().message());
  left.erase(it);
  return given;
}

absl::StatusOr<Literal> Archive::Take(const NamedShape& wanted) {
  const auto it = left.find(wanted.name);
  if (it == left.end())
    return Damaged(absl::StrCat("has no array ", wanted.name, " ", wanted.shape.ToString()));
  absl::StatusOr<Literal> array = ReadArray(reader, it->second, wanted);
  if (!array.ok()) return Damaged(array.status().message());
  left.erase(it);
  return array;
}

absl::StatusOr<Checkpoint> Read(absl::string_view bytes, const nlohmann::json& configuration,
                                absl::Span<const NamedShape> arrays, absl::Span<const std::string> prefixes) {
  ASSIGN_OR_RETURN(Archive archive, Archive::Open(bytes));
  Checkpoint checkpoint;
  ASSIGN_OR_RETURN(checkpoint.configuration, archive.TakeConfiguration());
  RETURN_IF_ERROR(CheckConfiguration(checkpoint.configuration, configuration));
  for (const NamedShape& wanted : arrays) {
    ASSIGN_OR_RETURN(Literal array, archive.Take(wanted));
    checkpoint.names.push_back(wanted.name);
    checkpoint.arrays.push_back(std::move(array));
  }
  for (size_t i = 0; i < archive.reader.names().size(); ++i) {
    const std::string& name = archive.reader.names()[i];
    if (!archive.left.contains(name)) continue;
    if (std::none_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& p) { return absl::StartsWith(name, p); })) {
      return Damaged(absl::StrCat("has an array ", absl::CHexEscape(name), " that the model lacks"));
    }
    absl::StatusOr<NpyArray> array = archive.reader.Read(i);
    if (!array.ok()) return Damaged(array.status().message());
    checkpoint.names.push_back(name);
    checkpoint.arrays.push_back(std::move(array->values));
  }
  return checkpoint;
}

absl::StatusOr<std::vector<Literal>> ReadArrays(absl::string_view bytes,
                                                absl::Span<const NamedShape> arrays) {
  ASSIGN_OR_RETURN(Archive archive, Archive::Open(bytes));
  std::vector<Literal> values;
  for (const NamedShape& wanted : arrays) {
    ASSIGN_OR_RETURN(Literal array, archive.Take(wanted));
    values.push_back(std::move(array));
  }
  return values;
}

}  // namespace

absl::Status SaveCheckpoint(const std::string& path, const Checkpoint& checkpoint) {
  std::vector<std::string> names = checkpoint.names;
  std::vector<Literal> arrays = checkpoint.arrays;
  names.emplace_back(kConfiguration);
  arrays.push_back(TextArray(checkpoint.configuration.dump(2)));
  absl::StatusOr<std::string> bytes = WriteNpz(arrays, names);
  if (!bytes.ok()) return Annotate(bytes.status(), path);
  return ReplaceFileDurably(path, *bytes);
}

absl::StatusOr<Checkpoint> LoadCheckpoint(const std::string& path, const nlohmann::json& configuration,
                                          absl::Span<const NamedShape> arrays,
                                          absl::Span<const std::string> prefixes) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<Checkpoint> checkpoint = Read(bytes, configuration, arrays, prefixes);
  if (!checkpoint.ok()) return Annotate(checkpoint.status(), path);
  return checkpoint;
}

absl::StatusOr<nlohmann::json> LoadConfiguration(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<Archive> archive = Archive::Open(bytes);
  if (!archive.ok()) return Annotate(archive.status(), path);
  absl::StatusOr<nlohmann::json> configuration = archive->TakeConfiguration();
  if (!configuration.ok()) return Annotate(configuration.status(), path);
  return configuration;
}

absl::StatusOr<std::vector<Literal>> LoadArrays(const std::string& path,
                                                absl::Span<const NamedShape> arrays) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<std::vector<Literal>> values = ReadArrays(bytes, arrays);
  if (!values.ok()) return Annotate(values.status(), path);
  return values;
}

}  // namespace toroid
