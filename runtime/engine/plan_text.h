// Plans for people to read, and what their steps cost.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/plan/plan.h"

namespace toroid {

// On one device, called computations not counted.
struct StepCost {
  int64_t bytes_read = 0, bytes_written = 0;
  int64_t flops = 0;
};

// A group reads its inputs once and writes its outputs; another step costs what WorkOf its instruction says.
StepCost CostOf(const Step& step);

// "group of 9", or the opcode.
std::string KindText(const Step& step);
// "add.7", or for a group "add.7 .. divide.15": the first and the last of its instructions that it writes or ends with.
std::string NameText(const Step& step);

// Every computation that runs, callers first: a line per step with what it reads and writes, and below a group its nodes
// (Group). The first line states instructions, steps, and the least peak of memory (EstimatePeak).
std::string PlanText(const Plan& entry);

}  // namespace toroid
