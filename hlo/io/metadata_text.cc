#include "hlo/io/metadata_text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/descriptor.h"

namespace toroid {
namespace {

using google::protobuf::FieldDescriptor;

// Items of metadata in the order of printing; each is the field of the same name.
constexpr absl::string_view kMetadataKeys[] = {"op_type",
                                               "op_name",
                                               "source_file",
                                               "source_line",
                                               "source_end_line",
                                               "source_column",
                                               "source_end_column",
                                               "size_of_generated_code_in_bytes",
                                               "size_of_memory_working_set_in_bytes",
                                               "deduplicated_name",
                                               "scheduling_name",
                                               "stack_frame_id"};

absl::Status ParseMetadataItem(absl::string_view key, TextScanner* scanner, xla::OpMetadata* metadata) {
  if (key == "profile_type") {
    ASSIGN_OR_RETURN(const std::vector<int64_t> types, scanner->IntegerList());
    for (const int64_t type : types) metadata->add_profile_type(static_cast<xla::ProfileType>(type));
    return absl::OkStatus();
  }
  if (key == "metadata_payload") {
    ASSIGN_OR_RETURN(*metadata->mutable_metadata_payload()->mutable_value(), scanner->String());
    return absl::OkStatus();
  }
  if (std::find(std::begin(kMetadataKeys), std::end(kMetadataKeys), key) == std::end(kMetadataKeys)) {
    return scanner->SkipValue();
  }
  const FieldDescriptor* field = xla::OpMetadata::descriptor()->FindFieldByName(std::string(key));
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    ASSIGN_OR_RETURN(std::string value, scanner->String());
    metadata->GetReflection()->SetString(metadata, field, std::move(value));
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const int64_t value, scanner->Integer());
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    metadata->GetReflection()->SetInt64(metadata, field, value);
  } else if (value == static_cast<int32_t>(value)) {
    metadata->GetReflection()->SetInt32(metadata, field, static_cast<int32_t>(value));
  } else {
    return scanner->Error(absl::StrCat(key, " before this is out of range"));
  }
  return absl::OkStatus();
}

bool IsName(absl::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') && text[0] != '.' && text[0] != '-' &&
         std::all_of(text.begin(), text.end(), IsNameCharacter);
}

}  // namespace

absl::Status ParseMetadata(TextScanner* scanner, xla::OpMetadata* metadata) {
  RETURN_IF_ERROR(scanner->Expect("{"));
  while (!scanner->Consume("}")) {
    if (scanner->Consume(",")) continue;
    ASSIGN_OR_RETURN(const absl::string_view key, scanner->Word("a metadata item or '}'"));
    RETURN_IF_ERROR(scanner->Expect("="));
    RETURN_IF_ERROR(ParseMetadataItem(key, scanner, metadata));
  }
  return absl::OkStatus();
}

std::string MetadataToString(const xla::OpMetadata& metadata) {
  std::vector<std::string> items;
  const google::protobuf::Reflection* reflection = metadata.GetReflection();
  for (const absl::string_view key : kMetadataKeys) {
    const FieldDescriptor* field = xla::OpMetadata::descriptor()->FindFieldByName(std::string(key));
    if (!reflection->HasField(metadata, field)) continue;
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        items.push_back(absl::StrCat(key, "=", Quoted(reflection->GetString(metadata, field))));
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        items.push_back(absl::StrCat(key, "=", reflection->GetInt64(metadata, field)));
        break;
      default:
        items.push_back(absl::StrCat(key, "=", reflection->GetInt32(metadata, field)));
    }
  }
  if (metadata.profile_type_size() > 0) {
    items.push_back(absl::StrCat("profile_type={", absl::StrJoin(metadata.profile_type(), ","), "}"));
  }
  if (!metadata.metadata_payload().value().empty()) {
    items.push_back(absl::StrCat("metadata_payload=", Quoted(metadata.metadata_payload().value())));
  }
  return items.empty() ? "" : absl::StrCat("{", absl::StrJoin(items, " "), "}");
}

absl::StatusOr<std::string> ParseRawOrQuoted(TextScanner* scanner) {
  if (scanner->Peek() != '{') return scanner->String();
  ASSIGN_OR_RETURN(const absl::string_view block, scanner->Block());
  return std::string(block);
}

std::string RawOrQuoted(absl::string_view value) {
  return !value.empty() && BalancedBlockLength(value) == value.size() ? std::string(value) : Quoted(value);
}

absl::Status ParseFrontendAttributes(TextScanner* scanner, xla::FrontendAttributes* attributes) {
  return scanner->List("{", "}", [&]() -> absl::Status {
    std::string key;
    if (scanner->Peek() == '"') {
      ASSIGN_OR_RETURN(key, scanner->String());
    } else {
      ASSIGN_OR_RETURN(const absl::string_view word, scanner->Word("a key"));
      key = std::string(word);
    }
    RETURN_IF_ERROR(scanner->Expect("="));
    ASSIGN_OR_RETURN((*attributes->mutable_map())[key], ParseRawOrQuoted(scanner));
    return absl::OkStatus();
  });
}

std::string FrontendAttributesToString(const xla::FrontendAttributes& attributes) {
  const std::map<std::string, std::string> sorted(attributes.map().begin(), attributes.map().end());
  return absl::StrCat("{",
                      absl::StrJoin(sorted, ",",
                                    [](std::string* s, const auto& item) {
                                      absl::StrAppend(s, IsName(item.first) ? item.first : Quoted(item.first),
                                                      "=", RawOrQuoted(item.second));
                                    }),
                      "}");
}

absl::Status ParseStatistics(TextScanner* scanner, xla::StatisticsViz* statistics) {
  return scanner->List("{", "}", [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const absl::string_view key, scanner->Word("a statistic"));
    RETURN_IF_ERROR(scanner->Expect("="));
    if (key == "visualizing_index") {
      ASSIGN_OR_RETURN(const int64_t index, scanner->Integer());
      statistics->set_stat_index_to_visualize(index);
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const double value, scanner->Decimal());
    xla::Statistic* statistic = statistics->add_statistics();
    statistic->set_stat_name(std::string(key));
    statistic->set_stat_val(value);
    return absl::OkStatus();
  });
}

std::string StatisticsToString(const xla::StatisticsViz& statistics) {
  std::string out = absl::StrCat("{visualizing_index=", statistics.stat_index_to_visualize());
  for (const xla::Statistic& statistic : statistics.statistics()) {
    char value[40];
    char* const end = std::to_chars(value, value + sizeof(value), statistic.stat_val()).ptr;
    absl::StrAppend(&out, ",", statistic.stat_name(), "=", absl::string_view(value, end - value));
  }
  return out + "}";
}

}  // namespace toroid
