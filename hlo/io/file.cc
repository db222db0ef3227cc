#include "hlo/io/file.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/stubs/logging.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/type_resolver_util.h"
#include "hlo/base/files.h"
#include "hlo/io/container.h"
#include "hlo/io/hlo_text.h"
#include "hlo/io/json_scan.h"
#include "hlo/io/module_proto.h"
#include "hlo/io/wire_fields.h"

namespace toroid {
namespace {

// ---- Reading
// --------------------------------------------------------------------------------------------------

// The bytes of field 1, and those of the other fields.
struct Wrapper {
  WirePieces inner, others;
};

absl::Status Damaged(Container container) {
  return absl::InvalidArgumentError(absl::StrCat("damaged ", ContainerName(container)));
}

class BinaryReader {
 public:
  explicit BinaryReader(Container container) {
    file_.container = container;
    file_.module = std::make_unique<Module>("");
  }

  absl::StatusOr<HloFile> Read(absl::string_view bytes) {
    switch (file_.container) {
      case Container::kModule:
        RETURN_IF_ERROR(ReadModuleProto(bytes, file_.module.get()));
        break;
      case Container::kProto:
        RETURN_IF_ERROR(ReadWrapper(bytes, &file_.proto));
        break;
      case Container::kSnapshot: {
        Wrapper snapshot;
        RETURN_IF_ERROR(Split(bytes, &snapshot));
        RETURN_IF_ERROR(ReadWrapper(snapshot.inner.bytes(), &file_.proto));
        RETURN_IF_ERROR(Parse(snapshot.others.bytes(), &file_.snapshot));
        break;
      }
      case Container::kUnoptimizedSnapshot:
        RETURN_IF_ERROR(ReadWrapper(bytes, &file_.unoptimized));
        break;
      case Container::kModuleWithConfig:
        RETURN_IF_ERROR(ReadWrapper(bytes, &file_.with_config));
        ApplyConfig(file_.with_config->config());
        break;
      case Container::kText:
        break;
    }
    return std::move(file_);
  }

 private:
  absl::Status Split(absl::string_view bytes, Wrapper* wrapper) {
    WireFields field(bytes);
    while (field.Next()) {
      if (field.Is(1, kWireBytes)) {
        wrapper->inner.Add(field.payload());
      } else {
        wrapper->others.Add(field.raw());
      }
    }
    return field.ok() ? absl::OkStatus() : Damaged(file_.container);
  }

  template <typename Message>
  absl::Status Parse(absl::string_view bytes, const Message** out) {
    auto* message = file_.module->New<Message>();
    *out = message;
    return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ? absl::OkStatus()
                                                                                 : Damaged(file_.container);
  }

  // A message with the module in field 1.
  template <typename Message>
  absl::Status ReadWrapper(absl::string_view bytes, const Message** out) {
    Wrapper wrapper;
    RETURN_IF_ERROR(Split(bytes, &wrapper));
    RETURN_IF_ERROR(ReadModuleProto(wrapper.inner.bytes(), file_.module.get()));
    return Parse(wrapper.others.bytes(), out);
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

  HloFile file_;
};

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

absl::StatusOr<std::string> ParseProtoText(absl::string_view text, Container container) {
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(100);
  const std::unique_ptr<google::protobuf::Message> message = MessageOf(container);
  if (parser.ParseFromString(std::string(text), message.get())) return message->SerializePartialAsString();
  return absl::InvalidArgumentError(error.text().empty() ? "1:1: not in the text format" : error.text());
}

// No message is made: one of many empty instructions takes hundreds of bytes for each byte of text.
absl::StatusOr<std::string> ParseJson(absl::string_view text, Container container) {
  constexpr char kPrefix[] = "type.googleapis.com";
  const std::unique_ptr<google::protobuf::util::TypeResolver> resolver(
      google::protobuf::util::NewTypeResolverForDescriptorPool(
          kPrefix, google::protobuf::DescriptorPool::generated_pool()));
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = false;
  std::string binary;
  const std::string& name = MessageOf(container)->GetDescriptor()->full_name();
  const auto status = google::protobuf::util::JsonToBinaryString(
      resolver.get(), absl::StrCat(kPrefix, "/", name), {text.data(), text.size()}, &binary, options);
  if (status.ok()) return binary;
  return absl::InvalidArgumentError(absl::StrCat("JSON: ", std::string(status.message())));
}

// A text form does not say which message it is: the one that parses and has a module. Otherwise the error of
// the likeliest.
template <typename Parse>
absl::StatusOr<HloFile> ReadProtoForm(absl::string_view text, const Parse& parse) {
  const auto fields_of = [&](absl::string_view field) {
    return absl::StrContains(text.substr(0, 1 << 20), field);
  };
  const bool wrapped = fields_of("hlo_module") || fields_of("hloModule");
  absl::Status first;
  for (const Container container : {Container::kProto, Container::kSnapshot, Container::kUnoptimizedSnapshot,
                                    Container::kModuleWithConfig, Container::kModule}) {
    if (wrapped == (container == Container::kModule)) continue;
    const absl::StatusOr<std::string> binary = parse(text, container);
    if (binary.ok()) {
      absl::StatusOr<HloFile> file = BinaryReader(container).Read(*binary);
      if (file.ok()) return file;
      if (first.ok()) first = file.status();
    } else if (first.ok()) {
      first = binary.status();
    }
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
    return BinaryReader(*container).Read(bytes);
  }
  if (bytes.empty()) return absl::InvalidArgumentError("the input is empty");
  if (!LooksLikeText(bytes)) {
    return absl::InvalidArgumentError(
        "neither HLO text nor an undamaged HloModuleProto, HloProto, HloSnapshot or HloUnoptimizedSnapshot");
  }
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(bytes);
  if (absl::StartsWith(text, "{")) {
    RETURN_IF_ERROR(CheckJsonNesting(bytes));
    return ReadProtoForm(WithSignedZeros(std::string(bytes)), ParseJson);
  }
  if (LooksLikeProtoText(bytes)) return ReadProtoForm(bytes, ParseProtoText);
  HloFile file;
  file.container = Container::kText;
  ASSIGN_OR_RETURN(file.module, ParseModule(bytes));
  return file;
}

absl::StatusOr<HloFile> ReadHloFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadInput(path));
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

bool ReadsBack(const google::protobuf::Message* message) {
  return message == nullptr || std::unique_ptr<google::protobuf::Message>(message->New())
                                   ->ParsePartialFromString(message->SerializePartialAsString());
}

// Text may hold strings of any bytes, protos only UTF-8: names the first instruction with another.
absl::Status NotUtf8(const Module& module) {
  constexpr absl::string_view kWhat = "a string is not UTF-8, which only HLO text can hold";
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (ReadsBack(i->metadata()) && ReadsBack(i->sharding()) && ReadsBack(i->frontend_attributes()) &&
          ReadsBack(&i->attrs())) {
        continue;
      }
      return absl::InvalidArgumentError(absl::StrCat(computation->name(), "/", i->name(), ": ", kWhat));
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("module ", module.name(), ": ", kWhat));
}

}  // namespace

Format FormatOfName(absl::string_view path) {
  path = WithoutGz(path);
  if (absl::EndsWith(path, "snapshot.pb")) return Format::kSnapshot;
  if (absl::EndsWith(path, ".hlo") || absl::EndsWith(path, ".txt")) return Format::kHloText;
  if (absl::EndsWith(path, ".pbtxt")) return Format::kProtoText;
  if (absl::EndsWith(path, ".json")) return Format::kJson;
  return Format::kContainer;
}

absl::StatusOr<std::string> SerializeHlo(const HloFile& file, Format format) {
  const google::protobuf::LogSilencer silencer;
  if (format == Format::kHloText) return PrintModule(*file.module);
  const Container container = ContainerFor(file, format);
  std::string bytes = SerializeContainer(file, container);
  const bool binary = format == Format::kContainer || format == Format::kSnapshot;
  // What was read from a proto is UTF-8.
  if (binary && file.container != Container::kText) return bytes;
  const std::unique_ptr<google::protobuf::Message> message = MessageOf(container);
  if (!message->ParseFromString(bytes)) return NotUtf8(*file.module);
  if (binary) return bytes;
  std::string text;
  if (format == Format::kProtoText) {
    if (google::protobuf::TextFormat::PrintToString(*message, &text)) return text;
    return absl::InternalError("the module has no text form");
  }
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  const auto status = google::protobuf::util::MessageToJsonString(*message, &text, options);
  if (!status.ok()) return absl::InvalidArgumentError(std::string(status.message()));
  text += "\n";
  return WithSignedZeros(std::move(text));
}

absl::Status WriteHloFile(const HloFile& file, const std::string& path, Format format) {
  absl::StatusOr<std::string> bytes = SerializeHlo(file, format);
  if (!bytes.ok()) return Annotate(bytes.status(), path);
  return WriteOutput(path, *bytes);
}

}  // namespace toroid
