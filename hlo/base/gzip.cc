#include "hlo/base/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

constexpr int kGzipWindow = MAX_WBITS + 16;  // Tells zlib to expect, or write, the gzip header.
constexpr size_t kMostPerByte = 1032;        // Deflate shrinks no better than this.
constexpr size_t kMiB = 1 << 20;
constexpr absl::string_view kMagic("\x1f\x8b\x08", 3);

// `size`, cut to what zlib's 32-bit counters can hold.
uInt Piece(size_t size) {
  return static_cast<uInt>(std::min<size_t>(size, std::numeric_limits<uInt>::max()));
}

class Inflater {
 public:
  explicit Inflater(absl::string_view in) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
  }
  ~Inflater() { inflateEnd(&stream_); }

  bool Start() { return inflateInit2(&stream_, kGzipWindow) == Z_OK; }
  bool NextMember() { return inflateReset(&stream_) == Z_OK; }
  absl::string_view Rest() const {
    return absl::string_view(reinterpret_cast<const char*>(stream_.next_in), stream_.avail_in);
  }
  // Fills `room` as far as the input allows; returns zlib's status and sets `filled` to the bytes written.
  int Fill(char* room, size_t size, size_t* filled) {
    stream_.next_out = reinterpret_cast<Bytef*>(room);
    stream_.avail_out = Piece(size);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    *filled = Piece(size) - stream_.avail_out;
    return status;
  }

 private:
  z_stream stream_ = {};
};

// A first guess of the content's size: the size in the last four bytes, at most the largest possible one.
size_t GuessSize(absl::string_view bytes, size_t limit) {
  uint32_t size = 0;
  for (int i = 0; i < 4; ++i) {
    size |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[bytes.size() - 4 + i])) << (8 * i);
  }
  return std::min<size_t>({size, kMostPerByte * bytes.size(), limit - 1});
}

}  // namespace

bool IsGzip(absl::string_view bytes) { return absl::StartsWith(bytes, kMagic); }

absl::StatusOr<std::string> Gunzip(absl::string_view bytes, size_t limit) {
  const auto cut_short = [] { return absl::InvalidArgumentError("the gzip data is cut short"); };
  if (!IsGzip(bytes)) return absl::InvalidArgumentError("is not gzip data");
  if (bytes.size() < 18) return cut_short();
  const auto too_large = [&] {
    return absl::ResourceExhaustedError(
        absl::StrCat("the gzip data holds ", limit >> (limit < kMiB ? 10 : 20),
                     limit < kMiB ? " KiB" : " MiB", " or more, which is refused"));
  };
  if (bytes.size() >= size_t{1} << 31) return too_large();  // zlib cannot count more.
  Inflater inflater(bytes);
  if (!inflater.Start()) return absl::ResourceExhaustedError("no memory to decompress the gzip data");
  std::string out(GuessSize(bytes, limit) + 1, '\0');
  size_t size = 0;
  while (true) {
    if (size >= limit) return too_large();
    if (size == out.size()) out.resize(std::min(2 * out.size(), limit));
    size_t filled;
    const int status = inflater.Fill(out.data() + size, out.size() - size, &filled);
    size += filled;
    if (status == Z_STREAM_END) {
      const absl::string_view rest = inflater.Rest();
      if (rest.find_first_not_of('\0') == absl::string_view::npos) break;
      if (!IsGzip(rest)) return absl::InvalidArgumentError("the gzip data is followed by something else");
      if (!inflater.NextMember()) return absl::InvalidArgumentError("the gzip data is damaged");
    } else if (status == Z_MEM_ERROR) {
      return absl::ResourceExhaustedError("no memory to decompress the gzip data");
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      return absl::InvalidArgumentError("the gzip data is damaged");
    } else if (filled == 0 && inflater.Rest().empty()) {
      return cut_short();
    }
  }
  if (size >= limit) return too_large();
  out.resize(size);
  return out;
}

absl::StatusOr<std::string> Gzip(absl::string_view content) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return absl::ResourceExhaustedError("no memory to compress");
  }
  std::string out(std::max<size_t>(64, content.size() / 4), '\0');
  size_t taken = 0, size = 0;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (size == out.size()) out.resize(2 * out.size());
    const uInt in = Piece(content.size() - taken), room = Piece(out.size() - size);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data() + taken));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + size);
    stream.avail_out = room;
    status = deflate(&stream, taken + in == content.size() ? Z_FINISH : Z_NO_FLUSH);
    taken += in - stream.avail_in;
    size += room - stream.avail_out;
    if (status == Z_STREAM_ERROR) break;
  }
  deflateEnd(&stream);
  if (status != Z_STREAM_END) return absl::InternalError("the content cannot be compressed");
  out.resize(size);
  return out;
}

}  // namespace toroid
