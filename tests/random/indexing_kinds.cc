// Kinds of random programs: ops that address an operand by computed indices.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/random/generator.h"

namespace toroid {

// A parameter of indices, some of them out of bounds.
std::string Generator::Indices(const std::string& type, const Dims& dims) {
  if (Chance(25)) {
    const std::string name = Fresh("at");
    Line(absl::StrCat(name, " = ", ShapeText(type, dims), " constant(", ConstantIntegers(dims, type), ")"));
    return name;
  }
  huge_ = true;
  const std::string name = Parameter(type, dims, type[0] == 'u' ? 0 : -3, 12);
  huge_ = false;
  return name;
}

// The text of a constant of small integers; sometimes the smallest or largest of the type.
std::string Generator::ConstantIntegers(const Dims& dims, const std::string& type) {
  if (dims.empty()) {
    if (!Chance(5)) return absl::StrCat(Uniform(type[0] == 'u' ? 0 : -1, 6));
    const int bits = type == "s8" || type == "u8" ? 8 : type == "s32" || type == "u32" ? 32 : 64;
    if (type[0] == 'u') return Chance(50) ? "0" : absl::StrCat(~uint64_t{0} >> (64 - bits));
    return absl::StrCat(Chance(50) ? INT64_MIN >> (64 - bits) : INT64_MAX >> (64 - bits));
  }
  std::vector<std::string> rows;
  for (int64_t i = 0; i < dims[0]; ++i)
    rows.push_back(ConstantIntegers(Dims(dims.begin() + 1, dims.end()), type));
  return absl::StrCat("{", absl::StrJoin(rows, ", "), "}");
}

// Index vectors along the last dimension of `dims`, into dimensions `map` of `in`. If a batch dimension is as
// long as one of these, the component is sometimes an iota.
std::string Generator::CountedIndices(const std::string& type, const Dims& dims, const Dims& in,
                                      const Dims& map) {
  const int last = static_cast<int>(dims.size()) - 1;
  for (size_t k = 0; k < map.size(); ++k) {
    for (int d = 0; d < last; ++d) {
      if (dims[d] != in[map[k]] || !Chance(70)) continue;
      const auto part = [&](int64_t count) {
        Dims sizes = dims;
        sizes[last] = count;
        return sizes;
      };
      std::vector<std::string> pieces;
      if (k > 0) pieces.push_back(Indices(type, part(static_cast<int64_t>(k))));
      Result(type, part(1), absl::StrCat("iota(), iota_dimension=", d));
      pieces.push_back(result_);
      const int64_t behind = dims[last] - static_cast<int64_t>(k) - 1;
      if (behind > 0) pieces.push_back(Indices(type, part(behind)));
      if (pieces.size() == 1) return pieces[0];
      Result(type, dims,
             absl::StrCat("concatenate(", absl::StrJoin(pieces, ", "), "), dimensions={", last, "}"));
      return result_;
    }
  }
  return Indices(type, dims);
}

void Generator::DynamicSlice() {
  const Dims in = RandomDims(1, 3);
  Dims out;
  const std::string index_type = Of({"s32", "s64", "u8", "u32", "s8", "u64"});
  const std::string type = NumberType();
  std::vector<std::string> operands = {Parameter(type, in)};
  for (const int64_t size : in) {
    out.push_back(Chance(40) ? size : Uniform(std::min<int64_t>(size, 1), size));
    operands.push_back(Indices(index_type, {}));
  }
  Result(type, out,
         absl::StrCat("dynamic-slice(", absl::StrJoin(operands, ", "), "), dynamic_slice_sizes=", List(out)));
}

void Generator::DynamicUpdateSlice() {
  const Dims in = RandomDims(1, 3);
  Dims update;
  for (const int64_t size : in) update.push_back(Chance(40) ? size : Uniform(0, size));
  const std::string index_type = Of({"s32", "s64", "u8", "u32", "s8", "u64"});
  const std::string type = NumberType();
  std::vector<std::string> operands = {Parameter(type, in), Parameter(type, update)};
  for (size_t i = 0; i < in.size(); ++i) operands.push_back(Indices(index_type, {}));
  Result(type, in, absl::StrCat("dynamic-update-slice(", absl::StrJoin(operands, ", "), ")"));
}

void Generator::Gather() {
  const Dims in = NonEmptyDims(1, 3);
  const int64_t rank = static_cast<int64_t>(in.size());
  Dims batch = RandomDims(0, 2);
  // Dimensions that indices address, by single elements or by windows.
  Dims map, collapsed, slice(in.begin(), in.end()), offset_sizes;
  for (int64_t d = 0; d < rank; ++d) {
    const bool indexed = Chance(60);
    if (indexed) map.push_back(d);
    if (Chance(indexed ? 70 : 20)) {
      collapsed.push_back(d);
      slice[d] = 1;
    } else {
      if (indexed && Chance(50)) slice[d] = Uniform(1, in[d]);
      offset_sizes.push_back(slice[d]);
    }
  }
  std::shuffle(map.begin(), map.end(), random_);
  if (!batch.empty() && !map.empty() && Chance(30)) batch[0] = in[map[0]];
  Dims indices = batch;
  indices.push_back(static_cast<int64_t>(map.size()));
  // Offset dimensions at random places of the result.
  Dims out, offset_dims;
  size_t b = 0, o = 0;
  while (b < batch.size() || o < offset_sizes.size()) {
    if (o < offset_sizes.size() && (b == batch.size() || Chance(50))) {
      offset_dims.push_back(static_cast<int64_t>(out.size()));
      out.push_back(offset_sizes[o++]);
    } else {
      out.push_back(batch[b++]);
    }
  }
  const std::string type = NumberType(), index_type = Of({"s32", "s64", "u8", "u32", "u64"});
  const std::string x = Parameter(type, in), i = CountedIndices(index_type, indices, in, map);
  Result(type, out,
         absl::StrCat("gather(", x, ", ", i, "), offset_dims=", List(offset_dims),
                      ", collapsed_slice_dims=", List(collapsed), ", start_index_map=", List(map),
                      ", index_vector_dim=", batch.size(), ", slice_sizes=", List(slice)));
}

void Generator::Scatter() {
  const Dims in = NonEmptyDims(1, 3);
  Dims batch = RandomDims(0, 2);
  Dims map, inserted, window;
  for (int64_t d = 0; d < static_cast<int64_t>(in.size()); ++d) {
    const bool indexed = Chance(60);
    if (indexed) map.push_back(d);
    if (Chance(indexed ? 75 : 20)) {
      inserted.push_back(d);
    } else {
      window.push_back(indexed && Chance(50) ? Uniform(1, in[d]) : in[d]);
    }
  }
  if (!batch.empty() && !map.empty() && Chance(30)) batch.back() = in[map.back()];
  Dims indices = batch;
  indices.push_back(static_cast<int64_t>(map.size()));
  Dims updates = batch, window_dims;
  for (const int64_t size : window) {
    window_dims.push_back(static_cast<int64_t>(updates.size()));
    updates.push_back(size);
  }
  const std::string type = Of({"f32", "s32", "u8"});
  const std::string opcode = type == "f32" ? Of({"add", "add", "maximum", "minimum"})
                                           : Of({"add", "maximum", "minimum", "multiply", "and", "or"});
  // If no two windows can meet, the update may also replace the operand's values.
  const bool is_single = std::all_of(batch.begin(), batch.end(), [](int64_t size) { return size == 1; });
  std::string combiner;
  if (is_single && Chance(50)) {
    combiner = Fresh("replace");
    Computation(absl::StrCat(combiner, " {\n  a = ", type, "[] parameter(0)\n  ROOT b = ", type,
                             "[] parameter(1)\n}\n"));
  } else {
    combiner = ReducerText(opcode, type);
  }
  const std::string index_type = Of({"s32", "s64", "u8", "u64"});
  const std::string x = Parameter(type, in);
  const std::string i = CountedIndices(index_type, indices, in, map);
  const std::string u = Parameter(type, updates);
  Result(type, in,
         absl::StrCat("scatter(", x, ", ", i, ", ", u, "), update_window_dims=", List(window_dims),
                      ", inserted_window_dims=", List(inserted), ", scatter_dims_to_operand_dims=", List(map),
                      ", index_vector_dim=", batch.size(), ", to_apply=", combiner));
}

// A dynamic slice or a gather of `x`: partial values of any reducer meet indices into a cut dimension.
std::string Generator::IndexedTail(const std::string& x, const std::string& type, const Dims& dims) {
  const std::string index_type = Of({"s32", "u64"});
  if (Chance(50)) {
    std::vector<std::string> operands = {x};
    Dims out;
    for (const int64_t size : dims) {
      out.push_back(Chance(40) ? size : Uniform(std::min<int64_t>(size, 1), size));
      operands.push_back(Indices(index_type, {}));
    }
    Result(
        type, out,
        absl::StrCat("dynamic-slice(", absl::StrJoin(operands, ", "), "), dynamic_slice_sizes=", List(out)));
    return result_;
  }
  // Whole rows, or columns, by number.
  const int64_t d = Uniform(0, static_cast<int64_t>(dims.size()) - 1), n = Uniform(1, 5);
  Dims slice = dims, offset, out = {n};
  slice[d] = 1;
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
    if (i == d) continue;
    out.push_back(dims[i]);
    offset.push_back(static_cast<int64_t>(offset.size()) + 1);
  }
  const std::string indices = Indices(index_type, {n});
  Result(
      type, out,
      absl::StrCat("gather(", x, ", ", indices, "), offset_dims=", List(offset), ", collapsed_slice_dims={",
                   d, "}, start_index_map={", d, "}, index_vector_dim=1, slice_sizes=", List(slice)));
  return result_;
}

}  // namespace toroid
