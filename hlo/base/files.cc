#include "hlo/base/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/base/gzip.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

constexpr int kMaxGzipLayers = 3;
// Limit of the content of nested gzip layers: kMostPerByte bytes for each byte of the file, plus kMostBeside.
// One layer expands at most 1032 times; without a limit, nested layers would multiply.
constexpr size_t kMostPerByte = 1100, kMostBeside = 64 << 10;

// Closes a descriptor at the end of the scope, unless it is standard input, output or error.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool Close() {
    const int fd = fd_;
    fd_ = -1;
    return fd <= 2 || close(fd) == 0;
  }

 private:
  int fd_;
};

absl::Status SystemError(const std::string& path) {
  const std::string what = absl::StrCat(path, ": ", std::strerror(errno));
  return errno == ENOENT ? absl::NotFoundError(what) : absl::UnavailableError(what);
}

bool WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

absl::Status WriteDirectly(const std::string& path, int fd, absl::string_view bytes) {
  Descriptor file(fd);
  if (file.get() < 0 || !WriteAll(file.get(), bytes) || !file.Close()) return SystemError(path);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t limit) {
  const Descriptor file(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return SystemError(path);
  struct stat info;
  if (fstat(file.get(), &info) != 0) return SystemError(path);
  const size_t known = S_ISREG(info.st_mode) && info.st_size >= 0 ? static_cast<size_t>(info.st_size) : 0;
  const auto too_long = [&] {
    return absl::ResourceExhaustedError(absl::StrCat(path, ": holds more than ", limit, " bytes"));
  };
  if (known > limit) return too_long();
  // One byte more than the size, so that the same read meets the end of the file.
  std::string bytes(known > 0 ? known + 1 : 1 << 16, 0);
  size_t size = 0;
  while (true) {
    if (size > limit) return too_long();
    if (size == bytes.size()) bytes.resize(2 * bytes.size());
    const ssize_t n = read(file.get(), bytes.data() + size, bytes.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError(path);
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  bytes.resize(size);
  return bytes;
}

absl::Status WriteFile(const std::string& path, absl::string_view bytes) {
  if (path == "-") return WriteDirectly(path, STDOUT_FILENO, bytes);
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    return WriteDirectly(path, open(path.c_str(), O_WRONLY | O_CLOEXEC), bytes);
  }
  // A symbolic link stays a link; its target is replaced.
  std::string target = path;
  if (exists) {
    if (char* resolved = realpath(path.c_str(), nullptr)) {
      target = resolved;
      free(resolved);
    }
  }
  std::string temporary = absl::StrCat(target, ".XXXXXX");
  Descriptor file(mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) return SystemError(path);
  const mode_t mask = umask(0);
  umask(mask);
  const mode_t mode = exists ? info.st_mode & 07777 : 0666 & ~mask;
  const bool written = WriteAll(file.get(), bytes) && fchmod(file.get(), mode) == 0 && file.Close() &&
                       rename(temporary.c_str(), target.c_str()) == 0;
  if (written) return absl::OkStatus();
  const absl::Status status = SystemError(path);
  unlink(temporary.c_str());
  return status;
}

absl::Status ReplaceFileDurably(const std::string& path, absl::string_view bytes) {
  struct stat info;
  if (path == "-" || (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))) {
    return absl::UnavailableError(absl::StrCat(path, ": is no regular file that could be replaced"));
  }
  const std::string part = absl::StrCat(path, ".part");
  Descriptor file(open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) return SystemError(path);
  if (!WriteAll(file.get(), bytes) || fsync(file.get()) != 0 || !file.Close() ||
      rename(part.c_str(), path.c_str()) != 0) {
    const absl::Status status = SystemError(path);
    unlink(part.c_str());
    return status;
  }
  // The new name is on the disk once the folder is synchronized.
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Descriptor directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || fsync(directory.get()) != 0) return SystemError(folder);
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadInput(const std::string& path, size_t limit) {
  ASSIGN_OR_RETURN(std::string bytes, ReadFile(path, limit));
  const size_t nested_limit = std::min(limit, kMostPerByte * bytes.size() + kMostBeside);
  for (int layer = 0; IsGzip(bytes); ++layer) {
    if (layer == kMaxGzipLayers) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": is compressed more than ", kMaxGzipLayers, " times over"));
    }
    absl::StatusOr<std::string> inside = Gunzip(bytes, (layer == 0 ? limit : nested_limit) + 1);
    if (!inside.ok()) {
      return Annotate(inside.status(), absl::StrCat(path, layer == 0 ? "" : ": inside other gzip data"));
    }
    bytes = *std::move(inside);
  }
  return bytes;
}

absl::Status WriteOutput(const std::string& path, absl::string_view bytes) {
  if (!absl::EndsWith(path, ".gz")) return WriteFile(path, bytes);
  absl::StatusOr<std::string> packed = Gzip(bytes);
  if (!packed.ok()) return Annotate(packed.status(), path);
  return WriteFile(path, *packed);
}

bool IsStream(const std::string& path) {
  struct stat info;
  // /dev/stdout counts as a stream even if the shell redirected it to a file.
  return path == "-" || absl::StartsWith(path, "/dev/") ||
         (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

absl::string_view WithoutGz(absl::string_view path) { return absl::StripSuffix(path, ".gz"); }

}  // namespace toroid
