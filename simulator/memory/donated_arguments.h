// Results that are written where a donated argument lies: what reads the argument comes first.
#pragma once

#include <vector>

#include "hlo/analysis/buffers.h"
#include "hlo/ir/module.h"

namespace toroid {

struct ReadBeforeWritten {
  int reader, writer;  // By index; the reader stands first.
  int buffer;          // Of the argument.
};

// Of the entry, whose buffers these are. Readers that stand behind the writer read a copy and are left out.
std::vector<ReadBeforeWritten> ReadersOfDonated(const Computation& entry, const Buffers& buffers);

}  // namespace toroid
