// Tables of router efficiencies that are built in.
#pragma once

#include "simulator/machines/network.pb.h"

namespace toroid {

// The table that was computed for this router. Of several, and where none was (a router made up for a what-if), the one
// of the router most like it: each parameter counts by its logarithm. A network without a router (no virtual channels)
// has an empty table: nothing is blocked.
const RouterEfficiencyTable& RouterTableOf(const NetworkSpec& network);

}  // namespace toroid
