#include "explain/page/source_section.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/base/files.h"
#include "hlo/base/math.h"

namespace toroid {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostFileBytes = 1 << 20;
constexpr size_t kMostFiles = 200;
// A file of at most so many lines is shown whole.
constexpr int kShortFile = 300;
// Lines shown around a named one of a longer file.
constexpr int kAround = 12;
constexpr size_t kMostLetters = 300;

struct File {
  std::string path;
  std::map<int, int64_t> sent;  // By line: the bytes that its collectives send.
  std::set<int> named;          // Lines on a stack.
};

// The name without the folders in front of a package.
absl::string_view ShownName(absl::string_view path) {
  for (const absl::string_view folder : {"site-packages/", "dist-packages/"}) {
    const size_t at = path.rfind(folder);
    if (at != absl::string_view::npos) return path.substr(at + folder.size());
  }
  return path;
}

bool IsNamedAsSource(absl::string_view path) {
  for (const absl::string_view suffix : {".py", ".cc", ".cpp", ".cxx", ".h", ".jl", ".rs", ".swift"}) {
    if (absl::EndsWith(path, suffix)) return true;
  }
  return false;
}

std::vector<SourceFrame> StackOf(SourceFrames& frames, const xla::OpMetadata* metadata) {
  std::vector<SourceFrame> stack = frames.StackOf(metadata);
  if (stack.empty() && metadata != nullptr && !metadata->source_file().empty()) {
    stack.push_back({metadata->source_file(), "", metadata->source_line(), FrameKind::kAuthor});
  }
  return stack;
}

// The call that `source`, a line of SourceFrames::LineOf, names; -1 if none.
int FrameNamed(const std::vector<SourceFrame>& stack, absl::string_view source) {
  for (size_t i = 0; i < stack.size() && !source.empty(); ++i) {
    if (absl::StrCat(ShownName(stack[i].file), ":", stack[i].line) == source) return static_cast<int>(i);
  }
  return -1;
}

// The lines of a file to show: runs [first, last], 1-based.
std::vector<std::pair<int, int>> Parts(const std::set<int>& named, int lines) {
  if (lines <= kShortFile) return {{1, lines}};
  std::vector<std::pair<int, int>> parts;
  for (const int line : named) {
    if (line < 1 || line > lines) continue;
    const int first = std::max(1, line - kAround), last = std::min(lines, line + kAround);
    if (!parts.empty() && first <= parts.back().second + 1) {
      parts.back().second = last;
    } else {
      parts.emplace_back(first, last);
    }
  }
  return parts;
}

// The text of a file, or why it is not shown.
absl::StatusOr<std::string> TextOf(const std::string& path) {
  std::error_code error;
  if (!IsNamedAsSource(path)) return absl::InvalidArgumentError("its name is not that of a source file");
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::NotFoundError("it was not at hand when this page was written");
  }
  absl::StatusOr<std::string> text = ReadFile(path, kMostFileBytes);
  if (!text.ok()) return absl::UnavailableError("it could not be read, or is longer than 1 MiB");
  if (absl::StrContains(*text, absl::string_view("\0", 1))) {
    return absl::InvalidArgumentError("it is no text");
  }
  return text;
}

Json FileJson(const File& file, bool reads_files) {
  Json json = {
      {"name", std::string(ShownName(file.path))}, {"lines", Json::array()}, {"parts", Json::array()}};
  for (const auto& [line, bytes] : file.sent) json["lines"].push_back({line, bytes});
  const absl::StatusOr<std::string> text =
      reads_files ? TextOf(file.path) : absl::UnavailableError("source was left out of this page");
  if (!text.ok()) {
    json["missing"] = std::string(text.status().message());
    return json;
  }
  std::vector<absl::string_view> lines = absl::StrSplit(*text, '\n');
  if (lines.back().empty()) lines.pop_back();
  if (!file.sent.empty() && file.sent.rbegin()->first > static_cast<int>(lines.size())) {
    json["missing"] =
        "it is not the file that the program was made from, since it lacks a line that the program names";
    return json;
  }
  for (const auto& [first, last] : Parts(file.named, static_cast<int>(lines.size()))) {
    Json part = Json::array();
    for (int i = first; i <= last; ++i) part.push_back(std::string(lines[i - 1].substr(0, kMostLetters)));
    json["parts"].push_back({{"first", first}, {"lines", std::move(part)}});
  }
  if (json["parts"].empty()) json["missing"] = "it has no such line";
  return json;
}

class Files {
 public:
  int Place(absl::string_view path) {
    const auto [it, is_new] = places_.try_emplace(std::string(path), static_cast<int>(files_.size()));
    if (is_new) files_.push_back({std::string(path), {}, {}});
    return it->second;
  }
  File& at(int place) { return files_[place]; }
  Json ToJson(bool reads_files) const {
    Json json = Json::array();
    for (size_t i = 0; i < files_.size(); ++i) {
      json.push_back(FileJson(files_[i], reads_files && !files_[i].named.empty() && i < kMostFiles));
    }
    return json;
  }

 private:
  std::vector<File> files_;
  std::map<std::string, int> places_;
};

}  // namespace

SourceSection MakeSourceSection(const Module& module, absl::Span<const CollectiveRecord> collectives,
                                absl::Span<const xla::OpMetadata* const> metadata, bool reads_files) {
  SourceSection out;
  out.stacks = Json::array();
  SourceFrames frames(module);
  Files files;
  std::map<std::string, int> places;  // Of stacks.
  for (size_t i = 0; i < collectives.size(); ++i) {
    const std::vector<SourceFrame> stack = StackOf(frames, metadata[i]);
    const int named = FrameNamed(stack, collectives[i].source);
    Json calls = Json::array();
    for (size_t k = 0; k < stack.size(); ++k) {
      const SourceFrame& frame = stack[k];
      const int file = files.Place(frame.file);
      calls.push_back(
          {file, frame.line, std::string(frame.function), std::string(FrameKindText(frame.kind))});
      const bool is_shown = frame.kind != FrameKind::kLibrary || static_cast<int>(k) == named;
      if (is_shown) files.at(file).named.insert(frame.line);
    }
    if (named >= 0) {
      int64_t& sent = files.at(calls[named][0]).sent[stack[named].line];
      sent =
          SaturatingAdd(sent, SaturatingMultiply(collectives[i].sent_bytes, collectives[i].executions.times));
    }
    out.frame_of.push_back(named);
    if (stack.empty()) {
      out.stack_of.push_back(-1);
      continue;
    }
    const auto [it, is_new] = places.try_emplace(calls.dump(-1, ' ', false, Json::error_handler_t::replace),
                                                 static_cast<int>(out.stacks.size()));
    if (is_new) out.stacks.push_back(std::move(calls));
    out.stack_of.push_back(it->second);
  }
  out.files = files.ToJson(reads_files);
  return out;
}

}  // namespace toroid
