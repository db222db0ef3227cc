#include "hlo/passes/windowed_einsum_pass.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/analysis/device_groups.h"
#include "hlo/base/status.h"
#include "hlo/builder/counted_loop.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/devices/replica_groups.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/edit.h"
#include "hlo/ir/loop_over_parts.h"
#include "hlo/ops/constraint.h"

namespace toroid {
namespace {

int IndexIn(absl::Span<const int64_t> list, int64_t value) {
  const auto it = std::find(list.begin(), list.end(), value);
  return it == list.end() ? -1 : static_cast<int>(it - list.begin());
}

// The dimensions of the other operand and of the result that correspond to a dimension of one operand; -1:
// none.
struct Roles {
  int64_t other = -1, result = -1;
};

Roles RolesOf(const Instruction& dot, int side, int64_t d) {
  const DotView view(dot);
  const auto batch = [&](int s) { return s == 0 ? view.lhs_batch() : view.rhs_batch(); };
  const auto contracting = [&](int s) { return s == 0 ? view.lhs_contracting() : view.rhs_contracting(); };
  if (const int i = IndexIn(batch(side), d); i >= 0) return {batch(1 - side)[i], i};
  if (const int i = IndexIn(contracting(side), d); i >= 0) return {contracting(1 - side)[i], -1};
  const auto free_before = [&](int s, int64_t limit) {
    int64_t count = 0;
    for (int64_t e = 0; e < limit; ++e) count += IndexIn(batch(s), e) < 0 && IndexIn(contracting(s), e) < 0;
    return count;
  };
  int64_t result = static_cast<int64_t>(view.lhs_batch().size()) + free_before(side, d);
  if (side == 1) result += free_before(0, dot.operand(0)->shape().rank());
  return {-1, result};
}

// The operand, and its free dimension, that become dimension `d` of the result; nullopt for a batch
// dimension.
std::optional<std::pair<int, int64_t>> SourceOf(const Instruction& dot, int64_t d) {
  for (const int side : {0, 1}) {
    for (int64_t e = 0; e < dot.operand(side)->shape().rank(); ++e) {
      const Roles roles = RolesOf(dot, side, e);
      if (roles.result == d && roles.other < 0) return std::make_pair(side, e);
    }
  }
  return std::nullopt;
}

// Groups of one size that together hold all devices; each group is a ring.
struct Rings {
  DeviceGroups groups;
  int64_t size = 0;
};

std::optional<Rings> RingsOf(const Instruction& collective, int64_t num_devices) {
  const absl::StatusOr<GroupMode> mode = GroupModeOf(collective);
  if (!mode.ok() || (*mode != GroupMode::kCrossPartition && *mode != GroupMode::kFlattened))
    return std::nullopt;
  absl::StatusOr<DeviceGroups> groups = ExpandDeviceGroups(collective, 1, num_devices);
  if (!groups.ok() || groups->size() == 0 || static_cast<int64_t>(groups->members().size()) != num_devices)
    return std::nullopt;
  Rings rings = {*std::move(groups), 0};
  rings.size = static_cast<int64_t>(rings.groups.group(0).size());
  for (int64_t i = 0; i < rings.groups.size(); ++i) {
    if (static_cast<int64_t>(rings.groups.group(i).size()) != rings.size) return std::nullopt;
  }
  return rings.size < 2 ? std::nullopt : std::make_optional(std::move(rings));
}

// Writes the loop of one product.
class LoopWriter {
 public:
  // Replaces `dot` and `collective`, which is the gathered operand or the user of the dot. Channel ids of new
  // instructions are counted up from *channel.
  LoopWriter(const Instruction& dot, const Instruction& collective, const Rings& rings,
             const WindowedEinsumOptions& options, int64_t* channel, Computation* computation)
      : dot_(dot),
        collective_(collective),
        rings_(rings),
        options_(options),
        channel_(*channel),
        b_(computation) {
    b_.set_metadata(dot.metadata());
  }

  absl::StatusOr<Value> Gathered(int side, int64_t d) {
    const Roles roles = RolesOf(dot_, side, d);
    const Value part = collective_.operand(0), other = dot_.operand(1 - side);
    const int64_t rows = part->shape().dim(static_cast<int>(d));
    // The running result after multiplying the part of `place`, which travels in leaf `leaf`.
    const auto taken = [&](InstructionBuilder& b, absl::Span<const Value> state, Leaf leaf, Value place) {
      const Value first = b.Multiply(place, b.IntScalar(rows));
      Value sides[2] = {state[leaf], state[leaf]};
      sides[1 - side] =
          roles.other < 0 ? state[kOther] : b.DynamicSliceAlong(state[kOther], roles.other, first, rows);
      const Value term = Product(b, sides[0], sides[1], roles.result, rows);
      if (roles.result < 0) return b.Add(state[kSum], term);
      std::vector<Value> starts(term->shape().rank(), b.Zero(xla::S32));
      starts[roles.result] = first;
      return b.DynamicUpdateSlice(state[kSum], term, starts);
    };
    const PrimitiveType type = roles.result < 0 ? SumType() : dot_.shape().element_type();
    std::vector<Value> state = {b_.Zero(xla::S32), Position(), part, other,
                                b_.Zeros(type, dot_.shape().dims())};
    const int64_t g = rings_.size;
    if (!options_.both_directions) {
      const auto step = [&](InstructionBuilder& b, std::vector<Value>& now) {
        return taken(b, now, kMoving, PlaceAhead(b, now));
      };
      state = Loop(state, g - 1, [&](InstructionBuilder& b, std::vector<Value>& now) {
        const Value sum = step(b, now);
        now[kMoving] = Permute(b, now[kMoving], /*to_next=*/false);
        now[kSum] = sum;
      });
      return Finished(step(b_, state));
    }
    const auto step = [&](InstructionBuilder& b, std::vector<Value>& now) {
      now[kSum] = taken(b, now, kMoving, PlaceAhead(b, now));
      now[kSum] = taken(b, now, kBack, PlaceBehind(b, now));
    };
    state.push_back(Permute(b_, part, /*to_next=*/true));
    state = Loop(state, g / 2 - 1, [&](InstructionBuilder& b, std::vector<Value>& now) {
      const Value moving = Permute(b, now[kMoving], /*to_next=*/false),
                  back = Permute(b, now[kBack], /*to_next=*/true);
      step(b, now);
      now[kMoving] = moving;
      now[kBack] = back;
    });
    if (g % 2 == 0) {
      step(b_, state);
      return Finished(state[kSum]);
    }
    const Value last = Permute(b_, state[kMoving], /*to_next=*/false);
    step(b_, state);
    state[kMoving] = last;
    state[kTrip] = b_.Add(state[kTrip], b_.IntScalar(1));
    return Finished(taken(b_, state, kMoving, PlaceAhead(b_, state)));
  }

  // Dimension `d` of operand `side` becomes the scattered dimension of the result.
  absl::StatusOr<Value> Scattered(int side, int64_t d) {
    const int64_t result = RolesOf(dot_, side, d).result;
    const int64_t rows = collective_.shape().dim(static_cast<int>(result));
    // The sum in leaf `sum`, plus this device's term for the part of `place`.
    const auto added = [&](InstructionBuilder& b, absl::Span<const Value> state, Leaf sum, Value place) {
      const Value first = b.Multiply(place, b.IntScalar(rows));
      Value sides[2] = {state[kOther], state[kOther]};
      sides[side] = b.DynamicSliceAlong(state[kMoving], d, first, rows);
      return b.Add(state[sum], Product(b, sides[0], sides[1], result, rows));
    };
    const Value nothing = b_.Zeros(dot_.shape().element_type(), collective_.shape().dims());
    std::vector<Value> state = {b_.Zero(xla::S32), Position(), dot_.operand(side), dot_.operand(1 - side),
                                nothing};
    const int64_t g = rings_.size;
    if (!options_.both_directions) {
      state = Loop(state, g - 1, [&](InstructionBuilder& b, std::vector<Value>& now) {
        now[kSum] = Permute(b, added(b, now, kSum, PlaceBehind(b, now)), /*to_next=*/true);
      });
      return Finished(added(b_, state, kSum, PlaceBehind(b_, state)));
    }
    // The sum from preceding devices makes `there` hops, and then takes the device's own term; the sum from
    // the other side makes `back` hops.
    const int64_t there = g / 2, back = (g - 1) / 2;
    const auto from_before = [&](InstructionBuilder& b, std::vector<Value>& now) {
      const Value place = b.Subtract(b.Add(now[kPosition], b.IntScalar(there)), now[kTrip]);
      return added(b, now, kSum, InRing(b, place));
    };
    state.push_back(nothing);
    state = Loop(state, back, [&](InstructionBuilder& b, std::vector<Value>& now) {
      const Value place = b.Add(b.Subtract(now[kPosition], b.IntScalar(back)), now[kTrip]);
      const Value sum = Permute(b, from_before(b, now), /*to_next=*/true);
      now[kBack] = Permute(b, added(b, now, kBack, InRing(b, place)), /*to_next=*/false);
      now[kSum] = sum;
    });
    if (there > back) {
      state[kSum] = Permute(b_, from_before(b_, state), /*to_next=*/true);
      state[kTrip] = b_.Add(state[kTrip], b_.IntScalar(1));
    }
    const Value sum = from_before(b_, state);
    return Finished(back > 0 ? b_.Add(sum, state[kBack]) : sum);
  }

 private:
  // Leaves of the loop's state. kMoving: the part that travels, or the operand that is sliced. kBack: the
  // part or sum that travels in the other direction.
  enum Leaf { kTrip, kPosition, kMoving, kOther, kSum, kBack };

  // Places (i + t) mod g and (i - 1 - t) mod g of device i in trip t.
  Value PlaceAhead(InstructionBuilder& b, absl::Span<const Value> state) {
    const Value g = b.IntScalar(rings_.size), sum = b.Add(state[kPosition], state[kTrip]);
    return b.Select(b.Compare(sum, g, "GE"), b.Subtract(sum, g), sum);
  }
  Value PlaceBehind(InstructionBuilder& b, absl::Span<const Value> state) {
    const Value difference = b.Subtract(b.Subtract(state[kPosition], b.IntScalar(1)), state[kTrip]);
    return b.Select(b.Compare(difference, b.IntScalar(0), "LT"), b.Add(difference, b.IntScalar(rings_.size)),
                    difference);
  }
  // `place`, in [-g, 2 g), modulo g.
  Value InRing(InstructionBuilder& b, Value place) {
    const Value g = b.IntScalar(rings_.size);
    place = b.Select(b.Compare(place, b.IntScalar(0), "LT"), b.Add(place, g), place);
    return b.Select(b.Compare(place, g, "GE"), b.Subtract(place, g), place);
  }

  // Type of sums that stay on a device. Sums that travel have the type of the collective.
  PrimitiveType SumType() const {
    const PrimitiveType type = dot_.shape().element_type();
    return IsFloat(type) && ByteWidth(type) < 4 ? xla::F32 : type;
  }

  // The product of parts: `rows` rows of dimension `cut` of the result, or, if `cut` is -1, a term of the
  // whole result.
  Value Product(InstructionBuilder& b, Value lhs, Value rhs, int64_t cut, int64_t rows) {
    Shape shape(cut < 0 ? SumType() : dot_.shape().element_type(), dot_.shape().dims());
    if (cut >= 0) {
      Dims dims(shape.dims().begin(), shape.dims().end());
      dims[cut] = rows;
      shape = Shape(shape.element_type(), dims);
    }
    return b.Clone(dot_, shape, {lhs, rhs});
  }

  // The device's place in its ring, s32[].
  Value Position() {
    std::vector<int32_t> places(rings_.groups.members().size());
    bool in_order = rings_.groups.size() == 1;
    for (int64_t g = 0; g < rings_.groups.size(); ++g) {
      const auto group = rings_.groups.group(g);
      for (size_t i = 0; i < group.size(); ++i) {
        places[group[i]] = static_cast<int32_t>(i);
        in_order &= group[i] == static_cast<int64_t>(i);
      }
    }
    const Value device = b_.Convert(b_.PartitionId(), xla::S32);
    if (in_order) return device;
    Literal table(Shape(xla::S32, {static_cast<int64_t>(places.size())}));
    std::copy(places.begin(), places.end(), table.mutable_data<int32_t>().begin());
    return b_.Reshape(b_.DynamicSlice(b_.Constant(table), {device}, {1}), {});
  }

  Value Permute(InstructionBuilder& b, Value x, bool to_next) {
    xla::HloInstructionProto* attrs = b.NewAttrs();
    attrs->set_channel_id(++channel_);
    for (int64_t g = 0; g < rings_.groups.size(); ++g) {
      const auto group = rings_.groups.group(g);
      for (size_t i = 0; i < group.size(); ++i) {
        const int64_t next = group[(i + 1) % group.size()];
        auto* pair = attrs->add_source_target_pairs();
        pair->set_source(to_next ? group[i] : next);
        pair->set_target(to_next ? next : group[i]);
      }
    }
    const Value permuted = b.Op(Opcode::kCollectivePermute, x->shape(), {x}, attrs);
    permuted->set_metadata(collective_.metadata());
    permuted->set_cause(collective_.cause());
    return permuted;
  }

  // The state after `count` runs of `step`, which changes some leaves and hands on the others.
  std::vector<Value> Loop(std::vector<Value> state, int64_t count,
                          absl::FunctionRef<void(InstructionBuilder&, std::vector<Value>&)> step) {
    const int64_t unroll = options_.unroll, in_loop = count / unroll * unroll;
    if (in_loop > 0) {
      std::vector<Shape> shapes;
      for (const Value leaf : state) shapes.push_back(leaf->shape());
      InstructionBuilder inner = b_.InNewComputation("windowed_einsum");
      const Value parameter = inner.Parameter(Shape::Tuple(shapes), "state");
      std::vector<Value> now;
      for (size_t i = 0; i < state.size(); ++i)
        now.push_back(inner.GetTupleElement(parameter, static_cast<int64_t>(i)));
      const Value trip = now[kTrip];
      for (int64_t i = 0; i < unroll; ++i) {
        if (i > 0) now[kTrip] = inner.Add(trip, inner.IntScalar(i));
        step(inner, now);
      }
      now[kTrip] = inner.Add(trip, inner.IntScalar(unroll));
      const Value loop = CountedLoop(b_, state, in_loop, inner.Finish(inner.Tuple(now)));
      auto* attributes = b_.module()->New<xla::FrontendAttributes>();
      (*attributes->mutable_map())[kLoopOverParts] = "true";
      loop->set_frontend_attributes(attributes);
      for (size_t i = 0; i < state.size(); ++i) state[i] = b_.GetTupleElement(loop, static_cast<int64_t>(i));
    }
    for (int64_t i = in_loop; i < count; ++i) {
      step(b_, state);
      state[kTrip] = b_.Add(state[kTrip], b_.IntScalar(1));
    }
    return state;
  }

  absl::StatusOr<Value> Finished(Value sum) {
    const Value result = b_.Convert(sum, dot_.shape().element_type());
    if (!b_.status().ok()) return b_.status();
    return result;
  }

  const Instruction& dot_;
  const Instruction& collective_;
  const Rings& rings_;
  const WindowedEinsumOptions& options_;
  int64_t& channel_;
  InstructionBuilder b_;
};

int64_t LastChannel(const Module& module) {
  int64_t last = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions())
      last = std::max(last, instruction->attrs().channel_id());
  }
  return last;
}

class Rewriter {
 public:
  Rewriter(Module* module, int64_t num_devices, const WindowedEinsumOptions& options)
      : num_devices_(num_devices), options_(options), channel_(LastChannel(*module)) {}

  absl::StatusOr<bool> Run(Computation* computation) {
    const int n = computation->size();
    std::vector<int> uses(n, 0);
    for (const auto& instruction : computation->instructions()) {
      for (const Instruction* operand : instruction->operands()) ++uses[operand->index()];
    }
    ++uses[computation->root()->index()];
    std::vector<Instruction*> now(n, nullptr);
    std::vector<bool> taken(n, false);  // Products already replaced by loops.
    bool changed = false;
    for (int i = 0; i < n; ++i) {
      const Instruction& instruction = *computation->instruction(i);
      ASSIGN_OR_RETURN(Instruction * loop, LoopFor(instruction, uses, taken, computation));
      if (loop == nullptr) continue;
      now[i] = loop;
      changed = true;
    }
    if (!changed) return false;
    ReplaceUses(computation, now);
    // Loops may read results of other loops.
    for (int i = n; i < computation->size(); ++i) {
      Instruction* made = computation->instruction(i);
      for (int k = 0; k < made->num_operands(); ++k) {
        const int index = made->operand(k)->index();
        if (index < n && now[index] != nullptr) made->set_operand(k, now[index]);
      }
    }
    RETURN_IF_ERROR(SortInstructions(computation));
    return true;
  }

 private:
  // The loop's result that replaces the instruction, a product or a reduce-scatter; null if it stays.
  absl::StatusOr<Instruction*> LoopFor(const Instruction& instruction, const std::vector<int>& uses,
                                       std::vector<bool>& taken, Computation* computation) {
    Instruction* const none = nullptr;
    if (!instruction.control_predecessors().empty()) return none;
    if (instruction.opcode() == Opcode::kReduceScatter && instruction.num_operands() == 1) {
      const Instruction& dot = *instruction.operand(0);
      if (dot.opcode() != Opcode::kDot || uses[dot.index()] != 1 || taken[dot.index()] ||
          IsSmall(dot.shape()))
        return none;
      const Instruction& fold = *instruction.called(0)->root();
      const auto source = SourceOf(dot, instruction.dimension());
      if (!source || fold.opcode() != Opcode::kAdd || !IsSimpleReducer(*instruction.called(0))) return none;
      const std::optional<Rings> rings = RingsOf(instruction, num_devices_);
      if (!rings) return none;
      return LoopWriter(dot, instruction, *rings, options_, &channel_, computation)
          .Scattered(source->first, source->second);
    }
    if (instruction.opcode() != Opcode::kDot || instruction.num_operands() != 2 ||
        instruction.shape().element_type() == xla::PRED) {
      return none;
    }
    int best = -1;
    for (const int side : {0, 1}) {
      const Instruction& operand = *instruction.operand(side);
      if (operand.opcode() != Opcode::kAllGather || operand.num_operands() != 1 || uses[operand.index()] != 1)
        continue;
      if (IsSmall(operand.shape())) continue;
      if (best < 0 || operand.shape().ByteSize() > instruction.operand(best)->shape().ByteSize()) best = side;
    }
    if (best < 0) return none;
    const Instruction& gather = *instruction.operand(best);
    const std::optional<Rings> rings = RingsOf(gather, num_devices_);
    if (!rings) return none;
    taken[instruction.index()] = true;
    return LoopWriter(instruction, gather, *rings, options_, &channel_, computation)
        .Gathered(best, gather.dimension());
  }

  bool IsSmall(const Shape& shape) const {
    return shape.ByteSize() < options_.least_bytes || shape.NumElements() == 0;
  }

  const int64_t num_devices_;
  const WindowedEinsumOptions& options_;
  int64_t channel_;
};

}  // namespace

absl::StatusOr<bool> WindowedEinsumPass::Run(std::unique_ptr<Module>* module) {
  const DeviceCounts counts = DeviceCountsOf(**module);
  if (!counts.partitions || counts.replicas.value_or(1) != 1) return false;
  Rewriter rewriter(module->get(), *counts.partitions, options_);
  const int n = (*module)->num_computations();
  bool changed = false;
  for (int i = 0; i < n; ++i) {
    ASSIGN_OR_RETURN(const bool here, rewriter.Run((*module)->computations()[i].get()));
    changed |= here;
  }
  if (changed) (*module)->RemoveUnreachableComputations();  // Sorts the loops' bodies before their callers.
  return changed;
}

}  // namespace toroid
