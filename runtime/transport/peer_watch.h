// Ends this process, naming the peer, when a process that it works with is gone.
//
// The kernel reports the end of a process on this machine at once, whatever ended it (killed, crashed, out of
// memory). The launcher notices it as well and sends SIGTERM to the other ranks; that signal is held back
// until the peer that is gone is known.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace toroid {

struct Peer {
  int rank = 0;
  pid_t process = 0;
};

class PeerWatch {
 public:
  // `peers` are processes of this machine. Takes over SIGTERM for threads started after it, so create it
  // first.
  PeerWatch(int rank, std::vector<Peer> peers);
  ~PeerWatch();

  // A peer that ends after this call is no failure.
  void Stop() { stopped_.store(true); }

 private:
  void Watch();
  [[noreturn]] void EndNaming(const Peer& peer);

  const int rank_;
  const std::vector<Peer> peers_;
  std::vector<int> files_;  // One per peer, then the signal's, then one that ends the thread.
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace toroid
