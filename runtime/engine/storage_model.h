// Which storages a run holds, without their contents: a model of MeshBuffer.
//
// A value is an array, or a tuple of values; handles are counted, and what no handle refers to is freed. So the model knows, as
// a run does, whether a kernel may write into the storage of an operand, and how many bytes are held at once.
//
// Example: x = Array(4 kB), t = Tuple({x, Share(x)}): 4 kB are live; x is not unique until t is dropped.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "hlo/ir/instruction.h"

namespace toroid {

class StorageModel {
 public:
  // A value; kEmpty refers to nothing. Each handle that a function here returns must be dropped, or put into a tuple.
  using Handle = int;
  static constexpr Handle kEmpty = -1;

  // `bytes`: of all rows.
  Handle Array(int64_t bytes, bool uniform);
  // Takes over the elements.
  Handle Tuple(absl::Span<const Handle> elements);
  Handle Share(Handle value);
  void Drop(Handle value);

  bool is_tuple(Handle value) const { return nodes_[value].is_tuple; }
  bool uniform(Handle value) const { return nodes_[value].uniform; }
  bool unique(Handle value) const { return nodes_[value].references == 1; }
  int64_t bytes(Handle value) const { return nodes_[value].bytes; }
  Handle element(Handle tuple, int i) const { return nodes_[tuple].elements[i]; }
  // Moves an element out of a tuple.
  Handle TakeElement(Handle tuple, int i) { return std::exchange(nodes_[tuple].elements[i], kEmpty); }

  int64_t live_bytes() const { return live_; }
  int64_t peak_bytes() const { return peak_; }
  // What ran when the peak was reached; null: nothing yet.
  const Instruction* peak_place() const { return peak_place_; }
  // `instruction` takes this much beside what is live.
  void Note(int64_t bytes, const Instruction* instruction);

  // Values and what they consist of, cut out of a model. A computation treats arguments of one `form` alike.
  struct Cut {
    std::vector<Handle> order;    // Each value once, tuples before their elements.
    std::vector<int> references;  // By place in `order`: from inside, and one more for all from outside.
    std::vector<int> places;      // Of the values that were asked for.
    std::string form;
  };
  Cut CutOut(absl::Span<const Handle> values) const;
  // A model of these values alone: the handle of a value is its place.
  StorageModel(const StorageModel& whole, const Cut& cut);
  StorageModel() = default;

  // The value of a model that was cut out of this one, `order` being that of the cut: what was cut out is itself again, other
  // values are new.
  Handle PutBack(const StorageModel& part, Handle value, absl::Span<const Handle> order);

 private:
  struct Node {
    int references = 0;
    bool is_tuple = false, uniform = true;
    int place = -1;  // In the cut this model was made of; -1: made since.
    int64_t bytes = 0;
    absl::InlinedVector<Handle, 2> elements;
  };

  Handle NewNode();

  std::vector<Node> nodes_;
  std::vector<Handle> free_;
  int64_t live_ = 0, peak_ = 0;
  const Instruction* peak_place_ = nullptr;
};

}  // namespace toroid
