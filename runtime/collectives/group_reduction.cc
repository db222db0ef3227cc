#include "runtime/collectives/group_reduction.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hlo/base/status.h"
#include "runtime/collectives/exchange.h"
#include "runtime/collectives/fold.h"
#include "runtime/collectives/sliced_reduction.h"
#include "runtime/transport/transport.h"

namespace toroid {
namespace {

using Groups = std::vector<std::vector<int64_t>>;

// Bytes that a rank passes on at a time: large enough to be cheap, small enough to keep all ranks of a chain
// busy.
constexpr int64_t kChunkBytes = 256 << 10;

class Reduction {
 public:
  Reduction(OpCall& call, int i, const Groups& groups, const ScatteredBlocks* blocks, MeshBuffer* result)
      : call_(call),
        mesh_(call.mesh()),
        ranks_(call.mesh()),
        in_(call.operand(i)),
        fold_(call, i),
        groups_(groups),
        blocks_(blocks),
        result_(*result),
        row_bytes_(call.operand_shape(i).ByteSize()) {}

  // For groups whose rows are all on this rank, or uniform.
  absl::Status RunHere() {
    MeshBuffer block;
    std::vector<const char*> rows;
    for (const std::vector<int64_t>& group : groups_) {
      if (!result_.uniform() && !Meets(group)) continue;
      rows.clear();
      for (const int64_t place : group) rows.push_back(Row(place));
      ASSIGN_OR_RETURN(char* const total, PlaceOfTotal(group, &block));
      RETURN_IF_ERROR(fold_.Total(rows, fold_.elements(), total));
      Deliver(group, total);
      if (result_.uniform()) break;
    }
    return absl::OkStatus();
  }

  absl::Status RunAcrossRanks() {
    Transport& transport = *mesh_.run->transport;
    const bool everywhere = !AnyRankWithout();
    const bool any_order = fold_.one_op() && transport.CanReduce(fold_.type(), fold_.opcode());
    const bool in_slices = everywhere && OneMemberPerRank(ranks_, groups_);
    if (any_order && everywhere && (blocks_ == nullptr || !in_slices)) return RunByTransport(transport);
    return in_slices ? RunInSlices() : RunInChains(transport);
  }

 private:
  // For groups with at most one member per rank: each rank folds one slice.
  absl::Status RunInSlices() {
    for (const std::vector<int64_t>& group : groups_) {
      const auto here =
          std::find_if(group.begin(), group.end(), [&](int64_t place) { return mesh_.IsHere(place); });
      if (here == group.end()) continue;
      if (group.size() > 1) {
        RETURN_IF_ERROR(ReduceInSlices(call_, ranks_, group, blocks_, Row(*here), &fold_, ResultRow(*here)));
      } else {
        Deliver(group, Row(*here));
      }
    }
    return absl::OkStatus();
  }

  // The partial result passes from member to member, in chunks, so that the ranks of a group work at the same
  // time. The rank of the last member gets the total.
  absl::Status RunInChains(Transport& transport) {
    const int64_t partial_bytes = fold_.elements() * fold_.partial_width();
    std::vector<int64_t> slots(groups_.size(), -1);
    int64_t used = 0;
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (Meets(groups_[g])) slots[g] = used++;
    }
    MeshBuffer partials;
    RETURN_IF_ERROR(call_.New(used * partial_bytes, /*uniform=*/true, &partials));
    std::vector<Transport::Ticket> sends;
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (slots[g] < 0) continue;
      char* partial = partials.mutable_data() + slots[g] * partial_bytes;
      RETURN_IF_ERROR(FoldChain(transport, groups_[g], partial, &sends));
      if (ranks_.Of(groups_[g].back()) == ranks_.mine()) fold_.Round(partial);
    }
    RETURN_IF_ERROR(WaitAll(transport, sends));
    return Spread(
        [&](size_t g) { return slots[g] < 0 ? nullptr : partials.data() + slots[g] * partial_bytes; });
  }

  const char* Row(int64_t place) const {
    return in_.data() + (in_.uniform() ? 0 : (place - mesh_.first_here) * row_bytes_);
  }
  bool Meets(const std::vector<int64_t>& group) const {
    return std::any_of(group.begin(), group.end(), [&](int64_t place) { return mesh_.IsHere(place); });
  }
  char* ResultRow(int64_t place) {
    const int64_t bytes = blocks_ != nullptr ? blocks_->bytes : row_bytes_;
    return result_.mutable_data() + (result_.uniform() ? 0 : (place - mesh_.first_here) * bytes);
  }

  // Copies to the members on this rank their parts of a total.
  void Deliver(const std::vector<int64_t>& group, const char* total) {
    for (size_t j = 0; j < group.size(); ++j) {
      if (!result_.uniform() && !mesh_.IsHere(group[j])) continue;
      if (blocks_ != nullptr) {
        ParallelStridedCopy(blocks_->loop, total + static_cast<int64_t>(j) * blocks_->step,
                            ResultRow(group[j]));
      } else if (ResultRow(group[j]) != total) {
        std::memcpy(ResultRow(group[j]), total, row_bytes_);
      }
      if (result_.uniform()) return;
    }
  }

  // Memory for the total of a group: a result row that needs it, or `block`.
  absl::StatusOr<char*> PlaceOfTotal(const std::vector<int64_t>& group, MeshBuffer* block) {
    if (blocks_ == nullptr) {
      for (const int64_t place : group) {
        if (result_.uniform() || mesh_.IsHere(place)) return ResultRow(place);
      }
    }
    if (block->empty()) RETURN_IF_ERROR(call_.New(row_bytes_, /*uniform=*/true, block));
    return block->mutable_data();
  }

  // Whether some rank, which must get a uniform result, has no member in the group.
  bool AnyRankWithout() const {
    if (!result_.uniform()) return false;
    std::vector<bool> has(ranks_.size(), false);
    for (const int64_t place : groups_[0]) has[ranks_.Of(place)] = true;
    return std::find(has.begin(), has.end(), false) != has.end();
  }

  // The op gives the same bits in any order, so the transport's own reduction serves.
  absl::Status RunByTransport(Transport& transport) {
    MeshBuffer block;
    std::vector<const char*> rows;
    std::vector<int> ranks;
    for (const std::vector<int64_t>& group : groups_) {
      if (!Meets(group)) continue;
      rows.clear(), ranks.clear();
      for (const int64_t place : group) {
        if (mesh_.IsHere(place)) rows.push_back(Row(place));
        ranks.push_back(ranks_.Of(place));
      }
      std::sort(ranks.begin(), ranks.end());
      ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
      ASSIGN_OR_RETURN(char* const total, PlaceOfTotal(group, &block));
      const char* in = rows[0];
      if (rows.size() > 1 || ranks.size() == 1) {
        RETURN_IF_ERROR(fold_.Total(rows, fold_.elements(), total));
        in = total;
      }
      if (ranks.size() > 1)
        RETURN_IF_ERROR(
            transport.AllReduce(ranks, fold_.type(), fold_.opcode(), fold_.elements(), in, total));
      Deliver(group, total);
    }
    return absl::OkStatus();
  }

  // Consecutive members on one rank.
  struct Stretch {
    int rank;
    std::vector<const char*> rows;  // Empty if the rank is another.
  };

  absl::Status FoldChain(Transport& transport, const std::vector<int64_t>& group, char* partial,
                         std::vector<Transport::Ticket>* sends) {
    std::vector<Stretch> chain;
    for (const int64_t place : group) {
      const int rank = ranks_.Of(place);
      if (chain.empty() || chain.back().rank != rank) chain.push_back({rank, {}});
      if (rank == ranks_.mine()) chain.back().rows.push_back(Row(place));
    }
    const int64_t n = fold_.elements(), width = fold_.partial_width();
    const int64_t chunk = std::max<int64_t>(1, kChunkBytes / width), chunks = (n + chunk - 1) / chunk;
    const int64_t stretches = static_cast<int64_t>(chain.size());
    // For each chunk the message that is still reading it.
    std::vector<Transport::Ticket> reading(chunks, -1);
    // Stretch s takes chunk c at time s + c: every rank follows the same order, so no ranks wait for each
    // other in a circle.
    for (int64_t time = 0; time < chunks + stretches - 1; ++time) {
      for (int64_t s = std::max<int64_t>(0, time - chunks + 1); s < stretches && s <= time; ++s) {
        if (chain[s].rank != ranks_.mine()) continue;
        const int64_t c = time - s, begin = c * chunk, end = std::min(n, begin + chunk);
        char* data = partial + begin * width;
        if (s > 0) {
          if (reading[c] >= 0) RETURN_IF_ERROR(transport.Wait(std::exchange(reading[c], -1)));
          RETURN_IF_ERROR(
              transport.Wait(transport.StartReceive(chain[s - 1].rank, data, (end - begin) * width)));
        }
        RETURN_IF_ERROR(fold_.Add(chain[s].rows, begin, end, /*first=*/s == 0, data));
        if (s + 1 < stretches)
          reading[c] = transport.StartSend(chain[s + 1].rank, data, (end - begin) * width);
      }
    }
    for (const Transport::Ticket ticket : reading) {
      if (ticket >= 0) sends->push_back(ticket);
    }
    return absl::OkStatus();
  }

  // Sends the totals from the ranks that have them to all ranks that need them.
  absl::Status Spread(absl::FunctionRef<const char*(size_t g)> total) {
    const StridedLoop whole = OneRun(row_bytes_);
    RETURN_IF_ERROR(MovePieces(call_, [&](auto visit) {
      for (size_t g = 0; g < groups_.size(); ++g) {
        const std::vector<int64_t>& group = groups_[g];
        const int owner = ranks_.Of(group.back());
        const auto show = [&](int target, int64_t place, int64_t offset, const StridedLoop& loop) {
          if (owner != ranks_.mine() && target != ranks_.mine()) return;
          Piece piece{owner, target, &loop, nullptr, nullptr};
          if (owner == ranks_.mine()) piece.read = total(g) + offset;
          if (target == ranks_.mine()) piece.write = ResultRow(place);
          visit(piece);
        };
        if (blocks_ != nullptr) {
          for (size_t j = 0; j < group.size(); ++j)
            show(ranks_.Of(group[j]), group[j], static_cast<int64_t>(j) * blocks_->step, blocks_->loop);
          continue;
        }
        // Each rank receives a total once.
        std::vector<bool> served(ranks_.size(), false);
        for (const int64_t place : group) {
          const int target = ranks_.Of(place);
          if (!result_.uniform() && !served[target]) show(target, place, 0, whole);
          served[target] = true;
        }
        for (int target = 0; target < ranks_.size() && result_.uniform(); ++target) show(target, 0, 0, whole);
      }
    }));
    if (blocks_ != nullptr || result_.uniform()) return absl::OkStatus();
    for (const std::vector<int64_t>& group : groups_) {
      const char* first = nullptr;
      for (const int64_t place : group) {
        if (!mesh_.IsHere(place)) continue;
        char* row = ResultRow(place);
        if (first != nullptr) std::memcpy(row, first, row_bytes_);
        if (first == nullptr) first = row;
      }
    }
    return absl::OkStatus();
  }

  OpCall& call_;
  const MeshContext& mesh_;
  const Ranks ranks_;
  const MeshBuffer& in_;
  Fold fold_;
  const Groups& groups_;
  const ScatteredBlocks* const blocks_;
  MeshBuffer& result_;
  const int64_t row_bytes_;
};

}  // namespace

absl::Status ReduceGroups(OpCall& call, int i, const Groups& groups, const ScatteredBlocks* blocks,
                          MeshBuffer* result) {
  if (call.operand_shape(i).ByteSize() == 0) return absl::OkStatus();
  Reduction reduction(call, i, groups, blocks, result);
  return call.mesh().shared() && !call.uniform(i) ? reduction.RunAcrossRanks() : reduction.RunHere();
}

}  // namespace toroid
