#include "hlo/io/file.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/stubs/logging.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "hlo/base/files.h"
#include "hlo/io/container.h"
#include "hlo/io/hlo_text.h"
#include "hlo/io/module_proto.h"

namespace toroid {
namespace {

// ---- Reading
// --------------------------------------------------------------------------------------------------

// Fills a message on the module's arena by fill(message), then builds the module from its inner module
// message.
template <typename Fill>
class Reader {
 public:
  Reader(Container container, const Fill& fill) : fill_(fill) {
    file_.container = container;
    file_.module = std::make_unique<Module>("");
  }

  absl::StatusOr<HloFile> Read() {
    switch (file_.container) {
      case Container::kModule: {
        ASSIGN_OR_RETURN(xla::HloModuleProto * module, Filled<xla::HloModuleProto>());
        RETURN_IF_ERROR(BuildModule(module, file_.module.get()));
        break;
      }
      case Container::kProto: {
        ASSIGN_OR_RETURN(xla::HloProto * proto, Filled<xla::HloProto>());
        RETURN_IF_ERROR(Take(proto));
        file_.proto = proto;
        break;
      }
      case Container::kSnapshot: {
        ASSIGN_OR_RETURN(xla::HloSnapshot * snapshot, Filled<xla::HloSnapshot>());
        xla::HloProto* proto = snapshot->mutable_hlo();
        snapshot->unsafe_arena_release_hlo();
        RETURN_IF_ERROR(Take(proto));
        file_.proto = proto;
        file_.snapshot = snapshot;
        break;
      }
      case Container::kUnoptimizedSnapshot: {
        ASSIGN_OR_RETURN(xla::HloUnoptimizedSnapshot * snapshot, Filled<xla::HloUnoptimizedSnapshot>());
        RETURN_IF_ERROR(Take(snapshot));
        file_.unoptimized = snapshot;
        break;
      }
      case Container::kModuleWithConfig: {
        ASSIGN_OR_RETURN(xla::HloModuleProtoWithConfig * module, Filled<xla::HloModuleProtoWithConfig>());
        RETURN_IF_ERROR(Take(module));
        file_.with_config = module;
        ApplyConfig(module->config());
        break;
      }
      case Container::kText:
        break;
    }
    return std::move(file_);
  }

 private:
  template <typename Message>
  absl::StatusOr<Message*> Filled() {
    auto* message = file_.module->New<Message>();
    RETURN_IF_ERROR(fill_(message));
    return message;
  }

  template <typename Wrapper>
  absl::Status Take(Wrapper* wrapper) {
    RETURN_IF_ERROR(BuildModule(wrapper->mutable_hlo_module(), file_.module.get()));
    wrapper->unsafe_arena_release_hlo_module();
    return absl::OkStatus();
  }

  void ApplyConfig(const xla::HloModuleConfigProto& proto) {
    ModuleConfig& config = file_.module->config();
    if (proto.replica_count() > 0) config.replica_count = proto.replica_count();
    if (proto.num_partitions() > 0) config.num_partitions = proto.num_partitions();
    config.alias_passthrough_params = proto.alias_passthrough_params();
    const auto& parameters = proto.allow_spmd_sharding_propagation_to_parameters();
    config.allow_spmd_sharding_propagation_to_parameters.assign(parameters.begin(), parameters.end());
    const auto& output = proto.allow_spmd_sharding_propagation_to_output();
    config.allow_spmd_sharding_propagation_to_output.assign(output.begin(), output.end());
  }

  const Fill& fill_;
  HloFile file_;
};

template <typename Fill>
absl::StatusOr<HloFile> ReadWith(Container container, const Fill& fill) {
  return Reader<Fill>(container, fill).Read();
}

// Keeps the first error, as "LINE:COL: what".
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& what) override {
    if (text_.empty()) text_ = absl::StrCat(line + 1, ":", column + 1, ": ", what);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

absl::Status ParseProtoText(absl::string_view text, google::protobuf::Message* message) {
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(100);
  if (parser.ParseFromString(std::string(text), message)) return absl::OkStatus();
  return absl::InvalidArgumentError(error.text().empty() ? "1:1: not in the text format" : error.text());
}

absl::Status ParseJson(absl::string_view text, google::protobuf::Message* message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = false;
  const auto status =
      google::protobuf::util::JsonStringToMessage({text.data(), text.size()}, message, options);
  if (status.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("JSON: ", std::string(status.message())));
}

// A text form does not say which message it is: the one that parses and has a module. Otherwise the error of
// the likeliest.
template <typename Parse>
absl::StatusOr<HloFile> ReadProtoForm(absl::string_view text, const Parse& parse) {
  const auto fill = [&](auto* message) { return parse(text, message); };
  const auto fields_of = [&](absl::string_view field) {
    return absl::StrContains(text.substr(0, 1 << 20), field);
  };
  const bool wrapped = fields_of("hlo_module") || fields_of("hloModule");
  absl::Status first;
  for (const Container container : {Container::kProto, Container::kSnapshot, Container::kUnoptimizedSnapshot,
                                    Container::kModuleWithConfig, Container::kModule}) {
    if (wrapped == (container == Container::kModule)) continue;
    absl::StatusOr<HloFile> file = ReadWith(container, fill);
    if (file.ok()) return file;
    if (first.ok()) first = file.status();
  }
  return first;
}

}  // namespace

bool HloFile::HasArguments() const {
  if (snapshot != nullptr) return snapshot->arguments_size() > 0;
  return unoptimized != nullptr && unoptimized->partitions_size() > 0 &&
         unoptimized->partitions(0).arguments_size() > 0;
}

absl::StatusOr<std::vector<Literal>> HloFile::Arguments() const {
  std::vector<Literal> arguments;
  if (!HasArguments()) return arguments;
  const auto& protos = snapshot != nullptr ? snapshot->arguments() : unoptimized->partitions(0).arguments();
  for (const xla::LiteralProto& proto : protos) {
    absl::StatusOr<Literal> literal = Literal::FromProto(proto);
    if (!literal.ok()) return Annotate(literal.status(), absl::StrCat("argument ", arguments.size()));
    arguments.push_back(*std::move(literal));
  }
  return arguments;
}

absl::StatusOr<std::optional<Literal>> HloFile::Result() const {
  if (snapshot == nullptr || !snapshot->has_result()) return std::optional<Literal>();
  absl::StatusOr<Literal> literal = Literal::FromProto(snapshot->result());
  if (!literal.ok()) return Annotate(literal.status(), "result");
  return std::optional<Literal>(*std::move(literal));
}

absl::StatusOr<HloFile> ReadHlo(absl::string_view bytes) {
  const google::protobuf::LogSilencer silencer;  // Damage is reported by the status alone.
  if (const std::optional<Container> container = ContainerOfBytes(bytes)) {
    return ReadWith(*container, [&](auto* message) -> absl::Status {
      if (message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat("damaged ", ContainerName(*container)));
    });
  }
  if (bytes.empty()) return absl::InvalidArgumentError("the input is empty");
  if (!LooksLikeText(bytes)) {
    return absl::InvalidArgumentError(
        "neither HLO text nor an undamaged HloModuleProto, HloProto, HloSnapshot or HloUnoptimizedSnapshot");
  }
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(bytes);
  if (absl::StartsWith(text, "{")) return ReadProtoForm(bytes, ParseJson);
  if (LooksLikeProtoText(bytes)) return ReadProtoForm(bytes, ParseProtoText);
  HloFile file;
  file.container = Container::kText;
  ASSIGN_OR_RETURN(file.module, ParseModule(bytes));
  return file;
}

absl::StatusOr<HloFile> ReadHloFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<HloFile> file = ReadHlo(bytes);
  if (file.ok()) return file;
  const absl::string_view what = file.status().message();
  // Positions join the path without a blank.
  const bool position = !what.empty() && absl::ascii_isdigit(static_cast<unsigned char>(what[0]));
  return absl::Status(file.status().code(), absl::StrCat(path, position ? ":" : ": ", what));
}

// ---- Writing
// --------------------------------------------------------------------------------------------------

namespace {

void AppendField(int number, absl::string_view bytes, std::string* out) {
  for (uint64_t value : {static_cast<uint64_t>(number) << 3 | 2, static_cast<uint64_t>(bytes.size())}) {
    for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
    out->push_back(static_cast<char>(value));
  }
  out->append(bytes.data(), bytes.size());
}

// A wrapper with `inner` in its field 1 and the other fields of `rest`, which may be null.
std::string Wrap(absl::string_view inner, const google::protobuf::Message* rest) {
  std::string out;
  out.reserve(inner.size() + 16 + (rest == nullptr ? 0 : rest->ByteSizeLong()));
  AppendField(1, inner, &out);
  if (rest != nullptr) rest->AppendPartialToString(&out);
  return out;
}

Container ContainerFor(const HloFile& file, Format format) {
  if (format == Format::kSnapshot) return Container::kSnapshot;
  return file.container == Container::kText ? Container::kProto : file.container;
}

std::string SerializeContainer(const HloFile& file, Container container) {
  std::string module;
  AppendModuleProto(*file.module, &module);
  switch (container) {
    case Container::kModule:
      return module;
    case Container::kSnapshot:
      return Wrap(Wrap(module, file.proto), file.snapshot);
    case Container::kUnoptimizedSnapshot:
      return Wrap(module, file.unoptimized);
    case Container::kModuleWithConfig:
      return Wrap(module, file.with_config);
    default:
      return Wrap(module, file.proto);
  }
}

std::unique_ptr<google::protobuf::Message> MessageOf(Container container) {
  switch (container) {
    case Container::kModule:
      return std::make_unique<xla::HloModuleProto>();
    case Container::kSnapshot:
      return std::make_unique<xla::HloSnapshot>();
    case Container::kUnoptimizedSnapshot:
      return std::make_unique<xla::HloUnoptimizedSnapshot>();
    case Container::kModuleWithConfig:
      return std::make_unique<xla::HloModuleProtoWithConfig>();
    default:
      return std::make_unique<xla::HloProto>();
  }
}

}  // namespace

Format FormatOfName(absl::string_view path) {
  if (absl::EndsWith(path, "snapshot.pb")) return Format::kSnapshot;
  if (absl::EndsWith(path, ".hlo") || absl::EndsWith(path, ".txt")) return Format::kHloText;
  if (absl::EndsWith(path, ".pbtxt")) return Format::kProtoText;
  if (absl::EndsWith(path, ".json")) return Format::kJson;
  return Format::kContainer;
}

absl::StatusOr<std::string> SerializeHlo(const HloFile& file, Format format) {
  if (format == Format::kHloText) return PrintModule(*file.module);
  const Container container = ContainerFor(file, format);
  std::string bytes = SerializeContainer(file, container);
  if (format == Format::kContainer || format == Format::kSnapshot) return bytes;
  const std::unique_ptr<google::protobuf::Message> message = MessageOf(container);
  std::string text;
  if (!message->ParseFromString(bytes))
    return absl::InvalidArgumentError("a string in the module is not UTF-8");
  if (format == Format::kProtoText) {
    if (google::protobuf::TextFormat::PrintToString(*message, &text)) return text;
    return absl::InternalError("the module has no text form");
  }
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  const auto status = google::protobuf::util::MessageToJsonString(*message, &text, options);
  if (!status.ok()) return absl::InvalidArgumentError(std::string(status.message()));
  text += "\n";
  return text;
}

absl::Status WriteHloFile(const HloFile& file, const std::string& path, Format format) {
  absl::StatusOr<std::string> bytes = SerializeHlo(file, format);
  if (!bytes.ok()) return Annotate(bytes.status(), path);
  return WriteFile(path, *bytes);
}

}  // namespace toroid
