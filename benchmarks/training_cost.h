// What training costs: GShard's published figures, and ours from simulated steps.
// Source: GShard, arXiv:2006.16668, tables 2 and 3 and figure 1.
#ifndef TOROID_BENCHMARKS_TRAINING_COST_H_
#define TOROID_BENCHMARKS_TRAINING_COST_H_

#include <cstdint>

#include "benchmarks/training_model.h"

namespace toroid {

struct PublishedCost {
  int64_t experts, layers;
  double billion_weights;  // Table 1.
  double steps_per_second;
  double core_years;
  double days;
  double bleu_gain;  // Average over the bilingual baselines, figure 6.
};

inline constexpr PublishedCost kTable3[] = {
    {2048, 36, 600, 0.72, 22.4, 4.0, 13.5}, {2048, 12, 200, 2.15, 7.5, 1.4, 10.5},  {512, 36, 150, 1.05, 15.5, 11.0, 12.9},
    {512, 12, 50, 3.28, 4.9, 3.5, 9.2},    {128, 36, 37, 0.67, 6.1, 17.3, 8.2},   {128, 12, 12.5, 2.16, 1.9, 5.4, 5.9},
};

// A dense Transformer of 96 layers, 2.3B weights, by GPipe on 2,048 cores; and 100 models of one language pair each.
inline constexpr double kDenseCoreYears = 235.5, kDenseDays = 42, kDenseBillionWeights = 2.3, kDenseBleuGain = 6.1;
inline constexpr int64_t kDenseCores = 2048, kDenseLayers = 96;
inline constexpr double kBilingualCoreYears = 29;

// Billion source tokens after which a model's cross-entropy per token was below 0.7, 0.6 and 0.5; 0: not reached. Table 2, in the
// order of kTable3.
inline constexpr double kTable2[][3] = {{82, 175, 542}, {176, 484, 1780}, {66, 170, 567},
                                        {141, 486, 0},  {321, 1074, 0},   {995, 0, 0}};

struct TrainingCost {
  double steps_per_second, days, core_years;
};

// To `tokens` source tokens.
inline TrainingCost CostOfTraining(const SimulatedTraining& training, int64_t tokens_per_step, double tokens = 1e12) {
  constexpr double kSecondsPerDay = 86400, kDaysPerYear = 365.25;
  TrainingCost cost;
  cost.steps_per_second = 1 / training.step_seconds;
  cost.days = tokens / static_cast<double>(tokens_per_step) * training.step_seconds / kSecondsPerDay;
  cost.core_years = cost.days * static_cast<double>(training.config.devices) / kDaysPerYear;
  return cost;
}

}  // namespace toroid

#endif  // TOROID_BENCHMARKS_TRAINING_COST_H_
