// Notices that a process which this one works with is gone, and ends this one, naming it.
//
// The kernel tells the moment a process of this machine ends, however it does (killed, crashed, out of memory). The
// launcher, which notices it as well, asks the others to terminate; that request waits until it is known who is gone.
#ifndef TOROID_RUNTIME_TRANSPORT_PEER_WATCH_H_
#define TOROID_RUNTIME_TRANSPORT_PEER_WATCH_H_

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
  // `peers` are processes of this machine. Takes over SIGTERM for threads started from now on, so create it first.
  PeerWatch(int rank, std::vector<Peer> peers);
  ~PeerWatch();

  // From now on peers may end.
  void Stop() { stopped_.store(true); }

 private:
  void Watch();
  [[noreturn]] void EndNaming(const Peer& peer);

  const int rank_;
  const std::vector<Peer> peers_;
  std::vector<int> files_;  // One per peer, then that of the signal, then that of the end.
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace toroid

#endif  // TOROID_RUNTIME_TRANSPORT_PEER_WATCH_H_
