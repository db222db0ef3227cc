// BUILD: embed "tpu_v3_router.textproto", "tpu_v4_router.textproto"
#include "simulator/machines/router_tables.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "google/protobuf/text_format.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

struct BuiltInFile {
  const char* name;
  const char* text;
};
constexpr BuiltInFile kBuiltIn[] = {
#include "simulator/machines/router_tables_embedded.inc"
};

// One for each router. Slices of several machines that have the same one stand in one table.
const std::vector<RouterEfficiencyTable>& Tables() {
  static const auto* tables = [] {
    auto* all = new std::vector<RouterEfficiencyTable>();
    for (const BuiltInFile& file : kBuiltIn) {
      RouterEfficiencyTable table;
      TOROID_CHECK(google::protobuf::TextFormat::ParseFromString(file.text, &table), file.name);
      const auto same = std::find_if(all->begin(), all->end(), [&](const RouterEfficiencyTable& other) {
        return other.router().SerializeAsString() == table.router().SerializeAsString();
      });
      if (same == all->end()) {
        all->push_back(std::move(table));
      } else {
        same->mutable_rows()->MergeFrom(table.rows());
      }
    }
    return all;
  }();
  return *tables;
}

// Sum over parameters of how many times one is the other, as a logarithm.
double Distance(const RouterSpec& a, const RouterSpec& b) {
  const auto apart = [](double x, double y) { return std::abs(std::log((x + 1e-12) / (y + 1e-12))); };
  const auto of = [](int64_t x) { return static_cast<double>(x); };
  return apart(of(a.virtual_channels()), of(b.virtual_channels())) +
         apart(of(a.buffer_bytes()), of(b.buffer_bytes())) +
         apart(of(a.packet_bytes()), of(b.packet_bytes())) + apart(of(a.write_bytes()), of(b.write_bytes())) +
         apart(of(a.writes_in_progress()), of(b.writes_in_progress())) +
         apart(a.write_setup_seconds() + 1e-9, b.write_setup_seconds() + 1e-9);
}

}  // namespace

const RouterEfficiencyTable& RouterTableOf(const NetworkSpec& network) {
  static const auto* empty = new RouterEfficiencyTable();
  const RouterEfficiencyTable* nearest = empty;
  if (network.router().virtual_channels() < 1) return *empty;
  for (const RouterEfficiencyTable& table : Tables()) {
    if (nearest == empty ||
        Distance(table.router(), network.router()) < Distance(nearest->router(), network.router())) {
      nearest = &table;
    }
  }
  return *nearest;
}

}  // namespace toroid
