// Merging of the collective-permutes of halo exchanges.
//
// In a halo exchange a device that is no target of a permute gets an unspecified value
// (SpmdModule::halo_permutes). So two permutes of the same array or slice whose pairs have no source and no
// target in common become one, in which a device sends no more bytes than in either of them.
// Example: a roll by one row over 4 devices has a permute with the pair (3,0) and one with (0,1), (1,2),
// (2,3).
#pragma once

#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

// Merges permutes in all computations of the module. Dead permutes are left as they are.
void MergeHaloPermutes(const SpmdModule& spmd);

}  // namespace toroid
