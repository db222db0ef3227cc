// Ranks that are threads of this process, to test runs over several ranks, also under ThreadSanitizer.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "runtime/engine/executor.h"
#include "runtime/transport/transport.h"

namespace toroid {

// State shared by the ranks.
struct Mailboxes {
  explicit Mailboxes(int size) : sent(size * size), failures(size) {}
  std::mutex mutex;
  std::condition_variable changed;
  // By sender * size + receiver: messages by number.
  std::vector<std::map<int64_t, std::string>> sent;
  std::vector<std::string> failures;  // By rank; empty: none.
};

class ThreadTransport : public Transport {
 public:
  ThreadTransport(int rank, int size, Mailboxes* boxes)
      : rank_(rank), size_(size), boxes_(*boxes), begun_sends_(size), begun_receives_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Ticket StartSend(int to, const char* data, int64_t bytes) override;
  Ticket StartReceive(int from, char* data, int64_t bytes) override;
  absl::Status Wait(Ticket ticket) override;
  void Fail(const absl::Status& status) override;

 private:
  struct Receive {
    int from;
    int64_t number;
    char* data;
    int64_t bytes;
  };

  const int rank_, size_;
  Mailboxes& boxes_;
  std::vector<int64_t> begun_sends_, begun_receives_;  // By other rank.
  std::map<Ticket, Receive> receives_;
  Ticket next_ = 0;
};

// Calls `lead` as rank 0 of `size`, while the other ranks serve its runs. Returns the result of `lead`.
absl::Status WithRanks(int size, absl::FunctionRef<absl::Status(Transport& transport)> lead);

// The result of RunModule on all devices, each rank with its share of them. arguments[i] holds one value for
// all devices, or one per device.
absl::StatusOr<std::vector<Literal>> RunOnThreadRanks(const Module& module,
                                                      const std::vector<std::vector<Literal>>& arguments,
                                                      const RunOptions& options, int size);

}  // namespace toroid
