#include "runtime/transport/peer_watch.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

// How long a SIGTERM is held back for the news of a peer's end.
constexpr int kGraceMilliseconds = 500;

sigset_t Terminate() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

PeerWatch::PeerWatch(int rank, std::vector<Peer> peers) : rank_(rank), peers_(std::move(peers)) {
  const sigset_t set = Terminate();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A peer that is gone already has no file: its entry is -1, which poll ignores; the launcher ends the other
  // ranks.
  for (const Peer& peer : peers_)
    files_.push_back(static_cast<int>(syscall(SYS_pidfd_open, peer.process, 0)));
  files_.push_back(signalfd(-1, &set, SFD_CLOEXEC));
  files_.push_back(eventfd(0, EFD_CLOEXEC));
  thread_ = std::thread([this] { Watch(); });
}

PeerWatch::~PeerWatch() {
  Stop();
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(files_.back(), &one, sizeof(one));
  thread_.join();
  for (const int file : files_) close(file);
  const sigset_t set = Terminate();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void PeerWatch::Watch() {
  std::vector<pollfd> polls;
  for (const int file : files_) polls.push_back({file, POLLIN, 0});
  pollfd& signal = polls[peers_.size()];
  pollfd& end = polls[peers_.size() + 1];
  int timeout = -1;
  while (true) {
    const int ready = poll(polls.data(), polls.size(), timeout);
    if (end.revents != 0) return;
    for (size_t i = 0; i < peers_.size(); ++i) {
      if (polls[i].revents == 0) continue;
      if (!stopped_.load()) EndNaming(peers_[i]);
      polls[i].fd = -1;
    }
    if (signal.revents != 0) {
      signal.fd = -1;
      timeout = kGraceMilliseconds;
    } else if (ready == 0) {
      const sigset_t set = Terminate();
      pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
      ::signal(SIGTERM, SIG_DFL);
      kill(getpid(), SIGTERM);
    }
  }
}

void PeerWatch::EndNaming(const Peer& peer) {
  const std::string line =
      absl::StrCat("rank ", rank_, ": rank ", peer.rank, " (process ", peer.process,
                   ") is gone; it was killed, crashed, or the machine is out of memory\n");
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  // A launcher that ends all ranks at once may drop output it has not read yet.
  usleep(1000 * kGraceMilliseconds);
  _exit(1);
}

}  // namespace toroid
