#include "explain/page/program_section.h"

#include <string>
#include <utility>
#include <vector>

#include "hlo/analysis/author_names.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/devices/hlo_sharding.h"
#include "hlo/io/hlo_text_names.h"
#include "hlo/ir/parameter_name.h"

namespace toroid {
namespace {

using Json = nlohmann::ordered_json;
using Edges = std::vector<std::pair<const Instruction*, const Instruction*>>;

// Shapes of tuples and names may be of any length.
constexpr size_t kMostLetters = 400;

std::string Bounded(std::string text) {
  if (text.size() <= kMostLetters) return text;
  text.resize(kMostLetters);
  return text + "…";
}

// A list of distinct texts.
class Texts {
 public:
  int Add(const std::string& text) {
    const auto [it, is_new] = place_.try_emplace(text, static_cast<int>(list_.size()));
    if (is_new) list_.push_back(Bounded(text));
    return it->second;
  }
  Json Take() { return std::move(list_); }

 private:
  Json list_ = Json::array();
  absl::flat_hash_map<std::string, int> place_;
};

// Finds the values that enter and leave called computations.
class CarriedValues {
 public:
  explicit CarriedValues(const Module& module) {
    for (const auto& computation : module.computations()) {
      for (const auto& instruction : computation->instructions()) {
        if (instruction->opcode() == Opcode::kGetTupleElement && instruction->num_operands() == 1) {
          elements_[instruction->operand(0)].push_back(instruction.get());
        }
      }
    }
    for (const auto& computation : module.computations()) {
      for (const auto& instruction : computation->instructions()) Add(*instruction);
    }
  }
  Edges Take() { return std::move(edges_); }

 private:
  void Add(const Instruction& caller) {
    switch (caller.opcode()) {
      case Opcode::kWhile:
        for (const Computation* called : caller.called()) {
          if (called->num_parameters() != 1 || caller.num_operands() != 1) continue;
          Carry(caller.operand(0), called->parameter(0));
        }
        if (!caller.called().empty()) Carry(caller.called(0)->root(), &caller);
        break;
      case Opcode::kCall:
        for (int i = 0; i < caller.num_operands() && i < caller.called(0)->num_parameters(); ++i) {
          Carry(caller.operand(i), caller.called(0)->parameter(i));
        }
        Carry(caller.called(0)->root(), &caller);
        break;
      case Opcode::kConditional:
        for (size_t i = 0; i < caller.called().size(); ++i) {
          const Computation& branch = *caller.called()[i];
          if (static_cast<int>(i) + 1 < caller.num_operands() && branch.num_parameters() == 1) {
            Carry(caller.operand(static_cast<int64_t>(i) + 1), branch.parameter(0));
          }
          Carry(branch.root(), &caller);
        }
        break;
      default:
        break;
    }
  }

  // From each element of `from` to the get-tuple-elements of `to`; from `from` itself to `to` where it has none.
  void Carry(const Instruction* from, const Instruction* to) {
    if (from == nullptr) return;
    const auto elements = elements_.find(to);
    if (elements == elements_.end() || from->opcode() != Opcode::kTuple) {
      edges_.emplace_back(from, to);
      return;
    }
    for (const Instruction* element : elements->second) {
      const int64_t i = element->tuple_index();
      if (i >= 0 && i < from->num_operands()) edges_.emplace_back(from->operand(i), element);
    }
  }

  absl::flat_hash_map<const Instruction*, std::vector<const Instruction*>> elements_;  // By tuple.
  Edges edges_;
};

std::vector<const Instruction*> All(const Module& module) {
  std::vector<const Instruction*> all;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) all.push_back(instruction.get());
  }
  return all;
}

// The `most` instructions nearest to `around`, in the order of the program.
std::vector<const Instruction*> Nearest(const Module& module, absl::Span<const Instruction* const> around,
                                        const Edges& carried, int64_t most) {
  absl::flat_hash_map<const Instruction*, std::vector<const Instruction*>> next;
  for (const Instruction* instruction : All(module)) {
    for (const Instruction* operand : instruction->operands()) {
      next[instruction].push_back(operand);
      next[operand].push_back(instruction);
    }
  }
  for (const auto& [from, to] : carried) {
    next[from].push_back(to);
    next[to].push_back(from);
  }
  absl::flat_hash_map<const Instruction*, bool> taken;
  std::vector<const Instruction*> queue;
  const auto take = [&](const Instruction* instruction) {
    if (static_cast<int64_t>(queue.size()) < most && taken.try_emplace(instruction, true).second) {
      queue.push_back(instruction);
    }
  };
  for (const Instruction* instruction : around) take(instruction);
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const Instruction* other : next[queue[i]]) take(other);
  }
  std::vector<const Instruction*> nearest;
  for (const Instruction* instruction : All(module)) {
    if (taken.contains(instruction)) nearest.push_back(instruction);
  }
  return nearest;
}

// The author's name; for a parameter of the entry that of JAX: params['w_down'].
std::string AuthorName(const Instruction& instruction) {
  const bool is_argument = instruction.opcode() == Opcode::kParameter &&
                           instruction.computation() == instruction.module()->entry();
  if (!is_argument) return NameFromMetadata(instruction);
  const std::string name = ParameterName(instruction);
  return name == instruction.name() ? "" : name;
}

// How an array is cut; "" where nothing is said.
std::string ShardingText(const Instruction& instruction) {
  if (instruction.sharding() == nullptr || !instruction.shape().IsArray()) return "";
  const absl::StatusOr<HloSharding> sharding = HloSharding::FromProto(*instruction.sharding());
  return sharding.ok() ? sharding->ToString() : "";
}

}  // namespace

ProgramSection MakeProgramSection(const Module& module, absl::Span<const Instruction* const> around,
                                  int64_t most) {
  const Edges carried = CarriedValues(module).Take();
  const bool is_whole = module.NumInstructions() <= most;
  const std::vector<const Instruction*> shown =
      is_whole ? All(module) : Nearest(module, around, carried, most);

  ProgramSection out;
  for (const Instruction* instruction : shown)
    out.place.emplace(instruction, static_cast<int>(out.place.size()));
  const TextNames names(module);
  SourceFrames frames(module);
  Texts opcodes, shapes, computations, op_names, sources, shardings;
  Json name = Json::array(), opcode = Json::array(), shape = Json::array(), computation = Json::array(),
       op_name = Json::array(), source = Json::array(), bytes = Json::array(), operands = Json::array(),
       sharding = Json::array();
  for (const Instruction* instruction : shown) {
    name.push_back(Bounded(names(*instruction)));
    opcode.push_back(opcodes.Add(std::string(instruction->opcode_name())));
    shape.push_back(shapes.Add(instruction->shape().ToString()));
    computation.push_back(computations.Add(names(*instruction->computation())));
    op_name.push_back(op_names.Add(AuthorName(*instruction)));
    source.push_back(sources.Add(frames.LineOf(instruction->metadata())));
    bytes.push_back(instruction->shape().ByteSize());
    const std::string cut = ShardingText(*instruction);
    if (!cut.empty()) sharding.push_back({static_cast<int>(name.size()) - 1, shardings.Add(cut)});
    Json places = Json::array();
    for (const Instruction* operand : instruction->operands()) {
      const auto place = out.place.find(operand);
      if (place != out.place.end()) places.push_back(place->second);
    }
    operands.push_back(std::move(places));
  }
  Json pairs = Json::array();
  for (const auto& [from, to] : carried) {
    const auto a = out.place.find(from), b = out.place.find(to);
    if (a != out.place.end() && b != out.place.end()) pairs.push_back({a->second, b->second});
  }
  out.json = {{"instructions", module.NumInstructions()},
              {"opcodes", opcodes.Take()},
              {"shapes", shapes.Take()},
              {"computations", computations.Take()},
              {"op_names", op_names.Take()},
              {"sources", sources.Take()},
              {"shardings", shardings.Take()},
              {"name", std::move(name)},
              {"opcode", std::move(opcode)},
              {"shape", std::move(shape)},
              {"computation", std::move(computation)},
              {"op_name", std::move(op_name)},
              {"source", std::move(source)},
              {"bytes", std::move(bytes)},
              {"operands", std::move(operands)},
              {"sharding", std::move(sharding)},
              {"carried", std::move(pairs)}};
  return out;
}

}  // namespace toroid
