// The table that hlo-simulate prints: step, breakdown, what costs most, memory.
#pragma once

#include <string>

#include "simulator/prediction/prediction.h"

namespace toroid {

// Lines of at most `width` columns. A program that does not fit into memory says by how much and what holds most.
std::string SummaryText(const Prediction& prediction, int width);

}  // namespace toroid
