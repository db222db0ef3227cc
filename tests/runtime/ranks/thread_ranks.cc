#include "tests/runtime/ranks/thread_ranks.h"

#include <numeric>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/mesh/mesh_rows.h"
#include "runtime/partitioned/ranks_run.h"

namespace toroid {

Transport::Ticket ThreadTransport::StartSend(int to, const char* data, int64_t bytes) {
  std::lock_guard<std::mutex> lock(boxes_.mutex);
  boxes_.sent[rank_ * size_ + to][begun_sends_[to]++] = std::string(data, static_cast<size_t>(bytes));
  boxes_.changed.notify_all();
  return next_++;
}

Transport::Ticket ThreadTransport::StartReceive(int from, char* data, int64_t bytes) {
  receives_[next_] = {from, begun_receives_[from]++, data, bytes};
  return next_++;
}

absl::Status ThreadTransport::Wait(Ticket ticket) {
  const auto it = receives_.find(ticket);
  std::unique_lock<std::mutex> lock(boxes_.mutex);
  const auto failure = [&] {
    for (int r = 0; r < size_; ++r) {
      if (r != rank_ && !boxes_.failures[r].empty())
        return absl::UnavailableError(absl::StrCat("rank ", r, ": ", boxes_.failures[r]));
    }
    return absl::OkStatus();
  };
  if (it == receives_.end()) return failure();
  const Receive receive = it->second;
  receives_.erase(it);
  auto& box = boxes_.sent[receive.from * size_ + rank_];
  boxes_.changed.wait(lock, [&] { return box.count(receive.number) > 0 || !failure().ok(); });
  if (box.count(receive.number) == 0) return failure();
  const std::string message = std::move(box[receive.number]);
  box.erase(receive.number);
  if (static_cast<int64_t>(message.size()) != receive.bytes) {
    return absl::InternalError(absl::StrCat("rank ", rank_, " waits for ", receive.bytes, " bytes of rank ",
                                            receive.from, ", which sent ", message.size()));
  }
  std::memcpy(receive.data, message.data(), message.size());
  return absl::OkStatus();
}

void ThreadTransport::Fail(const absl::Status& status) {
  std::lock_guard<std::mutex> lock(boxes_.mutex);
  // A failure heard from another rank is not repeated.
  for (const std::string& said : boxes_.failures) {
    if (!said.empty()) return;
  }
  boxes_.failures[rank_] = std::string(status.message());
  boxes_.changed.notify_all();
}

absl::Status WithRanks(int size, absl::FunctionRef<absl::Status(Transport& transport)> lead) {
  Mailboxes boxes(size);
  std::vector<std::thread> threads;
  for (int rank = 1; rank < size; ++rank) {
    threads.emplace_back([&boxes, rank, size] {
      ThreadTransport transport(rank, size, &boxes);
      RunOptions options;
      options.threads = 1;
      options.transport = &transport;
      if (const absl::Status status = ServeRuns(options); !status.ok()) transport.Fail(status);
    });
  }
  ThreadTransport transport(0, size, &boxes);
  absl::Status status = lead(transport);
  if (status.ok()) status = EndRuns(transport);
  if (!status.ok()) transport.Fail(status);
  for (std::thread& thread : threads) thread.join();
  return status;
}

absl::StatusOr<std::vector<Literal>> RunOnThreadRanks(const Module& module,
                                                      const std::vector<std::vector<Literal>>& arguments,
                                                      const RunOptions& options, int size) {
  std::vector<Literal> results;
  RETURN_IF_ERROR(WithRanks(size, [&](Transport& transport) -> absl::Status {
    const int64_t devices = options.num_devices();
    const auto argument = [&](int i, int64_t begin, int64_t end) -> absl::StatusOr<MeshValue> {
      if (i >= static_cast<int>(arguments.size())) return absl::InvalidArgumentError("no such argument");
      if (arguments[i].size() == 1) return MeshValue::Uniform(arguments[i][0], end - begin);
      ASSIGN_OR_RETURN(const MeshValue all, MeshValue::PerDevice(arguments[i]));
      std::vector<int64_t> rows(end - begin);
      std::iota(rows.begin(), rows.end(), begin);
      MeshBuffer buffer;
      RETURN_IF_ERROR(GatherRows(all.buffer(), devices, rows, &buffer));
      return MeshValue(all.shape(), end - begin, std::move(buffer));
    };
    RunOptions run = options;
    run.transport = &transport;
    ASSIGN_OR_RETURN(const MeshValue result, RunOnRanks(module, argument, run, /*whole=*/true));
    for (int64_t device = 0; device < devices; ++device) results.push_back(result.ToLiteral(device));
    return absl::OkStatus();
  }));
  return results;
}

}  // namespace toroid
