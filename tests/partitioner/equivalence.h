// Checks, shared by the tests of ops, that a program and its partitioned form give equal results.
//
// Programs are HLO text in which $n stands for the number of devices:
//   x = f32[8,5] parameter(0), sharding={devices=[$n,1]<=[$n]}
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "partitioner/stages/spmd_partitioner.h"

namespace toroid {

// Parses and verifies the text for n devices. Ends the process if it is no valid module.
std::unique_ptr<Module> ProgramFor(const std::string& text, int64_t n);

// Random integers in [low, high] (at least 0 for unsigned types), equal for equal seeds; booleans are random.
Literal Integers(const Shape& shape, uint64_t seed = 1, int64_t low = -4, int64_t high = 4);

// A literal of such integers per entry parameter.
std::vector<Literal> IntegerArguments(const Module& module, uint64_t seed = 1);

// Runs the program unpartitioned and partitioned over each device count: plain, then with garbage in the
// padding, then in a random device order too. Expects results equal up to `tolerance` (0: exactly). If
// `arguments` is empty, they are IntegerArguments.
void ExpectEquivalent(const std::string& text, const std::vector<Literal>& arguments = {},
                      const std::vector<int64_t>& device_counts = {1, 2, 3, 7, 16}, double tolerance = 0);

// The collectives of the program, partitioned for n devices without a search, in order. "collective-permute
// 4" has operands of 4 bytes per device.
std::vector<std::string> Collectives(const std::string& text, int64_t n);

// The bytes that one device sends.
int64_t SentBytes(const Module& partitioned);
// The same for a program partitioned for n devices.
int64_t SentBytes(const std::string& text, int64_t n);

}  // namespace toroid
