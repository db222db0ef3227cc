// Finds for each instruction of a module the one that stands for it in another module, by structure.
//
//   1. instructions that are computed alike from the parameters on (Fingerprints::Whole), those of one op_name and line first
//   2. parameters of one number, roots
//   3. instructions of one op_name and source line: those alike by themselves, those of one opcode and shape, those of one opcode;
//      then the same of one op_name
//   4. instructions alike by themselves, wherever they are
// After each part of step 3 and after step 4, what is matched spreads: operands of matched instructions by position, users by
// what they are; in step 3 only to instructions of one op_name. Bodies of loops, branches and fusions are matched if the ops
// that run them are. Ties go by the order in the module.
// Example: of x -> tanh -> dot -> out and y -> tanh -> negate -> dot -> out, the parameters, tanh, dot and out are matched, and
// negate has no partner.
//
// Both modules should be as InlineCalls leaves them: without calls, asynchronous pairs and layouts that matter. A few tables
// and walks, each linear in the size of the modules: of a value with many users only some are looked at.
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/analysis/source_frames.h"
#include "hlo/diff/fingerprints.h"
#include "hlo/ir/module.h"

namespace toroid {

enum class Likeness : uint8_t {
  kNone,     // No partner.
  kChanged,  // Another shape, attribute or number of operands.
  kAlike,    // The same by itself, of other operands or with another body.
  kSame,     // Computed alike from the parameters on.
};

// Counts and lists are of the computations that run: reducers count as attributes of the ops that apply them.
struct MatchCounts {
  int64_t same = 0, alike = 0, changed = 0, only_a = 0, only_b = 0;
};

class ModuleMatch {
 public:
  // Of two modules with entries that have roots. Keeps references to both. The frames, of `a` and of `b`, choose source lines.
  ModuleMatch(const Module& a, const Module& b, SourceFrames* frames_a, SourceFrames* frames_b);

  // Null if it has none.
  const Instruction* PartnerOf(const Instruction& of_a) const { return partner_of_a_[Place(of_a)]; }
  const Instruction* PartnerInA(const Instruction& of_b) const { return partner_of_b_[PlaceB(of_b)]; }
  Likeness LikenessOf(const Instruction& of_a) const;

  // True if both compute the same of the same parameters with as many instructions.
  bool IsSameProgram() const { return is_same_program_; }
  MatchCounts Count() const;
  // Instructions without a partner, in order.
  std::vector<const Instruction*> OnlyInA() const;
  std::vector<const Instruction*> OnlyInB() const;

 private:
  friend class ComputationMatcher;
  size_t Place(const Instruction& of_a) const { return begin_a_[of_a.computation()->index()] + of_a.index(); }
  size_t PlaceB(const Instruction& of_b) const {
    return begin_b_[of_b.computation()->index()] + of_b.index();
  }

  const Module &a_, &b_;
  const Fingerprints prints_a_, prints_b_;
  std::vector<size_t> begin_a_, begin_b_;  // By computation: the place of its first instruction.
  std::vector<const Instruction*> partner_of_a_, partner_of_b_;  // By place.
  bool is_same_program_;
  std::vector<size_t> names_a_, names_b_, lines_a_,
      lines_b_;  // By place: hashes of the op_name; of it and the line; 0: none.
};

}  // namespace toroid
