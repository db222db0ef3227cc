// What moves in a collective, and how it is carried out: by copying between the rows here, by messages where the
// transport of the run has ranks with devices of their own. Only bytes that another rank needs leave a rank, and each
// once.
#ifndef TOROID_RUNTIME_COLLECTIVES_EXCHANGE_H_
#define TOROID_RUNTIME_COLLECTIVES_EXCHANGE_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// Which rank has the device at a place.
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

// Bytes that one rank has and another (or the same) gets.
struct Piece {
  int source = 0, target = 0;         // Ranks.
  const StridedLoop* loop = nullptr;  // Over the bytes, from where they are read to where they are written.
  const char* read = nullptr;         // Where the loop starts, on the source.
  char* write = nullptr;              // Where it starts, on the target.
};

// Moves the pieces that `each` shows to its argument. It is called several times; every rank shows the same pieces in
// the same order, but may leave out those of which it is neither source nor target. Where they may overlap they
// are written in that order. Errors: kResourceExhausted, those of the transport.
absl::Status MovePieces(const OpCall& call,
                        absl::FunctionRef<void(absl::FunctionRef<void(const Piece&)>)> each,
                        bool overlapping = false);

// A loop over `bytes` bytes in one run.
StridedLoop OneRun(int64_t bytes);

// Every member j of a group gets from every member i `outer` runs of `run` bytes:
//   out_j[i * out_step + o * out_stride, + run) = in_i[j * in_step + o * in_stride, + run),   o = 0 .. outer - 1
// all-gather of pieces: in_step = 0, so that all get the same; all-to-all: in_step = out_step = a block.
struct Exchange {
  const std::vector<std::vector<int64_t>>& groups;  // Places, in group order.
  int64_t outer = 1, run = 0;
  int64_t in_bytes = 0, in_stride = 0, in_step = 0;  // Bytes of a row, then as above.
  int64_t out_bytes = 0, out_stride = 0, out_step = 0;
};

// Fills `out`. It may be uniform where all members of all groups get the same bytes.
// Errors: as MovePieces.
absl::Status CarryOut(const OpCall& call, const Exchange& exchange, const MeshBuffer& in, MeshBuffer* out);

}  // namespace toroid

#endif  // TOROID_RUNTIME_COLLECTIVES_EXCHANGE_H_
