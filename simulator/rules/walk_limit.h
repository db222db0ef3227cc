// How many values one search through a program looks at before it gives up.
#pragma once

#include <cstddef>

namespace toroid {

struct WalkLimit {
  const char* name;  // What is searched, for whoever reads that the limit was met.
  size_t most;
};

// Tells the compiler's scope of this thread, if it records (compiler_scope.h), that a search met its limit.
void ReportLimit(const WalkLimit& limit);

}  // namespace toroid
