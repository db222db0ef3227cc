// A program and its partitioning must give equal results: the check that the tests of ops share.
//
// Programs are HLO text in which $n stands for the number of devices:
//   x = f32[8,5] parameter(0), sharding={devices=[$n,1]<=[$n]}
#ifndef TOROID_TESTS_PARTITIONER_EQUIVALENCE_H_
#define TOROID_TESTS_PARTITIONER_EQUIVALENCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "partitioner/stages/spmd_partitioner.h"

namespace toroid {

// The text for n devices, parsed and verified. Ends the process if it is no valid module.
std::unique_ptr<Module> ProgramFor(const std::string& text, int64_t n);

// Integers in [low, high] (not below 0 for unsigned types), the same for the same seed; booleans are random.
Literal Integers(const Shape& shape, uint64_t seed = 1, int64_t low = -4, int64_t high = 4);

// One such literal per entry parameter.
std::vector<Literal> IntegerArguments(const Module& module, uint64_t seed = 1);

// Expects the same result, exactly, of the unpartitioned program and of its partitionings for 1, 2, 3, 7 and
// 16 devices (or those given), each plain, with garbage in the padding, and with that in a random device
// order.
// Without arguments: IntegerArguments.
void ExpectEquivalent(const std::string& text, const std::vector<Literal>& arguments = {},
                      const std::vector<int64_t>& device_counts = {1, 2, 3, 7, 16}, double tolerance = 0);

// The collectives of the program partitioned op by op for n devices, in order: "collective-permute 4" sends operands
// of 4 bytes per device.
std::vector<std::string> Collectives(const std::string& text, int64_t n);

// Bytes one device sends.
int64_t SentBytes(const Module& partitioned);
// Of the program partitioned for n devices.
int64_t SentBytes(const std::string& text, int64_t n);

}  // namespace toroid

#endif  // TOROID_TESTS_PARTITIONER_EQUIVALENCE_H_
