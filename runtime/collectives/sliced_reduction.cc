#include "runtime/collectives/sliced_reduction.h"

#include <algorithm>

#include "hlo/base/status.h"
#include "runtime/transport/transport.h"

namespace toroid {
namespace {

// Bytes per message.
constexpr int64_t kChunkBytes = 256 << 10;

// Range of bytes of a row that one rank folds.
struct Slice {
  int64_t begin = 0, end = 0;
};

class SlicedReduction {
 public:
  SlicedReduction(const OpCall& call, const Ranks& ranks, const std::vector<int64_t>& group, Fold* fold)
      : call_(call),
        transport_(*call.mesh().run->transport),
        fold_(*fold),
        chunk_(std::max<int64_t>(1, kChunkBytes / fold->width()) * fold->width()) {
    for (const int64_t place : group) {
      if (ranks.Of(place) == ranks.mine()) mine_ = members();
      ranks_.push_back(ranks.Of(place));
    }
  }

  absl::Status AllReduce(const char* row, char* result) {
    std::vector<Slice> slices;
    const int64_t n = fold_.elements(), width = fold_.width();
    for (int j = 0; j < members(); ++j)
      slices.push_back({n / members() * j * width + n % members() * j / members() * width, 0});
    for (int j = 0; j < members(); ++j) slices[j].end = j + 1 < members() ? slices[j + 1].begin : n * width;
    RETURN_IF_ERROR(Scatter(row, slices, result + slices[mine_].begin, /*pass_on=*/true));
    std::vector<Transport::Ticket> receives;
    for (const int i : Others()) {
      ForEachChunk(slices[i], [&](int64_t begin, int64_t end) {
        receives.push_back(transport_.StartReceive(ranks_[i], result + begin, end - begin));
      });
    }
    RETURN_IF_ERROR(WaitAll(transport_, receives));
    return WaitAll(transport_, sends_);
  }

  absl::Status ReduceScatter(const char* row, const ScatteredBlocks& blocks, char* result) {
    MeshBuffer packed;
    int64_t step = blocks.step;
    // The blocks of a row are packed, unless they are contiguous.
    if (step != blocks.bytes) {
      RETURN_IF_ERROR(call_.New(blocks.bytes * members(), /*uniform=*/true, &packed));
      for (int j = 0; j < members(); ++j)
        ParallelStridedCopy(blocks.loop, row + j * blocks.step, packed.mutable_data() + j * blocks.bytes);
      row = packed.data(), step = blocks.bytes;
    }
    std::vector<Slice> slices;
    for (int j = 0; j < members(); ++j) slices.push_back({j * step, j * step + blocks.bytes});
    RETURN_IF_ERROR(Scatter(row, slices, result, /*pass_on=*/false));
    return WaitAll(transport_, sends_);
  }

 private:
  int members() const { return static_cast<int>(ranks_.size()); }

  // The other members, beginning after this one, so that not all ranks send to the same rank first.
  std::vector<int> Others() const {
    std::vector<int> others;
    for (int k = 1; k < members(); ++k) others.push_back((mine_ + k) % members());
    return others;
  }

  template <typename F>
  void ForEachChunk(const Slice& slice, const F& f) const {
    for (int64_t begin = slice.begin; begin < slice.end; begin += chunk_)
      f(begin, std::min(slice.end, begin + chunk_));
  }

  // Sends all slices of the row but this rank's, and folds that one from all rows into `out`; with `pass_on`
  // sends the folded slice to all.
  absl::Status Scatter(const char* row, const std::vector<Slice>& slices, char* out, bool pass_on) {
    const std::vector<int> others = Others();
    int64_t most = 0;
    for (const Slice& slice : slices) most = std::max(most, slice.end - slice.begin);
    for (int64_t at = 0; at < most; at += chunk_) {
      for (const int j : others) {
        const int64_t begin = slices[j].begin + at, end = std::min(slices[j].end, begin + chunk_);
        if (begin < end) sends_.push_back(transport_.StartSend(ranks_[j], row + begin, end - begin));
      }
    }
    const Slice& own = slices[mine_];
    // One chunk is folded while the next one arrives.
    constexpr int kWindows = 2;
    MeshBuffer arrived[kWindows];
    std::vector<Transport::Ticket> receives[kWindows];
    for (MeshBuffer& window : arrived)
      RETURN_IF_ERROR(call_.New((members() - 1) * std::min(chunk_, most), /*uniform=*/true, &window));
    const auto place = [&](int64_t begin, int i) {
      const int k = (i - mine_ + members()) % members() - 1;
      return arrived[(begin - own.begin) / chunk_ % kWindows].mutable_data() + k * std::min(chunk_, most);
    };
    const auto receive = [&](int64_t begin) {
      if (begin >= own.end) return;
      for (const int i : others) {
        receives[(begin - own.begin) / chunk_ % kWindows].push_back(
            transport_.StartReceive(ranks_[i], place(begin, i), std::min(chunk_, own.end - begin)));
      }
    };
    receive(own.begin);
    for (int64_t begin = own.begin; begin < own.end; begin += chunk_) {
      const int64_t end = std::min(own.end, begin + chunk_);
      receive(begin + chunk_);
      std::vector<Transport::Ticket>& window = receives[(begin - own.begin) / chunk_ % kWindows];
      RETURN_IF_ERROR(WaitAll(transport_, window));
      window.clear();
      std::vector<const char*> rows;
      for (int i = 0; i < members(); ++i) rows.push_back(i == mine_ ? row + begin : place(begin, i));
      char* const folded = out + (begin - own.begin);
      RETURN_IF_ERROR(fold_.Total(rows, (end - begin) / fold_.width(), folded));
      if (!pass_on) continue;
      for (const int i : others) sends_.push_back(transport_.StartSend(ranks_[i], folded, end - begin));
    }
    return absl::OkStatus();
  }

  const OpCall& call_;
  Transport& transport_;
  Fold& fold_;
  const int64_t chunk_;  // Bytes.
  std::vector<int> ranks_;
  int mine_ = 0;
  std::vector<Transport::Ticket> sends_;
};

}  // namespace

bool OneMemberPerRank(const Ranks& ranks, const std::vector<std::vector<int64_t>>& groups) {
  std::vector<int64_t> last(ranks.size(), -1);
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const int64_t place : groups[g]) {
      int64_t& group = last[ranks.Of(place)];
      if (group == static_cast<int64_t>(g)) return false;
      group = static_cast<int64_t>(g);
    }
  }
  return true;
}

absl::Status ReduceInSlices(const OpCall& call, const Ranks& ranks, const std::vector<int64_t>& group,
                            const ScatteredBlocks* blocks, const char* row, Fold* fold, char* result) {
  SlicedReduction reduction(call, ranks, group, fold);
  return blocks != nullptr ? reduction.ReduceScatter(row, *blocks, result) : reduction.AllReduce(row, result);
}

}  // namespace toroid
