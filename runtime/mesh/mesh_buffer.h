// Storage of values on a mesh: reference-counted, one contiguous block for all devices.
//
// An array buffer holds `copies` rows of equal size, one per running device, in order; a *uniform* buffer
// holds one row that is the value on every device. A tuple holds further buffers. A token is an empty uniform
// array. A buffer does not know its shape: the instruction that produced it does. Only the buffer of an array
// with dynamic dimensions says how much of it is valid.
//
// Counts are not atomic: a buffer belongs to one thread at a time. Kernels share only raw memory with
// helpers.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace toroid {

struct BlockAccount;

class MeshBuffer {
 public:
  // Empty: refers to nothing.
  MeshBuffer() = default;
  MeshBuffer(const MeshBuffer& other) : node_(other.node_) {
    if (node_ != nullptr) ++node_->references;
  }
  MeshBuffer(MeshBuffer&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  MeshBuffer& operator=(const MeshBuffer& other) {
    MeshBuffer copy(other);
    std::swap(node_, copy.node_);
    return *this;
  }
  MeshBuffer& operator=(MeshBuffer&& other) noexcept {
    if (this != &other) {
      Reset();
      node_ = std::exchange(other.node_, nullptr);
    }
    return *this;
  }
  ~MeshBuffer() { Reset(); }
  void Reset() {
    if (node_ != nullptr && --node_->references == 0) Release(node_);
    node_ = nullptr;
  }

  // An array of `bytes` uninitialized bytes, aligned to 64 if larger than a cache line; empty if there is no
  // memory.
  static MeshBuffer Array(int64_t bytes, bool uniform);
  // A tuple of `size` empty elements.
  static MeshBuffer Tuple(int size);
  // A tuple of these elements.
  static MeshBuffer Tuple(std::vector<MeshBuffer> elements);

  bool empty() const { return node_ == nullptr; }
  bool is_tuple() const { return node_->is_tuple; }
  // Arrays: stored once for all devices.
  bool uniform() const { return node_->uniform; }
  void set_uniform(bool uniform) { node_->uniform = uniform; }
  // Arrays: bytes of all rows.
  int64_t bytes() const { return node_->bytes; }
  const char* data() const { return node_->data; }
  char* mutable_data() { return node_->data; }
  // No other handle refers to the storage, so it may be overwritten.
  bool unique() const { return node_->references == 1; }

  absl::Span<const MeshBuffer> elements() const { return node_->elements; }
  const MeshBuffer& element(int i) const { return node_->elements[i]; }
  MeshBuffer& mutable_element(int i) { return node_->elements[i]; }

  // Arrays with dynamic dimensions: a second array with the run-time size of each dimension, s32[rank] per
  // row; null if the whole array is valid. set_sizes requires unique().
  const MeshBuffer* sizes() const {
    return node_->is_tuple || node_->elements.empty() ? nullptr : &node_->elements[0];
  }
  void set_sizes(MeshBuffer sizes);

  // Live bytes of arrays that this thread made; small arrays are not counted.
  static int64_t LiveBytes();

 private:
  static constexpr int kInlineBytes = 32;

  struct Node {
    int32_t references;
    bool uniform;
    bool is_tuple;
    int64_t bytes;
    char* data;
    // If `data` is a block:
    int64_t block_size;
    BlockAccount* account;
    Node* next_free;
    std::vector<MeshBuffer> elements;
    alignas(16) char inline_data[kInlineBytes];
  };
  // A thread's unused nodes.
  struct FreeList;

  explicit MeshBuffer(Node* node) : node_(node) {}
  static Node* NewNode();
  static Node* NewTupleNode();
  static void Release(Node* node);

  Node* node_ = nullptr;
};

}  // namespace toroid
