// GShard's figure 8 as published and as simulated: where the time of a Transformer layer and a MoE layer goes.
//
// The program is BuildLayerPair of examples/moe/transformer.h, 2,048 tokens per core, an expert on each core. A bar
// is an operator with all that is fused into it and the copies that bring its operands and results into order:
//   projections          query, key, value, output
//   attention            scores, weighted values
//   dense feed-forward   both products
//   gate einsums         logits, dispatch, combine
//   cumulative sum       those of the positions in the experts' buffers
//   all-to-all           the two exchanges
//   expert feed-forward  both products
// The rest is `other_us`: sums of softmax, norms and residuals that are not fused, the top-2 choice and its masks, the
// all-reduce of the auxiliary loss. It is no part of the paper's bars:
//   - the roofline that the paper draws beside each bar is that of the operators above alone, to the pixel (projections
//     1115 us: four products in each of two layers; gate einsums 590: three; cumulative sums 0)
//   - the paper's text has the two layers at 48 % of roofline at 2,048 experts, its bars at 54 %: both hold if 1.7 ms are
//     in no bar; at 128 experts (above 70 %, 76 %) at most 0.7 ms are.
// Where products of two bars run as one group (weighted values and output projection), its time is divided as their own
// cycles are.
#ifndef TOROID_BENCHMARKS_FIGURE8_MODEL_H_
#define TOROID_BENCHMARKS_FIGURE8_MODEL_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "examples/moe/published.h"
#include "hlo/ir/module.h"
#include "simulator/machines/core.pb.h"
#include "simulator/machines/tpu_v3_core.h"

namespace toroid {

// The paper does not give the length of sequences. It says that attention runs at "above 30 % of peak", which is 256
// (27 %, and 30 % at the edge of what can be read) rather than 512 (53 %); and at 512 the scores, which pass memory once
// each way, take longer than was measured for all of attention.
inline constexpr int64_t kFigure8SequenceLength = 256;

struct Figure8Bar {
  std::string name;
  std::array<double, 3> paper_us;  // +-65: the figure is drawn in whole pixels.
  std::array<double, 3> our_us = {0, 0, 0};

  double Error(int column) const { return our_us[column] / paper_us[column] - 1; }
};

struct Figure8 {
  std::vector<Figure8Bar> bars;
  std::array<double, 3> other_us;

  // Of the bars.
  double PaperTotal(int column) const;
  double OurTotal(int column) const;
  double TotalError(int column) const { return OurTotal(column) / PaperTotal(column) - 1; }
  // Over bars and columns.
  double MeanError() const;
  // Of 2,048 experts to 128.
  double PaperRatio() const { return PaperTotal(2) / PaperTotal(0); }
  double OurRatio() const { return OurTotal(2) / OurTotal(0); }
  double PaperShare(absl::string_view bar, int column) const;
  double OurShare(absl::string_view bar, int column) const;
};

// What the paper does not say of the program.
struct Figure8Unknowns {
  int64_t sequence_length = kFigure8SequenceLength;
  bool cumulative_sums_by_products = false;  // As examples/moe/transformer.h has it.
};

// The annotated program of a column.
absl::StatusOr<std::unique_ptr<Module>> Figure8Program(int64_t experts, const Figure8Unknowns& unknowns);

// Partitions, lowers and simulates all columns, on TPU v3 slices whose cores are `core`.
absl::StatusOr<Figure8> SimulateFigure8(const Figure8Unknowns& unknowns = {},
                                        const CoreSpec& core = TpuV3Core(Rates::kMeasured));

}  // namespace toroid

#endif  // TOROID_BENCHMARKS_FIGURE8_MODEL_H_
