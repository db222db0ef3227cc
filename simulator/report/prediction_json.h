// A prediction as JSON: what --json writes, and what the page of --report reads.
#pragma once

#include <string>

#include "nlohmann/json.hpp"
#include "simulator/prediction/prediction.h"

namespace toroid {

// Raised when a field changes its meaning or goes; new fields leave it.
inline constexpr int kPredictionSchemaVersion = 1;

// The fields that docs/commands.md documents. Times in seconds and all executions together; sizes in bytes.
nlohmann::json PredictionJson(const Prediction& prediction);

// Those, and what the page draws: "timeline", "network" with the loads of every link, samples of memory.
nlohmann::json PageJson(const Prediction& prediction);

// JSON text in which bytes that are no UTF-8 are replaced.
std::string JsonText(const nlohmann::json& json, int indent);

}  // namespace toroid
