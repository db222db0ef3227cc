// The table that hlo-simulate prints: step, breakdown, what costs most, memory.
#ifndef TOROID_SIMULATOR_REPORT_SUMMARY_H_
#define TOROID_SIMULATOR_REPORT_SUMMARY_H_

#include <string>

#include "simulator/report/prediction.h"

namespace toroid {

// Lines of at most `width` columns. A program that does not fit into memory says by how much and what holds most.
std::string SummaryText(const Prediction& prediction, int width);

}  // namespace toroid

#endif  // TOROID_SIMULATOR_REPORT_SUMMARY_H_
