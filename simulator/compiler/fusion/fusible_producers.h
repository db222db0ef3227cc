// Which values can be made where they are read, and which of these must be written all the same.
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
  // Arithmetic on arrays has been done to make it, not counting what is written.
  bool IsMade(const Instruction& op) const { return made_[op.index()]; }
  // Some reader needs it in memory, or it is the result of the computation.
  bool MustBeWritten(const Instruction* op) const;
  // To be placed beside others, with another slice of as many elements: they are made together.
  bool HasSibling(const Instruction& slice) const;

 private:
  const Instruction* At(int i) const { return computation_.instruction(i); }
  // Of what is made elementwise: one reader cuts a piece of it, and there are others.
  bool IsCutForSome(const Instruction& op) const;
  // An array, of which each element is repeated and put beside itself.
  bool RepeatsInPlace(const Instruction& op) const;
  // Put together, and cut into pieces again of which each of its elements is in one.
  bool IsCutApart(const Instruction& op) const;
  // Cut, where it begins or a row or lane wide, from what is put together for it: together with what it is put beside then, as in a roll
  // along two dimensions. Others are moved before.
  bool IsPieceOfPieces(const Instruction& op) const;
  // All readers are elementwise, or, of a concatenation, cut pieces of it or put it beside others.
  bool IsReadElementwise(const Instruction& op) const;
  // Only products read it, rounded or not.
  bool IsReadByProducts(const Instruction& op, bool (*is_product)(Opcode)) const;
  // Only convolutions read it, under whatever name.
  bool GoesToConvolutions(const Instruction& op) const;
  // A copy in which the minor dimension stays: rows are read from where they are.
  bool MovesRows(const Instruction& op) const;
  // The user, or one behind its rounding: a product, or what moves rows for products, whose rows of tiles are along another dimension.
  const Instruction* ReaderInOtherRows(const Instruction& op, const Instruction& user) const;
  // It is made of what lies in memory with as many elements, not of what is spread from less alone: that has an order of rows. Nor of
  // a convolution for whole tiles of rows.
  bool HasRows(const Instruction& op, const Instruction& reader) const;
  // Made elementwise, or by moving, from arguments and constants alone.
  bool IsOfArguments(const Instruction& op) const;
  bool IsResult(const Instruction& op) const;
  // A concatenation that only products read, of whole tiles.
  bool JoinsTilesForProducts(const Instruction& op) const;
  bool JoinsTilesForDots(const Instruction& op) const;
  bool JoinsTiles(const Instruction& op) const;
  // A reshape that only products read, and that cuts or joins rows in whole tiles: products take tiles in any order.
  bool MovesTilesForDots(const Instruction& op, int64_t lanes) const;
  // What lies as images is rounded by the convolution that takes it beside others.
  bool IsRoundedInPlace(const Instruction& op, const Instruction& user) const;
  void FindArithmetic();
  // Arithmetic, in the narrow sense: neither a conversion nor a copy.
  static bool IsArithmetic(const Instruction& op);

  // What is written whatever its readers, for the rules of kWritten.
  // A spread value that is put together with others for products, as it lies in memory.
  bool IsSpreadBesideOthers(const Instruction& op) const;
  // Eight bits, for products: a quarter of the bytes passes them again and again.
  bool IsQuantized(const Instruction& op) const;
  // For one reader, for the rules of kWrittenFor.
  bool IsOperandOfPlace(const Instruction& op, const Instruction& user) const;
  bool IsSpreadToMore(const Instruction& op, const Instruction& user) const;
  bool IsReshapedForProduct(const Instruction& op, const Instruction& user) const;
  bool IsReadInOtherRows(const Instruction& op, const Instruction& user) const;
  // A concatenation within a concatenation.
  bool IsPlacedBeside(const Instruction& op, const Instruction& user) const;
  // The reader takes nothing that is made for it.
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
