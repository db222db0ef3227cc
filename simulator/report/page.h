// The page of --report: one HTML file with its data, style, scripts and D3 inside, which opens without a network.
#pragma once

#include <string>

#include "simulator/prediction/prediction.h"

namespace toroid {

std::string PageText(const Prediction& prediction);

}  // namespace toroid
