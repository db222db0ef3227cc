#include "runtime/collectives/exchange.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hlo/base/status.h"
#include "runtime/loops/thread_pool.h"
#include "runtime/mesh/active_devices.h"
#include "runtime/transport/transport.h"

namespace toroid {
namespace {

int64_t BytesOf(const StridedLoop& loop) {
  int64_t bytes = loop.width;
  for (const StridedLoop::Dim& dim : loop.dims) bytes *= dim.size;
  return bytes;
}

// With `pack` the loop from the source to packed bytes; else from packed bytes to the target.
StridedLoop Packing(const StridedLoop& loop, bool pack) {
  StridedLoop packed = loop;
  int64_t stride = loop.width;
  for (auto dim = packed.dims.rbegin(); dim != packed.dims.rend(); ++dim) {
    (pack ? dim->target : dim->source) = stride;
    stride *= dim->size;
  }
  packed.Simplify();
  return packed;
}

bool IsRun(const StridedLoop& packed) {
  return packed.dims.empty() || (packed.dims.size() == 1 && packed.dims[0].source == packed.width &&
                                 packed.dims[0].target == packed.width);
}

// Bytes sent to, or received from, one other rank.
struct Traffic {
  int64_t bytes = 0;
  // Start of the pieces if they are contiguous in memory and need no packing (`in_place`), else of `packed`.
  char* place = nullptr;
  bool in_place = true;
  MeshBuffer packed;
  char* at = nullptr;  // Where the next piece goes in `packed`, or comes from.

  void Add(char* piece, const StridedLoop& packing, int64_t size) {
    if (bytes == 0) place = piece;
    in_place = in_place && IsRun(packing) && piece == place + bytes;
    bytes += size;
  }
  absl::Status Prepare(const OpCall& call) {
    if (bytes == 0 || in_place) return absl::OkStatus();
    RETURN_IF_ERROR(call.New(bytes, /*uniform=*/true, &packed));
    place = at = packed.mutable_data();
    return absl::OkStatus();
  }
};

bool SameLoop(const StridedLoop& a, const StridedLoop& b) {
  if (a.width != b.width || a.dims.size() != b.dims.size()) return false;
  for (size_t d = 0; d < a.dims.size(); ++d) {
    if (a.dims[d].size != b.dims[d].size || a.dims[d].source != b.dims[d].source ||
        a.dims[d].target != b.dims[d].target) {
      return false;
    }
  }
  return true;
}

// The packing and unpacking forms of a loop, rebuilt when the loop changes.
class Packings {
 public:
  const StridedLoop& Get(const StridedLoop& loop, bool pack) {
    if (bytes_ < 0 || !SameLoop(loop, loop_)) {
      loop_ = loop;
      pack_ = Packing(loop, true);
      unpack_ = Packing(loop, false);
      bytes_ = BytesOf(loop);
    }
    return pack ? pack_ : unpack_;
  }
  int64_t bytes() const { return bytes_; }

 private:
  StridedLoop loop_, pack_, unpack_;
  int64_t bytes_ = -1;
};

// For exchanges that give every member the same, such as all-gather: `make` is called once per group, then
// the row is copied to the group's other members on this rank. A uniform result is made from the first group.
void CopyToMembers(const MeshContext& mesh, const Exchange& exchange, MeshBuffer* out,
                   absl::FunctionRef<void(const std::vector<int64_t>& group, char* first)> make) {
  char* const rows = out->mutable_data();
  if (out->uniform()) {
    if (!exchange.groups.empty()) make(exchange.groups[0], rows);
    return;
  }
  for (const std::vector<int64_t>& group : exchange.groups) {
    char* first = nullptr;
    for (const int64_t place : group) {
      if (!mesh.IsHere(place)) continue;
      char* row = rows + (place - mesh.first_here) * exchange.out_bytes;
      if (first == nullptr) {
        make(group, first = row);
      } else {
        std::memcpy(row, first, exchange.out_bytes);
      }
    }
  }
}

absl::Status CarryOutAcrossRanks(const OpCall& call, const Exchange& exchange, const StridedLoop& loop,
                                 const MeshBuffer& in, MeshBuffer* out) {
  const MeshContext& mesh = call.mesh();
  const Ranks ranks(mesh);
  char* const rows = out->mutable_data();
  const auto read = [&](int64_t place) {
    return mesh.IsHere(place) ? in.data() + (place - mesh.first_here) * exchange.in_bytes : nullptr;
  };
  const auto write = [&](int64_t place) {
    return mesh.IsHere(place) ? rows + (place - mesh.first_here) * exchange.out_bytes : nullptr;
  };
  const auto show = [&](const std::vector<int64_t>& group, int target, int64_t j, char* base,
                        absl::FunctionRef<void(const Piece&)> visit) {
    for (size_t i = 0; i < group.size(); ++i) {
      const int source = ranks.Of(group[i]);
      if (source != ranks.mine() && target != ranks.mine()) continue;
      Piece piece{source, target, &loop, nullptr, nullptr};
      if (source == ranks.mine()) piece.read = read(group[i]) + j * exchange.in_step;
      if (target == ranks.mine()) piece.write = base + static_cast<int64_t>(i) * exchange.out_step;
      visit(piece);
    }
  };
  if (exchange.in_step != 0) {
    return MovePieces(call, [&](auto visit) {
      for (const std::vector<int64_t>& group : exchange.groups) {
        for (size_t j = 0; j < group.size(); ++j)
          show(group, ranks.Of(group[j]), static_cast<int64_t>(j), write(group[j]), visit);
      }
    });
  }
  // Each rank receives the row of its first member in a group; if the result is uniform, every rank receives
  // it.
  RETURN_IF_ERROR(MovePieces(call, [&](auto visit) {
    for (const std::vector<int64_t>& group : exchange.groups) {
      std::vector<bool> served(ranks.size(), false);
      for (const int64_t place : group) {
        const int target = ranks.Of(place);
        if (!out->uniform() && !served[target]) show(group, target, 0, write(place), visit);
        served[target] = true;
      }
      for (int target = 0; target < ranks.size() && out->uniform(); ++target)
        show(group, target, 0, rows, visit);
      if (out->uniform()) break;
    }
  }));
  CopyToMembers(mesh, exchange, out, [](const std::vector<int64_t>&, char*) {});
  return absl::OkStatus();
}

}  // namespace

Ranks::Ranks(const MeshContext& mesh) : first_(FirstPlaces(mesh)) {
  if (mesh.shared()) mine_ = mesh.run->transport->rank();
}

int Ranks::Of(int64_t place) const {
  if (first_.size() == 2) return 0;
  return static_cast<int>(std::upper_bound(first_.begin(), first_.end() - 1, place) - first_.begin()) - 1;
}

StridedLoop OneRun(int64_t bytes) {
  StridedLoop loop;
  loop.width = 1;
  loop.Add(bytes, 1, 1);
  return loop;
}

absl::Status MovePieces(const OpCall& call,
                        absl::FunctionRef<void(absl::FunctionRef<void(const Piece&)>)> each,
                        bool overlapping) {
  if (!call.mesh().shared()) {
    each([](const Piece& piece) { StridedCopy(*piece.loop, piece.read, piece.write); });
    return absl::OkStatus();
  }
  Transport& transport = *call.mesh().run->transport;
  const int mine = transport.rank();
  std::vector<Traffic> to(transport.size()), from(transport.size());
  Packings packings;
  each([&](const Piece& piece) {
    if (piece.source == piece.target) return;
    if (piece.source == mine) {
      const StridedLoop& packing = packings.Get(*piece.loop, true);
      to[piece.target].Add(const_cast<char*>(piece.read), packing, packings.bytes());
    } else if (piece.target == mine) {
      const StridedLoop& packing = packings.Get(*piece.loop, false);
      from[piece.source].Add(piece.write, packing, packings.bytes());
    }
  });
  std::vector<Transport::Ticket> sends, receives;
  for (int r = 0; r < transport.size(); ++r) {
    from[r].in_place = from[r].in_place && !overlapping;
    RETURN_IF_ERROR(from[r].Prepare(call));
    RETURN_IF_ERROR(to[r].Prepare(call));
  }
  for (int r = 0; r < transport.size(); ++r) {
    if (from[r].bytes > 0) receives.push_back(transport.StartReceive(r, from[r].place, from[r].bytes));
  }
  each([&](const Piece& piece) {
    if (piece.source != mine || piece.target == mine || to[piece.target].in_place) return;
    StridedCopy(packings.Get(*piece.loop, true), piece.read, to[piece.target].at);
    to[piece.target].at += packings.bytes();
  });
  for (int r = 0; r < transport.size(); ++r) {
    if (to[r].bytes > 0) sends.push_back(transport.StartSend(r, to[r].place, to[r].bytes));
  }
  RETURN_IF_ERROR(WaitAll(transport, receives));
  each([&](const Piece& piece) {
    if (piece.target != mine) return;
    if (piece.source == mine) {
      StridedCopy(*piece.loop, piece.read, piece.write);
    } else if (!from[piece.source].in_place) {
      StridedCopy(packings.Get(*piece.loop, false), from[piece.source].at, piece.write);
      from[piece.source].at += packings.bytes();
    }
  });
  return WaitAll(transport, sends);
}

absl::Status CarryOut(const OpCall& call, const Exchange& exchange, const MeshBuffer& in, MeshBuffer* out) {
  const MeshContext& mesh = call.mesh();
  StridedLoop loop;
  loop.width = 1;
  loop.Add(exchange.outer, exchange.in_stride, exchange.out_stride);
  loop.Add(exchange.run, 1, 1);
  loop.Simplify();
  if (exchange.out_bytes == 0) return absl::OkStatus();
  // Every rank has a uniform value, so nothing is sent.
  if (mesh.shared() && !in.uniform()) return CarryOutAcrossRanks(call, exchange, loop, in, out);
  const auto read = [&](int64_t place) {
    return in.data() + (in.uniform() ? 0 : (place - mesh.first_here) * exchange.in_bytes);
  };
  if (exchange.in_step == 0) {
    CopyToMembers(mesh, exchange, out, [&](const std::vector<int64_t>& group, char* first) {
      for (size_t i = 0; i < group.size(); ++i)
        ParallelStridedCopy(loop, read(group[i]), first + static_cast<int64_t>(i) * exchange.out_step);
    });
    return absl::OkStatus();
  }
  char* const rows = out->mutable_data();
  for (const std::vector<int64_t>& group : exchange.groups) {
    const int64_t size = static_cast<int64_t>(group.size());
    ParallelFor(size, 1, [&](int64_t begin, int64_t end) {
      for (int64_t to = begin; to < end; ++to) {
        if (!mesh.IsHere(group[to])) continue;
        char* row = rows + (group[to] - mesh.first_here) * exchange.out_bytes;
        for (int64_t from = 0; from < size; ++from)
          StridedCopy(loop, read(group[from]) + to * exchange.in_step, row + from * exchange.out_step);
      }
    });
  }
  return absl::OkStatus();
}

}  // namespace toroid
