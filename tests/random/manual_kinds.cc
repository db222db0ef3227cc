// Kinds of random programs: regions written per device, with and without axes left to the partitioner;
// several replicas.
//
// A region is written twice: per device, and as the equivalent ops on whole arrays.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/random/generator.h"

namespace toroid {
namespace {

// A value of a region: its whole dimensions, and the manual axes that cut them.
struct RegionValue {
  std::string name;
  Dims dims;
  std::vector<AxisList> cut;
};

Dims LocalDims(const Mesh& mesh, const RegionValue& value) {
  Dims dims = value.dims;
  for (size_t d = 0; d < dims.size(); ++d) dims[d] /= mesh.Product(value.cut[d]);
  return dims;
}

Sharding CutOf(const std::vector<AxisList>& cut) {
  Sharding sharding;
  sharding.dims.assign(cut.begin(), cut.end());
  return sharding;
}

// ", channel_id=1, use_global_device_ids=true, replica_groups={{0,2},{1,3}}": groups of devices that differ
// in `axes` alone, in the order of their tiles.
std::string GroupsText(const Mesh& mesh, const AxisList& axes) {
  std::vector<std::string> groups;
  const AxisList others = mesh.InOrder(mesh.AllAxes() & ~axes.Set());
  for (const int64_t first : mesh.Positions(others)) {
    Dims members;
    for (const int64_t offset : mesh.Positions(axes))
      members.push_back(mesh.order().DeviceAt(first + offset));
    groups.push_back(List(members));
  }
  return absl::StrCat(", replica_groups={", absl::StrJoin(groups, ","), "}, use_global_device_ids=true");
}

std::string Bounds(const Dims& dims, int64_t d, int64_t from, int64_t to) {
  std::vector<std::string> bounds;
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
    bounds.push_back(absl::StrCat("[", i == d ? from : 0, ":", i == d ? to : dims[i], "]"));
  }
  return absl::StrJoin(bounds, ", ");
}

}  // namespace

void Generator::ManualRegion() {
  if (mesh_.num_axes() == 0) return Elementwise();
  program_.options.device_order_seed.reset();  // Groups name devices, so the order must be the default.
  AxisSet manual = 0;
  for (int axis = 0; axis < mesh_.num_axes(); ++axis) {
    if (Chance(60)) manual |= AxisSet{1} << axis;
  }
  if (manual == 0) manual = AxisSet{1} << Uniform(0, mesh_.num_axes() - 1);
  const bool open = Chance(70);
  const auto text = [&](Sharding sharding, AxisSet local) {
    sharding.manual = local;
    return absl::StrCat(", sharding=", mesh_.ToHlo(sharding).ToString());
  };
  // Dimensions of a value that are left to the partitioner, if any.
  const auto unspecified = [&](size_t rank) {
    Dims dims(rank);
    std::iota(dims.begin(), dims.end(), 0);
    return open ? absl::StrCat(", backend_config=\"unspecified_dims=[", absl::StrJoin(dims, ","), "]\"")
                : std::string();
  };
  // `body_` holds the region, `reference_` the equivalent on whole arrays.
  const auto line = [&](const RegionValue& value, const std::string& local, const std::string& whole) {
    Line(absl::StrCat(value.name, " = ", ShapeText("s32", LocalDims(mesh_, value)), " ", local));
    absl::StrAppend(&reference_, "  ", value.name, " = ", ShapeText("s32", value.dims), " ", whole, "\n");
  };
  int channel = 0;
  const auto enter = [&](RegionValue value) {
    for (size_t d = 0; d < value.dims.size(); ++d) value.dims[d] *= mesh_.Product(value.cut[d]);
    const int64_t number = static_cast<int64_t>(program_.arguments.size());
    const std::string p = Parameter("s32", value.dims, -2, 2), outside = Fresh("outside");
    value.name = Fresh("v");
    absl::StrAppend(&reference_, "  ", p, " = ", ShapeText("s32", value.dims), " parameter(", number, ")\n");
    Line(absl::StrCat(outside, " = ", ShapeText("s32", value.dims), " custom-call(", p,
                      "), custom_call_target=\"Sharding\"", text(CutOf(value.cut), 0),
                      unspecified(value.dims.size())));
    line(value,
         absl::StrCat("custom-call(", outside, "), custom_call_target=\"SPMDFullToShardShape\"",
                      text(Sharding::Replicated(static_cast<int>(value.dims.size())), manual),
                      unspecified(value.dims.size())),
         absl::StrCat("copy(", p, ")"));
    return value;
  };
  std::vector<RegionValue> values;
  RegionValue first;
  for (int64_t rank = Uniform(1, 3); rank > 0; --rank) first.dims.push_back(Uniform(1, 5));
  first.cut.resize(first.dims.size());
  for (const int axis : mesh_.InOrder(manual)) {
    if (Chance(70)) first.cut[Uniform(0, static_cast<int64_t>(first.dims.size()) - 1)].push_back(axis);
  }
  values.push_back(enter(first));
  if (Chance(60)) values.push_back(enter(first));
  for (int64_t steps = Uniform(1, 4); steps > 0; --steps) {
    const RegionValue x = Pick(values);
    RegionValue y = x;
    y.name = Fresh("v");
    const int64_t rank = static_cast<int64_t>(x.dims.size());
    const int64_t d = rank == 0 ? -1 : Uniform(0, rank - 1);
    const std::string groups = d < 0 ? "" : GroupsText(mesh_, x.cut[d]);
    switch (Uniform(0, 7)) {
      case 0:
        line(y, absl::StrCat("negate(", x.name, ")"), absl::StrCat("negate(", x.name, ")"));
        break;
      case 1: {
        const RegionValue& z = Pick(values);
        const bool alike = z.dims == x.dims && z.cut == x.cut;
        const std::string op =
            absl::StrCat(Of({"add", "maximum", "multiply"}), "(", x.name, ", ", alike ? z.name : x.name, ")");
        line(y, op, op);
        break;
      }
      // A sum over a dimension; partial sums are added by an explicit all-reduce.
      case 2: {
        if (d < 0) continue;
        y.dims.erase(y.dims.begin() + d);
        y.cut.erase(y.cut.begin() + d);
        const std::string init = Fresh("init"), reducer = ReducerText("add", "s32");
        Line(absl::StrCat(init, " = s32[] constant(0)"));
        absl::StrAppend(&reference_, "  ", init, " = s32[] constant(0)\n");
        const std::string reduce =
            absl::StrCat("reduce(", x.name, ", ", init, "), dimensions={", d, "}, to_apply=", reducer);
        if (x.cut[d].empty()) {
          line(y, reduce, reduce);
          break;
        }
        const std::string part = Fresh("part");
        Line(absl::StrCat(part, " = ", ShapeText("s32", LocalDims(mesh_, y)), " ", reduce));
        line(y,
             absl::StrCat("all-reduce(", part, "), channel_id=", ++channel, groups, ", to_apply=", reducer),
             reduce);
        break;
      }
      case 3: {
        Dims permutation(rank);
        std::iota(permutation.begin(), permutation.end(), 0);
        std::shuffle(permutation.begin(), permutation.end(), random_);
        for (int64_t i = 0; i < rank; ++i)
          y.dims[i] = x.dims[permutation[i]], y.cut[i] = x.cut[permutation[i]];
        const std::string op = absl::StrCat("transpose(", x.name, "), dimensions=", List(permutation));
        line(y, op, op);
        break;
      }
      case 4:
        if (d < 0 || x.cut[d].empty()) continue;
        y.cut[d] = AxisList();
        line(y,
             absl::StrCat("all-gather(", x.name, "), channel_id=", ++channel, groups, ", dimensions={", d,
                          "}"),
             absl::StrCat("copy(", x.name, ")"));
        break;
      // Tiles move to the next device.
      case 5: {
        if (d < 0 || x.cut[d].empty()) continue;
        std::vector<std::string> pairs;
        const std::vector<int64_t> along = mesh_.Positions(x.cut[d]);
        for (const int64_t base : mesh_.Positions(mesh_.InOrder(mesh_.AllAxes() & ~x.cut[d].Set()))) {
          for (size_t i = 0; i < along.size(); ++i) {
            pairs.push_back(absl::StrCat("{", mesh_.order().DeviceAt(base + along[i]), ",",
                                         mesh_.order().DeviceAt(base + along[(i + 1) % along.size()]), "}"));
          }
        }
        const int64_t tile = LocalDims(mesh_, x)[d], n = x.dims[d];
        const std::string last = Fresh("last"), rest = Fresh("rest");
        Dims moved = x.dims, kept = x.dims;
        moved[d] = tile, kept[d] = n - tile;
        absl::StrAppend(&reference_, "  ", last, " = ", ShapeText("s32", moved), " slice(", x.name,
                        "), slice={", Bounds(x.dims, d, n - tile, n), "}\n");
        absl::StrAppend(&reference_, "  ", rest, " = ", ShapeText("s32", kept), " slice(", x.name,
                        "), slice={", Bounds(x.dims, d, 0, n - tile), "}\n");
        line(y,
             absl::StrCat("collective-permute(", x.name, "), channel_id=", ++channel,
                          ", source_target_pairs={", absl::StrJoin(pairs, ","), "}"),
             absl::StrCat("concatenate(", last, ", ", rest, "), dimensions={", d, "}"));
        break;
      }
      // A product with weights from outside, cut like the dimension that is summed.
      case 6: {
        if (d < 0) continue;
        RegionValue w;
        w.dims = {LocalDims(mesh_, x)[d], Uniform(1, 5)};
        w.cut = {x.cut[d], AxisList()};
        w = enter(w);
        y.dims.erase(y.dims.begin() + d);
        y.cut.erase(y.cut.begin() + d);
        y.dims.push_back(w.dims[1]);
        y.cut.emplace_back();
        const std::string dot = absl::StrCat("dot(", x.name, ", ", w.name, "), lhs_contracting_dims={", d,
                                             "}, rhs_contracting_dims={0}");
        if (x.cut[d].empty()) {
          line(y, dot, dot);
          break;
        }
        const std::string part = Fresh("part"), reducer = ReducerText("add", "s32");
        Line(absl::StrCat(part, " = ", ShapeText("s32", LocalDims(mesh_, y)), " ", dot));
        line(y,
             absl::StrCat("all-reduce(", part, "), channel_id=", ++channel, groups, ", to_apply=", reducer),
             dot);
        break;
      }
      // Inside the region, cut over an axis that is left to the partitioner.
      default: {
        const AxisList free = mesh_.InOrder(mesh_.AllAxes() & ~manual);
        if (d < 0 || free.empty()) continue;
        Sharding inside = Sharding::Replicated(static_cast<int>(rank));
        inside.dims[d].push_back(free[static_cast<int>(Uniform(0, free.size() - 1))]);
        line(y,
             absl::StrCat("custom-call(", x.name, "), custom_call_target=\"Sharding\"", text(inside, manual)),
             absl::StrCat("copy(", x.name, ")"));
        break;
      }
    }
    values.push_back(y);
  }
  // The result leaves the region.
  const RegionValue& last = values.back();
  Result("s32", last.dims,
         absl::StrCat("custom-call(", last.name, "), custom_call_target=\"SPMDShardToFullShape\"",
                      text(CutOf(last.cut), 0), unspecified(last.dims.size())));
  absl::StrAppend(&reference_, "  ", result_, " = ", ShapeText("s32", last.dims), " copy(", last.name, ")\n");
  reference_end_ = body_.size();
  Result("s32", last.dims, absl::StrCat("negate(", result_, ")"));
}

// Several replicas of all partitions, with sums and exchanges between them.
void Generator::Replicas() {
  const int64_t replicas = Pick<int64_t>({2, 2, 3, 4});
  header_ = absl::StrCat(", replica_count=", replicas);
  Dims dims = NonEmptyDims(1, 3);
  const int64_t d = Uniform(0, static_cast<int64_t>(dims.size()) - 1);
  dims[d] *= Chance(50) ? replicas : 1;
  const std::string x = Parameter("s32", dims, -2, 2), id = Fresh("id"), number = Fresh("number"),
                    wide = Fresh("wide");
  Line(absl::StrCat(id, " = u32[] replica-id()"));
  Line(absl::StrCat(number, " = s32[] convert(", id, ")"));
  Line(absl::StrCat(wide, " = ", ShapeText("s32", dims), " broadcast(", number, "), dimensions={}"));
  Result("s32", dims, absl::StrCat("multiply(", x, ", ", wide, ")"));
  Result("s32", dims, absl::StrCat("add(", result_, ", ", x, ")"));
  if (Chance(50)) {  // A sum over a dimension that may be cut.
    const int64_t n = Uniform(1, 5);
    Dims out = dims;
    out.erase(out.begin() + d);
    out.push_back(n);
    const std::string w = Parameter("s32", {dims[d], n}, -2, 2);
    Result("s32", out,
           absl::StrCat("dot(", result_, ", ", w, "), lhs_contracting_dims={", d,
                        "}, rhs_contracting_dims={0}"));
  }
  Dims all(replicas);
  std::iota(all.begin(), all.end(), 0);
  std::shuffle(all.begin(), all.end(), random_);
  std::string groups =
      Chance(30) ? ", replica_groups={}" : absl::StrCat(", replica_groups={", List(all), "}");
  if (replicas == 4 && Chance(40)) groups = ", replica_groups={{0,2},{3,1}}";
  const int64_t members = groups.find("},{") != std::string::npos ? 2 : replicas;
  Dims out = result_dims_;
  const int64_t e = out.empty() ? -1 : Uniform(0, static_cast<int64_t>(out.size()) - 1);
  const bool divides = e >= 0 && out[e] % members == 0;
  switch (Uniform(0, 5)) {
    case 0:
      if (e < 0) break;
      out[e] *= members;
      Result("s32", out, absl::StrCat("all-gather(", result_, ")", groups, ", dimensions={", e, "}"));
      return;
    case 1:
      if (!divides) break;
      Result("s32", out, absl::StrCat("all-to-all(", result_, ")", groups, ", dimensions={", e, "}"));
      return;
    case 2:
      if (!divides) break;
      out[e] /= members;
      Result("s32", out,
             absl::StrCat("reduce-scatter(", result_, ")", groups, ", dimensions={", e,
                          "}, to_apply=", ReducerText("add", "s32")));
      return;
    case 3:
      Result("s32", out,
             absl::StrCat("collective-permute(", result_, "), source_target_pairs={{", all[0], ",", all[1],
                          "},{", all[1], ",", all[0], "}}"));
      return;
    default:
      break;
  }
  Result("s32", out,
         absl::StrCat("all-reduce(", result_, ")", groups,
                      ", to_apply=", ReducerText(Of({"add", "add", "maximum", "minimum"}), "s32")));
}

}  // namespace toroid
