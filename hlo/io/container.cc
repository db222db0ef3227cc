#include "hlo/io/container.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "hlo/io/text_scanner.h"
#include "hlo/io/wire_fields.h"
#include "hlo/proto/hlo.pb.h"

namespace toroid {
namespace {

// True if the message has computations (field 3) that have instructions (field 2); a name (field 1) must be
// bytes.
bool IsModule(absl::string_view bytes) {
  bool found = false;
  WireFields scan(bytes);
  while (scan.Next()) {
    if ((scan.number() == 1 || scan.number() == 3) && scan.type() != kWireBytes) return false;
    if (scan.number() != 3 || found) continue;
    WireFields computation(scan.payload());
    while (computation.Next()) found |= computation.number() == 2 && computation.type() == kWireBytes;
    if (!computation.ok()) return false;
  }
  return scan.ok() && found;
}

// The first field 1 of a message without damage.
std::optional<absl::string_view> FieldOne(absl::string_view bytes) {
  std::optional<absl::string_view> found;
  WireFields scan(bytes);
  while (scan.Next()) {
    if (scan.number() == 1 && scan.type() == kWireBytes && !found) found = scan.payload();
  }
  if (!scan.ok()) return std::nullopt;
  return found;
}

// Tells apart the wrappers with a module in field 1 by their field 2: partition inputs, a configuration, or
// nothing. In partition inputs, field 1 is a literal; in a configuration it is the entry's layout, whose
// field 2 is a result, where literals have packed preds. Without field 1, other fields of a configuration
// decide; fields that neither message has are ignored. All occurrences of field 2 count together, since one
// message may be written in several pieces.
Container WrapperOfModule(absl::string_view bytes) {
  bool any = false, literal = false, layout = false, configuration = false;
  WireFields scan(bytes);
  while (scan.Next()) {
    if (scan.number() == 3 && scan.type() != kWireBytes) return Container::kUnoptimizedSnapshot;  // version
    if (scan.number() != 2 || scan.type() != kWireBytes) continue;
    any = true;
    WireFields inner(scan.payload());
    while (inner.Next()) {
      if (inner.number() != 1 || inner.type() != kWireBytes) {
        const bool descriptors = inner.number() == 2 && inner.type() == kWireBytes;
        configuration |= !descriptors && xla::HloModuleConfigProto::descriptor()->FindFieldByNumber(
                                             inner.number()) != nullptr;
        continue;
      }
      literal = true;
      WireFields field(inner.payload());
      while (field.Next()) {
        layout |= field.number() == 2 && field.type() == kWireBytes &&
                  std::any_of(field.payload().begin(), field.payload().end(),
                              [](char c) { return c != 0 && c != 1; });
      }
    }
  }
  if (layout || (configuration && !literal)) return Container::kModuleWithConfig;
  return any ? Container::kUnoptimizedSnapshot : Container::kProto;
}

}  // namespace

absl::string_view ContainerName(Container container) {
  switch (container) {
    case Container::kModule:
      return "HloModuleProto";
    case Container::kProto:
      return "HloProto";
    case Container::kSnapshot:
      return "HloSnapshot";
    case Container::kUnoptimizedSnapshot:
      return "HloUnoptimizedSnapshot";
    case Container::kStreamedSnapshot:
      return "HloUnoptimizedSnapshot with streamed arguments";
    case Container::kModuleWithConfig:
      return "HloModuleProtoWithConfig";
    case Container::kText:
      break;
  }
  return "HLO text";
}

std::optional<Container> ContainerOfBytes(absl::string_view bytes) {
  if (const std::optional<absl::string_view> inner = FieldOne(bytes)) {
    const std::optional<absl::string_view> innermost = FieldOne(*inner);
    if (innermost && IsModule(*innermost)) return Container::kSnapshot;
    if (IsModule(*inner)) return WrapperOfModule(bytes);
  }
  if (IsModule(bytes)) return Container::kModule;
  if (SplitStreamedSnapshot(bytes)) return Container::kStreamedSnapshot;
  return std::nullopt;
}

std::optional<StreamedSnapshot> SplitStreamedSnapshot(absl::string_view bytes) {
  uint64_t size = 0;
  if (!TakeVarint(&bytes, &size) || size > bytes.size()) return std::nullopt;
  const StreamedSnapshot split = {bytes.substr(0, size), bytes.substr(size)};
  const std::optional<absl::string_view> module = FieldOne(split.message);
  if (!module || !IsModule(*module) || WrapperOfModule(split.message) == Container::kModuleWithConfig) {
    return std::nullopt;
  }
  return split;
}

bool LooksLikeText(absl::string_view bytes) {
  for (const char c : bytes.substr(0, 4096)) {
    const unsigned char u = static_cast<unsigned char>(c);
    if (u < 0x20 && !absl::ascii_isspace(u)) return false;
  }
  return true;
}

bool LooksLikeProtoText(absl::string_view text) {
  // Protobuf text has comments that start with #; HLO text has none.
  while (true) {
    text = absl::StripLeadingAsciiWhitespace(text);
    if (text.empty() || text[0] != '#') break;
    const size_t end = text.find('\n');
    if (end == absl::string_view::npos) return true;
    text.remove_prefix(end);
  }
  TextScanner scanner(text);
  const absl::StatusOr<absl::string_view> word = scanner.Word("");
  if (!word.ok()) return false;
  if (scanner.Peek() == ':') return true;
  return scanner.Peek() == '{' && (*word == "hlo" || *word == "hlo_module" || *word == "computations" ||
                                   *word == "arguments" || *word == "partitions" || *word == "config");
}

}  // namespace toroid
