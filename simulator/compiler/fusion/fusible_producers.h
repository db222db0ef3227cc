// Which values can be computed again where they are read, and which of these must be written all the same.
// fusion_pass.h says by which rules.
// BUILD: srcs += "written_producers.cc"
#pragma once

#include <vector>

#include "hlo/ir/module.h"
#include "simulator/program/tiling.h"
#include "simulator/rules/rule.h"

namespace toroid {

class FusibleProducers {
 public:
  FusibleProducers(const Computation& computation, const UserMap& users, const Tiling& tiling);

  const Tiling& tiling() const { return tiling_; }
  // By index.
  const std::vector<bool>& values() const { return values_; }
  // Arithmetic on arrays is done to make it from what is in memory: it is more than moved or converted data.
  bool IsMade(const Instruction& op) const { return made_[op.index()]; }
  // Some reader needs it in memory, or it is the result of the computation.
  bool MustBeWritten(const Instruction* op) const;
  // The slice goes into a concatenation or pad, and there is another such slice with as many elements: they are made together.
  bool HasSibling(const Instruction& slice) const;

 private:
  const Instruction* At(int i) const { return computation_.instruction(i); }
  // It is elementwise; one reader is a slice of it, others are not.
  bool IsCutForSome(const Instruction& op) const;
  // A broadcast of an array that a reshape joins so that each element stands several times beside itself.
  bool RepeatsInPlace(const Instruction& op) const;
  // A concatenation that only slices read, which together have each of its elements once.
  bool IsCutApart(const Instruction& op) const;
  // A slice at the beginning of a concatenation, or one row or lane wide, that goes into another concatenation, as in a roll
  // along two dimensions: it is cut as the second one is made. Other slices are written before.
  bool IsPieceOfPieces(const Instruction& op) const;
  // All readers are elementwise; those of a concatenation may also be slices and concatenations.
  bool IsReadElementwise(const Instruction& op) const;
  // Only products read it, or converts that only products read.
  bool IsReadByProducts(const Instruction& op, bool (*is_product)(Opcode)) const;
  // Only convolutions read it, possibly through reshapes and transposes that move nothing.
  bool GoesToConvolutions(const Instruction& op) const;
  // A copy in which the minor dimension stays: rows are read from where they are.
  bool MovesRows(const Instruction& op) const;
  // The user, or a user of it if it converts, if that is a product, or a copy for products, whose tiles have rows along another
  // dimension; null if there is none.
  const Instruction* ReaderInOtherRows(const Instruction& op, const Instruction& user) const;
  // It is made of an array in memory that has as many elements, and so has rows in some order. Not if it is made of broadcasts
  // alone, nor of a convolution if the reader's rows fill tiles.
  bool HasRows(const Instruction& op, const Instruction& reader) const;
  // It is made from arguments and constants alone, by elementwise ops and data movement.
  bool IsOfArguments(const Instruction& op) const;
  bool IsResult(const Instruction& op) const;
  // A concatenation that only products read, of whole tiles.
  bool JoinsTilesForProducts(const Instruction& op) const;
  bool JoinsTilesForDots(const Instruction& op) const;
  bool JoinsTiles(const Instruction& op) const;
  // A reshape that only dots read, and that cuts or joins rows in whole tiles: a dot can take tiles in any order.
  bool MovesTilesForDots(const Instruction& op, int64_t lanes) const;
  // A convert that a concatenation for products reads, with the layout that its operand has: it is rounded there.
  bool IsRoundedInPlace(const Instruction& op, const Instruction& user) const;
  void FindArithmetic();
  // Arithmetic, in the narrow sense: neither a conversion nor a copy.
  static bool IsArithmetic(const Instruction& op);

  // Conditions of the rules in kWritten: the value is written whatever its readers are.
  // A broadcast that a concatenation for products reads.
  bool IsSpreadBesideOthers(const Instruction& op) const;
  // An 8-bit value that only products read: written, it has a quarter of the bytes, and products read it again and again.
  bool IsQuantized(const Instruction& op) const;
  // Conditions of the rules in kWrittenFor: it is written because of one reader.
  bool IsOperandOfPlace(const Instruction& op, const Instruction& user) const;
  bool IsSpreadToMore(const Instruction& op, const Instruction& user) const;
  bool IsReshapedForProduct(const Instruction& op, const Instruction& user) const;
  bool IsReadInOtherRows(const Instruction& op, const Instruction& user) const;
  // A concatenation within a concatenation.
  bool IsPlacedBeside(const Instruction& op, const Instruction& user) const;
  // The reader reads from memory only.
  bool TakesFromMemory(const Instruction& op, const Instruction& user) const;

  struct WrittenRow {
    Rule rule;
    bool (FusibleProducers::*applies)(const Instruction& op) const;
  };
  struct WrittenForRow {
    Rule rule;
    bool (FusibleProducers::*applies)(const Instruction& op, const Instruction& user) const;
  };
  static const WrittenRow kWritten[];
  static const WrittenForRow kWrittenFor[];

  const Computation& computation_;
  const UserMap& users_;
  const Tiling tiling_;
  std::vector<bool> values_, made_;
};

// A cheap op whose result can be made where it is read: elementwise, broadcast, slice, reshape and transpose in place.
bool IsRecomputed(const Instruction& op, const Tiling& tiling);

}  // namespace toroid
