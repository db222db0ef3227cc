// One ranking step of a beam search, as ops: K hypotheses of each sentence and the words that may follow give the K best.
//
// The hypotheses of a sentence are interleaved in one sequence: what hypothesis k is given at step t stands in slot t K + k and
// stays there. Which words make up a hypothesis, and what it attends to, is said by a 0/1 mask over the slots, and when the
// hypotheses are ranked anew, only the mask is ordered anew.
//
//   score of a hypothesis of n words, its end included:  log p / ((5 + n) / 6)^length_power
//
// A hypothesis that ended keeps its place as long as its score is among the K best; it is compared with others as they are,
// at their own lengths. So a beam of one takes the most probable word at each step, until that is the end. Words are neither
// padding nor `begin`. Of equal scores the earlier place, then the lower word, comes first.
// Source: GShard, arXiv:2006.16668, A.1 (flattened beam); Wu et al., "Google's Neural Machine Translation System",
// arXiv:1609.08144, equation 14 (score, without coverage).
#ifndef TOROID_EXAMPLES_MOE_BEAM_SEARCH_H_
#define TOROID_EXAMPLES_MOE_BEAM_SEARCH_H_

#include <cstdint>

#include "hlo/builder/instruction_builder.h"

namespace toroid {

struct BeamOptions {
  int64_t beam = 4;           // K
  double length_power = 0.6;  // 0: no normalization.
  int32_t padding = 0, begin = 1, end = 2;
};

// Log probability of places of a beam that hold no hypothesis yet.
inline constexpr double kNoHypothesis = -1e9;

// Of each sentence, best first.
struct Hypotheses {
  Value log_probability;  // f32[G,B,K]
  Value length;           // s32[G,B,K]: words, the end included.
  Value finished;         // pred[G,B,K]
  Value mask;             // pred[G,B,K,slots]
  Value words;            // s32[G,B,K]: the last ones; padding where finished before.
};

// now: the hypotheses after `step` s32[] words, their masks with the slots of the last ones. log_probabilities: f32[G,B,K,V],
// of each word after each.
Hypotheses RankHypotheses(const Hypotheses& now, Value log_probabilities, Value step,
                          const BeamOptions& options, InstructionBuilder* b);

// The k largest along the last dimension of x f32[G,B,N], largest first, the first of equal ones first.
struct Largest {
  Value values;   // f32[G,B,k]
  Value indices;  // s32[G,B,k]
};
Largest TakeLargest(Value x, int64_t k, InstructionBuilder* b);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_MOE_BEAM_SEARCH_H_
