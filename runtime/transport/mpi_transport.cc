#include "runtime/transport/mpi_transport.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTag = 0;
// MPI_Test calls between two checks for failed ranks; MPI_Test calls before the processor is yielded. Ranks
// that share a processor yield early, because the rank waited for may need it.
constexpr int kTestsPerLook = 64, kBusyTests = 4096, kBusyTestsSharing = 16;
// How long a failing rank waits for the others to hear of it; they check between two kernels.
constexpr std::chrono::seconds kFarewell(8);
constexpr size_t kMaxText = 4000;

MPI_Datatype TypeOf(const MpiLibrary& mpi, PrimitiveType type) {
  switch (type) {
    case xla::S8:
      return mpi.int8;
    case xla::S16:
      return mpi.int16;
    case xla::S32:
      return mpi.int32;
    case xla::S64:
      return mpi.int64;
    case xla::U8:
      return mpi.uint8;
    case xla::U16:
      return mpi.uint16;
    case xla::U32:
      return mpi.uint32;
    case xla::U64:
      return mpi.uint64;
    default:
      return nullptr;
  }
}

MPI_Op OpOf(const MpiLibrary& mpi, Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
      return mpi.sum;
    case Opcode::kMultiply:
      return mpi.product;
    case Opcode::kMaximum:
      return mpi.maximum;
    case Opcode::kMinimum:
      return mpi.minimum;
    case Opcode::kAnd:
      return mpi.bit_and;
    case Opcode::kOr:
      return mpi.bit_or;
    case Opcode::kXor:
      return mpi.bit_xor;
    default:
      return nullptr;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<MpiTransport>> MpiTransport::Open(int64_t max_message) {
  ASSIGN_OR_RETURN(const MpiLibrary* mpi, LoadMpi());
  std::unique_ptr<MpiTransport> transport(new MpiTransport(*mpi, max_message));
  RETURN_IF_ERROR(transport->Join());
  return transport;
}

MpiTransport::~MpiTransport() = default;

absl::Status MpiTransport::Check(int code) const {
  if (code == MPI_SUCCESS) return absl::OkStatus();
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  mpi_.Error_string(code, text, &length);
  return absl::UnavailableError(absl::StrCat("MPI: ", std::string(text, static_cast<size_t>(length))));
}

absl::Status MpiTransport::Join() {
  int provided = 0;
  RETURN_IF_ERROR(Check(mpi_.Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided)));
  RETURN_IF_ERROR(Check(mpi_.Comm_rank(mpi_.world, &rank_)));
  RETURN_IF_ERROR(Check(mpi_.Comm_size(mpi_.world, &size_)));
  RETURN_IF_ERROR(Check(mpi_.Comm_dup(mpi_.world, &data_)));
  RETURN_IF_ERROR(Check(mpi_.Comm_dup(mpi_.world, &control_)));
  for (const MPI_Comm comm : {mpi_.world, data_, control_})
    RETURN_IF_ERROR(Check(mpi_.Comm_set_errhandler(comm, mpi_.errors_return)));
  stopped_.assign(size_, false);
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  std::vector<std::string> hosts;
  RETURN_IF_ERROR(AllGatherStrings(absl::StrCat(getpid(), " ", host), &hosts));
  const auto host_of = [&](int r) { return hosts[r].substr(hosts[r].find(' ') + 1); };
  std::vector<Peer> peers;
  for (int r = 0; r < size_; ++r) {
    if (r != rank_ && host_of(r) == host_of(rank_))
      peers.push_back({r, static_cast<pid_t>(std::atoi(hosts[r].c_str()))});
  }
  neighbors_ = static_cast<int>(peers.size()) + 1;
  busy_tests_ =
      neighbors_ > static_cast<int>(std::thread::hardware_concurrency()) ? kBusyTestsSharing : kBusyTests;
  watch_ = std::make_unique<PeerWatch>(rank_, std::move(peers));
  return absl::OkStatus();
}

Transport::Ticket MpiTransport::Add(std::vector<MPI_Request> requests) {
  if (free_.empty()) {
    requests_.push_back(std::move(requests));
    return static_cast<Ticket>(requests_.size()) - 1;
  }
  const Ticket ticket = free_.back();
  free_.pop_back();
  requests_[ticket] = std::move(requests);
  return ticket;
}

Transport::Ticket MpiTransport::StartSend(int to, const char* data, int64_t bytes) {
  std::vector<MPI_Request> requests;
  for (int64_t at = 0; at < bytes && failure_.ok(); at += max_message_) {
    MPI_Request request;
    const absl::Status status =
        Check(mpi_.Isend(data + at, static_cast<int>(std::min(max_message_, bytes - at)), mpi_.byte, to, kTag,
                         data_, &request));
    if (!status.ok()) failure_ = status;
    if (status.ok()) requests.push_back(request);
  }
  return Add(std::move(requests));
}

Transport::Ticket MpiTransport::StartReceive(int from, char* data, int64_t bytes) {
  std::vector<MPI_Request> requests;
  for (int64_t at = 0; at < bytes && failure_.ok(); at += max_message_) {
    MPI_Request request;
    const absl::Status status =
        Check(mpi_.Irecv(data + at, static_cast<int>(std::min(max_message_, bytes - at)), mpi_.byte, from,
                         kTag, data_, &request));
    if (!status.ok()) failure_ = status;
    if (status.ok()) requests.push_back(request);
  }
  return Add(std::move(requests));
}

absl::Status MpiTransport::Wait(Ticket ticket) {
  std::vector<MPI_Request> requests = std::move(requests_[ticket]);
  requests_[ticket].clear();
  free_.push_back(ticket);
  return WaitFor(requests);
}

absl::Status MpiTransport::WaitFor(std::vector<MPI_Request>& requests) {
  int tests = 0;
  for (MPI_Request& request : requests) {
    while (failure_.ok()) {
      int done = 0;
      RETURN_IF_ERROR(Check(mpi_.Test(&request, &done, MPI_STATUS_IGNORE)));
      if (done != 0) break;
      if (++tests % kTestsPerLook == 0) Listen();
      if (tests > busy_tests_) sched_yield();
    }
  }
  return failure_;
}

void MpiTransport::Listen() {
  while (true) {
    int there = 0;
    MPI_Status status;
    if (mpi_.Iprobe(MPI_ANY_SOURCE, kTag, control_, &there, &status) != MPI_SUCCESS || there == 0) return;
    int length = 0;
    mpi_.Get_count(&status, mpi_.byte, &length);
    std::string text(static_cast<size_t>(length), ' ');
    mpi_.Recv(text.data(), length, mpi_.byte, status.MPI_SOURCE, kTag, control_, MPI_STATUS_IGNORE);
    stopped_[status.MPI_SOURCE] = true;
    if (!text.empty() && failure_.ok())
      failure_ = absl::UnavailableError(absl::StrCat("rank ", status.MPI_SOURCE, ": ", text));
  }
}

void MpiTransport::Fail(const absl::Status& status) {
  if (said_) return;
  said_ = true;
  watch_->Stop();
  // A failure heard from another rank is not sent again.
  const bool own = failure_.ok();
  if (own) failure_ = status;
  const std::string text = own ? std::string(status.message()).substr(0, kMaxText) : "";
  std::vector<MPI_Request> requests;
  for (int r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    MPI_Request request;
    if (mpi_.Isend(text.data(), static_cast<int>(text.size()), mpi_.byte, r, kTag, control_, &request) ==
        MPI_SUCCESS)
      requests.push_back(request);
  }
  const Clock::time_point end = Clock::now() + kFarewell;
  stopped_[rank_] = true;
  bool sent = false;
  while (Clock::now() < end) {
    sent = true;
    for (MPI_Request& request : requests) {
      int done = 0;
      mpi_.Test(&request, &done, MPI_STATUS_IGNORE);
      sent = sent && done != 0;
    }
    Listen();
    if (sent && std::find(stopped_.begin(), stopped_.end(), false) == stopped_.end()) break;
    usleep(1000);
  }
}

absl::Status MpiTransport::Close(const absl::Status& status,
                                 const std::function<void(const absl::Status&)>& report) {
  absl::Status result = status;
  if (result.ok() && failure_.ok()) {
    std::vector<MPI_Request> request(1);
    result = Check(mpi_.Ibarrier(data_, request.data()));
    if (result.ok()) result = WaitFor(request);
  }
  if (result.ok()) {
    watch_->Stop();
    // All ranks are here, so the watch is not needed any more.
    mpi_.Finalize();
    watch_.reset();
    return result;
  }
  if (rank_ == 0) report(result);
  Fail(result);
  if (rank_ != 0 && !stopped_[0])
    report(absl::Status(result.code(), absl::StrCat("rank ", rank_, ": ", result.message())));
  std::fflush(stdout);
  _exit(1);
}

bool MpiTransport::CanReduce(PrimitiveType type, Opcode opcode) const {
  return TypeOf(mpi_, type) != nullptr && OpOf(mpi_, opcode) != nullptr;
}

absl::StatusOr<MPI_Comm> MpiTransport::CommunicatorOf(absl::Span<const int> ranks) {
  if (static_cast<int>(ranks.size()) == size_) return data_;
  MPI_Comm& known = communicators_[std::vector<int>(ranks.begin(), ranks.end())];
  if (known != nullptr) return known;
  MPI_Group world, group;
  RETURN_IF_ERROR(Check(mpi_.Comm_group(data_, &world)));
  RETURN_IF_ERROR(Check(mpi_.Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group)));
  RETURN_IF_ERROR(Check(mpi_.Comm_create_group(data_, group, kTag, &known)));
  mpi_.Group_free(&group);
  mpi_.Group_free(&world);
  RETURN_IF_ERROR(Check(mpi_.Comm_set_errhandler(known, mpi_.errors_return)));
  return known;
}

absl::Status MpiTransport::Meet(absl::Span<const int> ranks, MPI_Comm communicator) {
  RETURN_IF_ERROR(failure_);
  MPI_Request request;
  RETURN_IF_ERROR(Check(mpi_.Ibarrier(communicator, &request)));
  const auto stopped = [this](int rank) { return stopped_[rank]; };
  for (int tests = 1;; ++tests) {
    int done = 0;
    RETURN_IF_ERROR(Check(mpi_.Test(&request, &done, MPI_STATUS_IGNORE)));
    if (done != 0) return absl::OkStatus();
    if (tests % kTestsPerLook == 0) Listen();
    // A rank that has arrived stays while the ranks that have not failed count on it: it leaves only if one
    // of `ranks` has stopped.
    if (!failure_.ok() && std::any_of(ranks.begin(), ranks.end(), stopped)) return failure_;
    if (tests > busy_tests_) sched_yield();
  }
}

absl::Status MpiTransport::AllReduce(absl::Span<const int> ranks, PrimitiveType type, Opcode opcode,
                                     int64_t n, const char* in, char* out) {
  ASSIGN_OR_RETURN(const MPI_Comm comm, CommunicatorOf(ranks));
  RETURN_IF_ERROR(Meet(ranks, comm));
  // Faster than MPI_Iallreduce. It blocks, but a rank killed meanwhile ends the others (PeerWatch).
  const int64_t width = ByteWidth(type), most = max_message_ / width;
  for (int64_t at = 0; at < n; at += most) {
    RETURN_IF_ERROR(Check(mpi_.Allreduce(in == out ? MPI_IN_PLACE : in + at * width, out + at * width,
                                         static_cast<int>(std::min(most, n - at)), TypeOf(mpi_, type),
                                         OpOf(mpi_, opcode), comm)));
  }
  return absl::OkStatus();
}

absl::Status MpiTransport::AllGather(absl::Span<const int64_t> bytes, char* all) {
  std::vector<int> counts, offsets;
  int64_t total = 0;
  for (const int64_t count : bytes) {
    counts.push_back(static_cast<int>(count));
    offsets.push_back(static_cast<int>(total));
    total += count;
  }
  if (total >= max_message_) return Transport::AllGather(bytes, all);
  std::vector<MPI_Request> request(1);
  RETURN_IF_ERROR(Check(mpi_.Iallgatherv(MPI_IN_PLACE, 0, mpi_.byte, all, counts.data(), offsets.data(),
                                         mpi_.byte, data_, request.data())));
  return WaitFor(request);
}

}  // namespace toroid
