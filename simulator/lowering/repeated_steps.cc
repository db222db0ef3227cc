#include "simulator/lowering/repeated_steps.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "hlo/base/math.h"

namespace toroid {
namespace {

// Between numbers of steps that stand beside each other at first.
constexpr int64_t kGap = int64_t{1} << 20;
// Steps of the new program, for each of the old one: an end for programs that never fit.
constexpr size_t kMostGrowth = 4;

class Repeater {
 public:
  Repeater(int64_t most_bytes, int64_t least_bytes, StepProgram* program)
      : most_(most_bytes), least_(least_bytes), program_(*program), most_steps_(kMostGrowth * program->steps.size() + 1) {
    const int n = static_cast<int>(program_.steps.size());
    for (int i = 0; i < n; ++i) places_.push_back({i * kGap, i - 1, i + 1 < n ? i + 1 : -1});
    place_in_alive_.assign(program_.values.size(), -1);
    for (const StepValue& value : program_.values) awaited_.push_back(static_cast<int>(value.readers.size()));
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

  StepValue& ValueAt(int v) { return program_.values[v]; }
  // A value with further readers is there.
  void SetAlive(int v) {
    if (ValueAt(v).bytes == 0 || place_in_alive_[v] >= 0) return;
    place_in_alive_[v] = static_cast<int>(alive_.size());
    alive_.push_back(v);
  }
  void SetDropped(int v) {
    const int place = place_in_alive_[v];
    if (place < 0) return;
    alive_[place] = alive_.back();
    place_in_alive_[alive_[place]] = place;
    alive_.pop_back();
    place_in_alive_[v] = -1;
  }

  void Pass() {
    for (const int v : program_.steps[current_].makes) {
      bytes_ = SaturatingAdd(bytes_, ValueAt(v).bytes);
      if (awaited_[v] > 0) SetAlive(v);
    }
    places_[current_].has_run = true;
    while (bytes_ > most_ && places_.size() < most_steps_) {
      const int best = Best();
      if (best < 0) break;
      Repeat(best);
    }
    const Step& step = program_.steps[current_];
    for (const int v : step.reads) {
      if (--awaited_[v] > 0 || ValueAt(v).maker < 0) continue;
      bytes_ -= ValueAt(v).bytes;
      SetDropped(v);
    }
    for (const int v : step.makes) {
      if (awaited_[v] == 0) bytes_ -= ValueAt(v).bytes;
    }
  }

  // What is freed if the step runs again later; 0: it cannot, or nothing is.
  int64_t Freed(int step) {
    if (step == current_ || places_[step].is_last_move || !program_.steps[step].may_repeat) return 0;
    int64_t made = 0, freed = 0;
    for (const int v : program_.steps[step].makes) {
      if (ValueAt(v).bytes == 0) return 0;
      made += ValueAt(v).bytes;
      if (awaited_[v] == 0) continue;
      if (absl::c_linear_search(program_.steps[current_].reads, v)) return 0;
      freed += ValueAt(v).bytes;
    }
    if (made < least_) return 0;
    for (const int v : program_.steps[step].reads) {
      if (awaited_[v] > 0) continue;
      if (ValueAt(v).is_overwritten) return 0;
      freed -= ValueAt(v).bytes;
    }
    return freed;
  }
  // Some reader has run, or runs.
  bool WasRead(int step) {
    return absl::c_any_of(program_.steps[step].makes, [&](int v) {
      return absl::c_any_of(ValueAt(v).readers, [&](int reader) { return places_[reader].has_run; });
    });
  }

  int Best() {
    int best = -1;
    bool best_moves = false;
    int64_t best_freed = 0;
    for (const int v : alive_) {
      const int step = ValueAt(v).maker;
      const int64_t freed = Freed(step);
      if (freed <= 0 || step == best) continue;
      const bool moves = !WasRead(step);
      const auto is_better = [&] {
        if (best < 0) return true;
        if (moves != best_moves) return moves;
        if (!moves && freed != best_freed) return freed > best_freed;
        return places_[step].number < places_[best].number;
      };
      if (!is_better()) continue;
      best = step;
      best_moves = moves;
      best_freed = freed;
    }
    return best;
  }

  void Repeat(int step) {
    ++repetitions_;
    const int again = static_cast<int>(program_.steps.size());
    Step copy;
    copy.reads = program_.steps[step].reads;
    copy.may_repeat = true;
    copy.repeats = program_.steps[step].repeats >= 0 ? program_.steps[step].repeats : step;
    int before = -1;  // The first that must come behind it.
    const auto stand_before = [&](int reader) {
      if (!places_[reader].has_run && (before < 0 || places_[reader].number < places_[before].number)) before = reader;
    };
    bool was_read = false;
    for (const int v : program_.steps[step].makes) {
      const int value = static_cast<int>(program_.values.size());
      StepValue made = {.maker = again, .bytes = ValueAt(v).bytes, .origin = ValueAt(v).origin};
      std::vector<int> done;
      for (const int reader : ValueAt(v).readers) {
        if (places_[reader].has_run) {
          done.push_back(reader);
          continue;
        }
        made.readers.push_back(reader);
        *absl::c_find(program_.steps[reader].reads, v) = value;
        stand_before(reader);
      }
      was_read |= !done.empty();
      ValueAt(v).readers = std::move(done);
      if (awaited_[v] > 0) bytes_ -= ValueAt(v).bytes;
      awaited_[v] = 0;
      SetDropped(v);
      awaited_.push_back(static_cast<int>(made.readers.size()));
      place_in_alive_.push_back(-1);
      program_.values.push_back(std::move(made));
      copy.makes.push_back(value);
    }
    for (const int v : copy.reads) {
      for (const int reader : ValueAt(v).readers) stand_before(reader);
      if (awaited_[v]++ == 0 && ValueAt(v).maker >= 0) {
        bytes_ = SaturatingAdd(bytes_, ValueAt(v).bytes);
        SetAlive(v);
      }
      if (!was_read) std::erase(ValueAt(v).readers, step);
      ValueAt(v).readers.push_back(again);
    }
    program_.steps.push_back(std::move(copy));
    InsertBefore(before);
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
  std::vector<Place> places_;    // By step.
  std::vector<int> awaited_;     // By value: readers that have not run.
  std::vector<int> alive_;       // Values that are there and awaited.
  std::vector<int> place_in_alive_;
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
      if (--awaited[v] == 0 && program.values[v].maker >= 0) bytes -= program.values[v].bytes;
    }
    for (const int v : step.makes) {
      if (awaited[v] == 0) bytes -= program.values[v].bytes;
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
