// The page of --report: one HTML file with its data, style, scripts and D3 inside, which opens without a network.
#ifndef TOROID_SIMULATOR_REPORT_PAGE_H_
#define TOROID_SIMULATOR_REPORT_PAGE_H_

#include <string>

#include "simulator/report/prediction.h"

namespace toroid {

std::string PageText(const Prediction& prediction);

}  // namespace toroid

#endif  // TOROID_SIMULATOR_REPORT_PAGE_H_
