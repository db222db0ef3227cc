// The same program under other names, in another order.
#pragma once

#include <memory>
#include <random>

#include "hlo/ir/module.h"

namespace toroid {

// A copy of `module` whose instructions and computations have new names, in a random order in which operands come before their
// users; channel ids are new, too.
std::unique_ptr<Module> Rearranged(const Module& module, std::mt19937_64* random);

}  // namespace toroid
