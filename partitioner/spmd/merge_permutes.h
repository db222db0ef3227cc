// Merging of the collective-permutes of halo exchanges.
//
// A device that no pair names as target gets an unspecified value in a halo exchange (SpmdModule::halo_permutes). So two
// permutes of one value whose pairs have no source and no target in common are one, for the bytes of one of them.
// Example: a roll by one row over 4 devices takes its last row from (3,0) and all others from (0,1), (1,2), (2,3).
#ifndef TOROID_PARTITIONER_SPMD_MERGE_PERMUTES_H_
#define TOROID_PARTITIONER_SPMD_MERGE_PERMUTES_H_

#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

// In all computations of the module. Permutes that nothing needs are left alone.
void MergeHaloPermutes(const SpmdModule& spmd);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_SPMD_MERGE_PERMUTES_H_
