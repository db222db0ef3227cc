// Tables of router efficiencies that are built in.
#ifndef TOROID_SIMULATOR_MACHINES_ROUTER_TABLES_H_
#define TOROID_SIMULATOR_MACHINES_ROUTER_TABLES_H_

#include "simulator/machines/network.pb.h"

namespace toroid {

// The table that was computed for this router. Of several, and where none was (a router made up for a what-if), the one
// of the router most like it: each parameter counts by its logarithm. A network without a router (no virtual channels)
// has an empty table: nothing is blocked.
const RouterEfficiencyTable& RouterTableOf(const NetworkSpec& network);

}  // namespace toroid

#endif  // TOROID_SIMULATOR_MACHINES_ROUTER_TABLES_H_
