// Connects the ranks that share the devices of a mesh: sends bytes from one to another.
//
// All ranks run the same program in step, each on its share of the devices, so both sides of a message know
// when it comes and how large it is: messages have no header and no tag. A process that has all devices needs
// no transport. To add a transport, write a class that can begin to send, begin to receive, and wait.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo/ir/shape.h"
#include "hlo/opcode.h"

namespace toroid {

class Transport {
 public:
  using Ticket = int64_t;

  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Begin to send or to receive; `data` must stay unchanged until Wait. The n-th message begun from rank a to
  // rank b is the n-th that b receives from a, of the same size; size 0 is allowed.
  virtual Ticket StartSend(int to, const char* data, int64_t bytes) = 0;
  virtual Ticket StartReceive(int from, char* data, int64_t bytes) = 0;
  // Waits until a message has left or arrived. Every ticket is waited for once.
  // Errors: kUnavailable "rank 2: what" if a rank has failed (see Fail) or is gone.
  virtual absl::Status Wait(Ticket ticket) = 0;

  // Tells the other ranks that this rank stops, and why: a rank that waits for it gets an error that names
  // it. Nothing is sent or received afterwards.
  virtual void Fail(const absl::Status& status) = 0;

  // The sum (or product, ...) of n elements over these ranks, which ascend and include this one. Only for
  // operations that give the same bits in any order. `in` may equal `out`. CanReduce is false if the
  // transport has no reduction of its own.
  virtual bool CanReduce(PrimitiveType /*type*/, Opcode /*opcode*/) const { return false; }
  virtual absl::Status AllReduce(absl::Span<const int> ranks, PrimitiveType type, Opcode opcode, int64_t n,
                                 const char* in, char* out);
  // Gathers `bytes[r]` bytes of each rank r, one after another: on entry `all` holds this rank's bytes in
  // their place.
  virtual absl::Status AllGather(absl::Span<const int64_t> bytes, char* all);

  // Sends the bytes of rank 0 to all others, which need not know their size.
  absl::Status Broadcast(std::string* bytes);
  // The string of every rank, by rank.
  absl::Status AllGatherStrings(const std::string& mine, std::vector<std::string>* all);

  // The devices of a rank: an equal share, in order. 5 devices on 3 ranks: 0, 1 | 2, 3 | 4. Rank 0 has device
  // 0.
  std::pair<int64_t, int64_t> ShareOf(int rank, int64_t num_devices) const {
    return {FirstOf(rank, num_devices), FirstOf(rank + 1, num_devices)};
  }

 private:
  int64_t FirstOf(int rank, int64_t num_devices) const {
    return num_devices / size() * rank + (num_devices % size() * rank + size() - 1) / size();
  }
};

// Waits for all tickets; the first error.
absl::Status WaitAll(Transport& transport, absl::Span<const Transport::Ticket> tickets);

}  // namespace toroid
