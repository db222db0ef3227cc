#include "tests/partitioner/equivalence.h"

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/base/status.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ir/native_types.h"
#include "hlo/ops/verify_module.h"
#include "partitioner/rewrite/poison_padding.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "tests/partition_and_run.h"

namespace toroid {

std::unique_ptr<Module> ProgramFor(const std::string& text, int64_t n) {
  absl::StatusOr<std::unique_ptr<Module>> module =
      ParseModule(absl::StrReplaceAll(text, {{"$n", absl::StrCat(n)}}));
  TOROID_CHECK(module.ok(), module.status().message(), "\n", text);
  const absl::Status verified = VerifyModule(**module);
  TOROID_CHECK(verified.ok(), verified.message(), "\n", text);
  return *std::move(module);
}

Literal Integers(const Shape& shape, uint64_t seed, int64_t low, int64_t high) {
  std::mt19937_64 random(seed);
  Literal literal(shape);
  VisitArrayType(
      shape.element_type(),
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        const int64_t from = IsUnsignedInt(shape.element_type()) ? std::max<int64_t>(low, 0) : low;
        const auto next = [&] {
          return from + static_cast<int64_t>(random() % static_cast<uint64_t>(high - from + 1));
        };
        for (T& value : literal.mutable_data<T>()) {
          if constexpr (std::is_same_v<T, bool>) {
            value = random() % 2 == 0;
          } else if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
            const auto real = next();
            value = T(static_cast<double>(real), static_cast<double>(next()));
          } else {
            value = T(static_cast<double>(next()));
          }
        }
        return 0;
      },
      0);
  return literal;
}

std::vector<Literal> IntegerArguments(const Module& module, uint64_t seed) {
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module.entry()->parameters()) {
    arguments.push_back(Integers(parameter->shape(), seed++));
  }
  return arguments;
}

void ExpectEquivalent(const std::string& text, const std::vector<Literal>& arguments,
                      const std::vector<int64_t>& device_counts, double tolerance) {
  for (const int64_t n : device_counts) {
    const std::unique_ptr<Module> module = ProgramFor(text, n);
    const std::vector<Literal> values = arguments.empty() ? IntegerArguments(*module) : arguments;
    const absl::StatusOr<Literal> expected = RunSingle(*module, values);
    ASSERT_TRUE(expected.ok()) << expected.status().message() << "\n" << text;
    for (int variant = 0; variant < 3; ++variant) {
      PartitionOptions options;
      options.num_partitions = n;
      if (variant > 0) options.on_local_value = PoisonPadding;
      if (variant > 1) options.device_order_seed = 5;
      SCOPED_TRACE(absl::StrCat(n, " devices", variant > 0 ? ", poisoned" : "",
                                variant > 1 ? ", device order 5" : ""));
      const absl::StatusOr<Literal> actual = PartitionAndRun(*module, options, values);
      ASSERT_TRUE(actual.ok()) << actual.status().message() << "\n" << text;
      const Comparison comparison = Compare(*actual, *expected, tolerance);
      for (const ArrayComparison& output : comparison.outputs) EXPECT_EQ(output.difference, "") << text;
      ASSERT_TRUE(comparison.equal) << text;
    }
  }
}

std::vector<std::string> Collectives(const std::string& text, int64_t n) {
  PartitionOptions options;
  options.strategies = NoSearch();
  options.num_partitions = n;
  const absl::StatusOr<Partitioned> partitioned = PartitionModule(*ProgramFor(text, n), options);
  if (!partitioned.ok()) return {std::string(partitioned.status().message())};
  std::vector<std::string> collectives;
  for (const CollectiveRecord& record : ListCollectives(*partitioned->module)) {
    collectives.push_back(absl::StrCat(record.opcode, " ", record.operand_bytes));
  }
  return collectives;
}

int64_t SentBytes(const Module& partitioned) {
  int64_t bytes = 0;
  for (const auto& [opcode, totals] : ComputeStatistics(partitioned).collectives) bytes += totals.sent_bytes;
  return bytes;
}

int64_t SentBytes(const std::string& text, int64_t n) {
  PartitionOptions options;
  options.num_partitions = n;
  const absl::StatusOr<Partitioned> partitioned = PartitionModule(*ProgramFor(text, n), options);
  TOROID_CHECK(partitioned.ok(), partitioned.status().message());
  return SentBytes(*partitioned->module);
}

}  // namespace toroid
