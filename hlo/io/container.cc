#include "hlo/io/container.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "hlo/io/text_scanner.h"

namespace toroid {
namespace {

// Reads one wire field after the other.
class FieldScan {
 public:
  explicit FieldScan(absl::string_view bytes) : rest_(bytes) {}

  // False at the end and at damage; ok() tells which.
  bool Next() {
    if (rest_.empty() || !ok_) return false;
    uint64_t tag;
    ok_ = Varint(&tag) && tag >> 3 != 0 && tag >> 3 < (1 << 29);
    if (!ok_) return false;
    number_ = static_cast<int>(tag >> 3);
    type_ = static_cast<int>(tag & 7);
    uint64_t size = 0;
    switch (type_) {
      case 0:
        ok_ = Varint(&size);
        return ok_;
      case 1:
        size = 8;
        break;
      case 2:
        ok_ = Varint(&size);
        break;
      case 5:
        size = 4;
        break;
      default:
        ok_ = false;
    }
    ok_ = ok_ && size <= rest_.size();
    if (!ok_) return false;
    payload_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool ok() const { return ok_; }
  int number() const { return number_; }
  bool is_bytes() const { return type_ == 2; }
  absl::string_view payload() const { return payload_; }

 private:
  bool Varint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (rest_.empty()) return false;
      const uint8_t byte = static_cast<uint8_t>(rest_[0]);
      rest_.remove_prefix(1);
      *value |= static_cast<uint64_t>(byte & 0x7f) << (shift & 63);
      if (byte < 0x80) return true;
    }
    return false;
  }

  absl::string_view rest_;
  absl::string_view payload_;
  int number_ = 0;
  int type_ = 0;
  bool ok_ = true;
};

// Has computations (3), each with instructions (2); a name (1) is bytes.
bool IsModule(absl::string_view bytes) {
  bool found = false;
  FieldScan scan(bytes);
  while (scan.Next()) {
    if ((scan.number() == 1 || scan.number() == 3) && !scan.is_bytes()) return false;
    if (scan.number() != 3 || found) continue;
    FieldScan computation(scan.payload());
    while (computation.Next()) found |= computation.number() == 2 && computation.is_bytes();
    if (!computation.ok()) return false;
  }
  return scan.ok() && found;
}

// The first field 1 of a message without damage.
std::optional<absl::string_view> FieldOne(absl::string_view bytes) {
  std::optional<absl::string_view> found;
  FieldScan scan(bytes);
  while (scan.Next()) {
    if (scan.number() == 1 && scan.is_bytes() && !found) found = scan.payload();
  }
  if (!scan.ok()) return std::nullopt;
  return found;
}

// Which of the wrappers with a module in field 1: field 2 holds inputs, a configuration, or nothing.
Container WrapperOfModule(absl::string_view bytes) {
  Container container = Container::kProto;
  FieldScan scan(bytes);
  while (scan.Next()) {
    if (scan.number() == 3 && !scan.is_bytes()) return Container::kUnoptimizedSnapshot;  // version
    if (scan.number() != 2 || !scan.is_bytes()) continue;
    container = Container::kUnoptimizedSnapshot;
    FieldScan inner(scan.payload());
    while (inner.Next()) {
      if (inner.number() > 2 || !inner.is_bytes()) return Container::kModuleWithConfig;
    }
  }
  return container;
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
  return std::nullopt;
}

bool LooksLikeText(absl::string_view bytes) {
  for (const char c : bytes.substr(0, 4096)) {
    const unsigned char u = static_cast<unsigned char>(c);
    if (u < 0x20 && !absl::ascii_isspace(u)) return false;
  }
  return true;
}

bool LooksLikeProtoText(absl::string_view text) {
  // Its comments start with #, which HLO text does not have.
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
