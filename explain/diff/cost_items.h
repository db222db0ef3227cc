// What a program of one device costs, item by item: what it sends, what it computes, what it holds at its peak.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hlo/analysis/source_frames.h"
#include "hlo/cost/predicted_times.h"
#include "hlo/ir/module.h"

namespace toroid {

struct CostItem {
  std::string kind;    // Items of one kind and cost may stand for each other.
  std::string what;    // For people: "all-gather over 8", "dot", "f32[64,512]".
  std::string name;    // In the author's names.
  std::string step;    // The resharding behind a collective; may be empty.
  std::string source;  // The author's line; may be empty.
  // The line that the item is counted at: the source, or where a collective sums what devices computed, or has no source, the
  // line that computed it. (Partial sums may be summed up at once or at their users.) If there is none, that of the nearest op
  // behind it, or before it.
  std::string place;
  const Instruction* op = nullptr;
  int array = 0;       // Of a merged collective.
  int64_t cost = 0;    // Of one execution: bytes or flops.
  int64_t times = 1;   // Executions; a loop of unknown length counts one trip.
  double seconds = 0;  // Predicted, of all executions.
};

// `frames`, of the module, choose the lines.

// The arrays of collectives, with the bytes that one device sends. `times`: of the module on a machine, or null; the seconds of
// the items are then all that its collectives take, with one item for those that the machine's compiler makes.
std::vector<CostItem> CollectiveItems(const Module& module, const PredictedTimes* times,
                                      SourceFrames* frames);

// Contractions, with their flops.
std::vector<CostItem> ProductItems(const Module& module, SourceFrames* frames);

// The values held at the peak of memory, with their bytes. Their sum is the peak: what is held besides is one item.
std::vector<CostItem> PeakItems(const Module& module, SourceFrames* frames);

}  // namespace toroid
