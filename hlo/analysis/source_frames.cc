#include "hlo/analysis/source_frames.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "hlo/analysis/custom_call_targets.h"

namespace toroid {
namespace {

using Index = xla::StackFrameIndexProto;

// A line that so many functions call is a helper's.
constexpr size_t kCallersOfAHelper = 3;
// Helpers are stepped over as far as this many frames; beyond, the innermost frame says more than its callers.
constexpr int kMostHelpers = 4;
// Calls of a stack that are looked at.
constexpr int kMostDepth = 100;

// How far out the same call is looked for.
constexpr int kDeepestStack = 64;

constexpr absl::string_view kPackages[] = {"site-packages/", "dist-packages/"};

bool ContainsAny(absl::string_view text, absl::Span<const absl::string_view> parts) {
  for (const absl::string_view part : parts) {
    if (absl::StrContains(text, part)) return true;
  }
  return false;
}

}  // namespace

absl::string_view FileInPackage(absl::string_view file) {
  for (const absl::string_view folder : kPackages) {
    const size_t at = file.rfind(folder);
    if (at != absl::string_view::npos) return file.substr(at + folder.size());
  }
  return file;
}

namespace {

// True for files of Python and of the libraries that programs are written with.
bool IsLibraryFile(absl::string_view file) {
  static constexpr absl::string_view kParts[] = {
      "<frozen ",   "jax/_src/",   "jax/experimental/", "flax/core/", "flax/linen/",
      "flax/nnx/",  "haiku/_src/", "optax/_src/",       "equinox/_",  "torch/nn/",
      "torch_xla/", "keras/src/",  "tensorflow/python/"};
  static constexpr absl::string_view kPackagesOfLibraries[] = {
      "jax/",       "jaxlib/",    "flax/",      "optax/",     "haiku/",  "equinox/",  "chex/",
      "einops/",    "jaxtyping/", "numpy/",     "torch/",     "orbax/",  "keras/",    "tensorflow/",
      "qwix/",      "aqt/",       "beartype/",  "penzai/",    "toolz/",  "tf_keras/", "absl/",
      "typeguard/", "IPython/",   "ipykernel/", "traitlets/", "tornado/"};
  if (ContainsAny(file, kParts)) return true;
  const absl::string_view in_package = FileInPackage(file);
  if (in_package.size() == file.size()) return absl::StrContains(file, "/lib/python3");
  for (const absl::string_view package : kPackagesOfLibraries) {
    if (absl::StartsWith(in_package, package)) return true;
  }
  return false;
}

// The last name of an op_name: sharding_constraint of jit(step)/layer/sharding_constraint.
absl::string_view LastName(const Instruction& op) {
  const absl::string_view name = op.metadata()->op_name();
  return name.substr(name.rfind('/') + 1);
}

// Also true for a collective that was made for a constraint.
bool IsConstraint(const Instruction& op) {
  return IsShardingAnnotation(op) || LastName(op) == "sharding_constraint";
}

constexpr char kAuthor[] = "toroid.author", kNotAuthor[] = "toroid.not_author";

bool HasAPart(absl::string_view file, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return absl::StrContains(file, part); });
}

FrameKind KindOf(absl::string_view file, absl::string_view function, const AuthorFiles& files) {
  if (HasAPart(file, files.not_author)) return FrameKind::kLibrary;
  if (!files.author.empty()) return HasAPart(file, files.author) ? FrameKind::kAuthor : FrameKind::kLibrary;
  if (IsLibraryFile(file)) return FrameKind::kLibrary;
  if (function == "<module>") return FrameKind::kScript;
  return FileInPackage(file).size() == file.size() ? FrameKind::kAuthor : FrameKind::kPackage;
}

}  // namespace

void SetAuthorFiles(const AuthorFiles& files, Module* module) {
  auto& attributes = *module->mutable_proto()->mutable_frontend_attributes()->mutable_map();
  if (!files.author.empty()) attributes[kAuthor] = absl::StrJoin(files.author, "\n");
  if (!files.not_author.empty()) attributes[kNotAuthor] = absl::StrJoin(files.not_author, "\n");
}

namespace {

std::set<absl::string_view> FilesOf(const Module& module) {
  const auto& names = module.proto().stack_frame_index().file_names();
  std::set<absl::string_view> files(names.begin(), names.end());
  for (const auto& computation : module.computations()) {
    for (const auto& op : computation->instructions()) {
      if (op->metadata() != nullptr && !op->metadata()->source_file().empty())
        files.insert(op->metadata()->source_file());
    }
  }
  return files;
}

}  // namespace

std::vector<std::string> PartsOfNoFile(const std::vector<std::string>& parts, const Module& module) {
  const std::set<absl::string_view> files = FilesOf(module);
  std::vector<std::string> out;
  for (const std::string& part : parts) {
    if (std::none_of(files.begin(), files.end(),
                     [&](absl::string_view file) { return HasAPart(file, {part}); }))
      out.push_back(part);
  }
  return out;
}

std::vector<std::string> SomeFiles(const Module& module, size_t most) {
  std::vector<std::string> own, libraries;
  for (const absl::string_view file : FilesOf(module))
    (IsLibraryFile(file) ? libraries : own).emplace_back(FileInPackage(file));
  own.insert(own.end(), libraries.begin(), libraries.end());
  if (own.size() > most) own.resize(most);
  return own;
}

void SourceFrames::FindKinds() {
  const auto& attributes = module_.proto().frontend_attributes().map();
  const auto parts_of = [&](const char* key) -> std::vector<std::string> {
    const auto it = attributes.find(key);
    if (it == attributes.end()) return {};
    return absl::StrSplit(it->second, '\n', absl::SkipEmpty());
  };
  files_ = {parts_of(kAuthor), parts_of(kNotAuthor)};
  const Index& index = module_.proto().stack_frame_index();
  kinds_.assign(index.file_locations_size(), FrameKind::kLibrary);
  for (int i = 0; i < index.file_locations_size(); ++i) kinds_[i] = KindByFile(i);
  if (files_.author.empty()) FindHelpers();
  FindWrappers();
}

// A frame is marked if some op that is no constraint has it on its stack; then its callers are, too.
void SourceFrames::FindWrappers() {
  const Index& index = module_.proto().stack_frame_index();
  enum Mark : uint8_t { kNothing, kConstraints, kOthers };
  std::vector<Mark> marks(index.stack_frames_size() + 1, kNothing);
  for (const auto& computation : module_.computations()) {
    for (const auto& op : computation->instructions()) {
      // Sums of gradients have the calls of some use of the value.
      if (op->metadata() == nullptr || LastName(*op) == "add_any") continue;
      const Mark mark = IsConstraint(*op) ? kConstraints : kOthers;
      int frame = op->metadata()->stack_frame_id();
      if (frame < 1 || frame >= static_cast<int>(marks.size())) continue;
      for (; frame != 0 && marks[frame] < mark; frame = ParentOf(frame)) marks[frame] = mark;
    }
  }
  using Function = std::pair<absl::string_view, absl::string_view>;  // File and name.
  std::map<Function, Mark> functions;
  for (int frame = 1; frame < static_cast<int>(marks.size()); ++frame) {
    const SourceFrame at = FrameAt(frame);
    Mark& mark = functions[{at.file, at.function}];
    mark = std::max(mark, marks[frame]);
  }
  for (int frame = 1; frame < static_cast<int>(marks.size()); ++frame) {
    const SourceFrame at = FrameAt(frame);
    if (at.function.empty() || at.kind > FrameKind::kHelper ||
        functions[{at.file, at.function}] != kConstraints)
      continue;
    kinds_[index.stack_frames(frame - 1).file_location_id() - 1] = FrameKind::kWrapper;
  }
}

FrameKind SourceFrames::KindByFile(int location) const {
  const Index& index = module_.proto().stack_frame_index();
  const int file = index.file_locations(location).file_name_id();
  const int function = index.file_locations(location).function_name_id();
  if (file < 1 || file > index.file_names_size()) return FrameKind::kLibrary;
  const bool is_named = function >= 1 && function <= index.function_names_size();
  return KindOf(index.file_names(file - 1), is_named ? index.function_names(function - 1) : "", files_);
}

void SourceFrames::ShareHelpers(SourceFrames* other) {
  if (kinds_.empty()) FindKinds();
  if (other->kinds_.empty()) other->FindKinds();
  const auto code = OtherCode(), others_code = other->OtherCode();
  DropHelpers(others_code);
  other->DropHelpers(code);
}

std::set<std::pair<absl::string_view, int>> SourceFrames::OtherCode() const {
  const Index& index = module_.proto().stack_frame_index();
  std::set<std::pair<absl::string_view, int>> code;
  for (int i = 0; i < index.file_locations_size(); ++i) {
    if (kinds_[i] != FrameKind::kAuthor && kinds_[i] != FrameKind::kPackage) continue;
    const Index::FileLocation& place = index.file_locations(i);
    code.insert({index.file_names(place.file_name_id() - 1), place.line()});
  }
  return code;
}

void SourceFrames::DropHelpers(const std::set<std::pair<absl::string_view, int>>& code) {
  const Index& index = module_.proto().stack_frame_index();
  for (int i = 0; i < index.file_locations_size(); ++i) {
    if (kinds_[i] != FrameKind::kHelper) continue;
    const Index::FileLocation& place = index.file_locations(i);
    if (code.count({index.file_names(place.file_name_id() - 1), place.line()}) > 0) kinds_[i] = KindByFile(i);
  }
}

SourceFrame SourceFrames::FrameAt(int frame) const {
  const Index& index = module_.proto().stack_frame_index();
  SourceFrame out;
  const int location = index.stack_frames(frame - 1).file_location_id();
  if (location < 1 || location > index.file_locations_size()) return out;
  const Index::FileLocation& place = index.file_locations(location - 1);
  if (place.file_name_id() < 1 || place.file_name_id() > index.file_names_size()) return out;
  out.file = index.file_names(place.file_name_id() - 1);
  if (place.function_name_id() >= 1 && place.function_name_id() <= index.function_names_size()) {
    out.function = index.function_names(place.function_name_id() - 1);
  }
  out.line = place.line();
  out.kind = kinds_[location - 1];
  return out;
}

// 0: the frame is the outermost.
int SourceFrames::ParentOf(int frame) const {
  const Index& index = module_.proto().stack_frame_index();
  const int parent = index.stack_frames(frame - 1).parent_frame_id();
  return parent >= 1 && parent <= index.stack_frames_size() ? parent : 0;
}

bool SourceFrames::IsAround(int frame, const SourceFrame& call) const {
  for (int depth = 0; depth < kDeepestStack && frame != 0; ++depth, frame = ParentOf(frame)) {
    const SourceFrame at = FrameAt(frame);
    if (at.line == call.line && at.file == call.file) return true;
  }
  return false;
}

void SourceFrames::FindHelpers() {
  using Line = std::pair<absl::string_view, int>;
  struct Callers {
    std::map<Line, absl::string_view> lines;  // With their functions.
    std::set<Line> above;                     // The lines from which the callers are called.
    bool is_helper = false;
  };
  const Index& index = module_.proto().stack_frame_index();
  const auto is_code = [](const SourceFrame& frame) {
    return frame.kind == FrameKind::kAuthor || frame.kind == FrameKind::kPackage;
  };
  std::map<Line, Callers> callers;
  for (int frame = 1; frame <= index.stack_frames_size(); ++frame) {
    const SourceFrame callee = FrameAt(frame);
    const int parent = ParentOf(frame);
    if (!is_code(callee) || parent == 0) continue;
    const SourceFrame caller = FrameAt(parent);
    if (!is_code(caller) || caller.function.empty() || caller.function == callee.function) continue;
    if (IsAround(parent, callee)) continue;
    Callers& of = callers[{callee.file, callee.line}];
    of.lines.emplace(Line(caller.file, caller.line), caller.function);
    for (int above = ParentOf(parent), depth = 0; above != 0 && depth < kMostDepth;
         above = ParentOf(above), ++depth) {
      const SourceFrame frame_above = FrameAt(above);
      of.above.insert({frame_above.file, frame_above.line});
    }
  }
  // Of what is computed again for the backward pass, stacks lack the calls in between: the line that calls a caller is none.
  for (auto& [line, of] : callers) {
    std::set<absl::string_view> functions;
    for (const auto& [caller, function] : of.lines) {
      if (!of.above.contains(caller)) functions.insert(function);
    }
    of.is_helper = functions.size() >= kCallersOfAHelper;
  }
  // A line that only a helper calls is one, too; each round finds those one call further in.
  for (int round = 0; round < kMostHelpers; ++round) {
    for (auto& [line, of] : callers) {
      if (of.is_helper || of.lines.size() != 1) continue;
      const auto caller = callers.find(of.lines.begin()->first);
      of.is_helper = caller != callers.end() && caller->second.is_helper;
    }
  }
  for (int i = 0; i < index.file_locations_size(); ++i) {
    if (kinds_[i] != FrameKind::kAuthor && kinds_[i] != FrameKind::kPackage) continue;
    const Index::FileLocation& place = index.file_locations(i);
    const auto of = callers.find({index.file_names(place.file_name_id() - 1), place.line()});
    if (of != callers.end() && of->second.is_helper) kinds_[i] = FrameKind::kHelper;
  }
}

std::vector<SourceFrame> SourceFrames::StackOf(const xla::OpMetadata* metadata) {
  std::vector<SourceFrame> stack;
  if (metadata == nullptr) return stack;
  const int frames = module_.proto().stack_frame_index().stack_frames_size();
  int frame = metadata->stack_frame_id();
  if (frame < 1 || frame > frames) return stack;
  if (kinds_.empty()) FindKinds();
  // The depth is bounded, since the parents of frames may form a cycle.
  for (int depth = 0; depth < frames && frame != 0; ++depth, frame = ParentOf(frame)) {
    SourceFrame at = FrameAt(frame);
    if (!at.file.empty()) stack.push_back(std::move(at));
  }
  return stack;
}

int SourceFrames::ShownOf(absl::Span<const SourceFrame> stack) {
  int best = -1, helpers = 0;
  for (size_t i = 0; i < stack.size(); ++i) {
    if (stack[i].kind == FrameKind::kHelper && ++helpers > kMostHelpers) break;
    if (best < 0 || stack[i].kind < stack[best].kind) best = static_cast<int>(i);
  }
  return best;
}

std::string SourceFrames::LineOf(const xla::OpMetadata* metadata) {
  if (metadata == nullptr) return "";
  const std::vector<SourceFrame> stack = StackOf(metadata);
  const int shown = ShownOf(stack);
  if (shown >= 0) return absl::StrCat(FileInPackage(stack[shown].file), ":", stack[shown].line);
  if (metadata->source_file().empty()) return "";
  return absl::StrCat(FileInPackage(metadata->source_file()), ":", metadata->source_line());
}

absl::string_view FrameKindText(FrameKind kind) {
  switch (kind) {
    case FrameKind::kAuthor:
      return "the author's";
    case FrameKind::kPackage:
      return "a package's";
    case FrameKind::kHelper:
      return "a helper's";
    case FrameKind::kWrapper:
      return "a wrapper's";
    case FrameKind::kScript:
      return "a script's";
    case FrameKind::kLibrary:
      return "a library's";
  }
  return "";
}

}  // namespace toroid
