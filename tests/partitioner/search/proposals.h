// What a strategy proposes for the first plan of a program, without writing a module.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "partitioner/prepare/prepared_program.h"
#include "partitioner/search/strategies.h"

namespace toroid {

struct Proposals {
  std::unique_ptr<PreparedProgram> program;
  PricedPlan first;
  std::vector<PricedPlan> plans;
};

// `text`: a program for n devices (../equivalence.h). The strategy has its usual budget.
Proposals ProposalsOf(const Strategy& strategy, const std::string& text, int64_t n);

// A program in which p is cut by rows, the results of its users by columns: decided alone, each of them moves its own part.
inline constexpr char kThreeUsers[] = R"(ENTRY main {
  p = f32[10,64] parameter(0), sharding={devices=[$n,1]<=[$n]}
  a = f32[10,64] negate(p)
  b = f32[64,10] transpose(p), dimensions={1,0}
  c = f32[10,64] abs(p)
  ROOT r = (f32[10,64], f32[64,10], f32[10,64]) tuple(a, b, c), sharding={{devices=[1,$n]<=[$n]}, {devices=[$n,1]<=[$n]}, {devices=[1,$n]<=[$n]}}
})";

}  // namespace toroid
