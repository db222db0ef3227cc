#include "runtime/engine/storage_model.h"

#include "absl/container/flat_hash_map.h"
#include "hlo/base/math.h"

namespace toroid {
namespace {

void AppendNumber(int64_t number, std::string* text) {
  text->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

}  // namespace

StorageModel::Handle StorageModel::NewNode() {
  if (free_.empty()) {
    nodes_.emplace_back();
    return static_cast<Handle>(nodes_.size()) - 1;
  }
  const Handle handle = free_.back();
  free_.pop_back();
  return handle;
}

StorageModel::Handle StorageModel::Array(int64_t bytes, bool uniform) {
  const Handle handle = NewNode();
  Node& node = nodes_[handle];
  node = Node();
  node.references = 1;
  node.uniform = uniform;
  node.bytes = bytes;
  live_ = SaturatingAdd(live_, bytes);
  return handle;
}

StorageModel::Handle StorageModel::Tuple(absl::Span<const Handle> elements) {
  const Handle handle = NewNode();
  Node& node = nodes_[handle];
  node = Node();
  node.references = 1;
  node.is_tuple = true;
  node.elements.assign(elements.begin(), elements.end());
  return handle;
}

StorageModel::Handle StorageModel::Share(Handle value) {
  if (value != kEmpty) ++nodes_[value].references;
  return value;
}

void StorageModel::Drop(Handle value) {
  if (value == kEmpty || --nodes_[value].references > 0) return;
  live_ -= nodes_[value].bytes;
  nodes_[value].bytes = 0;
  const auto elements = std::move(nodes_[value].elements);
  free_.push_back(value);
  for (const Handle element : elements) Drop(element);
}

void StorageModel::Note(int64_t bytes, const Instruction* instruction) {
  const int64_t held = SaturatingAdd(live_, bytes);
  if (held <= peak_) return;
  peak_ = held;
  peak_place_ = instruction;
}

StorageModel::Cut StorageModel::CutOut(absl::Span<const Handle> values) const {
  Cut cut;
  absl::flat_hash_map<Handle, int> places;
  const auto place_of = [&](Handle value) {
    if (value == kEmpty) return -1;
    const auto [it, is_new] = places.emplace(value, static_cast<int>(cut.order.size()));
    if (is_new) {
      cut.order.push_back(value);
      cut.references.push_back(0);
    }
    ++cut.references[it->second];
    return it->second;
  };
  for (const Handle value : values) {
    cut.places.push_back(place_of(value));
    AppendNumber(cut.places.back(), &cut.form);
  }
  for (size_t i = 0; i < cut.order.size(); ++i) {
    const Node& node = nodes_[cut.order[i]];
    AppendNumber(node.is_tuple ? -static_cast<int64_t>(node.elements.size()) - 1 : node.bytes, &cut.form);
    for (const Handle element : node.elements) AppendNumber(place_of(element), &cut.form);
  }
  for (size_t i = 0; i < cut.order.size(); ++i) {
    const Node& node = nodes_[cut.order[i]];
    const bool outside = node.references > cut.references[i];
    if (outside) ++cut.references[i];
    cut.form.push_back(static_cast<char>((outside ? 1 : 0) + (node.uniform ? 2 : 0)));
  }
  return cut;
}

StorageModel::StorageModel(const StorageModel& whole, const Cut& cut) {
  absl::flat_hash_map<Handle, Handle> places;
  for (size_t i = 0; i < cut.order.size(); ++i) places[cut.order[i]] = static_cast<Handle>(i);
  for (size_t i = 0; i < cut.order.size(); ++i) {
    Node node = whole.nodes_[cut.order[i]];
    node.references = cut.references[i];
    node.place = static_cast<int>(i);
    for (Handle& element : node.elements) {
      if (element != kEmpty) element = places[element];
    }
    live_ = SaturatingAdd(live_, node.bytes);
    nodes_.push_back(std::move(node));
  }
  peak_ = live_;
}

StorageModel::Handle StorageModel::PutBack(const StorageModel& part, Handle value,
                                           absl::Span<const Handle> order) {
  absl::flat_hash_map<Handle, Handle> made;
  const auto put = [&](Handle from, const auto& put_element) -> Handle {
    if (from == kEmpty) return kEmpty;
    const Node& node = part.nodes_[from];
    if (node.place >= 0) return Share(order[node.place]);
    const auto it = made.find(from);
    if (it != made.end()) return Share(it->second);
    Handle handle;
    if (node.is_tuple) {
      absl::InlinedVector<Handle, 2> elements;
      for (const Handle element : node.elements) elements.push_back(put_element(element, put_element));
      handle = Tuple(elements);
    } else {
      handle = Array(node.bytes, node.uniform);
    }
    made[from] = handle;
    return handle;
  };
  return put(value, put);
}

}  // namespace toroid
