#include "partitioner/propagation/stated_shardings.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/status.h"
#include "hlo/io/module_meshes.h"

namespace toroid {
namespace {

constexpr char kSdySharding[] = "xla.sdy.sharding";

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

const std::string* ModuleAttribute(const Module& module, const std::string& key) {
  const auto& map = module.proto().frontend_attributes().map();
  const auto it = map.find(key);
  return it == map.end() ? nullptr : &it->second;
}

class Reader {
 public:
  Reader(const Module& module, const FlowGraph& graph) : module_(module), graph_(graph) {}

  absl::StatusOr<StatedShardings> Read() {
    RETURN_IF_ERROR(ReadDialect());
    for (const Instruction* instruction : graph_.ReachedInstructions(module_)) {
      RETURN_IF_ERROR(Annotate(ReadInstruction(*instruction), instruction->Path()));
    }
    if (!out_.shardy) RETURN_IF_ERROR(Annotate(ReadOutputs(), module_.entry()->root()->Path()));
    return std::move(out_);
  }

 private:
  absl::Status ReadDialect() {
    const std::string* meshes = SdyMeshesText(module_);
    const std::string* import = ModuleAttribute(module_, "xla.sdy.import_mhlo_shardings");
    out_.shardy = meshes != nullptr && import == nullptr;
    if (!out_.shardy) return absl::OkStatus();
    ASSIGN_OR_RETURN(out_.meshes, ParseSdyMeshes(*meshes));
    for (const auto& computation : module_.computations()) {
      for (const auto& instruction : computation->instructions()) {
        // A constraint that has an ordinary sharding but no Shardy sharding: frontends that emit it use the
        // ordinary dialect for the whole module.
        if (IsCallTo(*instruction, "Sharding") && instruction->sharding() != nullptr &&
            instruction->FrontendAttribute(kSdySharding) == nullptr && !instruction->sharding_is_given()) {
          out_.shardy = false;
        }
      }
    }
    for (const auto& [name, mesh] : out_.meshes) {
      const int64_t n = mesh.NumDevices();
      if (n > 1) RETURN_IF_ERROR(NoteDevices(n));
      if (n > 1 && !mesh.device_ids.empty() && !out_.order) {
        ASSIGN_OR_RETURN(out_.order, DeviceOrder::Explicit(mesh.device_ids));
      }
    }
    return absl::OkStatus();
  }

  absl::Status NoteDevices(int64_t n) {
    if (n <= 1) return absl::OkStatus();
    if (out_.num_devices != 0 && out_.num_devices != n) {
      return absl::InvalidArgumentError(
          absl::StrCat("shardings name ", n, " devices here and ", out_.num_devices, " elsewhere"));
    }
    out_.num_devices = n;
    return absl::OkStatus();
  }

  // Checks that a sharding over named axes has one entry per dimension.
  static absl::Status CheckRank(const xla::OpSharding& sharding, const Shape& shape) {
    for (int i = 0; i < sharding.tuple_shardings_size() && shape.IsTuple(); ++i) {
      if (i < static_cast<int>(shape.tuple_shapes().size())) {
        RETURN_IF_ERROR(CheckRank(sharding.tuple_shardings(i), shape.tuple_shape(i)));
      }
    }
    const int dims = sharding.named_sharding().dim_shardings_size();
    if (!sharding.has_named_sharding() || sharding.named_sharding().mesh().axes().empty() || dims == 0 ||
        !shape.IsArray() || dims == shape.rank()) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat("sharding with ", dims, " dimension shardings for ",
                                                   shape.ToString(), " of rank ", shape.rank(),
                                                   "; give one per dimension"));
  }

  absl::Status Add(int tensor, StatedSharding stated) {
    RETURN_IF_ERROR(stated.sharding.Validate(graph_.shape(tensor)));
    RETURN_IF_ERROR(NoteDevices(stated.sharding.NumDevices()));
    if (stated.sharding.kind() == HloSharding::Kind::kUnknown) return absl::OkStatus();
    out_.tensors.emplace_back(tensor, std::move(stated));
    return absl::OkStatus();
  }

  // The shardings that an instruction states, one per leaf of `shape`, in the dialect of the module.
  absl::StatusOr<std::vector<StatedSharding>> Stated(const Instruction& instruction,
                                                     const Shape& shape) const {
    std::vector<StatedSharding> stated;
    if (out_.shardy) {
      const std::string* text = instruction.FrontendAttribute(kSdySharding);
      if (text == nullptr) return stated;
      ASSIGN_OR_RETURN(const std::vector<SdySharding> shardings, ParseSdyShardings(*text, out_.meshes));
      for (const SdySharding& sharding : shardings) {
        ASSIGN_OR_RETURN(StatedSharding one, FromShardy(sharding));
        stated.push_back(std::move(one));
      }
      return stated;
    }
    if (instruction.sharding() == nullptr) return stated;
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
      stated.emplace_back();
      stated.back().sharding = std::move(sharding);
    }
    return stated;
  }

  // The sharding of a callback, infeed or outfeed may name the one device that runs it (if it is maximal),
  // and that of an outfeed otherwise gives the shardings of the data operand. Reads these two and returns
  // true; returns false if the sharding is that of the results. Any custom call but an identity may be a
  // callback.
  absl::StatusOr<bool> ReadSideEffect(const Instruction& instruction) {
    const bool is_outfeed = instruction.opcode() == Opcode::kOutfeed;
    if (!is_outfeed && instruction.opcode() != Opcode::kInfeed &&
        (instruction.opcode() != Opcode::kCustomCall || IsIdentityTarget(instruction))) {
      return false;
    }
    const Shape& data = is_outfeed ? instruction.operand(0)->shape() : instruction.shape();
    ASSIGN_OR_RETURN(std::vector<StatedSharding> stated, Stated(instruction, data));
    bool one_device = !stated.empty();
    for (const StatedSharding& one : stated) {
      one_device &= one.sharding.kind() == HloSharding::Kind::kMaximal &&
                    one.sharding.maximal_device() == stated[0].sharding.maximal_device();
    }
    if (one_device) {
      out_.device.emplace(&instruction, stated[0].sharding.maximal_device());
      return true;
    }
    if (!is_outfeed) return false;
    const auto leaves = graph_.Leaves(*instruction.operand(0));
    for (size_t i = 0; i < leaves.size() && i < stated.size(); ++i) {
      RETURN_IF_ERROR(stated[i].sharding.Validate(graph_.shape(leaves[i])));
      RETURN_IF_ERROR(NoteDevices(stated[i].sharding.NumDevices()));
    }
    if (!stated.empty()) out_.fed.emplace_back(&instruction, std::move(stated));
    return true;
  }

  absl::Status ReadInstruction(const Instruction& instruction) {
    ASSIGN_OR_RETURN(const bool done, ReadSideEffect(instruction));
    if (done) return absl::OkStatus();
    const auto leaves = graph_.Leaves(instruction);
    const bool given = instruction.sharding_is_given();
    if (out_.shardy && !given) {
      const std::string* text = instruction.FrontendAttribute(kSdySharding);
      if (text == nullptr || IsCallTo(instruction, "xla.sdy.ShardingGroup")) return absl::OkStatus();
      if (instruction.opcode() == Opcode::kGetTupleElement) {
        const std::string* call = instruction.operand(0)->FrontendAttribute(kSdySharding);
        if (call != nullptr && *call == *text) return absl::OkStatus();  // A copy of the operand's attribute.
      }
      ASSIGN_OR_RETURN(std::vector<StatedSharding> stated, Stated(instruction, instruction.shape()));
      for (size_t i = 0; i < stated.size() && i < leaves.size(); ++i) {
        RETURN_IF_ERROR(Add(leaves[i], std::move(stated[i])));
      }
      return absl::OkStatus();
    }
    // The root's is that of the results, unless it is a constraint of its own.
    const bool is_results = &instruction == module_.entry()->root() && !IsCallTo(instruction, "Sharding");
    if (instruction.sharding() == nullptr || (is_results && !given)) return absl::OkStatus();
    if (!given &&
        (instruction.opcode() == Opcode::kTuple || instruction.opcode() == Opcode::kGetTupleElement)) {
      return absl::OkStatus();  // They make no tensors; they pass on those of their operands.
    }
    RETURN_IF_ERROR(CheckRank(*instruction.sharding(), instruction.shape()));
    ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings,
                     HloSharding::LeavesFromProto(*instruction.sharding(), instruction.shape()));
    for (size_t i = 0; i < shardings.size() && i < leaves.size(); ++i) {
      StatedSharding stated;
      stated.sharding = shardings[i];
      if (instruction.opcode() == Opcode::kCustomCall) {
        stated.closed &= ~UnspecifiedDims(instruction.backend_config());
      }
      RETURN_IF_ERROR(Add(leaves[i], std::move(stated)));
    }
    return absl::OkStatus();
  }

  // Reads ordinary shardings of the entry's results. In the root's tuple sharding, "replicated" may mean that
  // the author left the result free. If a dead reshape of the result without a sharding follows, the result
  // is free.
  absl::Status ReadOutputs() {
    const Instruction& root = *module_.entry()->root();
    if (root.sharding() == nullptr) return absl::OkStatus();
    RETURN_IF_ERROR(CheckRank(*root.sharding(), root.shape()));
    ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings,
                     HloSharding::LeavesFromProto(*root.sharding(), root.shape()));
    const UserMap users(*module_.entry());
    absl::flat_hash_map<int, const Instruction*> echo;  // Result tensor -> the dead reshape of it.
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
      StatedSharding stated;
      stated.sharding = shardings[i];
      RETURN_IF_ERROR(Add(graph_.outputs()[i], std::move(stated)));
    }
    return absl::OkStatus();
  }

  const Module& module_;
  const FlowGraph& graph_;
  StatedShardings out_;
};

}  // namespace

absl::StatusOr<StatedSharding> FromShardy(const SdySharding& sharding) {
  StatedSharding stated;
  if (sharding.mesh.axes.empty() && sharding.mesh.device_ids.size() == 1) {
    // A mesh without axes over one device is Shardy's maximal sharding.
    xla::OpSharding maximal;
    maximal.set_type(xla::OpSharding::MAXIMAL);
    maximal.add_tile_assignment_dimensions(1);
    maximal.add_tile_assignment_devices(sharding.mesh.device_ids[0]);
    ASSIGN_OR_RETURN(stated.sharding, HloSharding::FromProto(maximal));
    return stated;
  }
  ASSIGN_OR_RETURN(stated.sharding, HloSharding::FromProto(ToProto(sharding)));
  for (size_t d = 0; d < sharding.dims.size() && d < 64; ++d) {
    if (sharding.dims[d].open) stated.closed &= ~(uint64_t{1} << d);
    stated.priorities.push_back(sharding.dims[d].priority);
  }
  stated.replicated = sharding.replicated;
  if (!sharding.mesh.axes.empty()) stated.mesh = sharding.mesh;
  return stated;
}

absl::StatusOr<StatedShardings> ReadStatedShardings(const Module& module, const FlowGraph& graph) {
  return Reader(module, graph).Read();
}

}  // namespace toroid
