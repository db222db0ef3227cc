#include "runtime/mesh/mesh_buffer.h"

#include "runtime/mesh/block_pool.h"

namespace toroid {

struct MeshBuffer::FreeList {
  Node* head = nullptr;
  ~FreeList() {
    while (head != nullptr) {
      Node* next = head->next_free;
      delete head;
      head = next;
    }
    closed = true;
  }
  // A buffer with static lifetime may be freed after the free list of its thread is gone.
  static thread_local FreeList list;
  static thread_local bool closed;
};
thread_local MeshBuffer::FreeList MeshBuffer::FreeList::list;
thread_local bool MeshBuffer::FreeList::closed = false;

MeshBuffer::Node* MeshBuffer::NewNode() {
  FreeList& list = FreeList::list;
  if (list.head == nullptr) return new Node;
  Node* node = list.head;
  list.head = node->next_free;
  return node;
}

MeshBuffer MeshBuffer::Array(int64_t bytes, bool uniform) {
  Node* node = NewNode();
  node->references = 1;
  node->uniform = uniform;
  node->is_tuple = false;
  node->bytes = bytes;
  node->data = node->inline_data;
  MeshBuffer buffer(node);
  if (bytes > kInlineBytes) {
    const Block block = AllocateBlock(bytes);
    if (block.data == nullptr) {
      node->bytes = 0;
      return MeshBuffer();
    }
    node->data = block.data;
    node->block_size = block.size;
    node->account = block.account;
  }
  return buffer;
}

MeshBuffer::Node* MeshBuffer::NewTupleNode() {
  Node* node = NewNode();
  node->references = 1;
  node->uniform = true;
  node->is_tuple = true;
  node->bytes = 0;
  node->data = node->inline_data;
  return node;
}

MeshBuffer MeshBuffer::Tuple(int size) {
  Node* node = NewTupleNode();
  node->elements.resize(static_cast<size_t>(size));  // A reused node keeps its capacity.
  return MeshBuffer(node);
}

MeshBuffer MeshBuffer::Tuple(std::vector<MeshBuffer> elements) {
  Node* node = NewTupleNode();
  node->elements = std::move(elements);
  return MeshBuffer(node);
}

void MeshBuffer::Release(Node* node) {
  if (!node->is_tuple && node->data != node->inline_data)
    FreeBlock({node->data, node->block_size, node->account});
  if (!node->elements.empty()) node->elements.clear();
  if (FreeList::closed) {
    delete node;
    return;
  }
  FreeList& list = FreeList::list;
  node->next_free = list.head;
  list.head = node;
}

void MeshBuffer::set_sizes(MeshBuffer sizes) {
  node_->elements.clear();
  if (!sizes.empty()) node_->elements.push_back(std::move(sizes));
}

int64_t MeshBuffer::LiveBytes() { return LiveBlockBytes(); }

}  // namespace toroid
