// Iterates over the fields of an encoded protocol buffer without decoding nested messages.
//
//   WireFields fields(bytes);
//   while (fields.Next()) {
//     if (fields.Is(1, kWireBytes)) name = fields.payload();
//     else rest.Add(fields.raw());
//   }
//   if (!fields.ok()) ...  // Damaged.
//
// Source: the wire format of Protocol Buffers: varint, 64-bit, length-delimited, group, 32-bit.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace toroid {

enum WireType {
  kWireVarint = 0,
  kWire64Bit = 1,
  kWireBytes = 2,
  kWireGroup = 3,
  kWireGroupEnd = 4,
  kWire32Bit = 5,
};

// Takes a varint from the front of `bytes`. Returns false for damaged bytes, and `bytes` is then unspecified.
inline bool TakeVarint(absl::string_view* bytes, uint64_t* value) {
  const char* data = bytes->data();
  const size_t size = bytes->size();
  *value = 0;
  for (size_t i = 0; i < 10 && i < size; ++i) {
    const auto byte = static_cast<uint8_t>(data[i]);
    *value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes->remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

class WireFields {
 public:
  explicit WireFields(absl::string_view bytes) : rest_(bytes) {}

  // Steps to the next field. Returns false at the end and for damaged bytes; ok() tells which.
  bool Next() {
    if (rest_.empty() || !ok_) return false;
    const char* begin = rest_.data();
    ok_ = TakeTag() && type_ != kWireGroupEnd && (type_ == kWireGroup ? SkipGroup() : TakePayload());
    raw_ = absl::string_view(begin, rest_.data() - begin);
    return ok_;
  }
  bool ok() const { return ok_; }

  int number() const { return number_; }
  WireType type() const { return type_; }
  bool Is(int number, WireType type) const { return number_ == number && type_ == type; }
  // The value of a varint field.
  uint64_t value() const { return value_; }
  // The content of a length-delimited field.
  absl::string_view payload() const { return payload_; }
  // The field with its tag.
  absl::string_view raw() const { return raw_; }

 private:
  bool TakeTag() {
    uint64_t tag;
    if (!TakeVarint(&rest_, &tag) || tag >> 3 == 0 || tag >> 3 >= (1 << 29)) return false;
    number_ = static_cast<int>(tag >> 3);
    type_ = static_cast<WireType>(tag & 7);
    return true;
  }

  bool TakePayload() {
    uint64_t size = 0;
    switch (type_) {
      case kWireVarint:
        return TakeVarint(&rest_, &value_);
      case kWire64Bit:
        size = 8;
        break;
      case kWireBytes:
        if (!TakeVarint(&rest_, &size)) return false;
        break;
      case kWire32Bit:
        size = 4;
        break;
      default:
        return false;
    }
    if (size > rest_.size()) return false;
    payload_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  bool SkipGroup() {
    const int number = number_;
    int64_t depth = 1;
    while (depth > 0) {
      if (!TakeTag()) return false;
      if (type_ == kWireGroup) {
        ++depth;
      } else if (type_ == kWireGroupEnd) {
        --depth;
      } else if (!TakePayload()) {
        return false;
      }
    }
    number_ = number;
    type_ = kWireGroup;
    return true;
  }

  absl::string_view rest_;
  absl::string_view payload_;
  absl::string_view raw_;
  uint64_t value_ = 0;
  int number_ = 0;
  WireType type_ = kWireVarint;
  bool ok_ = true;
};

// Joins pieces of one buffer, in order; copies them only if they are not adjacent.
class WirePieces {
 public:
  void Clear() {
    run_ = {};
    joined_.clear();
  }
  void Add(absl::string_view piece) {
    if (piece.empty()) return;
    if (run_.empty() && joined_.empty()) {
      run_ = piece;
    } else if (joined_.empty() && run_.data() + run_.size() == piece.data()) {
      run_ = absl::string_view(run_.data(), run_.size() + piece.size());
    } else {
      if (joined_.empty()) joined_.assign(run_.data(), run_.size());
      joined_.append(piece.data(), piece.size());
    }
  }
  absl::string_view bytes() const { return joined_.empty() ? run_ : absl::string_view(joined_); }

 private:
  absl::string_view run_;
  std::string joined_;
};

}  // namespace toroid
