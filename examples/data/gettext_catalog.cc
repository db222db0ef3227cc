#include "examples/data/gettext_catalog.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

constexpr uint32_t kMagic = 0x950412de, kSwappedMagic = 0xde120495;
constexpr char kEndOfContext = '\4';

absl::Status Damaged() { return absl::InvalidArgumentError("is no catalogue of gettext, or a damaged one"); }

// Reads the 32-bit words and texts of a file.
class MoFile {
 public:
  static absl::StatusOr<MoFile> Open(absl::string_view bytes) {
    MoFile file(bytes);
    const absl::StatusOr<uint32_t> magic = file.Word(0);
    if (!magic.ok() || (*magic != kMagic && *magic != kSwappedMagic)) return Damaged();
    file.swapped_ = *magic == kSwappedMagic;
    return file;
  }

  absl::StatusOr<uint32_t> Word(uint64_t at) const {
    if (at + 4 > bytes_.size()) return Damaged();
    uint32_t word;
    std::memcpy(&word, bytes_.data() + at, 4);
    return swapped_ ? __builtin_bswap32(word) : word;
  }

  // Entry i of the table at `table`: a length and an offset. The text ends at its first zero byte; plural
  // forms follow.
  absl::StatusOr<absl::string_view> Text(uint64_t table, uint64_t i) const {
    ASSIGN_OR_RETURN(const uint64_t length, Word(table + 8 * i));
    ASSIGN_OR_RETURN(const uint64_t place, Word(table + 8 * i + 4));
    if (place + length > bytes_.size()) return Damaged();
    const absl::string_view text = bytes_.substr(place, length);
    return text.substr(0, text.find('\0'));
  }

 private:
  explicit MoFile(absl::string_view bytes) : bytes_(bytes) {}

  absl::string_view bytes_;
  bool swapped_ = false;
};

}  // namespace

absl::StatusOr<Catalog> ParseCatalog(absl::string_view bytes) {
  ASSIGN_OR_RETURN(const MoFile file, MoFile::Open(bytes));
  ASSIGN_OR_RETURN(const uint32_t version, file.Word(4));
  ASSIGN_OR_RETURN(const uint32_t count, file.Word(8));
  ASSIGN_OR_RETURN(const uint32_t messages, file.Word(12));
  ASSIGN_OR_RETURN(const uint32_t translations, file.Word(16));
  if (version >> 16 > 1 || uint64_t{count} * 8 > bytes.size()) return Damaged();
  Catalog catalog;
  for (uint32_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const absl::string_view message, file.Text(messages, i));
    ASSIGN_OR_RETURN(const absl::string_view translation, file.Text(translations, i));
    if (message.empty()) {  // The header.
      const size_t charset = translation.find("charset=");
      if (charset != absl::string_view::npos &&
          !absl::StartsWithIgnoreCase(translation.substr(charset), "charset=UTF-8")) {
        return absl::InvalidArgumentError("is not encoded in UTF-8");
      }
    } else if (!absl::StrContains(message, kEndOfContext)) {
      catalog.emplace(message, translation);
    }
  }
  return catalog;
}

absl::StatusOr<Catalog> ReadCatalog(const std::string& folder, const std::string& language,
                                    const std::string& domain) {
  const std::string path = absl::StrCat(folder, "/", language, "/LC_MESSAGES/", domain, ".mo");
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<Catalog> catalog = ParseCatalog(bytes);
  if (!catalog.ok()) return Annotate(catalog.status(), path);
  return catalog;
}

std::vector<std::string> CatalogLanguages(const std::string& folder, const std::string& domain) {
  std::vector<std::string> languages;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(it->path() / "LC_MESSAGES" / absl::StrCat(domain, ".mo"), ignored)) {
      languages.push_back(it->path().filename().string());
    }
  }
  std::sort(languages.begin(), languages.end());
  return languages;
}

}  // namespace toroid
