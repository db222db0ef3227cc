// Builds the program of one partition: arithmetic on the partition's place in the mesh, masks, collectives.
//
// Everything that depends on the place is computed once per computation: the mesh position (the partition id,
// or a table look-up where devices are in another order), coordinates along lists of axes, offsets of shards.
#ifndef TOROID_PARTITIONER_SPMD_SPMD_BUILDER_H_
#define TOROID_PARTITIONER_SPMD_SPMD_BUILDER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/cost/cost_model.h"
#include "hlo/ir/mesh.h"
#include "hlo/ir/module.h"

namespace toroid {

// The inputs of a collective's attributes, except its channel.
struct CollectiveKey {
  Opcode opcode = Opcode::kAllReduce;
  AxisList axes;                             // The group; of a realignment, the cut that there is.
  AxisList wanted;                           // Of a realignment: the other cut.
  absl::InlinedVector<int64_t, 11> numbers;  // Whatever else tells two apart.

  bool operator==(const CollectiveKey& other) const {
    return opcode == other.opcode && axes == other.axes && wanted == other.wanted && numbers == other.numbers;
  }
  template <typename H>
  friend H AbslHashValue(H h, const CollectiveKey& key) {
    return H::combine(std::move(h), key.opcode, key.axes, key.wanted, key.numbers);
  }
};

// The state that the computations of one output module share.
struct SpmdModule {
  Module* module = nullptr;
  const Mesh* mesh = nullptr;
  const CostModel* cost = &DefaultCostModel();
  std::shared_ptr<BuilderState> builders;  // Of `module`; made with the first builder.
  // kInternal if an instruction of the program is wrong.
  absl::Status status() const {
    if (builders == nullptr || builders->status.ok()) return absl::OkStatus();
    return absl::InternalError(absl::StrCat("the partitioned program: ", builders->status.message()));
  }
  // The author's name for an instruction of the global program; unset: its own name.
  std::function<std::string(const Instruction&)> name_of;
  // The last channel given to a collective; those of the input are below.
  int64_t channel = 0;
  // Attributes of collectives but for the channel: groups are spelled out once per distinct pattern.
  absl::flat_hash_map<CollectiveKey, const xla::HloInstructionProto*> collective_attrs;
  // Permutes of which a device that is no target may get anything.
  absl::flat_hash_set<const Instruction*> halo_permutes;
  // The slice that each device cut out of an array that it held itself: tile `Coordinate(axes)` along `dim` of `whole`.
  struct Cut {
    Instruction* whole = nullptr;
    int dim = 0;
    AxisList axes;
  };
  absl::flat_hash_map<const Instruction*, Cut> cuts;
};

class SpmdBuilder : public InstructionBuilder {
 public:
  SpmdBuilder(SpmdModule* shared, Computation* computation);

  const Mesh& mesh() const { return *shared_->mesh; }
  const CostModel& cost() const { return *shared_->cost; }

  // Provenance of the instructions added from here on: they are there for `instruction` of the global program; `step`
  // says what is done for it and becomes, with `name` (or what its author calls it), the cause of the collectives:
  // "NAME: STEP".
  void SetProvenance(const Instruction* instruction, std::string step = "", std::string name = "") {
    set_metadata(instruction->metadata());
    source_ = instruction;
    step_ = std::move(step);
    name_ = std::move(name);
    cause_ = 0;
  }

  // Constants are there for many instructions: they name no source.
  Instruction* Constant(const Literal& value) { return computation()->AddConstant(value); }

  // Position of this partition in the mesh, s32[].
  Instruction* Position();
  // Tile index along a list of axes, s32[].
  Instruction* Coordinate(const AxisList& axes);
  // The type for arithmetic on positions in a dimension of n elements: s32 while it holds them.
  static PrimitiveType IndexType(int64_t n) { return n > INT32_MAX ? xla::S64 : xla::S32; }
  // Coordinate * size in `type`.
  Instruction* Offset(const AxisList& axes, int64_t size, PrimitiveType type);
  // Coordinate * scale + shift in `type`.
  Instruction* AffineOffset(const AxisList& axes, int64_t scale, int64_t shift, PrimitiveType type);

  // pred of the given dims: true where lo <= index along `dim` < hi; lo, hi scalars of one type, null: no
  // bound.
  Instruction* InRange(absl::Span<const int64_t> dims, int dim, Instruction* lo, Instruction* hi);
  // `x` with the padding of an uneven shard replaced: dimension `dim` of global size n is cut over `axes`.
  Instruction* MaskPadding(Instruction* x, int dim, int64_t n, const AxisList& axes, Instruction* fill);

  // Collectives over groups of the given axes, whose members hold v[..] each.
  //   AllReduce      v -> v: the reducer over all members
  //   AllGather      v[.., n, ..] -> [.., g n, ..] along `dim`, in the order of the axes
  //   ReduceScatter  v[.., g n, ..] -> [.., n, ..]: member i gets part i of the reducer over all members
  //   AllToAll       v[.., g, ..] -> the same shape: element i along `dim` goes to member i
  //   BroadcastFrom  v -> that of the member whose coordinate along the axes is `member`
  // Requires: dimensions that are divided are multiples of the group's size g.
  Instruction* AllReduce(Instruction* x, const AxisList& axes, Reducer reducer);
  Instruction* AllGather(Instruction* x, const AxisList& axes, int dim);
  Instruction* ReduceScatter(Instruction* x, const AxisList& axes, int dim, Reducer reducer);
  Instruction* AllToAll(Instruction* x, const AxisList& axes, int dim);
  Instruction* BroadcastFrom(Instruction* x, const AxisList& axes, int64_t member);
  // pairs[i] = (source position, target position) in the mesh, or a pattern of them, which does not grow with the mesh.
  // Patterns under one key are the same, and made once; what devices get that are no target is then unspecified.
  using PositionPairs = std::vector<std::pair<int64_t, int64_t>>;
  Instruction* CollectivePermute(Instruction* x, const PositionPairs& pairs);
  Instruction* CollectivePermute(Instruction* x, const xla::PermutePattern& pattern);
  Instruction* CollectivePermute(Instruction* x, const CollectiveKey& key,
                                 absl::FunctionRef<xla::PermutePattern()> pattern);
  // A pattern without lines, whose places are the tiles along `axes`: pairs of tiles, alike for all that the axes do not tell
  // apart.
  xla::PermutePattern PatternAlong(const AxisList& axes) const;

  // The device's own tile of `rows` rows along `dim` of an array that is whole along `axes`; the last tiles may reach beyond it.
  Instruction* CutTile(Instruction* x, int dim, const AxisList& axes, int64_t rows);
  // If the tile `x` of a dimension cut over `axes` was cut by the device itself: the array as it was before, and in `axes` what
  // cuts its dimension. Null otherwise. Other dimensions stay as they are in x.
  Instruction* BeforeCut(Instruction* x, int dim, AxisList* axes);
  // The last cut that made `x`; null if it was not cut by the device itself.
  const SpmdModule::Cut* CutOf(Instruction* x) const;
  // The device could have cut `tile` so, had it not been made in another way.
  void NoteCut(Instruction* tile, const SpmdModule::Cut& cut) { shared_->cuts[tile] = cut; }

  // Moves tiles between two shardings of equal tile counts per dimension.
  Instruction* PermuteTiles(Instruction* x, const Sharding& from, const Sharding& to);

  // Between the mesh's device order and another order of the same tiles: `order` lists the devices of the
  // tiles of `sharding`, row-major, replicas last.
  Instruction* FromDeviceOrder(Instruction* x, const DeviceOrder& order, const Sharding& sharding);
  Instruction* ToDeviceOrder(Instruction* x, const DeviceOrder& order, const Sharding& sharding);

  // The local dimensions of an array.
  Dims ShardDims(absl::Span<const int64_t> dims, const Sharding& sharding) const {
    return mesh().ShardDims(dims, sharding);
  }
  // The local shape of an array, its dynamic dimensions (which nothing cuts) included.
  Shape ShardShape(const Shape& shape, const Sharding& sharding) const;

 private:
  // An instruction with these attributes, a channel of its own and the cause.
  Instruction* Collective(Opcode opcode, const Shape& shape, Instruction* x,
                          const xla::HloInstructionProto* attrs,
                          std::optional<Reducer> reducer = std::nullopt);
  const xla::HloInstructionProto* PermuteAttrs(const PositionPairs& pairs);
  const xla::HloInstructionProto* PermuteAttrs(xla::PermutePattern pattern);
  const xla::HloInstructionProto* CollectiveAttrs(Opcode opcode, const AxisList& axes, int dim);

  int Cause();

  SpmdModule* shared_;
  const Instruction* source_ = nullptr;  // Of the global program.
  std::string step_;
  std::string name_;
  int cause_ = 0;  // Of source_ and step_, once a collective needed it.
  Instruction* position_ = nullptr;
  absl::flat_hash_map<AxisList, Instruction*> coordinates_;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_SPMD_SPMD_BUILDER_H_
