#include "simulator/simple/kernel_body.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <utility>
#include <variant>

#include "absl/strings/escaping.h"
#include "nlohmann/json.hpp"

namespace toroid {
namespace {

// Reads past the end give zeros and leave ok() false.
class Reader {
 public:
  explicit Reader(absl::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return at_ >= bytes_.size(); }

  uint8_t Byte() {
    if (at_end()) ok_ = false;
    return ok_ ? static_cast<uint8_t>(bytes_[at_++]) : 0;
  }

  // The number of zero bits below the first one says how many bytes follow.
  uint64_t Number() {
    uint64_t value = Byte();
    int more = value == 0 ? 8 : 0;
    while (more < 8 && (value >> more & 1) == 0) ++more;
    const int first_bits = more == 8 ? 0 : 7 - more;
    value = more == 8 ? 0 : value >> (more + 1);
    for (int i = 0; i < more; ++i) value |= static_cast<uint64_t>(Byte()) << (8 * i + first_bits);
    return value;
  }

  // At most as many as there are bytes left: nothing that is counted takes less than one.
  size_t Count() {
    const uint64_t count = Number();
    if (count > bytes_.size() - at_) ok_ = false;
    return ok_ ? static_cast<size_t>(count) : 0;
  }

  absl::string_view Bytes(size_t count) {
    if (count > bytes_.size() - at_) ok_ = false;
    if (!ok_) return {};
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }

  absl::string_view UntilZero() {
    const size_t end = std::min(bytes_.find('\0', at_), bytes_.size());
    const absl::string_view text = Bytes(end - at_);
    Byte();
    return text;
  }

  // Positions count from the start of the bytecode.
  void AlignTo(uint64_t alignment) {
    while (ok_ && alignment > 1 && at_ % alignment != 0) Byte();
  }

 private:
  absl::string_view bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

enum Section : uint8_t { kStrings = 0, kDialects = 1, kAttributes = 2, kAttributeSizes = 3 };
enum BuiltinCode : uint64_t { kArray = 0, kDictionary = 1, kString = 2, kDenseArray = 17 };

using Elements = std::vector<size_t>;  // Attributes by number.
using Dictionary =
    std::vector<std::pair<size_t, size_t>>;  // Names, which are attributes as well, and values.
using Attribute = std::variant<std::monostate, std::string, std::vector<int64_t>, Elements, Dictionary>;

class Bytecode {
 public:
  // False for bytes that are no bytecode.
  bool Parse(absl::string_view bytes) {
    Reader file(bytes);
    if (file.Bytes(4) != absl::string_view("ML\xefR", 4)) return false;
    const uint64_t version = file.Number();
    file.UntilZero();  // Who wrote it.
    while (file.ok() && !file.at_end()) {
      const uint8_t id = file.Byte();
      const uint64_t size = file.Number();
      if ((id & 0x80) != 0) file.AlignTo(file.Number());
      sections_[id & 0x7f] = file.Bytes(static_cast<size_t>(size));
    }
    return file.ok() && ReadStrings() && ReadDialects(version) && ReadAttributes();
  }

  // The first dictionary with `key`; null if there is none.
  const Dictionary* DictionaryWith(absl::string_view key) const {
    for (const Attribute& attribute : attributes_) {
      const auto* dictionary = std::get_if<Dictionary>(&attribute);
      if (dictionary != nullptr && Find(*dictionary, key) != nullptr) return dictionary;
    }
    return nullptr;
  }

  const Attribute* Find(const Dictionary& dictionary, absl::string_view key) const {
    for (const auto& [name, value] : dictionary) {
      const Attribute* named = At(name);
      const auto* text = named == nullptr ? nullptr : std::get_if<std::string>(named);
      if (text != nullptr && *text == key) return At(value);
    }
    return nullptr;
  }

  const Attribute* At(size_t number) const {
    return number < attributes_.size() ? &attributes_[number] : nullptr;
  }

 private:
  bool ReadStrings() {
    Reader reader(sections_[kStrings]);
    std::vector<size_t> sizes(reader.Count());
    for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) *size = reader.Count();
    for (const size_t size : sizes) {
      const absl::string_view text = reader.Bytes(size);
      strings_.push_back(text.substr(0, text.empty() ? 0 : text.size() - 1));
    }
    return reader.ok();
  }

  bool ReadDialects(uint64_t version) {
    Reader reader(sections_[kDialects]);
    dialects_.resize(reader.Count());
    for (absl::string_view& dialect : dialects_) {
      // From version 1 on, a bit says whether a section with the dialect's version follows.
      const uint64_t name = reader.Number();
      dialect = StringAt(version == 0 ? name : name >> 1);
      if (version > 0 && (name & 1) != 0) {
        reader.Byte();
        reader.Bytes(reader.Count());
      }
    }
    return reader.ok();
  }

  bool ReadAttributes() {
    Reader sizes(sections_[kAttributeSizes]), bytes(sections_[kAttributes]);
    const uint64_t count = sizes.Number();
    sizes.Number();  // Of types, which come after the attributes.
    while (sizes.ok() && attributes_.size() < count) {
      const uint64_t dialect = sizes.Number();
      const bool is_builtin = dialect < dialects_.size() && dialects_[dialect] == "builtin";
      for (size_t i = sizes.Count(); i > 0; --i) {
        const uint64_t size = sizes.Number();  // The lowest bit: in the dialect's own encoding, not as text.
        const absl::string_view own = bytes.Bytes(static_cast<size_t>(size >> 1));
        attributes_.push_back(is_builtin && (size & 1) != 0 ? Read(own) : Attribute());
      }
    }
    return sizes.ok() && bytes.ok();
  }

  Attribute Read(absl::string_view bytes) const {
    Reader reader(bytes);
    switch (reader.Number()) {
      case kArray: {
        Elements elements(reader.Count());
        for (size_t& element : elements) element = reader.Number();
        return elements;
      }
      case kDictionary: {
        Dictionary dictionary(reader.Count());
        for (auto& [name, value] : dictionary) {
          name = reader.Number();
          value = reader.Number();
        }
        return dictionary;
      }
      case kString:
        return std::string(StringAt(reader.Number()));
      case kDenseArray: {
        reader.Number();  // The type of its elements.
        const size_t count = reader.Count();
        const absl::string_view raw = reader.Bytes(reader.Count());
        if (raw.size() != count * sizeof(int64_t)) return {};
        std::vector<int64_t> values(count);
        if (count > 0) std::memcpy(values.data(), raw.data(), raw.size());
        return values;
      }
      default:
        return {};
    }
  }

  absl::string_view StringAt(uint64_t number) const {
    return number < strings_.size() ? strings_[number] : absl::string_view();
  }

  std::map<uint8_t, absl::string_view> sections_;
  std::vector<absl::string_view> strings_, dialects_;
  std::vector<Attribute> attributes_;
};

template <typename T>
const T* Get(const Attribute* attribute) {
  return attribute == nullptr ? nullptr : std::get_if<T>(attribute);
}

}  // namespace

bool IsTpuKernel(const Instruction& op) {
  return op.opcode() == Opcode::kCustomCall && op.custom_call_target() == "tpu_custom_call";
}

std::optional<KernelBody> ParseKernelBody(absl::string_view bytecode) {
  Bytecode code;
  if (!code.Parse(bytecode)) return std::nullopt;
  const Dictionary* function = code.DictionaryWith("iteration_bounds");
  if (function == nullptr) return std::nullopt;
  KernelBody body;
  if (const auto* name = Get<std::string>(code.Find(*function, "sym_name"))) body.name = *name;
  if (const auto* grid = Get<std::vector<int64_t>>(code.Find(*function, "iteration_bounds"))) {
    for (const int64_t extent : *grid) body.grid.push_back(std::max<int64_t>(extent, -1));
  }
  if (const auto* windows = Get<Elements>(code.Find(*function, "window_params"))) {
    for (const size_t number : *windows) {
      const auto* window = Get<Dictionary>(code.At(number));
      const auto* bounds =
          window == nullptr ? nullptr : Get<std::vector<int64_t>>(code.Find(*window, "window_bounds"));
      body.windows.push_back(bounds == nullptr ? std::vector<int64_t>() : *bounds);
    }
  }
  return body;
}

std::optional<KernelBody> ReadKernelBody(const Instruction& call) {
  const nlohmann::json config =
      nlohmann::json::parse(call.backend_config(), nullptr, /*allow_exceptions=*/false);
  const nlohmann::json::json_pointer place("/custom_call_config/body");
  if (!config.is_object() || !config.contains(place) || !config[place].is_string()) return std::nullopt;
  std::string bytecode;
  if (!absl::Base64Unescape(config[place].get_ref<const std::string&>(), &bytecode)) return std::nullopt;
  return ParseKernelBody(bytecode);
}

}  // namespace toroid
