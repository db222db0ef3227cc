// Which instructions run as one group, by one plain rule for each kind of op.
//
// Elementwise ops, broadcasts, slices, reshapes, transposes and pads are made inside of the groups that read them. A value of
// this kind is written to memory nevertheless if something other than a group reads it (a loop, an exchange, the result of the
// program), or if several groups read it and either making it anew in each would read more than one write and as many reads of
// it, or one of them is a product and it is made with transcendental functions.
// Every other op has a group of its own, which makes what it reads. A product, or a reduction, whose one reader is elementwise
// joins that reader's group, one of them in each.
// What compilers do beyond that (several results, products in products, parts of arrays) is left out.
#pragma once

#include "hlo/ir/module.h"
#include "simulator/compiler/fusion/group_plan.h"

namespace toroid {

GroupPlan PlainGroups(const Computation& computation);

}  // namespace toroid
