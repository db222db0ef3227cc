#include "hlo/io/file.h"

#include <cstdio>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/stubs/logging.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/type_resolver_util.h"
#include "hlo/base/files.h"
#include "hlo/io/container.h"
#include "hlo/io/first_error.h"
#include "hlo/io/foreign_input.h"
#include "hlo/io/hlo_text.h"
#include "hlo/io/json_scan.h"
#include "hlo/io/module_proto.h"
#include "hlo/io/serialized_literal.h"
#include "hlo/io/wire_fields.h"
#include "hlo/stablehlo/stablehlo_reader.h"
#include "hlo/stablehlo/write/stablehlo_writer.h"

namespace toroid {
namespace {

// ---- Reading ----------------------------------------------------------------------------------------------

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
      case Container::kStreamedSnapshot:
        RETURN_IF_ERROR(ReadStreamed(bytes));
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

  absl::Status ReadStreamed(absl::string_view bytes) {
    std::optional<StreamedSnapshot> split = SplitStreamedSnapshot(bytes);
    if (!split) return Damaged(file_.container);
    RETURN_IF_ERROR(ReadWrapper(split->message, &file_.unoptimized));
    auto* snapshot = file_.module->New(*file_.unoptimized);
    file_.unoptimized = snapshot;
    for (int p = 0; p < snapshot->partitions_size(); ++p) {
      xla::HloInputs* inputs = snapshot->mutable_partitions(p);
      for (int i = 0; i < inputs->arguments_descriptors_size(); ++i) {
        const absl::Status status =
            TakeArgument(inputs->arguments_descriptors(i), &split->literals, inputs->add_arguments());
        if (!status.ok()) return Annotate(status, absl::StrCat("argument ", i, " of partition ", p));
      }
      inputs->clear_arguments_descriptors();
    }
    if (split->literals.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(split->literals.size(), " bytes follow the last argument of the snapshot"));
  }

  // Takes one argument from the front of `literals`.
  static absl::Status TakeArgument(const xla::HloInputs::LiteralDescriptor& descriptor,
                                   absl::string_view* literals, xla::LiteralProto* out) {
    const uint64_t size = descriptor.argument_size_bytes();
    if (size > literals->size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("takes ", size, " bytes by its descriptor, the file has ", literals->size(), " left"));
    }
    absl::string_view bytes = literals->substr(0, size);
    ASSIGN_OR_RETURN(const Literal literal, TakeSerializedLiteral(&bytes));
    if (!bytes.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("takes ", size - bytes.size(), " bytes, ", size, " by its descriptor"));
    }
    literals->remove_prefix(size);
    literal.ToProto(out);
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

  HloFile file_;
};

std::unique_ptr<google::protobuf::Message> MessageOf(Container container) {
  switch (container) {
    case Container::kModule:
      return std::make_unique<xla::HloModuleProto>();
    case Container::kSnapshot:
      return std::make_unique<xla::HloSnapshot>();
    case Container::kUnoptimizedSnapshot:
    case Container::kStreamedSnapshot:
      return std::make_unique<xla::HloUnoptimizedSnapshot>();
    case Container::kModuleWithConfig:
      return std::make_unique<xla::HloModuleProtoWithConfig>();
    default:
      return std::make_unique<xla::HloProto>();
  }
}

absl::StatusOr<std::string> ParseProtoText(absl::string_view text, Container container) {
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(100);
  const std::unique_ptr<google::protobuf::Message> message = MessageOf(container);
  if (parser.ParseFromString(std::string(text), message.get())) return message->SerializePartialAsString();
  return absl::InvalidArgumentError(error.text());
}

// Converts to wire bytes without making a message: a message of many empty instructions takes hundreds of
// bytes for each byte of text.
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

// A text form does not name its message. Takes the first message that parses and has a module; if there is
// none, returns the error of the likeliest one.
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

namespace {

absl::StatusOr<HloFile> ReadKnown(absl::string_view bytes) {
  // The status reports damage; protobuf's log lines would repeat it.
  const google::protobuf::LogSilencer silencer;
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
  if (LooksLikeStableHlo(bytes)) {
    HloFile file;
    file.container = Container::kText;
    ASSIGN_OR_RETURN(file.module, ReadStableHlo(bytes));
    return file;
  }
  if (LooksLikeProtoText(bytes)) return ReadProtoForm(bytes, ParseProtoText);
  HloFile file;
  file.container = Container::kText;
  ASSIGN_OR_RETURN(file.module, ParseModule(bytes, &file.warnings));
  return file;
}

absl::StatusOr<HloFile> ReadHloOf(absl::string_view bytes, const std::string& path) {
  absl::StatusOr<HloFile> file = ReadKnown(bytes);
  if (file.ok() || LooksLikeStableHlo(bytes)) return file;
  if (const std::optional<std::string> foreign = DescribeForeign(bytes, path)) {
    return absl::InvalidArgumentError(*foreign);
  }
  return file;
}

}  // namespace

absl::StatusOr<HloFile> ReadHlo(absl::string_view bytes) { return ReadHloOf(bytes, "-"); }

absl::StatusOr<HloFile> ReadHloFile(const std::string& path) {
  if (const std::optional<std::string> folder = DescribeFolder(path)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", *folder));
  }
  ASSIGN_OR_RETURN(const std::string bytes, ReadInput(path));
  absl::StatusOr<HloFile> file = ReadHloOf(bytes, path);
  if (file.ok()) {
    for (std::string& warning : file->warnings) warning = absl::StrCat(path, ":", warning);
    return file;
  }
  const absl::string_view what = file.status().message();
  // A position follows the path without a blank.
  const bool position = !what.empty() && absl::ascii_isdigit(static_cast<unsigned char>(what[0]));
  return absl::Status(file.status().code(), absl::StrCat(path, position ? ":" : ": ", what));
}

void PrintWarnings(const HloFile& file) {
  static auto& printed = *new std::set<std::string>;
  for (const std::string& warning : file.warnings) {
    if (printed.insert(warning).second) std::fprintf(stderr, "%s\n", warning.c_str());
  }
}

// ---- Writing ----------------------------------------------------------------------------------------------

namespace {

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

void AppendField(int number, absl::string_view bytes, std::string* out) {
  AppendVarint(static_cast<uint64_t>(number) << 3 | 2, out);
  AppendVarint(bytes.size(), out);
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
  const bool streamed = file.container == Container::kStreamedSnapshot;
  if (format == Format::kUnoptimizedSnapshot) {
    return file.container == Container::kUnoptimizedSnapshot ? file.container : Container::kStreamedSnapshot;
  }
  // A stream has no text form.
  if (streamed && format != Format::kContainer) return Container::kUnoptimizedSnapshot;
  return file.container == Container::kText ? Container::kProto : file.container;
}

// The fields for a snapshot: the input's own, or made from the arguments of an unoptimized one. Null if there
// are none.
absl::StatusOr<const xla::HloSnapshot*> SnapshotFields(const HloFile& file) {
  if (file.snapshot != nullptr || file.unoptimized == nullptr || file.unoptimized->partitions_size() == 0) {
    return file.snapshot;
  }
  if (file.unoptimized->partitions_size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the arguments are those of ", file.unoptimized->partitions_size(),
        " partitions; an HloSnapshot holds one program's, so write *unoptimized_snapshot.pb or *.pb"));
  }
  auto* snapshot = file.module->New<xla::HloSnapshot>();
  *snapshot->mutable_arguments() = file.unoptimized->partitions(0).arguments();
  return snapshot;
}

// The fields for an unoptimized snapshot.
const xla::HloUnoptimizedSnapshot& UnoptimizedFields(const HloFile& file) {
  if (file.unoptimized != nullptr) return *file.unoptimized;
  auto* unoptimized = file.module->New<xla::HloUnoptimizedSnapshot>();
  if (file.snapshot != nullptr && file.snapshot->arguments_size() > 0) {
    *unoptimized->add_partitions()->mutable_arguments() = file.snapshot->arguments();
  }
  return *unoptimized;
}

absl::StatusOr<std::string> SerializeStreamed(absl::string_view module,
                                              const xla::HloUnoptimizedSnapshot& snapshot) {
  constexpr int kVersion = 1;  // Version of the message and of each descriptor.
  xla::HloUnoptimizedSnapshot message = snapshot;
  message.set_version(kVersion);
  std::string literals;
  for (int p = 0; p < snapshot.partitions_size(); ++p) {
    xla::HloInputs* inputs = message.mutable_partitions(p);
    inputs->clear_arguments();
    inputs->clear_arguments_descriptors();
    for (int i = 0; i < snapshot.partitions(p).arguments_size(); ++i) {
      const absl::StatusOr<Literal> literal = Literal::FromProto(snapshot.partitions(p).arguments(i));
      const size_t begin = literals.size();
      const absl::Status status =
          literal.ok() ? AppendSerializedLiteral(*literal, &literals) : literal.status();
      if (!status.ok()) return Annotate(status, absl::StrCat("argument ", i, " of partition ", p));
      xla::HloInputs::LiteralDescriptor* descriptor = inputs->add_arguments_descriptors();
      descriptor->set_version(kVersion);
      descriptor->set_argument_size_bytes(literals.size() - begin);
    }
  }
  const std::string body = Wrap(module, &message);
  std::string out;
  AppendVarint(body.size(), &out);
  return absl::StrCat(out, body, literals);
}

absl::StatusOr<std::string> SerializeContainer(const HloFile& file, Container container) {
  std::string module;
  AppendModuleProto(*file.module, &module);
  switch (container) {
    case Container::kModule:
      return module;
    case Container::kSnapshot: {
      ASSIGN_OR_RETURN(const xla::HloSnapshot* snapshot, SnapshotFields(file));
      return Wrap(Wrap(module, file.proto), snapshot);
    }
    case Container::kUnoptimizedSnapshot:
      return Wrap(module, &UnoptimizedFields(file));
    case Container::kStreamedSnapshot:
      return SerializeStreamed(module, UnoptimizedFields(file));
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

// Text may hold strings of any bytes, protos only UTF-8. The error names the first instruction that is not
// UTF-8.
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

absl::StatusOr<Format> FormatOfName(const std::string& path) {
  const absl::string_view name = WithoutGz(path);
  if (absl::EndsWith(name, "unoptimized_snapshot.pb")) return Format::kUnoptimizedSnapshot;
  if (absl::EndsWith(name, "snapshot.pb")) return Format::kSnapshot;
  if (absl::EndsWith(name, ".hlo") || absl::EndsWith(name, ".txt")) return Format::kHloText;
  if (absl::EndsWith(name, ".mlir")) return Format::kStableHlo;
  if (absl::EndsWith(name, ".pbtxt")) return Format::kProtoText;
  if (absl::EndsWith(name, ".json")) return Format::kJson;
  if (absl::EndsWith(name, ".pb") || IsStream(path)) return Format::kContainer;
  return absl::InvalidArgumentError(absl::StrCat(
      path,
      ": the name says no format that can be written; known are .hlo and .txt (HLO text), .mlir (StableHLO text), .pb (binary), "
      "snapshot.pb (HloSnapshot), .pbtxt and .json, each also with .gz behind it"));
}

absl::StatusOr<std::string> SerializeHlo(const HloFile& file, Format format) {
  const google::protobuf::LogSilencer silencer;
  if (format == Format::kHloText) return PrintModule(*file.module);
  if (format == Format::kStableHlo) return PrintStableHlo(*file.module);
  const Container container = ContainerFor(file, format);
  ASSIGN_OR_RETURN(std::string bytes, SerializeContainer(file, container));
  const bool binary =
      format == Format::kContainer || format == Format::kSnapshot || format == Format::kUnoptimizedSnapshot;
  // Strings read from a proto are UTF-8.
  if (binary && file.container != Container::kText) return bytes;
  const std::unique_ptr<google::protobuf::Message> message = MessageOf(container);
  const absl::string_view checked = container == Container::kStreamedSnapshot
                                        ? SplitStreamedSnapshot(bytes)->message
                                        : absl::string_view(bytes);
  if (!message->ParseFromArray(checked.data(), static_cast<int>(checked.size())))
    return NotUtf8(*file.module);
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

absl::Status WriteHloFile(const HloFile& file, const std::string& path) {
  ASSIGN_OR_RETURN(const Format format, FormatOfName(path));
  return WriteHloFile(file, path, format);
}

}  // namespace toroid
