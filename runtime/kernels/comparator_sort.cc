// BUILD: copts = ["-O3"]
#include "runtime/kernels/comparator_sort.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "runtime/kernels/batch_comparator.h"

namespace toroid {
namespace {

// Pieces up to this size are sorted by comparing all pairs.
constexpr int64_t kSmallPiece = 8;
// Pieces from this size on have the median of three elements as pivot.
constexpr int64_t kLargePiece = 64;

// Quicksort of many pieces in step. The elements that the comparator looks at move with their places, so that each step reads
// memory in order. A step moves the elements before the pivot to its left, the others to its right, both in their order. Of
// elements that the comparator calls equal the first stays first, so no two are equal, and the sort is stable.
class PieceSort {
 public:
  PieceSort(OpCall& call, SortLines& lines) : call_(call), lines_(lines), comparator_(call, lines.widths) {}

  // False if the pieces did not get small within twice the number of steps that is usual.
  absl::StatusOr<bool> Run() {
    const int64_t n = lines_.size();
    int64_t width = 0;
    for (size_t i = 0; i < lines_.widths.size(); ++i) width += comparator_.Uses(i) ? lines_.widths[i] : 0;
    RETURN_IF_ERROR(call_.CheckMemory(ComparatorSortBytes(n, width)));
    for (size_t i = 0; i < lines_.widths.size(); ++i) {
      const bool uses = comparator_.Uses(i);
      current_.emplace_back(uses ? n * lines_.widths[i] : 0);
      next_.emplace_back(uses ? n * lines_.widths[i] : 0);
      if (uses) std::memcpy(current_[i].data(), lines_.arrays[i].data(), n * lines_.widths[i]);
    }
    next_order_.resize(n);
    answers_.resize(n);
    for (int64_t begin = 0; begin < n; begin += lines_.length) AddPiece({begin, begin + lines_.length});
    int64_t log = 1;
    while ((int64_t{1} << log) < lines_.length) ++log;
    pieces_.swap(next_pieces_);
    for (int64_t step = 0; !pieces_.empty(); ++step) {
      if (step > 4 * log + 16) return false;
      RETURN_IF_ERROR(Step());
    }
    RETURN_IF_ERROR(SortSmallPieces());
    return true;
  }

 private:
  struct Piece {
    int64_t begin, end;
    int64_t pivot = 0;
  };

  std::vector<const char*> Arrays() const {
    std::vector<const char*> arrays;
    for (const std::vector<char>& array : current_) arrays.push_back(array.data());
    return arrays;
  }

  void AddPiece(Piece piece) {
    const int64_t n = piece.end - piece.begin;
    if (n > kSmallPiece) {
      next_pieces_.push_back(piece);
    } else if (n > 1) {
      small_.push_back(piece);
    }
  }

  // The middle element, or the median of three.
  absl::Status ChoosePivots() {
    std::vector<int64_t> a, b;
    for (Piece& piece : pieces_) {
      const int64_t n = piece.end - piece.begin, middle = piece.begin + n / 2;
      piece.pivot = middle;
      if (n < kLargePiece) continue;
      const int64_t first = piece.begin + n / 8, last = piece.end - 1 - n / 8;
      // Whether a later element goes before an earlier one.
      for (const auto& [x, y] : {std::pair(middle, first), std::pair(last, middle), std::pair(last, first)}) {
        a.push_back(x);
        b.push_back(y);
      }
    }
    std::vector<uint8_t> answers(a.size());
    RETURN_IF_ERROR(comparator_.Before(Arrays(), a, b, answers.data()));
    size_t at = 0;
    for (Piece& piece : pieces_) {
      const int64_t n = piece.end - piece.begin;
      if (n < kLargePiece) continue;
      const bool middle_first = answers[at], last_middle = answers[at + 1], last_first = answers[at + 2];
      // The middle element is the median if it is between the two others.
      if (middle_first != last_middle) piece.pivot = middle_first == last_first ? a[at + 1] : b[at];
      at += 3;
    }
    return absl::OkStatus();
  }

  // For each element but the pivot: whether it goes to the left of it.
  absl::Status Compare() {
    const std::vector<const char*> arrays = Arrays();
    struct Run {
      int64_t from, n, at;
      bool swapped;
    };
    std::vector<Run> runs;
    std::vector<uint8_t> answers(BatchComparator::kBatch);
    int64_t filled = 0, room = 0, left = 0;  // Pairs that are set, of a batch, and in all.
    for (const Piece& piece : pieces_) left += piece.end - piece.begin - 1;
    const auto flush = [&]() -> absl::Status {
      RETURN_IF_ERROR(comparator_.Run(filled, answers.data()));
      for (const Run& run : runs) {
        // Elements that stood before the pivot stay on the left unless the pivot goes before them.
        for (int64_t i = 0; i < run.n; ++i)
          answers_[run.from + i] = (answers[run.at + i] != 0) != run.swapped;
      }
      runs.clear();
      filled = 0;
      return absl::OkStatus();
    };
    for (const Piece& piece : pieces_) {
      for (const bool swapped : {true, false}) {
        int64_t from = swapped ? piece.begin : piece.pivot + 1;
        const int64_t end = swapped ? piece.pivot : piece.end;
        while (from < end) {
          if (filled == 0) {
            room = std::min(left, BatchComparator::kBatch);
            left -= room;
            RETURN_IF_ERROR(comparator_.Begin(room));
          }
          const int64_t n = std::min(end - from, room - filled);
          comparator_.Set(arrays, filled, n, from, piece.pivot, swapped);
          runs.push_back({from, n, filled, swapped});
          filled += n;
          from += n;
          if (filled == room) RETURN_IF_ERROR(flush());
        }
      }
    }
    return absl::OkStatus();
  }

  // Moves the elements of a piece, of `width` bytes, to both sides of the pivot.
  template <typename T>
  void Move(const Piece& piece, int64_t left, const char* from, char* to) const {
    const T* x = reinterpret_cast<const T*>(from);
    T* out = reinterpret_cast<T*>(to);
    int64_t at[2] = {piece.begin + left + 1, piece.begin};
    const auto move = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[at[answers_[i]]++] = x[i];
    };
    move(piece.begin, piece.pivot);
    move(piece.pivot + 1, piece.end);
    out[piece.begin + left] = x[piece.pivot];
  }

  struct Wide {
    uint64_t words[2];
  };

  void MoveArray(const Piece& piece, int64_t left, int64_t width, const char* from, char* to) const {
    switch (width) {
      case 1:
        return Move<uint8_t>(piece, left, from, to);
      case 2:
        return Move<uint16_t>(piece, left, from, to);
      case 4:
        return Move<uint32_t>(piece, left, from, to);
      case 8:
        return Move<uint64_t>(piece, left, from, to);
      default:
        return Move<Wide>(piece, left, from, to);
    }
  }

  absl::Status Step() {
    RETURN_IF_ERROR(ChoosePivots());
    RETURN_IF_ERROR(Compare());
    next_pieces_.clear();
    for (const Piece& piece : pieces_) {
      int64_t left = 0;
      answers_[piece.pivot] = 0;
      for (int64_t i = piece.begin; i < piece.end; ++i) left += answers_[i];
      for (size_t i = 0; i < current_.size(); ++i) {
        if (current_[i].empty()) continue;
        const int64_t width = lines_.widths[i];
        MoveArray(piece, left, width, current_[i].data(), next_[i].data());
        std::memcpy(current_[i].data() + piece.begin * width, next_[i].data() + piece.begin * width,
                    (piece.end - piece.begin) * width);
      }
      Move<int64_t>(piece, left, reinterpret_cast<const char*>(lines_.order.data()),
                    reinterpret_cast<char*>(next_order_.data()));
      std::copy(next_order_.begin() + piece.begin, next_order_.begin() + piece.end,
                lines_.order.begin() + piece.begin);
      AddPiece({piece.begin, piece.begin + left});
      AddPiece({piece.begin + left + 1, piece.end});
    }
    pieces_.swap(next_pieces_);
    return absl::OkStatus();
  }

  // An element's place is the number of elements that go before it. Should two have the same, by an odd comparator, the first
  // stays first.
  absl::Status SortSmallPieces() {
    const std::vector<const char*> arrays = Arrays();
    std::vector<int64_t> a, b;
    std::vector<uint8_t> answers;
    for (size_t first = 0; first < small_.size();) {
      a.clear();
      b.clear();
      size_t end = first;
      for (; end < small_.size() &&
             static_cast<int64_t>(a.size()) + kSmallPiece * kSmallPiece < BatchComparator::kBatch;
           ++end) {
        for (int64_t i = small_[end].begin; i < small_[end].end; ++i) {
          for (int64_t j = i + 1; j < small_[end].end; ++j) {
            a.push_back(j);
            b.push_back(i);
          }
        }
      }
      answers.resize(a.size());
      RETURN_IF_ERROR(comparator_.Before(arrays, a, b, answers.data()));
      const uint8_t* answer = answers.data();
      for (; first < end; ++first) {
        const int64_t begin = small_[first].begin, n = small_[first].end - begin;
        std::pair<int64_t, int64_t> ranks[kSmallPiece];
        for (int64_t i = 0; i < n; ++i) ranks[i] = {0, i};
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = i + 1; j < n; ++j) ++(*answer++ ? ranks[i] : ranks[j]).first;
        }
        std::sort(ranks, ranks + n);
        int64_t places[kSmallPiece];
        for (int64_t i = 0; i < n; ++i) places[i] = lines_.order[begin + ranks[i].second];
        std::copy_n(places, n, lines_.order.begin() + begin);
      }
    }
    return absl::OkStatus();
  }

  OpCall& call_;
  SortLines& lines_;
  BatchComparator comparator_;
  std::vector<Piece> pieces_, next_pieces_, small_;
  std::vector<std::vector<char>> current_,
      next_;  // The operands that the comparator looks at, in the present order.
  std::vector<int64_t> next_order_;
  std::vector<uint8_t> answers_;
};

// Merges sorted runs of `run` elements pairwise, in all lines. Whatever the comparator answers, each element
// comes out once: the elements of the left run count how many of the right run go before them, and the
// elements of the right run fill the places between.
absl::Status MergeRuns(BatchComparator& comparator, SortLines& lines, int64_t run) {
  // The elements of the right run that go before left[i] end at a place in [low[i], high[i]].
  std::vector<int64_t> left, low, high;
  for (int64_t line = 0; line < lines.size(); line += lines.length) {
    for (int64_t begin = 0; begin + run < lines.length; begin += 2 * run) {
      const int64_t right = line + begin + run;
      for (int64_t p = line + begin; p < right; ++p) {
        left.push_back(p);
        low.push_back(right);
        high.push_back(std::min(right + run, line + lines.length));
      }
    }
  }
  std::vector<int64_t> active(left.size()), a, b;
  std::iota(active.begin(), active.end(), 0);
  std::vector<uint8_t> before;
  std::vector<const char*> arrays;
  for (const MeshBuffer& array : lines.arrays) arrays.push_back(array.data());
  while (true) {
    active.erase(std::remove_if(active.begin(), active.end(), [&](int64_t i) { return low[i] >= high[i]; }),
                 active.end());
    if (active.empty()) break;
    a.clear();
    b.clear();
    for (const int64_t i : active) {
      a.push_back(lines.order[(low[i] + high[i]) / 2]);
      b.push_back(lines.order[left[i]]);
    }
    before.resize(a.size());
    RETURN_IF_ERROR(comparator.Before(arrays, a, b, before.data()));
    for (size_t k = 0; k < active.size(); ++k) {
      const int64_t i = active[k], middle = (low[i] + high[i]) / 2;
      if (before[k]) {
        low[i] = middle + 1;
      } else {
        high[i] = middle;
      }
    }
  }
  std::vector<int64_t> merged = lines.order;
  for (size_t i = 0; i < left.size();) {
    const int64_t begin = left[i], right = begin + run;
    const int64_t end = std::min(right + run, begin - begin % lines.length + lines.length);
    int64_t out = begin, next = right;
    for (; i < left.size() && left[i] < right; ++i) {
      while (next < low[i]) merged[out++] = lines.order[next++];
      merged[out++] = lines.order[left[i]];
    }
    while (next < end) merged[out++] = lines.order[next++];
  }
  lines.order = std::move(merged);
  return absl::OkStatus();
}

}  // namespace

int64_t ComparatorSortBytes(int64_t n, int64_t width) {
  // Two orders, answers, and pieces, of which each has more than kSmallPiece elements, or is small and has at least two.
  constexpr int64_t kPieces = 16;
  return SaturatingMultiply(n, 2 * sizeof(int64_t) + 1 + kPieces + 2 * width);
}

absl::Status SortByComparator(OpCall& call, SortLines& lines) {
  PieceSort pieces(call, lines);
  ASSIGN_OR_RETURN(const bool sorted, pieces.Run());
  if (sorted) return absl::OkStatus();
  RETURN_IF_ERROR(call.CheckMemory(4 * lines.size() *
                                   static_cast<int64_t>(sizeof(lines.order[0]))));  // The lists of MergeRuns.
  std::iota(lines.order.begin(), lines.order.end(), 0);
  BatchComparator comparator(call, lines.widths);
  for (int64_t run = 1; run < lines.length; run *= 2) RETURN_IF_ERROR(MergeRuns(comparator, lines, run));
  return absl::OkStatus();
}

}  // namespace toroid
