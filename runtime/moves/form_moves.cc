#include "runtime/moves/form_moves.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/moves/run_move.h"

namespace toroid {
namespace {

// Most boxes of a move that reads through an operand, unless it has many operands.
constexpr size_t kMostBoxes = 64;

bool IsMove(const Step& step) {
  return step.cache == nullptr && step.kernel == step.static_kernel && step.more_results.empty() &&
         step.instructions == 1 && MovesBoxes(*step.instruction);
}

// The result is the slot's array, element by element.
bool IsWhole(const Boxes& boxes, const Plan& plan, int result) {
  if (boxes.size() != 1 || boxes[0].from != 0) return false;
  const Shape& shape = plan.values[result]->shape();
  if (plan.values[boxes[0].slot]->shape().NumElements() != shape.NumElements()) return false;
  const Boxes whole = WholeArray(shape, 0);
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) > 1 && boxes[0].strides[d] != whole[0].strides[d]) return false;
  }
  return true;
}

class MoveFormer {
 public:
  explicit MoveFormer(Plan& plan)
      : plan_(plan),
        moves_(plan.steps.size()),
        through_(plan.values.size(), nullptr),
        only_moves_read_(plan.values.size(), true),
        last_read_(plan.values.size(), -1) {}

  void Run() {
    FindReaders();
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      const Step& step = plan_.steps[s];
      if (!IsMove(step)) continue;
      moves_[s] = Through(static_cast<int>(s));
      if (only_moves_read_[step.result]) through_[step.result] = &moves_[s]->boxes;
    }
    Rebuild(NeededSteps());
  }

 private:
  struct Planned {
    Boxes boxes;
    bool reads_through = false;  // An operand is no array.
  };

  // Which slots are read by moves alone, and where each is read last.
  void FindReaders() {
    only_moves_read_[plan_.root] = false;
    work_before_.push_back(0);
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      const Step& step = plan_.steps[s];
      const bool moves = IsMove(step);
      work_before_.push_back(work_before_.back() + (moves ? 0 : 1));
      for (size_t i = 0; i < step.operands.size(); ++i) {
        // A pad's value is one element: as an array of its own it is read where it lies in any case.
        const bool value = step.instruction->opcode() == Opcode::kPad && i == 1;
        if (!moves || value) only_moves_read_[step.operands[i]] = false;
        last_read_[step.operands[i]] = static_cast<int>(s);
      }
    }
    last_read_[plan_.root] = static_cast<int>(plan_.steps.size());
  }

  // Reading the boxes' arrays at step s keeps none of them that is larger than the value past other work.
  bool KeepsLittle(const Boxes& boxes, int s, int64_t bytes) const {
    for (const Box& box : boxes) {
      if (last_read_[box.slot] >= s || plan_.values[box.slot]->shape().ByteSize() <= bytes) continue;
      const int last = std::max(last_read_[box.slot], 0);
      if (work_before_[s] != work_before_[last]) return false;
    }
    return true;
  }

  // What the step's result holds, through operands that are no arrays where that needs few boxes.
  Planned Through(int s) const {
    const Step& step = plan_.steps[s];
    const size_t n = step.operands.size();
    std::vector<Boxes> arrays(n);
    std::vector<const Boxes*> operands(n);
    bool reads_through = false;
    for (size_t i = 0; i < n; ++i) {
      const int slot = step.operands[i];
      arrays[i] = WholeArray(plan_.values[slot]->shape(), slot);
      operands[i] = through_[slot];
      if (operands[i] == nullptr || !KeepsLittle(*operands[i], s, plan_.values[slot]->shape().ByteSize())) {
        operands[i] = &arrays[i];
      } else {
        reads_through = true;
      }
    }
    if (reads_through) {
      std::optional<Boxes> boxes = BoxesThrough(*step.instruction, operands, std::max(kMostBoxes, 3 * n));
      if (boxes.has_value()) return {*std::move(boxes), true};
    }
    for (size_t i = 0; i < n; ++i) operands[i] = &arrays[i];
    return {*BoxesThrough(*step.instruction, operands, SIZE_MAX), false};
  }

  // Steps whose results the root or a step that stays reads.
  std::vector<bool> NeededSteps() const {
    std::vector<bool> read(plan_.values.size(), false), needed(plan_.steps.size(), true);
    read[plan_.root] = true;
    for (int s = static_cast<int>(plan_.steps.size()) - 1; s >= 0; --s) {
      const Step& step = plan_.steps[s];
      if (moves_[s].has_value() && !read[step.result]) {
        needed[s] = false;
      } else if (moves_[s].has_value() && moves_[s]->reads_through) {
        for (const Box& box : moves_[s]->boxes) read[box.slot] = true;
      } else {
        for (const int slot : step.operands) read[slot] = true;
      }
    }
    return needed;
  }

  // Makes the step one that writes its result from the boxes.
  void MakeMove(Boxes boxes, Step& step) const {
    auto move = std::make_unique<Move>();
    move->is_operand = IsWhole(boxes, plan_, step.result);
    step.operands.clear();
    for (Box& box : boxes) {
      const auto it = std::find(step.operands.begin(), step.operands.end(), box.slot);
      if (it == step.operands.end()) {
        move->operand_elements.push_back(plan_.values[box.slot]->shape().NumElements());
        step.operands.push_back(box.slot);
        box.slot = static_cast<int>(step.operands.size()) - 1;
      } else {
        box.slot = static_cast<int>(it - step.operands.begin());
      }
    }
    move->boxes = std::move(boxes);
    step.kernel = step.static_kernel = ExecuteMove;
    step.cache = std::move(move);
  }

  void Rebuild(const std::vector<bool>& needed) {
    std::vector<Step> steps;
    int dropped = 0;  // Instructions of steps that the next move does, too.
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      Step& step = plan_.steps[s];
      if (!needed[s]) {
        dropped += step.instructions;
        continue;
      }
      if (moves_[s].has_value() && moves_[s]->reads_through) {
        MakeMove(std::move(moves_[s]->boxes), step);
        step.instructions += dropped;
        dropped = 0;
      }
      steps.push_back(std::move(step));
    }
    plan_.steps = std::move(steps);
  }

  Plan& plan_;
  std::vector<std::optional<Planned>> moves_;  // By step.
  std::vector<const Boxes*> through_;  // By slot: what readers may read in its place; null: itself alone.
  std::vector<bool> only_moves_read_;
  std::vector<int> last_read_;    // Position of the step that reads the slot last.
  std::vector<int> work_before_;  // By step: steps before it that are no moves.
};

}  // namespace

void FormMoves(Plan& plan) { MoveFormer(plan).Run(); }

}  // namespace toroid
