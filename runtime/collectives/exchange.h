// Describes the moves of a collective, and carries them out: by copies between the rows here, and by messages
// where ranks share the devices. A rank sends only bytes that another rank needs, and sends each byte once.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// Gives the rank that has the device at a place.
class Ranks {
 public:
  explicit Ranks(const MeshContext& mesh);
  int mine() const { return mine_; }
  int size() const { return static_cast<int>(first_.size()) - 1; }
  int Of(int64_t place) const;

 private:
  std::vector<int64_t> first_;
  int mine_ = 0;
};

// Bytes that one rank reads and another (or the same rank) writes.
struct Piece {
  int source = 0, target = 0;         // Ranks.
  const StridedLoop* loop = nullptr;  // Over the bytes, from source to target.
  const char* read = nullptr;         // Start of the source; set on the source rank.
  char* write = nullptr;              // Start of the target; set on the target rank.
};

// Moves the pieces that `each` passes to its argument. `each` is called several times; every rank passes the
// same pieces in the same order, but may leave out pieces whose source and target are other ranks. With
// `overlapping` the targets may overlap, and pieces are written in that order. Errors: kResourceExhausted,
// those of the transport.
absl::Status MovePieces(const OpCall& call,
                        absl::FunctionRef<void(absl::FunctionRef<void(const Piece&)>)> each,
                        bool overlapping = false);

// A loop over `bytes` contiguous bytes.
StridedLoop OneRun(int64_t bytes);

// Every member j of a group gets from every member i `outer` runs of `run` bytes:
//   out_j[i * out_step + o * out_stride, + run) = in_i[j * in_step + o * in_stride, + run), 0 <= o < outer
// all-gather of pieces: in_step = 0, so all members get the same; all-to-all: in_step = out_step = a block.
struct Exchange {
  const std::vector<std::vector<int64_t>>& groups;  // Places, in group order.
  int64_t outer = 1, run = 0;
  int64_t in_bytes = 0, in_stride = 0, in_step = 0;  // Bytes of a row, then as in the formula.
  int64_t out_bytes = 0, out_stride = 0, out_step = 0;
};

// Fills `out`, which may be uniform if all members of all groups get the same bytes.
// Errors: as MovePieces.
absl::Status CarryOut(const OpCall& call, const Exchange& exchange, const MeshBuffer& in, MeshBuffer* out);

}  // namespace toroid
