#include "simulator/compiler/memory/repeated_steps.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "hlo/base/math.h"

namespace toroid {
namespace {

// Steps are numbered with this gap, so that others can be put between two of them.
constexpr int64_t kGap = int64_t{1} << 20;
// The new program has at most so many times the steps of the old one: an end for programs that never fit.
constexpr size_t kMostGrowth = 4;
// How often it is computed in all what a step would free: another end.
constexpr int64_t kMostLooks = 100'000'000;

// Sums that were too large may come out too small.
void Free(int64_t bytes, int64_t* of) { *of = std::max<int64_t>(*of - bytes, 0); }

class Repeater {
 public:
  Repeater(int64_t most_bytes, int64_t least_bytes, StepProgram* program)
      : most_(most_bytes),
        least_(least_bytes),
        program_(*program),
        most_steps_(kMostGrowth * program->steps.size() + 1) {
    const int n = static_cast<int>(program_.steps.size());
    for (int i = 0; i < n; ++i) {
      places_.push_back({i * kGap, i - 1, i + 1 < n ? i + 1 : -1});
      AddBytesOf(i);
    }
    for (const StepValue& value : program_.values) {
      awaited_.push_back(static_cast<int>(value.readers.size()));
      waiting_.emplace_back(value.readers.begin(), value.readers.end(), InOrder{this});
    }
  }

  std::vector<int> Run() {
    if (places_.empty()) return {};
    for (current_ = 0; current_ >= 0; current_ = places_[current_].next) Pass();
    if (repetitions_ == 0) return {};
    std::vector<int> order;
    for (int i = 0; i >= 0; i = places_[i].next) {
      if (!places_[i].is_dead) order.push_back(i);
    }
    return order;
  }

 private:
  struct Place {
    int64_t number;  // Grows along the order.
    int previous, next;
    bool has_run = false;
    bool is_dead = false;  // Its values are all made by others, later.
    bool has_moved = false;
    bool is_last_move = false;
  };

  // The order of two steps does not change as steps are put between others.
  struct InOrder {
    const Repeater* of;
    bool operator()(int a, int b) const { return of->places_[a].number < of->places_[b].number; }
  };
  struct FreesMost {
    const Repeater* of;
    bool operator()(int a, int b) const {
      return of->freed_[a] != of->freed_[b] ? of->freed_[a] > of->freed_[b] : InOrder{of}(a, b);
    }
  };

  StepValue& ValueAt(int v) { return program_.values[v]; }
  void AddBytesOf(int step) {
    int64_t bytes = 0;
    for (const int v : program_.steps[step].makes) bytes = SaturatingAdd(bytes, ValueAt(v).bytes);
    bytes_of_.push_back(bytes);
    freed_.push_back(0);
  }

  // What is freed if the step, which has run, runs again later; 0: it cannot, or nothing is.
  int64_t Freed(int step) {
    if (!program_.steps[step].may_repeat || places_[step].is_last_move || bytes_of_[step] < least_) return 0;
    int64_t freed = 0;
    for (const int v : program_.steps[step].makes) {
      if (ValueAt(v).bytes == 0) return 0;
      if (awaited_[v] > 0) freed = SaturatingAdd(freed, ValueAt(v).bytes);
    }
    if (freed == 0) return 0;
    for (const int v : program_.steps[step].reads) {
      if (awaited_[v] > 0) continue;
      if (ValueAt(v).is_overwritten) return 0;
      Free(ValueAt(v).bytes, &freed);
    }
    return freed;
  }
  // Puts a step where it belongs by now.
  void Look(int step) {
    if (step < 0 || !places_[step].has_run) return;
    ++looks_;
    if (freed_[step] > 0) {
      read_.erase(step);
      unread_.erase(step);
    }
    freed_[step] = Freed(step);
    if (freed_[step] == 0) return;
    if (WasRead(step)) {
      read_.insert(step);
    } else {
      unread_.insert(step);
    }
  }
  // It is there from now on, or no more.
  void LookAround(int v) {
    Look(ValueAt(v).maker);
    for (const int reader : ValueAt(v).readers) Look(reader);
  }
  // Some of what it makes is read now.
  bool IsInUse(int step) {
    return step == current_ || absl::c_any_of(program_.steps[step].makes, [&](int v) {
             return absl::c_linear_search(program_.steps[current_].reads, v);
           });
  }

  void Pass() {
    bytes_ = SaturatingAdd(bytes_, bytes_of_[current_]);
    places_[current_].has_run = true;
    Look(current_);
    for (const int v : program_.steps[current_].reads) {
      waiting_[v].erase(current_);
      Look(ValueAt(v).maker);
    }
    while (bytes_ > most_ && places_.size() < most_steps_ && looks_ < kMostLooks) {
      const int best = Best();
      if (best < 0) break;
      Repeat(best);
    }
    const Step& step = program_.steps[current_];
    for (const int v : step.reads) {
      if (--awaited_[v] > 0) continue;
      if (ValueAt(v).maker >= 0) Free(ValueAt(v).bytes, &bytes_);
      LookAround(v);
    }
    for (const int v : step.makes) {
      if (awaited_[v] == 0) Free(ValueAt(v).bytes, &bytes_);
    }
  }

  // Some reader has run, or runs.
  bool WasRead(int step) {
    return absl::c_any_of(program_.steps[step].makes, [&](int v) {
      return absl::c_any_of(ValueAt(v).readers, [&](int reader) { return places_[reader].has_run; });
    });
  }

  int Best() {
    for (const int step : unread_) {
      if (!IsInUse(step)) return step;
    }
    for (const int step : read_) {
      if (!IsInUse(step)) return step;
    }
    return -1;
  }

  void Repeat(int step) {
    ++repetitions_;
    const int again = static_cast<int>(program_.steps.size());
    Step copy;
    copy.reads = program_.steps[step].reads;
    copy.may_repeat = true;
    copy.repeats = program_.steps[step].repeats >= 0 ? program_.steps[step].repeats : step;
    int before = -1;  // The first that must come behind it.
    const auto stand_before_all = [&](const std::set<int, InOrder>& readers) {
      if (readers.empty()) return;
      before = before < 0 ? *readers.begin() : std::min(before, *readers.begin(), InOrder{this});
    };
    bool was_read = false;
    for (const int v : program_.steps[step].makes) {
      const int value = static_cast<int>(program_.values.size());
      StepValue made = {.maker = again, .bytes = ValueAt(v).bytes, .origin = ValueAt(v).origin};
      std::set<int, InOrder> waiting = std::exchange(waiting_[v], std::set<int, InOrder>(InOrder{this}));
      made.readers.assign(waiting.begin(), waiting.end());
      for (const int reader : made.readers) *absl::c_find(program_.steps[reader].reads, v) = value;
      stand_before_all(waiting);
      std::erase_if(ValueAt(v).readers, [&](int reader) { return !places_[reader].has_run; });
      was_read |= !ValueAt(v).readers.empty();
      if (awaited_[v] > 0) Free(ValueAt(v).bytes, &bytes_);
      awaited_[v] = 0;
      awaited_.push_back(static_cast<int>(made.readers.size()));
      waiting_.push_back(std::move(waiting));
      program_.values.push_back(std::move(made));
      copy.makes.push_back(value);
    }
    std::vector<int> revived;
    for (const int v : copy.reads) {
      stand_before_all(waiting_[v]);
      if (awaited_[v]++ == 0) {
        if (ValueAt(v).maker >= 0) bytes_ = SaturatingAdd(bytes_, ValueAt(v).bytes);
        revived.push_back(v);
      }
      if (!was_read) std::erase(ValueAt(v).readers, step);
      ValueAt(v).readers.push_back(again);
    }
    program_.steps.push_back(std::move(copy));
    AddBytesOf(again);
    InsertBefore(before);
    for (const int v : program_.steps[step].makes) LookAround(v);
    for (const int v : program_.steps[again].reads) {
      waiting_[v].insert(again);
      Look(ValueAt(v).maker);
    }
    for (const int v : revived) LookAround(v);
    if (was_read) return;
    places_[step].is_dead = true;
    places_[again].is_last_move = places_[step].has_moved;
    places_[again].has_moved = true;
  }

  // The step that was made last.
  void InsertBefore(int next) {
    const int own = static_cast<int>(places_.size()), previous = places_[next].previous;
    if (places_[next].number - places_[previous].number < 2) {
      int64_t number = 0;
      for (int i = 0; i >= 0; i = places_[i].next) places_[i].number = kGap * number++;
    }
    places_.push_back({(places_[previous].number + places_[next].number) / 2, previous, next});
    places_[previous].next = places_[next].previous = own;
  }

  const int64_t most_, least_;
  StepProgram& program_;
  const size_t most_steps_;
  std::vector<Place> places_;                    // By step.
  std::vector<int> awaited_;                     // By value: readers that have not run.
  std::vector<std::set<int, InOrder>> waiting_;  // By value: these readers.
  std::vector<int64_t> bytes_of_;                // By step: of all that it makes.
  std::vector<int64_t> freed_;                   // By step: if it runs again later than now.
  // Steps that free something: of which no reader has run, and others.
  std::set<int, InOrder> unread_{InOrder{this}};
  std::set<int, FreesMost> read_{FreesMost{this}};
  int64_t looks_ = 0;
  int current_ = -1;
  int64_t bytes_ = 0;
  int repetitions_ = 0;
};

}  // namespace

std::vector<int> RepeatSteps(int64_t most_bytes, int64_t least_bytes, StepProgram* program) {
  return Repeater(most_bytes, least_bytes, program).Run();
}

int64_t MostAlive(const StepProgram& program, absl::Span<const int> order) {
  std::vector<size_t> awaited;
  for (const StepValue& value : program.values) awaited.push_back(value.readers.size());
  int64_t bytes = 0, most = 0;
  const auto pass = [&](const Step& step) {
    for (const int v : step.makes) bytes = SaturatingAdd(bytes, program.values[v].bytes);
    most = std::max(most, bytes);
    for (const int v : step.reads) {
      if (--awaited[v] == 0 && program.values[v].maker >= 0) Free(program.values[v].bytes, &bytes);
    }
    for (const int v : step.makes) {
      if (awaited[v] == 0) Free(program.values[v].bytes, &bytes);
    }
  };
  if (order.empty()) {
    for (const Step& step : program.steps) pass(step);
  } else {
    for (const int s : order) pass(program.steps[s]);
  }
  return most;
}

}  // namespace toroid
