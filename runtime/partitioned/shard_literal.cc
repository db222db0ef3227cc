#include "runtime/partitioned/shard_literal.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/native_types.h"
#include "runtime/loops/convert_value.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/mesh/literal_buffer.h"
#include "runtime/numerics/compare.h"

namespace toroid {
namespace {

absl::Status CheckSharding(const HloSharding& sharding, const Shape& shape, int64_t num_devices) {
  switch (sharding.kind()) {
    case HloSharding::Kind::kReplicated:
    case HloSharding::Kind::kUnknown:
    case HloSharding::Kind::kUnreduced:
      return absl::OkStatus();
    case HloSharding::Kind::kMaximal:
      if (sharding.maximal_device() >= num_devices) {
        return absl::InvalidArgumentError(absl::StrCat(sharding.ToString(), " on ", num_devices, " devices"));
      }
      return absl::OkStatus();
    case HloSharding::Kind::kTiled:
      break;
    default:
      return absl::UnimplementedError(absl::StrCat("values with sharding ", sharding.ToString()));
  }
  for (const HloSharding::Subgroup& group : sharding.subgroups()) {
    if (group.type != xla::OpSharding::REPLICATED && group.type != xla::OpSharding::UNREDUCED) {
      return absl::UnimplementedError(absl::StrCat("values with sharding ", sharding.ToString()));
    }
  }
  if (sharding.NumDevices() != num_devices) {
    return absl::InvalidArgumentError(absl::StrCat("sharding ", sharding.ToString(), " names ",
                                                   sharding.NumDevices(), " devices, the mesh has ",
                                                   num_devices));
  }
  return sharding.Validate(shape);
}

// A value that shows in any result it reaches: NaN, the largest integer, true.
void WritePoison(PrimitiveType type, char* element) {
  VisitArrayType(
      type,
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        T* value = reinterpret_cast<T*>(element);
        constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
        if constexpr (kIsPred<T>) {
          *value = true;
        } else if constexpr (kIsInt<T>) {
          *value = SaturatingToInt<T>(std::numeric_limits<double>::infinity());
        } else if constexpr (IsComplexType<T>::value) {
          *value = T(kNan, kNan);
        } else if constexpr (IsSmallFloat<T>::value) {
          *value = T::kHasNan ? T::QuietNan() : T::MaxFinite();
        } else {
          *value = T(kNan);
        }
        return 0;
      },
      0);
}

bool IsUnreduced(const HloSharding& sharding) {
  return sharding.kind() == HloSharding::Kind::kUnreduced ||
         std::any_of(sharding.subgroups().begin(), sharding.subgroups().end(),
                     [](const auto& group) { return group.type == xla::OpSharding::UNREDUCED; });
}

// Unreduced shards are addends of one tile: the first device of the group of addends that `device` belongs
// to. `device` itself if nothing is unreduced.
int64_t FirstAddend(const HloSharding& sharding, int64_t device) {
  if (sharding.kind() == HloSharding::Kind::kUnreduced) return 0;
  if (!IsUnreduced(sharding)) return device;
  int64_t position = sharding.order().PositionOf(device), stride = 1;
  for (auto group = sharding.subgroups().rbegin(); group != sharding.subgroups().rend(); ++group) {
    if (group->type == xla::OpSharding::UNREDUCED) position -= position / stride % group->size * stride;
    stride *= group->size;
  }
  return sharding.order().DeviceAt(position);
}

// sum += addend, for elements of an array type.
void AddArrays(PrimitiveType type, const char* addend, char* sum, int64_t n) {
  VisitArrayType(
      type,
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        const T* a = reinterpret_cast<const T*>(addend);
        T* s = reinterpret_cast<T*>(sum);
        for (int64_t i = 0; i < n; ++i) {
          if constexpr (kIsPred<T>) {
            s[i] = s[i] || a[i];
          } else if constexpr (kIsInt<T>) {
            s[i] = ConvertValue<T>(ConvertValue<uint64_t>(s[i]) + ConvertValue<uint64_t>(a[i]));
          } else if constexpr (IsSmallFloat<T>::value) {
            s[i] = ConvertValue<T>(ConvertValue<float>(s[i]) + ConvertValue<float>(a[i]));
          } else {
            s[i] = s[i] + a[i];
          }
        }
        return 0;
      },
      0);
}

// Calls f(leaf shape, leaf number) for each leaf, in pre-order, and builds a shape of the results.
template <typename F>
absl::StatusOr<Shape> MapLeaves(const Shape& shape, int* leaf, F&& f) {
  if (!shape.IsTuple()) return f(shape, (*leaf)++);
  std::vector<Shape> elements;
  for (const Shape& element : shape.tuple_shapes()) {
    ASSIGN_OR_RETURN(Shape mapped, MapLeaves(element, leaf, f));
    elements.push_back(std::move(mapped));
  }
  return Shape::Tuple(std::move(elements));
}

absl::Status CheckLeaves(const Shape& shape, absl::Span<const HloSharding> shardings) {
  if (static_cast<int64_t>(shardings.size()) == shape.NumLeaves()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(shardings.size(), " shardings for ", shape.NumLeaves(), " leaves of ", shape.ToString()));
}

// The part of a global array that a device holds: its offset and size without padding.
struct Tile {
  Dims offset, size;
  bool full = true;  // No padding.
};

Tile TileOf(const HloSharding& sharding, const Shape& global, const Shape& local, int64_t device) {
  Tile tile;
  tile.offset = sharding.TileOffset(global.dims(), device);  // Zero unless tiled.
  for (int d = 0; d < global.rank(); ++d) {
    tile.size.push_back(std::min(local.dim(d), global.dim(d) - tile.offset[d]));
    tile.full &= tile.size[d] == local.dim(d);
  }
  return tile;
}

// The loop over the valid part of a tile; sets `offset` to where the tile begins in the global array.
StridedLoop TileLoop(const Tile& tile, const Shape& global, const Shape& local, bool to_local,
                     int64_t* offset) {
  const int64_t width = ByteWidth(global.element_type());
  const Dims global_strides = RowMajorStrides(global.dims(), width),
             strides = RowMajorStrides(local.dims(), width);
  StridedLoop loop;
  loop.width = width;
  *offset = 0;
  for (int d = 0; d < global.rank(); ++d) {
    *offset += tile.offset[d] * global_strides[d];
    if (to_local) {
      loop.Add(tile.size[d], global_strides[d], strides[d]);
    } else {
      loop.Add(tile.size[d], strides[d], global_strides[d]);
    }
  }
  loop.Optimize();
  return loop;
}

// Devices [begin, end) of replicas of `count` devices each.
struct Devices {
  int64_t begin, end, count;
};

absl::Status CutLeaf(const Literal& global, const HloSharding& sharding, Devices devices,
                     MeshBuffer* buffer) {
  const bool unreduced = IsUnreduced(sharding);
  if ((!sharding.IsTiled() && !unreduced) || !global.shape().IsArray())
    return BufferFromLiteral(global, buffer);
  const Shape& shape = global.shape();
  Shape local = shape;
  if (sharding.IsTiled()) local.set_dims(sharding.ShardDims(shape.dims()));
  const int64_t bytes = local.ByteSize();
  *buffer = MeshBuffer::Array(CheckedMultiply(bytes, devices.end - devices.begin).value_or(-1),
                              /*uniform=*/false);
  if (buffer->empty()) {
    return absl::ResourceExhaustedError(absl::StrCat("out of memory for ", local.ToString(), " on ",
                                                     devices.end - devices.begin, " devices"));
  }
  alignas(16) char poison[16];
  WritePoison(shape.element_type(), poison);
  for (int64_t i = devices.begin; i < devices.end; ++i) {
    const int64_t device = i % devices.count;
    char* out = buffer->mutable_data() + (i - devices.begin) * bytes;
    // The first addend is the value, the others are zero.
    if (FirstAddend(sharding, device) != device) {
      std::memset(out, 0, bytes);
      continue;
    }
    const Tile tile = TileOf(sharding, shape, local, device);
    if (!tile.full) Fill(out, poison, ByteWidth(shape.element_type()), local.NumElements());
    int64_t offset;
    const StridedLoop loop = TileLoop(tile, shape, local, /*to_local=*/true, &offset);
    StridedCopy(loop, global.bytes() + offset, out);
  }
  return absl::OkStatus();
}

absl::Status Cut(const Literal& global, absl::Span<const HloSharding> shardings, int* leaf, Devices devices,
                 MeshBuffer* buffer) {
  if (!global.shape().IsTuple()) return CutLeaf(global, shardings[(*leaf)++], devices, buffer);
  const int size = static_cast<int>(global.elements().size());
  *buffer = MeshBuffer::Tuple(size);
  for (int i = 0; i < size; ++i) {
    RETURN_IF_ERROR(Cut(global.element(i), shardings, leaf, devices, &buffer->mutable_element(i)));
  }
  return absl::OkStatus();
}

// The shard of one device, and of another that should hold the same tile; padding is made equal.
struct Rivals {
  Literal first, second;
};

// The shards that differ from the global array in the valid part of a tile, with `where` set to the first
// such element. Nullopt if they are equal.
std::optional<Rivals> FindDifference(const Tile& tile, const Shape& global, const Shape& local,
                                     const char* shard, const Literal& whole, Dims* where) {
  Rivals rivals{Literal(local), Literal(local)};
  char* held = rivals.first.mutable_bytes();
  const int64_t size = local.ByteSize();
  std::memcpy(held, shard, size);
  int64_t offset;
  const StridedLoop loop = TileLoop(tile, global, local, /*to_local=*/true, &offset);
  StridedCopy(loop, whole.bytes() + offset, held);
  if (std::memcmp(held, shard, size) == 0) return std::nullopt;
  std::memcpy(rivals.second.mutable_bytes(), shard, size);
  const std::optional<int64_t> first = FirstOtherElement(rivals.first, rivals.second);
  if (!first.has_value()) return std::nullopt;
  where->assign(global.rank(), 0);
  int64_t rest = *first;
  for (int d = global.rank() - 1; d >= 0; --d) {
    (*where)[d] = tile.offset[d] + rest % local.dim(d);
    rest /= local.dim(d);
  }
  return rivals;
}

// The error for two devices whose bits of output `leaf` differ. Ok if the difference is recorded as rounding.
absl::Status Judge(const Rivals& rivals, absl::Span<const int64_t> where, int64_t first, int64_t second,
                   int64_t leaf, double tolerance, const AssembleOptions& options) {
  const Comparison comparison = Compare(rivals.second, rivals.first, tolerance);
  const std::string place = absl::StrCat("on element [", absl::StrJoin(where, ","), "] of output ", leaf);
  if (!comparison.equal) {
    if (options.disagreement != nullptr) *options.disagreement = Disagreement{leaf, first, second};
    return absl::DataLossError(absl::StrCat("devices ", first, " and ", second, " disagree ", place,
                                            "; beyond rounding at ", comparison.outputs[0].difference));
  }
  std::string text = absl::StrCat("devices ", first, " and ", second, " differ by rounding ", place,
                                  ": relative error ", comparison.max_rel_error, ", allowed ", tolerance);
  if (options.rounding == nullptr) return absl::DataLossError(text);
  options.rounding->push_back(std::move(text));
  return absl::OkStatus();
}

// Number of an output: among all outputs, and among the arrays.
struct LeafNumbers {
  size_t any = 0, array = 0;
};

// An array with run-time sizes is whole on every device: its valid part, as a static shape.
absl::StatusOr<Literal> AssembleDynamic(const MeshBuffer& buffer, const Shape& shape, int64_t source,
                                        int64_t num_devices, int leaf, const AssembleOptions& options) {
  Literal value = LiteralFromBuffer(buffer, shape, source, num_devices);
  for (int64_t device = 0; options.check_replicas && device < num_devices; ++device) {
    if (SameBits(LiteralFromBuffer(buffer, shape, device, num_devices), value)) continue;
    return absl::DataLossError(
        absl::StrCat("devices ", source, " and ", device, " disagree on output ", leaf));
  }
  return value;
}

absl::StatusOr<Literal> AssembleLeaf(const MeshBuffer& buffer, const Shape& local, const Shape& global,
                                     const HloSharding& sharding, int64_t num_devices,
                                     const LeafNumbers& leaf, const AssembleOptions& options) {
  if (!global.IsArray()) return Literal(global);
  if (buffer.uniform() && !sharding.IsTiled() && !IsUnreduced(sharding))
    return LiteralFromBuffer(buffer, global, 0, num_devices);
  const int64_t source = sharding.kind() == HloSharding::Kind::kMaximal ? sharding.maximal_device() : 0;
  if (global.IsDynamic() && !sharding.IsTiled()) {
    return AssembleDynamic(buffer, global, source, num_devices, static_cast<int>(leaf.any), options);
  }
  Literal whole(global);
  char* out = whole.mutable_bytes();
  const int64_t bytes = local.ByteSize();
  // If shards are addends: the sums, each in the place of its first addend.
  std::string sums;
  if (IsUnreduced(sharding)) {
    sums.resize(static_cast<size_t>(num_devices * bytes));
    for (int64_t device = 0; device < num_devices; ++device) {
      AddArrays(local.element_type(), buffer.data() + (buffer.uniform() ? 0 : device * bytes),
                sums.data() + FirstAddend(sharding, device) * bytes, local.NumElements());
    }
  }
  // For each tile the device it was taken from.
  std::vector<int64_t> giver(num_devices, -1);
  const auto tile_number = [&](int64_t device) -> int64_t {
    if (!sharding.IsTiled()) return 0;
    int64_t number = 0;
    const Dims index = sharding.TileIndex(device, global.rank());
    for (int d = 0; d < global.rank(); ++d) number = number * sharding.tiles()[d] + index[d];
    return number;
  };
  bool rounded = false;
  for (int64_t step = 0; step < num_devices; ++step) {
    const int64_t device = (source + step) % num_devices;
    if (FirstAddend(sharding, device) != device) continue;
    const char* shard =
        sums.empty() ? buffer.data() + (buffer.uniform() ? 0 : device * bytes) : sums.data() + device * bytes;
    Tile tile;
    if (sharding.IsTiled()) {
      tile = TileOf(sharding, global, local, device);
    } else {
      tile.offset.assign(global.rank(), 0);
      tile.size.assign(global.dims().begin(), global.dims().end());
    }
    int64_t& first = giver[tile_number(device)];
    if (first < 0) {
      first = device;
      int64_t offset;
      const StridedLoop loop = TileLoop(tile, global, local, /*to_local=*/false, &offset);
      StridedCopy(loop, shard, out + offset);
      continue;
    }
    if (!options.check_replicas || sharding.kind() == HloSharding::Kind::kMaximal) continue;
    Dims where;
    const std::optional<Rivals> rivals = FindDifference(tile, global, local, shard, whole, &where);
    if (!rivals.has_value()) continue;
    const size_t said = options.rounding == nullptr ? 0 : options.rounding->size();
    const size_t given = options.tolerances.size() == 1 ? 0 : leaf.array;
    const double tolerance =
        given < options.tolerances.size() ? options.tolerances[given] : Tolerance(local.element_type());
    RETURN_IF_ERROR(Judge(*rivals, where, first, device, leaf.any, tolerance, options));
    // Records one difference per output.
    if (rounded) options.rounding->resize(said);
    rounded = true;
  }
  return whole;
}

absl::StatusOr<Literal> Assemble(const MeshBuffer& buffer, const Shape& local, const Shape& global,
                                 absl::Span<const HloSharding> shardings, LeafNumbers* leaf,
                                 int64_t num_devices, const AssembleOptions& options) {
  if (!global.IsTuple()) {
    const LeafNumbers number = *leaf;
    ++leaf->any;
    leaf->array += global.IsArray();
    return AssembleLeaf(buffer, local, global, shardings[number.any], num_devices, number, options);
  }
  std::vector<Literal> elements;
  for (int i = 0; i < static_cast<int>(global.tuple_shapes().size()); ++i) {
    ASSIGN_OR_RETURN(Literal element, Assemble(buffer.element(i), local.tuple_shape(i), global.tuple_shape(i),
                                               shardings, leaf, num_devices, options));
    elements.push_back(std::move(element));
  }
  return Literal::Tuple(std::move(elements));
}

}  // namespace

absl::StatusOr<Shape> ShardShape(const Shape& global, absl::Span<const HloSharding> shardings,
                                 int64_t num_devices) {
  RETURN_IF_ERROR(CheckLeaves(global, shardings));
  int leaf = 0;
  return MapLeaves(global, &leaf, [&](const Shape& shape, int i) -> absl::StatusOr<Shape> {
    RETURN_IF_ERROR(CheckSharding(shardings[i], shape, num_devices));
    Shape local = shape;
    if (shardings[i].IsTiled() && shape.IsArray()) local.set_dims(shardings[i].ShardDims(shape.dims()));
    return local;
  });
}

absl::StatusOr<Shape> GlobalShape(const Shape& local, absl::Span<const HloSharding> shardings,
                                  int64_t num_devices) {
  RETURN_IF_ERROR(CheckLeaves(local, shardings));
  int leaf = 0;
  return MapLeaves(local, &leaf, [&](const Shape& shape, int i) -> absl::StatusOr<Shape> {
    RETURN_IF_ERROR(CheckSharding(shardings[i], shape, num_devices));
    Shape global = shape;
    if (!shardings[i].IsTiled() || !shape.IsArray()) return global;
    int64_t elements = ByteWidth(shape.element_type());
    for (int d = 0; d < shape.rank(); ++d) {
      const std::optional<int64_t> size = CheckedMultiply(shape.dim(d), shardings[i].tiles()[d]);
      const std::optional<int64_t> all = size.has_value() ? CheckedMultiply(elements, *size) : std::nullopt;
      if (!all.has_value()) return absl::InvalidArgumentError("the global shape is too large");
      elements = *all;
      global.set_dim(d, *size);
    }
    return global;
  });
}

absl::StatusOr<MeshValue> CutLiteral(const Literal& global, absl::Span<const HloSharding> shardings,
                                     int64_t num_devices) {
  return CutLiteral(global, shardings, num_devices, 0, num_devices);
}

absl::StatusOr<MeshValue> CutLiteral(const Literal& global, absl::Span<const HloSharding> shardings,
                                     int64_t num_devices, int64_t begin, int64_t end) {
  ASSIGN_OR_RETURN(const Shape local, ShardShape(global.shape(), shardings, num_devices));
  MeshBuffer buffer;
  int leaf = 0;
  RETURN_IF_ERROR(Cut(global, shardings, &leaf, {begin, end, num_devices}, &buffer));
  return MeshValue(local, end - begin, std::move(buffer));
}

absl::StatusOr<Literal> AssembleLiteral(const MeshValue& shards, const Shape& global,
                                        absl::Span<const HloSharding> shardings,
                                        const AssembleOptions& options) {
  ASSIGN_OR_RETURN(const Shape local, ShardShape(global, shardings, shards.num_devices()));
  if (!local.Compatible(shards.shape())) {
    return absl::InvalidArgumentError(absl::StrCat("shards are ", shards.shape().ToString(), ", those of ",
                                                   global.ToString(), " are ", local.ToString()));
  }
  LeafNumbers leaf;
  return Assemble(shards.buffer(), local, global, shardings, &leaf, shards.num_devices(), options);
}

}  // namespace toroid
