// Runs HLO text in tests: values go in and come out as text.
//
//   EXPECT_EQ(Evaluate("x = s32[3] constant({1, 2, 3}) ROOT y = s32[3] negate(x)"), "{-1, -2, -3}");
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "runtime/engine/executor.h"

namespace toroid {

// A verified module: `body` holds the instructions of the entry, `computations` the text before the entry.
// Ends the process with a message if the text is wrong.
std::unique_ptr<Module> MakeModule(absl::string_view body, absl::string_view computations = "");

// The value of text such as "f32[2] {1, 2}".
Literal ParseLiteral(absl::string_view text);

// The value in HLO text, without its shape.
std::string ToText(const Literal& literal);

// The result of the entry on one device; "CODE: message" if the run fails.
std::string Evaluate(absl::string_view body, absl::string_view computations = "",
                     absl::Span<const Literal> arguments = {});

// The result on one device. The run is repeated on 1, 2 and 3 threads, which must give the same bits: kInternal if they do not.
absl::StatusOr<Literal> RunOnThreads(const Module& module, absl::Span<const Literal> arguments);

// The results of the devices of `options`, one per device. arguments[i] holds one value for all devices, or
// one per device. The run is repeated over two and over three ranks, which must give the same results:
// kInternal if they do not.
absl::StatusOr<std::vector<Literal>> RunOnDevices(const Module& module,
                                                  const std::vector<std::vector<Literal>>& arguments,
                                                  const RunOptions& options);
// The same for a mesh of num_partitions devices.
absl::StatusOr<std::vector<Literal>> RunOnDevices(const Module& module,
                                                  const std::vector<std::vector<Literal>>& arguments,
                                                  int64_t num_partitions, int64_t num_replicas = 1);

// The same as text; one string with the error if the run fails.
std::vector<std::string> EvaluateOnDevices(absl::string_view body, absl::string_view computations,
                                           const std::vector<std::vector<Literal>>& arguments,
                                           int64_t num_partitions, int64_t num_replicas = 1);

// A computation over two scalars that applies one op.
std::string ReducerText(absl::string_view name, absl::string_view type, absl::string_view op);

}  // namespace toroid
