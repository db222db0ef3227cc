// A prediction in the trace event format, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
//
// Tracks: the core's compute and communication streams, the busiest link of each pattern of traffic as a counter, and
// memory. Times are microseconds. Arguments of an event: source line, op_name, bytes, what bounds it, its cause.
// Source: "Trace Event Format", the Catapult project.
#pragma once

#include <string>

#include "simulator/prediction/prediction.h"

namespace toroid {

std::string TraceText(const Prediction& prediction);

}  // namespace toroid
