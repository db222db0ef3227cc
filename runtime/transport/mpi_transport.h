// Ranks of Open MPI, as mpirun starts them.
//
// Messages are MPI_Isend and MPI_Irecv, of at most 1 GiB each; a waiting rank also listens for failures of
// others. MPI_Allreduce reduces integers, where any order of folding gives the same bits; it does not reduce
// floats.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/transport/mpi_library.h"
#include "runtime/transport/peer_watch.h"
#include "runtime/transport/transport.h"

namespace toroid {

class MpiTransport : public Transport {
 public:
  // MPI counts are ints: messages are split at 1 GiB.
  static constexpr int64_t kMaxMessage = int64_t{1} << 30;

  // Joins the other ranks; at most once per process. A smaller `max_message` splits messages more often.
  // Errors: those of LoadMpi; kUnavailable with MPI's text.
  static absl::StatusOr<std::unique_ptr<MpiTransport>> Open(int64_t max_message = kMaxMessage);
  ~MpiTransport() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  // Ranks on this machine.
  int neighbors() const { return neighbors_; }

  Ticket StartSend(int to, const char* data, int64_t bytes) override;
  Ticket StartReceive(int from, char* data, int64_t bytes) override;
  absl::Status Wait(Ticket ticket) override;
  void Fail(const absl::Status& status) override;

  bool CanReduce(PrimitiveType type, Opcode opcode) const override;
  absl::Status AllReduce(absl::Span<const int> ranks, PrimitiveType type, Opcode opcode, int64_t n,
                         const char* in, char* out) override;
  absl::Status AllGather(absl::Span<const int64_t> bytes, char* all) override;

  // All ranks leave together. If this rank or another has failed, rank 0 calls `report` with the error (the
  // other ranks do so if rank 0 has stopped), and the process exits with status 1.
  absl::Status Close(const absl::Status& status, const std::function<void(const absl::Status&)>& report);

 private:
  MpiTransport(const MpiLibrary& mpi, int64_t max_message) : mpi_(mpi), max_message_(max_message) {}
  absl::Status Join();

  Ticket Add(std::vector<MPI_Request> requests);
  absl::Status WaitFor(std::vector<MPI_Request>& requests);
  absl::Status Check(int code) const;
  // Receives the failures of other ranks; keeps the first.
  void Listen();
  absl::StatusOr<MPI_Comm> CommunicatorOf(absl::Span<const int> ranks);
  // Waits until all of these ranks have arrived, before a call that blocks: afterwards none of them can fail
  // before its own call. Errors: the failure of one of `ranks`.
  absl::Status Meet(absl::Span<const int> ranks, MPI_Comm communicator);

  const MpiLibrary& mpi_;
  const int64_t max_message_;
  int rank_ = 0, size_ = 1, neighbors_ = 1;
  int busy_tests_ = 0;  // MPI_Test calls before the processor is yielded.
  MPI_Comm data_ = nullptr, control_ = nullptr;
  std::vector<std::vector<MPI_Request>> requests_;  // By ticket; tickets are reused.
  std::vector<Ticket> free_;
  std::map<std::vector<int>, MPI_Comm> communicators_;
  std::unique_ptr<PeerWatch> watch_;
  std::vector<bool> stopped_;  // Ranks that announced a failure.
  bool said_ = false;          // This rank announced its failure.
  absl::Status failure_;       // The first failure announced.
};

}  // namespace toroid
