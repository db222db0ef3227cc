// Builds the program of one partition: arithmetic on the device's position in the mesh, masks, collectives.
//
// Computations that are the same in the local as in the global program (reducers, comparators) are copied
// once.
//
// Values that depend on the position are computed once per computation: the mesh position (the partition id,
// or a table look-up if devices are in another order) and coordinates along lists of axes.
#pragma once

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
#include "hlo/devices/mesh.h"
#include "hlo/ir/module.h"

namespace toroid {

// The inputs of a collective's attributes, except its channel.
struct CollectiveKey {
  Opcode opcode = Opcode::kAllReduce;
  AxisList axes;                             // The group's axes; in a halo exchange, the present cut.
  AxisList wanted;                           // In a halo exchange, the wanted cut.
  absl::InlinedVector<int64_t, 11> numbers;  // All else in which two keys differ.

  bool operator==(const CollectiveKey& other) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const CollectiveKey& key) {
    return H::combine(std::move(h), key.opcode, key.axes, key.wanted, key.numbers);
  }
};

// Whether position p of the mesh is device p.
inline bool IsInDeviceOrder(const Mesh& mesh) {
  return mesh.order().is_iota() && mesh.order().reshape().size() == 1;
}

// The device groups of a collective over mesh axes, as attributes of its instruction.
//
// Devices of one group differ only in their coordinates along the axes; members are in the order of these.
// Groups name global device ids, or partition ids if there is one replica.
// Example: mesh a=2, b=4 in device order. Axes {b}: [2,4]<=[8]. Axes {a}: [4,2]<=[2,4]T(1,0), in which device
// 0 meets device 4.
//
// Sets the groups along `axes`, in each of `replicas` replicas: in iota form if the mesh is in device order,
// else listed.
void SetGroups(const Mesh& mesh, const AxisList& axes, int64_t replicas, xla::HloInstructionProto* attrs);

// Sets the groups along `axes`, listed, each with the device whose coordinate is `member` in front.
void SetGroupsFrom(const Mesh& mesh, const AxisList& axes, int64_t member, xla::HloInstructionProto* attrs);

// The state that the computations of one output module share.
struct SpmdModule {
  Module* module = nullptr;
  const Mesh* mesh = nullptr;
  const CostModel* cost = &DefaultCostModel();
  std::shared_ptr<BuilderState> builders;  // Shared by builders of `module`; made with the first one.
  // kInternal if an instruction that was added to the program is invalid.
  absl::Status status() const {
    if (builders == nullptr || builders->status.ok()) return absl::OkStatus();
    return absl::InternalError(absl::StrCat("the partitioned program: ", builders->status.message()));
  }
  // The name by which causes call an instruction of the global program. If unset, the instruction's own name.
  std::function<std::string(const Instruction&)> name_of;
  // The channel id of the last collective. The channel ids of the input's collectives are not larger.
  int64_t channel = 0;
  // Attributes of collectives without the channel id, so that each distinct list of groups exists once.
  absl::flat_hash_map<CollectiveKey, const xla::HloInstructionProto*> collective_attrs;
  // Copies in `module`, by computation of the global program.
  absl::flat_hash_map<const Computation*, Computation*> copies;
  // Permutes in which a device that is no target may get any value.
  absl::flat_hash_set<const Instruction*> halo_permutes;
  // A tile that each device cut out of an array it holds: tile number `Coordinate(axes)` along `dim` of
  // `whole`.
  struct Cut {
    Instruction* whole = nullptr;
    int dim = 0;
    AxisList axes;
  };
  absl::flat_hash_map<const Instruction*, Cut> cuts;  // By tile.
};

class SpmdBuilder : public InstructionBuilder {
 public:
  SpmdBuilder(SpmdModule* shared, Computation* computation);

  const Mesh& mesh() const { return *shared_->mesh; }
  const CostModel& cost() const { return *shared_->cost; }

  // Attributes the instructions added from here on to `instruction` of the global program. `step` says what
  // is done for it. Collectives get the cause "NAME: STEP", or "NAME" if `step` is empty, where NAME is
  // `name` or, if that is empty, the name of the instruction by SpmdModule::name_of.
  void SetProvenance(const Instruction* instruction, std::string step = "", std::string name = "") {
    set_metadata(instruction->metadata());
    source_ = instruction;
    step_ = std::move(step);
    name_ = std::move(name);
    cause_ = 0;
  }

  // A constant without metadata, since many instructions use it.
  Instruction* Constant(const Literal& value) { return computation()->AddConstant(value); }

  // The copy, in the output module, of a computation of the global program and of all computations it calls.
  // Omits Sharding annotations.
  Computation* CopyOf(const Computation* computation);
  // Replaces the computations that `instruction` calls by their copies.
  void CopyCalled(Instruction* instruction);

  // The position of this device in the mesh, s32[].
  Instruction* Position();
  // The device's tile number along a list of axes, s32[].
  Instruction* Coordinate(const AxisList& axes);
  // The type for arithmetic on indices into a dimension of n elements: s32 if it holds n, else s64.
  static PrimitiveType IndexType(int64_t n) { return n > INT32_MAX ? xla::S64 : xla::S32; }
  // Coordinate * size in `type`.
  Instruction* Offset(const AxisList& axes, int64_t size, PrimitiveType type);
  // Coordinate * scale + shift in `type`.
  Instruction* AffineOffset(const AxisList& axes, int64_t scale, int64_t shift, PrimitiveType type);

  // `index` as s64. u64 values beyond the range of s64 become its largest value, which is beyond the end of
  // any array.
  Instruction* ToS64(Instruction* index);
  // A start index clamped to [0, size - window], as s64.
  Instruction* ClampedStart(Instruction* index, int64_t size, int64_t window);

  // pred[dims], true where lo <= index along `dim` < hi. lo and hi are scalars of one type; one of them may
  // be null: no bound.
  Instruction* InRange(absl::Span<const int64_t> dims, int dim, Instruction* lo, Instruction* hi);
  // `x` with the padding of its dimension `dim`, of global size n and cut over `axes`, replaced by the scalar
  // `fill`.
  Instruction* MaskPadding(Instruction* x, int dim, int64_t n, const AxisList& axes, Instruction* fill);

  // Collectives over the groups of devices that differ only along `axes`. Each member holds an array v[..]; g
  // is the size of a group.
  //   AllReduce      v -> v: reduced over all members
  //   AllGather      v[.., n, ..] -> [.., g n, ..]: concatenated along `dim`, in the order of the axes
  //   ReduceScatter  v[.., g n, ..] -> [.., n, ..]: member i gets part i of v reduced over all members
  //   AllToAll       v[.., g, ..] -> the same shape: element i along `dim` goes to member i
  //   BroadcastFrom  v -> v of the member whose coordinate along the axes is `member`
  // Requires: `dim` of AllToAll has size g; `dim` of ReduceScatter is a multiple of g.
  Instruction* AllReduce(Instruction* x, const AxisList& axes, Reducer reducer);
  Instruction* AllGather(Instruction* x, const AxisList& axes, int dim);
  Instruction* ReduceScatter(Instruction* x, const AxisList& axes, int dim, Reducer reducer);
  Instruction* AllToAll(Instruction* x, const AxisList& axes, int dim);
  Instruction* BroadcastFrom(Instruction* x, const AxisList& axes, int64_t member);
  // pairs[i] = (source position, target position) in the mesh. A pattern states the pairs in a size that does
  // not grow with the mesh. The third form calls `pattern` once per key: equal keys stand for equal patterns.
  // In its permutes a device that is no target gets an unspecified value.
  using PositionPairs = std::vector<std::pair<int64_t, int64_t>>;
  Instruction* CollectivePermute(Instruction* x, const PositionPairs& pairs);
  Instruction* CollectivePermute(Instruction* x, const xla::PermutePattern& pattern);
  Instruction* CollectivePermute(Instruction* x, const CollectiveKey& key,
                                 absl::FunctionRef<xla::PermutePattern()> pattern);
  // A pattern, still without lines, whose places are the tiles along `axes`. Pairs of tiles are repeated at
  // all coordinates along the other axes.
  xla::PermutePattern PatternAlong(const AxisList& axes) const;

  // The device's tile of `rows` rows along `dim` of an array that `axes` do not cut; the last tiles may be
  // padded.
  Instruction* CutTile(Instruction* x, int dim, const AxisList& axes, int64_t rows);
  // The array out of which the device cut `x` along `dim`, whose other dimensions are those of x; null if the
  // device did not cut x along `dim`. `axes`: in, the axes that cut `dim` of x; out, those that cut `dim` of
  // the returned array.
  Instruction* BeforeCut(Instruction* x, int dim, AxisList* axes);
  // The last cut that made `x`; null if the device did not cut it out of another array.
  const SpmdModule::Cut* CutOf(Instruction* x) const;
  // Records that `tile` equals the tile that `cut` describes.
  void NoteCut(Instruction* tile, const SpmdModule::Cut& cut) { shared_->cuts[tile] = cut; }

  // The local shape of an array; dynamic dimensions, which no axis cuts, stay dynamic.
  Shape ShardShape(const Shape& shape, const Sharding& sharding) const;

 private:
  // Adds a collective with these attributes, a new channel id and the current cause.
  Instruction* Collective(Opcode opcode, const Shape& shape, Instruction* x,
                          const xla::HloInstructionProto* attrs,
                          std::optional<Reducer> reducer = std::nullopt);
  const xla::HloInstructionProto* PermuteAttrs(const PositionPairs& pairs);
  const xla::HloInstructionProto* PermuteAttrs(xla::PermutePattern pattern);
  const xla::HloInstructionProto* CollectiveAttrs(Opcode opcode, const AxisList& axes, int dim);

  int Cause();

  SpmdModule* shared_;
  const Instruction* source_ = nullptr;  // An instruction of the global program.
  std::string step_;
  std::string name_;
  int cause_ = 0;  // The cause of name_ or source_, and step_; 0 until a collective needs it.
  Instruction* position_ = nullptr;
  absl::flat_hash_map<AxisList, Instruction*> coordinates_;
};

}  // namespace toroid
