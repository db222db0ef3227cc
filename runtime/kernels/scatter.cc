// BUILD: copts = ["-O3"]
#include "runtime/kernels/scatter.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "runtime/kernels/combine_at.h"
#include "runtime/kernels/gather_window.h"
#include "runtime/loops/binary_loops.h"
#include "runtime/loops/block_convert.h"
#include "runtime/loops/scatter_loops.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/loops/thread_pool.h"
#include "runtime/mesh/mesh_rows.h"
#include "runtime/plan/scalar_body.h"

namespace toroid {
namespace {

constexpr int64_t kBlock = 512;              // Windows whose places are computed at a time.
constexpr int64_t kParallelWork = 32 << 10;  // Updates from which several threads are worth it.
constexpr int64_t kLeastColumnBytes = 128;   // Of a window's row, for one thread.

// The sizes of a window in each operand dimension; 1 in those that the updates do not have.
Dims WindowSizes(const OpCall& call, int operands) {
  const ScatterView numbers(call.instruction());
  Dims sizes(call.operand_shape(0).rank(), 0);
  for (const int64_t d : numbers.inserted_window_dims()) sizes[d] = 1;
  for (const int64_t d : numbers.operand_batching_dims()) sizes[d] = 1;
  int position = 0;
  for (int64_t& size : sizes) {
    if (size == 0) size = call.operand_shape(operands + 1).dim(numbers.update_window_dims()[position++]);
  }
  return sizes;
}

Dims LimitsOf(const Shape& shape, const Dims& sizes) {
  Dims limits;
  for (int d = 0; d < shape.rank(); ++d) limits.push_back(shape.dim(d) - sizes[d]);
  return limits;
}

// How a body of one op puts an update into the operand.
struct UpdateLoop {
  bool overwrites = false;
  BinaryLoop loop = nullptr;
  bool simple() const { return overwrites || loop != nullptr; }
};

UpdateLoop LoopOf(const std::optional<SimpleBody>& body, PrimitiveType type) {
  UpdateLoop update;
  if (!body.has_value()) return update;
  update.overwrites = body->opcode == Opcode::kParameter;
  if (!update.overwrites) update.loop = FindBinaryLoop(body->opcode, ComputeType(type));
  return update;
}

// Strides and offsets count elements, because operands may differ in width.
struct ScatterCache : KernelCache {
  explicit ScatterCache(const OpCall& call)
      : operands((call.num_operands() - 1) / 2),
        numbers(call.instruction()),
        strides(RowMajorStrides(call.operand_shape(0).dims(), 1)),
        starts(call.operand_shape(operands), numbers.index_vector_dim(),
               ToDims(numbers.scatter_dims_to_operand_dims()), ToDims(numbers.operand_batching_dims()),
               ToDims(numbers.indices_batching_dims()),
               LimitsOf(call.operand_shape(0), WindowSizes(call, operands)), strides,
               WindowStarts::Outside::kDrop) {
    const Shape& shape = call.operand_shape(0);
    const Shape& updates = call.operand_shape(operands + 1);
    const Dims update_strides = RowMajorStrides(updates.dims(), 1), sizes = WindowSizes(call, operands);
    std::vector<bool> has_start(shape.rank(), false), dropped(shape.rank(), false),
        in_window(updates.rank(), false);
    for (const int64_t d : numbers.inserted_window_dims()) dropped[d] = true;
    for (const int64_t d : numbers.operand_batching_dims()) dropped[d] = has_start[d] = true;
    for (const int64_t d : numbers.scatter_dims_to_operand_dims()) has_start[d] = true;
    for (const int64_t d : numbers.update_window_dims()) in_window[d] = true;
    int position = 0;
    for (int d = 0; d < shape.rank(); ++d) {
      if (!dropped[d])
        window.Add(sizes[d], update_strides[numbers.update_window_dims()[position++]], strides[d]);
      window_elements *= sizes[d];
    }
    Dims batch_strides;
    for (int d = 0; d < updates.rank(); ++d) {
      if (!in_window[d]) batch_strides.push_back(update_strides[d]);
    }
    places = BatchPlaces(starts.batch_dims(), batch_strides);
    window.Simplify();
    // Every window has the same columns if its rows lie in dimensions where all windows start at 0.
    int64_t columns = 1;
    for (int d = shape.rank() - 1; d >= 0 && !has_start[d]; --d) columns *= shape.dim(d);
    if (!window.dims.empty() && window.dims.back().source == 1 && window.dims.back().target == 1 &&
        window.dims.back().size <= columns) {
      same_columns = window.dims.back().size;
    }
    slab = shape.NumElements();
    for (int d = 0; d < shape.rank() && sizes[d] == 1; ++d) slab = strides[d];
    body = ClassifyBody(*call.instruction().called(0));
    if (operands != 1 || !body.has_value()) return;
    update = LoopOf(body, shape.element_type());
    const bool whole_rows = window.dims.empty() || (window.dims.size() == 1 && window.dims[0].source == 1 &&
                                                    window.dims[0].target == 1);
    const bool blocks = IsNarrowFloat(shape.element_type()) && !update.overwrites && window_elements > 1;
    if (update.simple() && whole_rows && !blocks) rows = FindScatterLoop(body->opcode, shape.element_type());
  }

  int operands;
  const ScatterView numbers;
  const Dims strides;  // Of the operand.
  WindowStarts starts;
  BatchPlaces places;  // In the updates.
  StridedLoop window;  // From updates to operand.
  int64_t window_elements = 1;
  int64_t same_columns = 0;  // Elements of a window's rows, if all windows have the same columns; else 0.
  int64_t slab;              // Every window lies in one such piece of the operand.
  std::optional<SimpleBody> body;
  UpdateLoop update;
  ScatterLoop rows =
      nullptr;  // For windows whose elements lie side by side; narrow floats are combined in blocks.
};

// The arrays of a scatter of one operand.
struct Scattered {
  const ScatterCache& cache;
  PrimitiveType type;
  int64_t width;
  int64_t rows;
  const char* indices;
  int64_t indices_row;  // Bytes from one device to the next.
  const char* updates;
  int64_t update_row, operand_row;  // Elements.
  char* target;

  // Calls visit(places, sources, n) for blocks of the windows whose places are in [begin, end), in order.
  template <typename Visit>
  void ForEachBlock(int64_t begin, int64_t end, Visit&& visit) const {
    int64_t at[kBlock], from[kBlock];
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t first = 0; first < cache.starts.batch_size(); first += kBlock) {
        const int64_t n = std::min(kBlock, cache.starts.batch_size() - first);
        cache.starts.Offsets(indices + row * indices_row, first, n, at);
        cache.places.Offsets(first, n, from);
        const int64_t shift = row * operand_row, update_shift = row * update_row;
        int64_t lowest = at[0], highest = at[0];
        for (int64_t i = 0; i < n; ++i) {
          lowest = std::min(lowest, at[i]);
          highest = std::max(highest, at[i]);
          at[i] = at[i] < 0 ? -1 : at[i] + shift;
          from[i] += update_shift;
        }
        if (lowest >= 0 && lowest + shift >= begin && highest + shift < end) {
          visit(at, from, n);
          continue;
        }
        int64_t count = 0;
        for (int64_t i = 0; i < n; ++i) {  // Without a branch, which would be guessed wrong half of the time.
          const int64_t place = at[i];
          at[count] = place;
          from[count] = from[i];
          count += (place >= begin) & (place < end);
        }
        visit(at, from, count);
      }
    }
  }
};

// Calls visit(target, source, count) for each contiguous run of a window, offsets in elements.
template <typename Visit>
void ForEachRun(const StridedLoop& window, size_t level, int64_t target, int64_t source, Visit&& visit) {
  if (level == window.dims.size()) {
    visit(target, source, 1);
    return;
  }
  const StridedLoop::Dim& dim = window.dims[level];
  if (level + 1 == window.dims.size() && dim.source == 1 && dim.target == 1) {
    visit(target, source, dim.size);
    return;
  }
  for (int64_t i = 0; i < dim.size; ++i) {
    ForEachRun(window, level + 1, target + i * dim.target, source + i * dim.source, visit);
  }
}

void CombineNarrow(PrimitiveType type, BinaryLoop loop, char* target, const char* update, int64_t n) {
  float a[kConvertBlock], b[kConvertBlock];
  const int64_t width = ByteWidth(type);
  for (int64_t i = 0; i < n; i += kConvertBlock) {
    const int64_t count = std::min(kConvertBlock, n - i);
    NarrowToFloat(type, target + i * width, a, count);
    NarrowToFloat(type, update + i * width, b, count);
    loop(a, b, a, count, Repeat::kNone);
    FloatToNarrow(type, a, target + i * width, count);
  }
}

// Makes results[i] a copy of operand i, or operand i itself if this is its last use.
absl::Status CopyOperands(OpCall& call, int operands, bool uniform, std::vector<MeshBuffer>* results) {
  for (int i = 0; i < operands; ++i) {
    MeshBuffer buffer = call.TakeOperand(i);
    if (!uniform) RETURN_IF_ERROR(SpreadRows(call.copies(), &buffer));
    if (!buffer.unique()) {
      MeshBuffer copy;
      RETURN_IF_ERROR(call.New(call.operand_shape(i).ByteSize(), uniform, &copy));
      std::memcpy(copy.mutable_data(), buffer.data(), buffer.bytes());
      buffer = std::move(copy);
    }
    results->push_back(std::move(buffer));
  }
  return absl::OkStatus();
}

// What one thread writes: windows in [begin, end) of the operand, and columns of all windows' rows.
struct Share {
  int64_t begin, end;
  int64_t first_column = 0, last_column = std::numeric_limits<int64_t>::max();
};

void ApplyShare(const Scattered& arrays, const Share& share) {
  const ScatterCache& cache = arrays.cache;
  const int64_t width = arrays.width;
  const bool narrow = IsNarrowFloat(arrays.type);
  arrays.ForEachBlock(share.begin, share.end, [&](const int64_t* places, const int64_t* sources, int64_t n) {
    if (cache.rows != nullptr) {
      const int64_t columns = std::min(share.last_column, cache.window_elements) - share.first_column;
      return cache.rows(arrays.updates + share.first_column * width, sources, places, n, columns,
                        arrays.target + share.first_column * width);
    }
    for (int64_t i = 0; i < n; ++i) {
      ForEachRun(cache.window, 0, places[i], sources[i], [&](int64_t at, int64_t source, int64_t run) {
        const int64_t first = share.first_column, count = std::min(share.last_column, run) - first;
        char* out = arrays.target + (at + first) * width;
        const char* in = arrays.updates + (source + first) * width;
        if (cache.update.overwrites) {
          std::memcpy(out, in, count * width);
        } else if (narrow) {
          CombineNarrow(arrays.type, cache.update.loop, out, in, count);
        } else {
          cache.update.loop(out, in, out, count, Repeat::kNone);
        }
      });
    }
  });
}

// Each thread goes through all windows and writes its share of the operand, so that every element gets its updates in order.
void ApplyInShares(const Scattered& arrays) {
  const ScatterCache& cache = arrays.cache;
  const int64_t all = arrays.rows * arrays.operand_row, slabs = all / std::max<int64_t>(1, cache.slab);
  const int64_t work = arrays.rows * cache.starts.batch_size() * cache.window_elements;
  int64_t shares = work < kParallelWork ? 1 : NumThreads();
  const int64_t column_shares = cache.same_columns * arrays.width / kLeastColumnBytes;
  const bool by_columns = column_shares >= shares;
  if (!by_columns) shares = std::clamp<int64_t>(slabs, 1, shares);
  ParallelFor(shares, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Share share{0, all};
      if (by_columns && shares > 1) {
        share.first_column = cache.same_columns * i / shares;
        share.last_column = cache.same_columns * (i + 1) / shares;
      } else {
        share.begin = slabs * i / shares * cache.slab;
        share.end = slabs * (i + 1) / shares * cache.slab;
      }
      ApplyShare(arrays, share);
    }
  });
}

// Of two lists with a number for each update.
int64_t PlacesBytes(int64_t updates) { return SaturatingMultiply(updates, 2 * sizeof(int64_t)); }

absl::Status Apply(OpCall& call, const Scattered& arrays, std::vector<MeshBuffer>& results) {
  const ScatterCache& cache = arrays.cache;
  if (cache.update.simple()) {
    ApplyInShares(arrays);
    return absl::OkStatus();
  }
  const int64_t elements = arrays.rows * cache.starts.batch_size() * cache.window_elements;
  std::vector<int64_t> place, source;
  RETURN_IF_ERROR(call.CheckMemory(PlacesBytes(elements)));
  place.reserve(elements);
  source.reserve(elements);
  const int64_t all = arrays.rows * arrays.operand_row;
  arrays.ForEachBlock(0, all, [&](const int64_t* places, const int64_t* sources, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
      ForEachRun(cache.window, 0, places[k], sources[k], [&](int64_t at, int64_t from_at, int64_t run) {
        for (int64_t i = 0; i < run; ++i) {
          place.push_back(at + i);
          source.push_back(from_at + i);
        }
      });
    }
  });
  PlacedArrays placed;
  for (int i = 0; i < cache.operands; ++i) {
    placed.targets.push_back(results[i].mutable_data());
    placed.updates.push_back(call.data(cache.operands + 1 + i));
    placed.widths.push_back(ByteWidth(call.operand_shape(i).element_type()));
  }
  return CombineAt(call, call.called(0), placed, place, source, /*updates_first=*/false,
                   PlacesBytes(elements));
}

}  // namespace

int64_t ScatterScratchBytes(const Instruction& scatter, absl::Span<const int64_t> rows) {
  const int operands = (scatter.num_operands() - 1) / 2;
  const Shape& shape = scatter.operand(0)->shape();
  if (operands == 1 && LoopOf(ClassifyBody(*scatter.called(0)), shape.element_type()).simple()) return 0;
  int64_t width = 0;
  for (int i = 0; i < operands; ++i) width += ByteWidth(scatter.operand(i)->shape().element_type());
  const int64_t updates = SaturatingMultiply(scatter.operand(operands + 1)->shape().NumElements(),
                                             *std::max_element(rows.begin(), rows.end()));
  return SaturatingAdd(PlacesBytes(updates), CombineAtBytes(updates, width));
}

absl::Status ExecuteScatter(OpCall& call) {
  const ScatterCache& cache = call.Cache<ScatterCache>();
  const bool uniform = call.AllUniform();
  const int64_t rows = uniform ? 1 : call.copies();
  const int64_t update_row = call.operand_shape(cache.operands + 1).NumElements();
  // The updates of all operands must be uniform, or none of them.
  std::vector<MeshBuffer> results;
  bool updates_uniform = true;
  for (int i = 0; i < cache.operands; ++i) updates_uniform &= call.uniform(cache.operands + 1 + i);
  if (!updates_uniform) {
    for (int i = 0; i < cache.operands; ++i) {
      RETURN_IF_ERROR(SpreadRows(call.copies(), &call.mutable_operand(cache.operands + 1 + i)));
    }
  }
  RETURN_IF_ERROR(CopyOperands(call, cache.operands, uniform, &results));
  if (update_row > 0) {
    const PrimitiveType type = call.operand_shape(0).element_type();
    const int64_t indices_row =
        call.uniform(cache.operands) ? 0 : call.operand_shape(cache.operands).ByteSize();
    const Scattered arrays{cache,
                           type,
                           ByteWidth(type),
                           rows,
                           call.data(cache.operands),
                           indices_row,
                           call.data(cache.operands + 1),
                           updates_uniform ? 0 : update_row,
                           call.operand_shape(0).NumElements(),
                           results[0].mutable_data()};
    RETURN_IF_ERROR(Apply(call, arrays, results));
  }
  if (!call.shape().IsTuple()) {
    call.result() = std::move(results[0]);
    return absl::OkStatus();
  }
  call.result() = MeshBuffer::Tuple(std::move(results));
  return absl::OkStatus();
}

}  // namespace toroid
