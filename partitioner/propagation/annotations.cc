#include "partitioner/propagation/annotations.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/status.h"
#include "hlo/io/sdy_sharding.h"
#include "partitioner/given_shardings.h"

namespace toroid {
namespace {

constexpr char kSdySharding[] = "xla.sdy.sharding";

// A sharding with what its dialect says beside the tiles.
struct Wish {
  HloSharding sharding;
  uint64_t closed = ~uint64_t{0};
  std::vector<int> priorities;
  std::vector<SdyAxisRef> replicated;
  const SdyMesh* mesh = nullptr;
};

// "unspecified_dims=[1,2]" -> bits 1 and 2.
uint64_t UnspecifiedDims(absl::string_view config) {
  uint64_t dims = 0;
  const size_t begin = config.find("unspecified_dims=[");
  if (begin == absl::string_view::npos) return 0;
  absl::string_view list = config.substr(begin + 18);
  list = list.substr(0, list.find(']'));
  for (const absl::string_view piece : absl::StrSplit(list, ',', absl::SkipWhitespace())) {
    int d;
    if (absl::SimpleAtoi(piece, &d) && d >= 0 && d < 64) dims |= uint64_t{1} << d;
  }
  return dims;
}

// The mesh form of a Shardy sharding.
xla::OpSharding ToProto(const SdySharding& sharding) {
  xla::OpSharding proto;
  xla::NamedShardingProto* named = proto.mutable_named_sharding();
  for (const SdyMesh::Axis& axis : sharding.mesh.axes) {
    auto* a = named->mutable_mesh()->add_axes();
    a->set_name(axis.name);
    a->set_size(axis.size);
  }
  for (const int64_t id : sharding.mesh.device_ids) named->mutable_mesh()->add_device_ids(id);
  const auto set = [&](const SdyAxisRef& ref, xla::AxisRefProto* out) {
    for (size_t i = 0; i < sharding.mesh.axes.size(); ++i) {
      if (sharding.mesh.axes[i].name == ref.name) out->set_mesh_axis_index(static_cast<int64_t>(i));
    }
    if (ref.size > 0) {
      out->mutable_sub_axis_info()->set_pre_size(ref.pre);
      out->mutable_sub_axis_info()->set_size(ref.size);
    }
  };
  for (const SdyDim& dim : sharding.dims) {
    auto* d = named->add_dim_shardings();
    for (const SdyAxisRef& ref : dim.axes) set(ref, d->add_axes());
  }
  for (const SdyAxisRef& ref : sharding.unreduced) set(ref, named->add_unreduced_axes());
  return proto;
}

std::string Where(const Instruction& instruction) {
  return absl::StrCat(instruction.computation()->name(), "/", instruction.name());
}

const std::string* ModuleAttribute(const Module& module, const std::string& key) {
  const auto& map = module.proto().frontend_attributes().map();
  const auto it = map.find(key);
  return it == map.end() ? nullptr : &it->second;
}

class Reader {
 public:
  Reader(const Module& module, const FlowGraph& graph, int64_t num_devices)
      : module_(module), graph_(graph), num_devices_(num_devices) {}

  absl::StatusOr<Annotations> Read() {
    RETURN_IF_ERROR(CollectDialect());
    for (const auto& computation : module_.computations()) {
      if (!graph_.Reached(*computation)) continue;
      for (const auto& instruction : computation->instructions()) {
        const absl::Status status = CollectWishes(*instruction);
        if (!status.ok()) return Annotate(status, Where(*instruction));
      }
    }
    if (!sdy_) RETURN_IF_ERROR(Annotate(CollectOutputs(), Where(*module_.entry()->root())));
    RETURN_IF_ERROR(MakeMesh());
    RETURN_IF_ERROR(PlaceSideEffects());
    out_.tensor.resize(graph_.num_tensors());
    for (const auto& [tensor, wish] : wishes_) {
      ASSIGN_OR_RETURN(out_.tensor[tensor], ToAnnotation(wish, graph_.shape(tensor).rank()));
    }
    // Ops whose sizes are known only when running run on whole arrays; a tile might hold no valid element.
    // A buffer is memory that an opaque call names.
    for (int t = 0; t < graph_.num_tensors(); ++t) {
      if (!graph_.shape(t).IsDynamic() && !graph_.shape(t).IsBuffer()) continue;
      std::optional<Annotation>& annotation = out_.tensor[t];
      const bool cut = annotation && annotation->sharding.DimAxes() != 0;
      annotation = Annotation::Whole(graph_.shape(t).rank());
      annotation->overruled = cut;
    }
    RETURN_IF_ERROR(ReadBoundaries());
    SpreadManual();
    RETURN_IF_ERROR(CheckManual());
    return std::move(out_);
  }

 private:
  absl::Status CollectDialect() {
    const std::string* meshes = ModuleAttribute(module_, "xla.sdy.meshes");
    const std::string* import = ModuleAttribute(module_, "xla.sdy.import_mhlo_shardings");
    sdy_ = meshes != nullptr && import == nullptr;
    if (!sdy_) return absl::OkStatus();
    ASSIGN_OR_RETURN(meshes_, ParseSdyMeshes(*meshes));
    for (const auto& computation : module_.computations()) {
      for (const auto& instruction : computation->instructions()) {
        // A constraint in the ordinary dialect alone: frontends then fall back to it for the whole module.
        if (IsCallTo(*instruction, "Sharding") && instruction->sharding() != nullptr &&
            instruction->FrontendAttribute(kSdySharding) == nullptr &&
            instruction->FrontendAttribute(kGivenSharding) == nullptr) {
          sdy_ = false;
        }
      }
    }
    for (const auto& [name, mesh] : meshes_) {
      const int64_t n = mesh.NumDevices();
      if (n > 1) RETURN_IF_ERROR(NoteDevices(n));
      if (n > 1 && !mesh.device_ids.empty() && !has_order_) {
        ASSIGN_OR_RETURN(order_, DeviceOrder::Explicit(mesh.device_ids));
        has_order_ = true;
      }
    }
    return absl::OkStatus();
  }

  absl::Status NoteDevices(int64_t n) {
    if (n <= 1) return absl::OkStatus();
    if (named_devices_ != 0 && named_devices_ != n) {
      return absl::InvalidArgumentError(
          absl::StrCat("shardings name ", n, " devices here and ", named_devices_, " elsewhere"));
    }
    named_devices_ = n;
    return absl::OkStatus();
  }

  absl::Status AddWish(int tensor, Wish wish) {
    RETURN_IF_ERROR(wish.sharding.Validate(graph_.shape(tensor)));
    RETURN_IF_ERROR(NoteDevices(wish.sharding.NumDevices()));
    if (wish.sharding.kind() == HloSharding::Kind::kUnknown) return absl::OkStatus();
    wishes_.emplace_back(tensor, std::move(wish));
    return absl::OkStatus();
  }

  absl::StatusOr<Wish> WishOf(const SdySharding& sharding) const {
    Wish wish;
    if (sharding.mesh.axes.empty() && sharding.mesh.device_ids.size() == 1) {
      // A mesh without axes over one device is Shardy's maximal sharding.
      xla::OpSharding maximal;
      maximal.set_type(xla::OpSharding::MAXIMAL);
      maximal.add_tile_assignment_dimensions(1);
      maximal.add_tile_assignment_devices(sharding.mesh.device_ids[0]);
      ASSIGN_OR_RETURN(wish.sharding, HloSharding::FromProto(maximal));
      return wish;
    }
    ASSIGN_OR_RETURN(wish.sharding, HloSharding::FromProto(ToProto(sharding)));
    for (size_t d = 0; d < sharding.dims.size() && d < 64; ++d) {
      if (sharding.dims[d].open) wish.closed &= ~(uint64_t{1} << d);
      wish.priorities.push_back(sharding.dims[d].priority);
    }
    wish.replicated = sharding.replicated;
    for (const auto& [name, mesh] : meshes_) {
      if (mesh.axes.size() == sharding.mesh.axes.size() && mesh.NumDevices() == sharding.mesh.NumDevices()) {
        wish.mesh = &mesh;
      }
    }
    return wish;
  }

  // The shardings that an instruction states, one per leaf of `shape`, in the dialect of the module.
  absl::StatusOr<std::vector<Wish>> StatedWishes(const Instruction& instruction, const Shape& shape) const {
    std::vector<Wish> wishes;
    if (sdy_) {
      const std::string* text = instruction.FrontendAttribute(kSdySharding);
      if (text == nullptr) return wishes;
      ASSIGN_OR_RETURN(const std::vector<SdySharding> shardings, ParseSdyShardings(*text, meshes_));
      for (const SdySharding& sharding : shardings) {
        ASSIGN_OR_RETURN(Wish wish, WishOf(sharding));
        wishes.push_back(std::move(wish));
      }
      return wishes;
    }
    if (instruction.sharding() == nullptr) return wishes;
    std::vector<HloSharding> shardings;
    if (instruction.sharding()->type() == xla::OpSharding::TUPLE) {
      for (const xla::OpSharding& entry : instruction.sharding()->tuple_shardings()) {
        ASSIGN_OR_RETURN(HloSharding sharding, HloSharding::FromProto(entry));
        shardings.push_back(std::move(sharding));
      }
    } else {
      ASSIGN_OR_RETURN(const HloSharding sharding, HloSharding::FromProto(*instruction.sharding()));
      shardings.assign(std::max<int64_t>(1, shape.NumLeaves()), sharding);
    }
    for (HloSharding& sharding : shardings) {
      wishes.emplace_back();
      wishes.back().sharding = std::move(sharding);
    }
    return wishes;
  }

  // What is said of a callback, infeed or outfeed beside its results: the one device that runs it, or how its data
  // lie. True if that is all there is to it. A call of an unknown target may be a callback, side effect or not.
  absl::StatusOr<bool> CollectSideEffect(const Instruction& instruction) {
    const bool is_outfeed = instruction.opcode() == Opcode::kOutfeed;
    if (!is_outfeed && instruction.opcode() != Opcode::kInfeed &&
        (instruction.opcode() != Opcode::kCustomCall || IsIdentityTarget(instruction))) {
      return false;
    }
    const Shape& data = is_outfeed ? instruction.operand(0)->shape() : instruction.shape();
    ASSIGN_OR_RETURN(std::vector<Wish> wishes, StatedWishes(instruction, data));
    bool one_device = !wishes.empty();
    for (const Wish& wish : wishes) {
      one_device &= wish.sharding.kind() == HloSharding::Kind::kMaximal &&
                    wish.sharding.maximal_device() == wishes[0].sharding.maximal_device();
    }
    if (one_device) {
      out_.device.emplace(&instruction, wishes[0].sharding.maximal_device());
      return true;
    }
    if (!is_outfeed) return false;
    const auto leaves = graph_.Leaves(*instruction.operand(0));
    for (size_t i = 0; i < leaves.size() && i < wishes.size(); ++i) {
      RETURN_IF_ERROR(wishes[i].sharding.Validate(graph_.shape(leaves[i])));
      RETURN_IF_ERROR(NoteDevices(wishes[i].sharding.NumDevices()));
    }
    if (!wishes.empty()) fed_.emplace_back(&instruction, std::move(wishes));
    return true;
  }

  // Devices of side effects are there; outfeeds' data lie in shardings of the mesh.
  absl::Status PlaceSideEffects() {
    for (const auto& [instruction, device] : out_.device) {
      if (device >= 0 && device < num_devices_) continue;
      return absl::InvalidArgumentError(absl::StrCat(Where(*instruction), ": is to run on device ", device,
                                                     " of ", num_devices_,
                                                     "; name one of them, or give --num_partitions"));
    }
    for (const auto& [instruction, wishes] : fed_) {
      const auto leaves = graph_.Leaves(*instruction->operand(0));
      std::vector<Sharding>& data = out_.fed[instruction];
      for (size_t i = 0; i < leaves.size() && i < wishes.size(); ++i) {
        const absl::StatusOr<Annotation> annotation = ToAnnotation(wishes[i], graph_.shape(leaves[i]).rank());
        if (!annotation.ok()) return Annotate(annotation.status(), Where(*instruction));
        if (annotation->foreign) {
          return absl::UnimplementedError(absl::StrCat(Where(*instruction), ": the data of an outfeed, ",
                                                       wishes[i].sharding.ToString(),
                                                       ", lie on devices in an order of their own"));
        }
        data.push_back(annotation->sharding);
      }
    }
    return absl::OkStatus();
  }

  absl::Status CollectWishes(const Instruction& instruction) {
    ASSIGN_OR_RETURN(const bool done, CollectSideEffect(instruction));
    if (done) return absl::OkStatus();
    const auto leaves = graph_.Leaves(instruction);
    const bool given = instruction.FrontendAttribute(kGivenSharding) != nullptr;
    if (sdy_ && !given) {
      const std::string* text = instruction.FrontendAttribute(kSdySharding);
      if (text == nullptr || IsCallTo(instruction, "xla.sdy.ShardingGroup")) return absl::OkStatus();
      ASSIGN_OR_RETURN(const std::vector<SdySharding> shardings, ParseSdyShardings(*text, meshes_));
      for (size_t i = 0; i < shardings.size() && i < leaves.size(); ++i) {
        ASSIGN_OR_RETURN(Wish wish, WishOf(shardings[i]));
        RETURN_IF_ERROR(AddWish(leaves[i], std::move(wish)));
      }
      return absl::OkStatus();
    }
    if (instruction.sharding() == nullptr || (&instruction == module_.entry()->root() && !given)) {
      return absl::OkStatus();
    }
    if (!given &&
        (instruction.opcode() == Opcode::kTuple || instruction.opcode() == Opcode::kGetTupleElement)) {
      return absl::OkStatus();  // Their tensors are others'.
    }
    // Dead copies behind an annotated root only say what was asked of it.
    ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings,
                     HloSharding::LeavesFromProto(*instruction.sharding(), instruction.shape()));
    for (size_t i = 0; i < shardings.size() && i < leaves.size(); ++i) {
      Wish wish;
      wish.sharding = shardings[i];
      wish.closed = ~uint64_t{0};
      if (instruction.opcode() == Opcode::kCustomCall) {
        wish.closed &= ~UnspecifiedDims(instruction.backend_config());
      }
      RETURN_IF_ERROR(AddWish(leaves[i], std::move(wish)));
    }
    return absl::OkStatus();
  }

  // Ordinary shardings of the entry's results. The root's tuple sharding fills the places of free results
  // with "replicated"; a dead reshape behind a result tells whether that was asked for.
  absl::Status CollectOutputs() {
    const Instruction& root = *module_.entry()->root();
    if (root.sharding() == nullptr) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings,
                     HloSharding::LeavesFromProto(*root.sharding(), root.shape()));
    const UserMap users(*module_.entry());
    absl::flat_hash_map<int, const Instruction*> echo;  // Result tensor -> the dead reshape behind it.
    for (const auto& instruction : module_.entry()->instructions()) {
      if (instruction->opcode() != Opcode::kReshape || !users.users(*instruction).empty() ||
          instruction.get() == &root || !instruction->shape().SameDims(instruction->operand(0)->shape())) {
        continue;
      }
      for (const int leaf : graph_.Leaves(*instruction->operand(0))) {
        const Instruction*& known = echo[leaf];
        if (known == nullptr || instruction->sharding() != nullptr) known = instruction.get();
      }
    }
    const std::vector<bool>& free = module_.config().allow_spmd_sharding_propagation_to_output;
    const auto leaves = graph_.Leaves(root);
    for (size_t i = 0; i < shardings.size() && i < leaves.size(); ++i) {
      if (!free.empty() && free[free.size() == 1 ? 0 : std::min(i, free.size() - 1)]) continue;
      const auto it = echo.find(leaves[i]);
      if (it != echo.end() && it->second->sharding() == nullptr && !shardings[i].IsTiled()) continue;
      Wish wish;
      wish.sharding = shardings[i];
      RETURN_IF_ERROR(AddWish(graph_.outputs()[i], std::move(wish)));
    }
    return absl::OkStatus();
  }

  absl::Status MakeMesh() {
    if (num_devices_ == 0) {
      num_devices_ = named_devices_ != 0 ? named_devices_ : module_.config().num_partitions;
      if (num_devices_ < 1 || num_devices_ > kMaxDevices) {
        return absl::InvalidArgumentError(absl::StrCat("the module asks for ", num_devices_,
                                                       " partitions; there can be 1 to ", kMaxDevices));
      }
    }
    if (named_devices_ != 0 && named_devices_ != num_devices_) {
      return absl::InvalidArgumentError(absl::StrCat("the module's shardings name ", named_devices_,
                                                     " devices, not ", num_devices_,
                                                     "; use --num_partitions=", named_devices_));
    }
    if (!has_order_) order_ = DeviceOrder(num_devices_);
    // A device order of its own, if the first sharding that is no strided part of the plain one has it.
    for (const auto& [tensor, wish] : wishes_) {
      if (!has_order_ && wish.sharding.IsTiled() && CutsOf(wish.sharding, order_).empty()) {
        order_ = wish.sharding.order();
        has_order_ = true;
      }
    }
    std::vector<int64_t> cuts;
    for (const auto& [tensor, wish] : wishes_) {
      for (const int64_t cut : CutsOf(wish.sharding, order_)) cuts.push_back(cut);
    }
    for (const auto& [instruction, wishes] : fed_) {
      for (const Wish& wish : wishes) {
        for (const int64_t cut : CutsOf(wish.sharding, order_)) cuts.push_back(cut);
      }
    }
    for (const auto& [name, mesh] : meshes_) {
      int64_t stride = 1;
      if (mesh.NumDevices() != num_devices_) continue;
      for (auto axis = mesh.axes.rbegin(); axis != mesh.axes.rend(); ++axis)
        cuts.push_back(stride *= axis->size);
    }
    if (num_devices_ > kMaxDevices) {
      return absl::InvalidArgumentError(
          absl::StrCat("shardings over ", num_devices_, " devices; there can be ", kMaxDevices));
    }
    out_.mesh = Mesh(num_devices_, cuts, order_);
    return absl::OkStatus();
  }

  // The sharding with the same number of tiles per dimension, over axes taken in mesh order.
  absl::StatusOr<Sharding> SameTiles(const HloSharding& sharding, int rank) const {
    Sharding result = Sharding::Replicated(rank);
    AxisSet used = 0;
    for (int d = 0; d < rank; ++d) {
      int64_t rest = sharding.tiles()[d];
      for (int axis = 0; axis < out_.mesh.num_axes() && rest > 1; ++axis) {
        if (used >> axis & 1 || rest % out_.mesh.size(axis) != 0) continue;
        used |= AxisSet{1} << axis;
        rest /= out_.mesh.size(axis);
        result.dims[d].push_back(axis);
      }
      if (rest != 1) return absl::InvalidArgumentError("sharding does not fit the mesh");
    }
    return result;
  }

  absl::StatusOr<Annotation> ToAnnotation(const Wish& wish, int rank) const {
    Annotation annotation;
    const std::optional<Sharding> sharding = out_.mesh.FromHlo(wish.sharding, rank);
    if (sharding) {
      annotation.sharding = *sharding;
    } else {
      for (const HloSharding::Subgroup& subgroup : wish.sharding.subgroups()) {
        if (subgroup.type != xla::OpSharding::REPLICATED) {
          return absl::UnimplementedError(
              absl::StrCat("the sharding ", wish.sharding.ToString(),
                           " orders manual or unreduced devices unlike the others"));
        }
      }
      ASSIGN_OR_RETURN(annotation.sharding, SameTiles(wish.sharding, rank));
      annotation.foreign = wish.sharding;
    }
    annotation.closed = wish.closed;
    for (const int priority : wish.priorities) {
      if (priority != 0) annotation.priorities = wish.priorities;
    }
    for (const SdyAxisRef& ref : wish.replicated) annotation.replicated |= AxesOf(wish.mesh, ref).Set();
    return annotation;
  }

  AxisList AxesOf(const SdyMesh* mesh, const SdyAxisRef& ref) const {
    if (mesh == nullptr || mesh->NumDevices() != out_.mesh.num_devices()) return AxisList();
    int64_t stride = 1;
    for (auto axis = mesh->axes.rbegin(); axis != mesh->axes.rend(); ++axis) {
      if (axis->name == ref.name) {
        const int64_t size = ref.size > 0 ? ref.size : axis->size;
        return out_.mesh.AxesOfPart(size, stride * (axis->size / (ref.pre * size))).value_or(AxisList());
      }
      stride *= axis->size;
    }
    return AxisList();
  }

  absl::Status ReadBoundaries() {
    for (const auto& computation : module_.computations()) {
      if (!graph_.Reached(*computation)) continue;
      for (const auto& instruction : computation->instructions()) {
        if (instruction->opcode() != Opcode::kCustomCall) continue;
        const absl::Status status = ReadBoundary(*instruction);
        if (!status.ok()) return Annotate(status, Where(*instruction));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadBoundary(const Instruction& instruction) {
    const absl::string_view target = instruction.custom_call_target();
    ManualBoundary boundary;
    if (target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape") {
      if (instruction.num_operands() != 1 || !instruction.shape().IsArray() ||
          !instruction.operand(0)->shape().IsArray()) {
        return absl::InvalidArgumentError("takes one array and gives one");
      }
      boundary.enters = target == "SPMDFullToShardShape";
      const int local =
          boundary.enters ? graph_.Leaves(instruction)[0] : graph_.Leaves(*instruction.operand(0))[0];
      const int global =
          boundary.enters ? graph_.Leaves(*instruction.operand(0))[0] : graph_.Leaves(instruction)[0];
      const auto& local_annotation = out_.tensor[local];
      boundary.manual = local_annotation && local_annotation->sharding.manual != 0
                            ? local_annotation->sharding.manual
                            : out_.mesh.AllAxes();
      const int rank = graph_.shape(global).rank();
      Sharding full = out_.tensor[global] ? out_.tensor[global]->sharding : Sharding::Replicated(rank);
      if (!boundary.enters && instruction.sharding() != nullptr) {
        // The call itself says how its result lies, also where it is the root and that sharding is the
        // output's.
        ASSIGN_OR_RETURN(const HloSharding own, HloSharding::FromProto(*instruction.sharding()));
        RETURN_IF_ERROR(own.Validate(graph_.shape(global)));
        full = out_.mesh.FromHlo(own, rank).value_or(full);
      }
      boundary.global.push_back(std::move(full));
    } else if (target == "xla.sdy.GlobalToLocalShape" || target == "xla.sdy.LocalToGlobalShape") {
      boundary.enters = target == "xla.sdy.GlobalToLocalShape";
      const std::string* axes = instruction.FrontendAttribute("xla.sdy.manual_axes");
      const std::string* text =
          instruction.FrontendAttribute(boundary.enters ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings");
      if (axes == nullptr || text == nullptr)
        return absl::InvalidArgumentError("lacks its shardings or manual axes");
      ASSIGN_OR_RETURN(const auto names, ParseSdyManualAxes(*axes));
      ASSIGN_OR_RETURN(const auto shardings, ParseSdyShardings(*text, meshes_));
      const auto leaves = graph_.Leaves(instruction);
      std::vector<int> globals, locals;
      for (const Instruction* operand : instruction.operands()) {
        for (const int leaf : graph_.Leaves(*operand)) (boundary.enters ? globals : locals).push_back(leaf);
      }
      for (const int leaf : leaves) (boundary.enters ? locals : globals).push_back(leaf);
      if (shardings.size() != globals.size() || locals.size() != globals.size()) {
        return absl::InvalidArgumentError("has another number of shardings than values");
      }
      for (size_t i = 0; i < shardings.size(); ++i) {
        ASSIGN_OR_RETURN(const Wish wish, WishOf(shardings[i]));
        RETURN_IF_ERROR(wish.sharding.Validate(graph_.shape(globals[i])));
        ASSIGN_OR_RETURN(Annotation annotation, ToAnnotation(wish, graph_.shape(globals[i]).rank()));
        for (const std::string& name : names) boundary.manual |= AxesOf(wish.mesh, {name}).Set();
        boundary.global.push_back(annotation.sharding);
        if (!boundary.enters && !out_.tensor[globals[i]]) out_.tensor[globals[i]] = annotation;
        // Inside, what is left of the sharding are the free axes.
        for (AxisList& dim : annotation.sharding.dims) dim = dim.Only(~boundary.manual);
        annotation.sharding.manual = boundary.manual;
        annotation.foreign.reset();
        if (!out_.tensor[locals[i]]) out_.tensor[locals[i]] = annotation;
      }
    } else {
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(CheckLocalShapes(instruction, boundary));
    out_.boundaries.emplace(&instruction, std::move(boundary));
    return absl::OkStatus();
  }

  // Local sizes are the global ones over the manual tiles.
  absl::Status CheckLocalShapes(const Instruction& instruction, const ManualBoundary& boundary) const {
    std::vector<int> operands;
    for (const Instruction* operand : instruction.operands()) {
      for (const int leaf : graph_.Leaves(*operand)) operands.push_back(leaf);
    }
    const auto results = graph_.Leaves(instruction);
    for (size_t i = 0; i < boundary.global.size(); ++i) {
      const Shape& global = graph_.shape(boundary.enters ? operands[i] : results[i]);
      const Shape& local = graph_.shape(boundary.enters ? results[i] : operands[i]);
      Sharding manual = boundary.global[i];
      for (AxisList& dim : manual.dims) dim = dim.Only(boundary.manual);
      const Dims expected = out_.mesh.ShardDims(global.dims(), manual);
      if (local.rank() == global.rank() && absl::MakeConstSpan(expected) == local.dims()) continue;
      return absl::InvalidArgumentError(absl::StrCat("the sharding cuts ", global.ToString(), " into ",
                                                     Shape(global.element_type(), expected).ToString(),
                                                     ", not ", local.ToString()));
    }
    return absl::OkStatus();
  }

  // A value computed from local values is local.
  void SpreadManual() {
    out_.manual.assign(graph_.num_tensors(), 0);
    std::vector<int> changed;
    const auto add = [&](int tensor, AxisSet axes) {
      if ((axes & ~out_.manual[tensor]) == 0) return;
      out_.manual[tensor] |= axes;
      changed.push_back(tensor);
    };
    for (int t = 0; t < graph_.num_tensors(); ++t) {
      if (out_.tensor[t]) add(t, out_.tensor[t]->sharding.manual);
    }
    for (const auto& [instruction, boundary] : out_.boundaries) {
      if (!boundary.enters) continue;
      for (const int leaf : graph_.Leaves(*instruction)) add(leaf, boundary.manual);
    }
    if (changed.empty()) return;
    std::vector<std::vector<int>> users(graph_.num_tensors());
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      for (const int operand : graph_.ops()[i].operands) users[operand].push_back(static_cast<int>(i));
    }
    // Sets of axes only grow, so every tensor is met at most once for each axis.
    while (!changed.empty()) {
      const int tensor = changed.back();
      changed.pop_back();
      for (const int user : users[tensor]) {
        const FlowOp& op = graph_.ops()[user];
        AxisSet axes = out_.manual[tensor];
        const auto boundary = out_.boundaries.find(op.instruction);
        if (boundary != out_.boundaries.end()) {
          if (boundary->second.enters) continue;
          axes &= ~boundary->second.manual;
        }
        for (const int result : op.results) add(result, axes);
      }
    }
  }

  // A local value is not cut over the axes with respect to which it is local.
  absl::Status CheckManual() const {
    for (const auto& computation : module_.computations()) {
      if (!graph_.Reached(*computation)) continue;
      for (const auto& instruction : computation->instructions()) {
        for (const int leaf : graph_.Leaves(*instruction)) {
          RETURN_IF_ERROR(Annotate(CheckManual(leaf), Where(*instruction)));
        }
      }
    }
    for (const int output : graph_.outputs()) {
      RETURN_IF_ERROR(Annotate(CheckManual(output), Where(*module_.entry()->root())));
    }
    return absl::OkStatus();
  }

  absl::Status CheckManual(int tensor) const {
    if (!out_.tensor[tensor] || (out_.tensor[tensor]->sharding.DimAxes() & out_.manual[tensor]) == 0) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "the sharding ", out_.mesh.ToHlo(out_.tensor[tensor]->sharding).ToString(),
        " cuts a value that is manual, local to each device already; shard it outside the manual region, or "
        "over axes that are not manual"));
  }

  const Module& module_;
  const FlowGraph& graph_;
  int64_t num_devices_;
  int64_t named_devices_ = 0;
  bool sdy_ = false;
  SdyMeshes meshes_;
  bool has_order_ = false;
  DeviceOrder order_{1};
  std::vector<std::pair<int, Wish>> wishes_;
  std::vector<std::pair<const Instruction*, std::vector<Wish>>> fed_;
  Annotations out_;
};

}  // namespace

absl::StatusOr<Annotations> ReadAnnotations(const Module& module, const FlowGraph& graph,
                                            int64_t num_devices) {
  return Reader(module, graph, num_devices).Read();
}

}  // namespace toroid
