#include "runtime/transport/run_on_mpi.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "runtime/transport/mpi_transport.h"
#include "zlib.h"

namespace toroid {
namespace {

// Size and checksum of a file, read in parts: other ranks than the first keep none of it.
std::string Fingerprint(const std::string& path) {
  if (path.empty() || IsStream(path)) return "";
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return absl::StrCat("cannot be read: ", std::strerror(errno));
  std::vector<Bytef> part(1 << 20);
  uLong checksum = crc32(0, nullptr, 0);
  int64_t size = 0;
  while (const size_t bytes = std::fread(part.data(), 1, part.size(), file)) {
    size += static_cast<int64_t>(bytes);
    checksum = crc32(checksum, part.data(), static_cast<uInt>(bytes));
  }
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) return absl::StrCat("cannot be read: ", std::strerror(errno));
  return absl::StrCat(size, " bytes, checksum ", absl::Hex(checksum, absl::kZeroPad8));
}

void Print(const absl::Status& status) {
  const std::string line = absl::StrReplaceAll(status.message(), {{"\n", " "}, {"\r", " "}});
  std::fprintf(stderr, "%s\n", line.c_str());
}

absl::Status CatchingOutOfMemory(const std::function<absl::Status()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory");
  }
}

}  // namespace

absl::Status CheckRanksAgree(Transport& transport, const std::string& command_line,
                             const std::vector<std::string>& files) {
  std::string mine = command_line;
  for (const std::string& file : files) absl::StrAppend(&mine, "\n", Fingerprint(file));
  std::vector<std::string> all;
  RETURN_IF_ERROR(transport.AllGatherStrings(mine, &all));
  const std::vector<std::string> first = absl::StrSplit(all[0], '\n');
  for (int rank = 1; rank < transport.size(); ++rank) {
    const std::vector<std::string> theirs = absl::StrSplit(all[rank], '\n');
    if (theirs[0] != first[0]) {
      return absl::InvalidArgumentError(absl::StrCat("rank ", rank,
                                                     " was started with other flags: ", theirs[0],
                                                     "; rank 0: ", first[0], "; start all ranks alike"));
    }
    for (size_t i = 1; i < first.size() && i < theirs.size(); ++i) {
      if (theirs[i] == first[i]) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(files[i - 1], ": rank ", rank, " has another file than rank 0: ", theirs[i],
                       "; rank 0: ", first[i], "; give all ranks the same files"));
    }
  }
  return absl::OkStatus();
}

absl::Status RunOnMpi(const std::string& command_line, const std::vector<std::string>& files,
                      const std::function<absl::Status(Transport& transport, int neighbors)>& lead,
                      const std::function<absl::Status(Transport& transport, int neighbors)>& serve,
                      int64_t max_message) {
  ASSIGN_OR_RETURN(const std::unique_ptr<MpiTransport> transport, MpiTransport::Open(max_message));
  const absl::Status status = CatchingOutOfMemory([&]() -> absl::Status {
    RETURN_IF_ERROR(CheckRanksAgree(*transport, command_line, files));
    return transport->rank() == 0 ? lead(*transport, transport->neighbors())
                                  : serve(*transport, transport->neighbors());
  });
  return transport->Close(status, Print);
}

}  // namespace toroid
