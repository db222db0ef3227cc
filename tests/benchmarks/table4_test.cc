// The simulator's exponents beside GShard's table 4 do not get worse.
#include <cmath>

#include "benchmarks/table4_model.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

TEST(Table4Test, ExponentsAreThePapers) {
  ASSERT_OK_AND_ASSIGN(const std::vector<Table4Row> rows, SimulateTable4());
  ASSERT_EQ(rows.size(), 10u);
  for (const Table4Row& row : rows) {
    SCOPED_TRACE(row.op + ", " + row.grows + " grows");
    ASSERT_EQ(row.points.size(), 8u);
    // Two slots per expert are padded to a tile, eight are not.
    const bool is_padded = row.op == "Einsum GSEC,GSM->EGCM",
               fills_tiles = row.op == "the same, larger groups";
    EXPECT_NEAR(Exponent(row, &Table4Point::compute_seconds), row.paper_compute,
                is_padded     ? 0.11
                : fills_tiles ? 0.03
                              : 0.1);
    EXPECT_NEAR(Exponent(row, &Table4Point::flops), row.paper_compute, 0.01);
    EXPECT_NEAR(Exponent(row, &Table4Point::communication_seconds), row.paper_communication, 0.05);
    EXPECT_NEAR(Exponent(row, &Table4Point::carried_bytes), row.paper_communication, 0.1);
    EXPECT_EQ(row.collective.empty(), row.paper_collective.empty());
  }
}

TEST(Table4Test, AnExponentIsTheSlopeOfTheLogarithms) {
  Table4Row row;
  for (const int64_t cores : {16, 64, 256}) {
    const double d = static_cast<double>(cores);
    row.points.push_back(
        {.cores = cores, .compute_seconds = 3 * std::pow(d, 1.5), .communication_seconds = 0, .flops = 7});
  }
  EXPECT_NEAR(Exponent(row, &Table4Point::compute_seconds), 1.5, 1e-12);
  EXPECT_NEAR(Exponent(row, &Table4Point::flops), 0, 1e-12);
  EXPECT_EQ(Exponent(row, &Table4Point::communication_seconds), 0);
}

}  // namespace
}  // namespace toroid
