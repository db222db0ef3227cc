// Puts instructions into groups that run as one: `fusion` instructions.
//
// Written to memory are results of dots, convolutions, reductions, windows, gathers, scatters, sorts, concatenations,
// pads, copies, exchanges between devices, and of the program. Everything else (elementwise ops, broadcasts, slices,
// transposes and reshapes that move nothing, copies in which the minor dimension stays, conversions of what is made of spread vectors) is
// computed anew inside every group that reads it, unless
//   its r readers would read more for it than writing it would: r arrays each, against one write and r reads,
//   it is made from arrays and then broadcast to a larger one,
//   a reshape that merges or splits dimensions stands between it and a dot,
//   a product whose rows of tiles are along another dimension reads it,
//   one reader cuts a piece of it and there are others,
//   it is a sine that several groups read,
//   or what several groups, or a product, would compute anew has grown to more than 80 ops.
// A dot takes the elementwise ops behind it, as far as one value alone leaves them, up to the narrowest if several groups read it,
// and then one reduction of that value, others over the same dimensions (as of a norm's gradient), and others of what is written along
// other dimensions, as far as what they make can be held:
//   y = relu(dot(x, w) + b), m = max(y)  => one fusion with results y and m; y is not written if only m is read.
// It then waits for what the reductions wait for. What is made elementwise of what it writes, and written in the same order, is made with
// it too, as updates of weights with their gradient; what they all read need not be written then. Words of predicates that are found on
// the way (packed_predicates_pass.h) are made with it.
// A concatenation of more than four arrays is no group: each is written to its place by who makes it.
// A dot whose only reader is another dot, behind what it takes, joins it if what either passes by fits (product_groups.h): weights, or
// rows. Not if something else is made by a product for that reader alone, as a gate is; nor if weights would pass few rows of a norm; nor
// if lanes of a result of several dimensions of rows are its rows; nor if it has more than rows, columns and one dimension more, or two
// where rows fill tiles and stay. One level deep. So does a convolution that only one of a single position reads, if the weights of both
// stay.
// Columns that are cut from a table become vectors at the end of their group (columns.h); a vector becomes a column in a group of its
// own. One row that is cut from tiles of an argument is written. What is padded and then cut by several slices is padded where it is read.
// Steps that read parts of an array are written before their readers would read more parts anew than writing them takes.
// A scatter into an array that is everywhere the same fills it itself if it passes over all of it: what it holds on the chip, or where
// there are updates for most of its tiles.
// An array whose elements are repeated beside themselves is written. What is quantized to eight bits for products is written; so is
// what is made for several slices that are put elsewhere.
// Groups that read the same array over the same elements, neither of which waits for the other, merge if they compute the same type,
// whatever they convert it to; those first of which neither has to wait for more:
//   sum(x), max(x)  => one fusion with two results.
// Then those that share no more than a vector. So do slices of one value that have the same sizes.
// Of the readers of what a group makes elementwise one joins it, the last, unless reductions of it do that stand behind it in the order
// of the results. Groups that it reads and that could be one are made with it.
// Not a reduction of several arrays (but with the largest that it finds itself), nor what reads neighbours of what the other writes.
// Source: XLA's instruction fusion and multi-output fusion, with the choices seen in Google's compiler for TPU v3.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "hlo/passes/pass.h"
#include "simulator/compiler/fusion/group_plan.h"
#include "simulator/program/tiling.h"

namespace toroid {

using GroupPlanner = std::function<GroupPlan(const Computation& computation)>;

class FusionPass : public Pass {
 public:
  // Groups by the rules above, or by others.
  explicit FusionPass(const Tiling& tiling, GroupPlanner planner = nullptr)
      : tiling_(tiling), planner_(std::move(planner)) {}
  absl::string_view name() const override { return "fusion"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  const Tiling tiling_;
  const GroupPlanner planner_;
};

}  // namespace toroid
