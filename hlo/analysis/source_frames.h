// The author's source lines of a program, from the call stacks that frameworks record with their instructions.
//
// A stack begins where the framework made the instruction, deep in its own code, and ends at the script that was started. The
// line to show lies between. A frame is
//
//   a library's    in a file of Python, or of a framework or a library of layers or optimizers that programs are written with (jax/_src,
//                  flax/nnx, optax/_src, torch/nn, ...)
//   a script's     at the top level of a file (`<module>`): it starts the program
//   a package's    in any other file under site-packages: a library of models, such as MaxText
//   a wrapper's    in a function in which, and in what it calls, only sharding constraints are made: constrain(x, ...)
//   a helper's     on a line that three or more functions call, or that such a line calls alone: dense(x, w), einsum(...)
//   the author's   all others
//
// The line is that of the innermost frame of the author; without one, of a package; without one, of a helper; then of a
// wrapper, then of the script. A module may say itself whose files are whose (SetAuthorFiles): hlo-partition --author,
// --not_author.
// Example, MaxText from site-packages, innermost first:
//   jax/_src/lax/lax.py:812                   a library's
//   layers/linears.py:162 _compute_dot        a helper's: only line 476 calls it
//   layers/linears.py:476 DenseGeneral        a helper's: called by query_projection, kv_projection, out_projection, MlpBlock
//   layers/attentions.py:703 query_projection a package's: the line that is shown
//   lower.py:26 <module>                      a script's
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"

namespace toroid {

enum class FrameKind : uint8_t { kAuthor, kPackage, kHelper, kWrapper, kScript, kLibrary };

// One call on a stack.
struct SourceFrame {
  absl::string_view file, function;  // Of the module.
  int line = 0;
  FrameKind kind = FrameKind::kAuthor;
};

// Parts of file names, such as "maxtext/layers/".
struct AuthorFiles {
  std::vector<std::string>
      author;  // If there are any, frames in files with one of these parts are the author's, all others a library's.
  std::vector<std::string> not_author;  // Frames in files with one of these parts are a library's.
};

// Says it in the module, as a frontend attribute, so that it holds for whatever is made of the module.
void SetAuthorFiles(const AuthorFiles& files, Module* module);

// Those parts that the name of no file has, which an instruction or a call records.
std::vector<std::string> PartsOfNoFile(const std::vector<std::string>& parts, const Module& module);

// Such files without the folders in front of their packages, those of libraries last; at most `most`.
std::vector<std::string> SomeFiles(const Module& module, size_t most);

class SourceFrames {
 public:
  // Keeps a reference to `module`. What the frames are is found at the first question, so that an object that is asked nothing
  // costs nothing; one object is for one thread.
  explicit SourceFrames(const Module& module) : module_(module) {}

  // Makes this and the frames of another module agree on helpers: a line of both is a helper's only if it is one in both. Which
  // lines are helpers' depends on the stacks that a module records, and compilers change those where they inline calls.
  void ShareHelpers(SourceFrames* other);

  // "file:line" of the author's line; the file without the folders in front of its package; "" if nothing is known.
  std::string LineOf(const xla::OpMetadata* metadata);

  // The whole stack, innermost frame first; empty if the module records none.
  std::vector<SourceFrame> StackOf(const xla::OpMetadata* metadata);
  // The frame of a stack whose line is shown; -1 for an empty stack.
  static int ShownOf(absl::Span<const SourceFrame> stack);

 private:
  SourceFrame FrameAt(int frame) const;
  int ParentOf(int frame) const;
  // Whether the line of a call is that of `frame`, or of a frame that leads to it. JAX puts the stack on which an op is
  // transposed on top of that of the call it belongs to: the line that takes the gradient then seems to be called from within
  // the model.
  bool IsAround(int frame, const SourceFrame& call) const;
  void FindKinds();
  void FindHelpers();
  // What the frames at a location are if no line is a helper's.
  FrameKind KindByFile(int location) const;
  // The code that is no helper's, by file and line.
  std::set<std::pair<absl::string_view, int>> OtherCode() const;
  // Takes code for the author's, or a package's, that was a helper's.
  void DropHelpers(const std::set<std::pair<absl::string_view, int>>& code);
  void FindWrappers();

  const Module& module_;
  AuthorFiles files_;
  std::vector<FrameKind> kinds_;  // By location number; empty before the first question.
};

// The file without the folders in front of its package.
absl::string_view FileInPackage(absl::string_view file);

// "a library's", "the author's", ...
absl::string_view FrameKindText(FrameKind kind);

}  // namespace toroid
