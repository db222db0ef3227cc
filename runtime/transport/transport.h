// What connects the ranks that share the devices of a mesh: bytes from one to another.
//
// All ranks run the same program in step, each on its share of the devices, so both sides of a message know that it
// comes, when, and how large it is: there are no headers and no tags. A process that has all devices needs no
// transport. Another transport is a class that can begin to send, begin to receive, and wait.
#ifndef TOROID_RUNTIME_TRANSPORT_TRANSPORT_H_
#define TOROID_RUNTIME_TRANSPORT_TRANSPORT_H_

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

  // Begin to send or to receive; `data` stays as it is until Wait. Of the messages from one rank to another, the
  // n-th begun there is the n-th received here, of the same size. Any size, zero included.
  virtual Ticket StartSend(int to, const char* data, int64_t bytes) = 0;
  virtual Ticket StartReceive(int from, char* data, int64_t bytes) = 0;
  // Waits until a message has left or arrived. Every ticket is waited for once.
  // Errors: kUnavailable "rank 2: what" if a rank has failed (see Fail) or is gone.
  virtual absl::Status Wait(Ticket ticket) = 0;

  // Tells the other ranks that this one stops, and why: where they wait for it they get an error that names it.
  // Nothing is sent or received afterwards.
  virtual void Fail(const absl::Status& status) = 0;

  // The sum (or product, ...) of n elements over these ranks, ascending and this one among them, by a way of the
  // transport's own: only for operations that give the same bits in any order. `in` may be `out`. False: it has none.
  virtual bool CanReduce(PrimitiveType /*type*/, Opcode /*opcode*/) const { return false; }
  virtual absl::Status AllReduce(absl::Span<const int> ranks, PrimitiveType type, Opcode opcode, int64_t n,
                                 const char* in, char* out);
  // Everyone's bytes, of known sizes, one after another: `all` has those of this rank in place.
  virtual absl::Status AllGather(absl::Span<const int64_t> bytes, char* all);

  // Bytes of rank 0 for all others; their size need not be known there.
  absl::Status Broadcast(std::string* bytes);
  // What each rank says.
  absl::Status AllGatherStrings(const std::string& mine, std::vector<std::string>* all);

  // The devices of a rank: an equal share, in order. 5 devices on 3 ranks: 0, 1 | 2, 3 | 4. Rank 0 has device 0.
  std::pair<int64_t, int64_t> ShareOf(int rank, int64_t num_devices) const {
    return {FirstOf(rank, num_devices), FirstOf(rank + 1, num_devices)};
  }

 private:
  int64_t FirstOf(int rank, int64_t num_devices) const {
    return num_devices / size() * rank + (num_devices % size() * rank + size() - 1) / size();
  }
};

// Waits for all of them; the first error.
absl::Status WaitAll(Transport& transport, absl::Span<const Transport::Ticket> tickets);

}  // namespace toroid

#endif  // TOROID_RUNTIME_TRANSPORT_TRANSPORT_H_
