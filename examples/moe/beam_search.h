// One ranking step of a beam search, as ops: chooses the K best of a sentence's K hypotheses extended by
// every word.
//
// The hypotheses of a sentence are interleaved in one sequence: the input of hypothesis k at step t is in
// slot t K + k and stays there. A 0/1 mask over the slots says which words make up a hypothesis and what it
// attends to; when hypotheses are reordered, only the mask is.
//
//   score of a hypothesis of n words, its end included:  log p / ((5 + n) / 6)^length_power
//
// A hypothesis that has ended keeps its place while its score is among the K best; hypotheses are compared at
// their own lengths. So a beam of one takes the most probable word at each step until that is the end. Words
// are never padding or `begin`. Among equal scores the earlier place, then the lower word, comes first.
// Source: GShard, arXiv:2006.16668, A.1 (flattened beam); Wu et al., "Google's Neural Machine Translation
// System", arXiv:1609.08144, equation 14 (score, without coverage).
#pragma once

#include <cstdint>

#include "hlo/builder/instruction_builder.h"

namespace toroid {

struct BeamOptions {
  int64_t beam = 4;           // K
  double length_power = 0.6;  // 0: scores are not normalized by length.
  int32_t padding = 0, begin = 1, end = 2;
};

// Log probability of the places of a beam that hold no hypothesis yet.
inline constexpr double kNoHypothesis = -1e9;

// The hypotheses of each sentence, best first.
struct Hypotheses {
  Value log_probability;  // f32[G,B,K]
  Value length;           // s32[G,B,K]: number of words, including the end.
  Value finished;         // pred[G,B,K]
  Value mask;             // pred[G,B,K,slots]
  Value words;            // s32[G,B,K]: the last words; padding for hypotheses that had finished before.
};

// now: the hypotheses after `step` s32[] words, with masks that include the slots of the last words.
// log_probabilities: f32[G,B,K,V], of each next word after each hypothesis.
Hypotheses RankHypotheses(const Hypotheses& now, Value log_probabilities, Value step,
                          const BeamOptions& options, InstructionBuilder* b);

// The k largest along the last dimension of x f32[G,B,N], largest first; equal ones in the order of their
// indices.
struct Largest {
  Value values;   // f32[G,B,k]
  Value indices;  // s32[G,B,k]
};
Largest TakeLargest(Value x, int64_t k, InstructionBuilder* b);

}  // namespace toroid
