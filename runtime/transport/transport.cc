#include "runtime/transport/transport.h"

#include "hlo/base/status.h"

namespace toroid {

absl::Status WaitAll(Transport& transport, absl::Span<const Transport::Ticket> tickets) {
  absl::Status first;
  for (const Transport::Ticket ticket : tickets) {
    if (absl::Status status = transport.Wait(ticket); first.ok()) first = std::move(status);
  }
  return first;
}

absl::Status Transport::AllReduce(absl::Span<const int>, PrimitiveType, Opcode, int64_t, const char*, char*) {
  return absl::UnimplementedError("this transport reduces nothing by itself");
}

absl::Status Transport::AllGather(absl::Span<const int64_t> bytes, char* all) {
  std::vector<int64_t> offsets(size() + 1, 0);
  for (int r = 0; r < size(); ++r) offsets[r + 1] = offsets[r] + bytes[r];
  std::vector<Ticket> tickets;
  for (int r = 0; r < size(); ++r) {
    if (r != rank() && bytes[r] > 0) tickets.push_back(StartReceive(r, all + offsets[r], bytes[r]));
  }
  for (int r = 0; r < size() && bytes[rank()] > 0; ++r) {
    if (r != rank()) tickets.push_back(StartSend(r, all + offsets[rank()], bytes[rank()]));
  }
  return WaitAll(*this, tickets);
}

absl::Status Transport::Broadcast(std::string* bytes) {
  int64_t length = static_cast<int64_t>(bytes->size());
  std::vector<Ticket> tickets;
  if (rank() == 0) {
    for (int r = 1; r < size(); ++r) {
      tickets.push_back(StartSend(r, reinterpret_cast<const char*>(&length), sizeof(length)));
      tickets.push_back(StartSend(r, bytes->data(), length));
    }
    return WaitAll(*this, tickets);
  }
  RETURN_IF_ERROR(Wait(StartReceive(0, reinterpret_cast<char*>(&length), sizeof(length))));
  bytes->resize(static_cast<size_t>(length));
  return Wait(StartReceive(0, bytes->data(), length));
}

absl::Status Transport::AllGatherStrings(const std::string& mine, std::vector<std::string>* all) {
  std::vector<int64_t> lengths(size());
  lengths[rank()] = static_cast<int64_t>(mine.size());
  const std::vector<int64_t> eight(size(), sizeof(int64_t));
  RETURN_IF_ERROR(AllGather(eight, reinterpret_cast<char*>(lengths.data())));
  std::string bytes;
  for (int r = 0; r < size(); ++r) {
    if (r == rank()) {
      bytes += mine;
    } else {
      bytes.resize(bytes.size() + lengths[r]);
    }
  }
  RETURN_IF_ERROR(AllGather(lengths, bytes.data()));
  all->clear();
  size_t at = 0;
  for (const int64_t length : lengths) {
    all->push_back(bytes.substr(at, length));
    at += length;
  }
  return absl::OkStatus();
}

}  // namespace toroid
