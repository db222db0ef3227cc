// The costs of its models that GShard publishes, as data to compare predictions with.
// Source: GShard, arXiv:2006.16668, tables 1, 2 and 3, figures 1 and 6 to 9.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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
    {2048, 36, 600, 0.72, 22.4, 4.0, 13.5}, {2048, 12, 200, 2.15, 7.5, 1.4, 10.5},
    {512, 36, 150, 1.05, 15.5, 11.0, 12.9}, {512, 12, 50, 3.28, 4.9, 3.5, 9.2},
    {128, 36, 37, 0.67, 6.1, 17.3, 8.2},    {128, 12, 12.5, 2.16, 1.9, 5.4, 5.9},
};

// A dense Transformer of 96 layers, 2.3B weights, trained by GPipe on 2,048 cores; and 100 models of one
// language pair each.
inline constexpr double kDenseCoreYears = 235.5, kDenseDays = 42, kDenseBillionWeights = 2.3,
                        kDenseBleuGain = 6.1;
inline constexpr int64_t kDenseCores = 2048, kDenseLayers = 96;
inline constexpr double kBilingualCoreYears = 29;

// Programs with this many layers or more recompute values of the forward pass in the backward pass: 28 % of
// all cycles at 36 layers, 34 % at 60, none at 12 and 24 (5.1).
inline constexpr int64_t kLayersComputedAgain = 36;
inline constexpr double kShareComputedAgain36 = 0.28, kShareComputedAgain60 = 0.34;

// Billion source tokens after which a model's cross-entropy per token was below 0.7, 0.6 and 0.5; 0: not
// reached. Table 2, in the order of kTable3.
inline constexpr double kTable2[][3] = {{82, 175, 542}, {176, 484, 1780}, {66, 170, 567},
                                        {141, 486, 0},  {321, 1074, 0},   {995, 0, 0}};

// Memory of a core in training: weights with the optimizer's averages, and activations. Read from figure 7's
// vector graphics, to within 0.03 GiB.
struct PublishedMemory {
  int64_t experts, layers;
  double weights, activations;  // GiB.
};

inline constexpr PublishedMemory kFigure7[] = {{128, 12, 1.87, 2.29},  {512, 12, 2.04, 2.18},
                                               {2048, 12, 2.33, 2.52}, {2048, 24, 4.16, 4.59},
                                               {2048, 36, 6.00, 5.97}, {2048, 60, 9.55, 4.30}};

// Time of a Transformer layer and a MoE layer, forward, with kFigure8TokensPerCore tokens per core, for 128,
// 512 and 2,048 experts on as many cores. Read from figure 8's vector graphics, whose pixels are 65.6 us.
struct PublishedBar {
  const char* name;
  std::array<double, 3> microseconds;
};
inline constexpr int64_t kFigure8TokensPerCore = 2048;
inline constexpr std::array<int64_t, 3> kFigure8Experts = {128, 512, 2048};
inline constexpr PublishedBar kFigure8[] = {
    {"projections", {1312, 1312, 1312}},        {"attention", {525, 525, 525}},
    {"dense feed-forward", {1508, 1508, 1508}}, {"gate einsums", {721, 721, 1508}},
    {"cumulative sum", {66, 328, 1180}},        {"all-to-all", {1246, 3017, 4787}},
    {"expert feed-forward", {2492, 2426, 2426}}};

// Microseconds of an exchange of 8 and of 32 MiB per core among all cores of a slice. Read from figure 9's
// vector graphics.
struct PublishedExchanges {
  int64_t cores;
  double all_to_all_8, all_to_all_32, all_reduce_8, all_reduce_32;
};
inline constexpr PublishedExchanges kFigure9[] = {
    {16, 286, 1107, 285, 1134},    {32, 296, 1150, 170, 618},    {64, 549, 2190, 235, 922},
    {128, 733, 2590, 175, 555},    {256, 1228, 4984, 275, 953},  {512, 1296, 5095, 185, 590},
    {1024, 2417, 10340, 210, 530}, {2048, 2365, 10625, 212, 610}};

// The row for a model of `experts` and `layers`; null if the paper has none.
template <typename Row, size_t n>
const Row* FindPublished(const Row (&rows)[n], int64_t experts, int64_t layers) {
  for (const Row& row : rows) {
    if (row.experts == experts && row.layers == layers) return &row;
  }
  return nullptr;
}

}  // namespace toroid
