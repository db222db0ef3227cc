#include "tests/partitioner/search/small_programs.h"

#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/status.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/partitioner/equivalence.h"

namespace toroid {
namespace {

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  SmallProgram Make() {
    const std::vector<std::vector<int64_t>> meshes = {{2, 4}, {2, 2, 2}, {4, 2}, {2, 2}, {8}};
    mesh_ = meshes[Below(meshes.size())];
    for (int i = 2 + Below(3); i > 0; --i) AddParameter();
    for (int i = 3 + Below(8); i > 0; --i) AddOp();
    std::vector<std::string> names, shardings, shapes;
    for (const Value& value : values_) {
      if (value.used || value.parameter) continue;
      names.push_back(value.name);
      shapes.push_back(ShapeOf(value.dims));
      shardings.push_back(RandomSharding(value.dims));
    }
    absl::StrAppend(&body_, "  ROOT r = (", absl::StrJoin(shapes, ", "), ") tuple(",
                    absl::StrJoin(names, ", "), "), sharding={", absl::StrJoin(shardings, ", "), "}\n");
    SmallProgram program;
    program.text = absl::StrCat(
        "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\nENTRY main {\n"
        "  zero = f32[] constant(0)\n",
        body_, "}");
    // The axes of a Mesh have prime sizes: an axis of size 4 is two of them.
    int axis = 0;
    for (int64_t size : mesh_) {
      AxisList unit;
      for (; size > 1; size /= 2) unit.push_back(axis++);
      program.units.push_back(unit);
    }
    return program;
  }

 private:
  struct Value {
    std::string name;
    std::vector<int64_t> dims;
    bool parameter = false;
    bool used = false;
  };

  int Below(int64_t n) { return static_cast<int>(random_() % n); }
  static std::string ShapeOf(const std::vector<int64_t>& dims) {
    return absl::StrCat("f32[", absl::StrJoin(dims, ","), "]");
  }

  // A sharding in which each mesh axis cuts a random dimension or none.
  std::string RandomSharding(const std::vector<int64_t>& dims) {
    std::vector<std::vector<int>> axes(dims.size() + 1);
    for (size_t i = 0; i < mesh_.size(); ++i) axes[Below(axes.size())].push_back(static_cast<int>(i));
    std::vector<int64_t> tiles;
    std::vector<int> order;
    for (const std::vector<int>& list : axes) {
      tiles.push_back(1);
      for (const int a : list) {
        tiles.back() *= mesh_[a];
        order.push_back(a);
      }
    }
    if (tiles.back() == Devices()) return "{replicated}";
    const bool whole = tiles.back() == 1;
    if (whole) tiles.pop_back();
    return absl::StrCat("{devices=[", absl::StrJoin(tiles, ","), "]<=[", absl::StrJoin(mesh_, ","), "]T(",
                        absl::StrJoin(order, ","), ")", whole ? "}" : " last_tile_dim_replicate}");
  }

  int64_t Devices() const {
    int64_t n = 1;
    for (const int64_t size : mesh_) n *= size;
    return n;
  }

  void AddParameter() {
    Value value;
    value.name = absl::StrCat("p", values_.size());
    for (int d = 0; d < 2; ++d) value.dims.push_back(int64_t{16} << Below(3));
    value.parameter = true;
    absl::StrAppend(&body_, "  ", value.name, " = ", ShapeOf(value.dims), " parameter(", values_.size(),
                    "), sharding=", RandomSharding(value.dims), "\n");
    values_.push_back(std::move(value));
  }

  void Add(std::vector<int64_t> dims, const std::string& call) {
    Value value;
    value.name = absl::StrCat("v", values_.size());
    value.dims = std::move(dims);
    absl::StrAppend(&body_, "  ", value.name, " = ", ShapeOf(value.dims), " ", call, "\n");
    values_.push_back(std::move(value));
  }

  void AddOp() {
    Value& x = values_[std::max(0, static_cast<int>(values_.size()) - 1 - Below(4))];
    Value& y = values_[Below(values_.size())];
    const std::string one = absl::StrCat("(", x.name, ")"),
                      two = absl::StrCat("(", x.name, ", ", y.name, ")");
    const auto use = [&](bool both) {
      x.used = true;
      if (both) y.used = true;
    };
    const int kind = Below(8);
    if (kind < 3 && x.dims.size() == 2 && y.dims.size() == 2) {
      for (int i = 0; i < 2; ++i) {
        for (int k = 0; k < 2; ++k) {
          if (x.dims[i] != y.dims[k]) continue;
          use(true);
          return Add({x.dims[1 - i], y.dims[1 - k]}, absl::StrCat("dot", two, ", lhs_contracting_dims={", i,
                                                                  "}, rhs_contracting_dims={", k, "}"));
        }
      }
    }
    if (kind < 5 && x.dims == y.dims) {
      use(true);
      return Add(x.dims, absl::StrCat(kind == 3 ? "multiply" : "add", two));
    }
    use(false);
    if (kind == 5 && x.dims.size() == 2) {
      return Add({x.dims[1], x.dims[0]}, absl::StrCat("transpose", one, ", dimensions={1,0}"));
    }
    if (kind == 6 && x.dims.size() == 2) {
      const int d = Below(2);
      return Add({x.dims[1 - d]},
                 absl::StrCat("reduce(", x.name, ", zero), dimensions={", d, "}, to_apply=add"));
    }
    if (kind == 6) return Add({x.dims[0], 32}, absl::StrCat("broadcast", one, ", dimensions={0}"));
    Add(x.dims, absl::StrCat(kind == 7 ? "negate" : "tanh", one));
  }

  std::mt19937_64 random_;
  std::vector<int64_t> mesh_;
  std::vector<Value> values_;
  std::string body_;
};

int64_t DevicesOf(const SmallProgram& program) {
  int64_t devices = 1;
  for (const AxisList& unit : program.units) devices <<= unit.size();
  return devices;
}

}  // namespace

SmallProgram MakeSmallProgram(uint64_t seed) { return Maker(seed).Make(); }

void ExpectRunsEqual(const SmallProgram& program) {
  ExpectEquivalent(program.text, {}, {DevicesOf(program)}, /*tolerance=*/1e-5);
}

Optimality OptimalityOf(const SmallProgram& program, size_t max_states) {
  const int64_t devices = DevicesOf(program);
  const std::unique_ptr<Module> module = ProgramFor(program.text, devices);
  PartitionOptions options;
  options.num_partitions = devices;
  const absl::StatusOr<Partitioned> partitioned = PartitionModule(*module, options);
  TOROID_CHECK(partitioned.ok(), partitioned.status().message(), program.text);
  const WholeRun run = WorkOfWholeRun(*partitioned->module);
  const absl::StatusOr<std::unique_ptr<PreparedProgram>> prepared = PrepareProgram(*module, options);
  TOROID_CHECK(prepared.ok(), prepared.status().message());
  Optimality optimality;
  optimality.sent = run.sent_bytes;
  // The units are valid only if the prepared mesh has the same axes, all of size 2.
  if ((*prepared)->annotations.mesh.num_axes() == __builtin_ctzll(devices)) {
    const std::optional<double> fewest = FewestBytes(**prepared, program.units, run, max_states);
    optimality.known = fewest.has_value();
    optimality.fewest = fewest.value_or(run.sent_bytes);
  }
  return optimality;
}

}  // namespace toroid
