#include "tests/hlo/ops/constraint_cases.h"

namespace toroid {
namespace {

std::vector<ViolatingCase> DynamicSliceCases() {
  return {
      {"C1", "f32[2,4] dynamic-slice(x, i), dynamic_slice_sizes={2,4}",
       "starts: found 1, expected 2, one per dimension"},
      {"C1", "f32[2,4] dynamic-slice(x, i, s), dynamic_slice_sizes={2,4}",
       "start 1: found f32[], expected integer scalars of one type"},
      {"C1", "w = s32[3] iota(), iota_dimension=0\nf32[2,4] dynamic-slice(x, w), dynamic_slice_sizes={2,4}",
       "the vector of starts: found s32[3], expected 2 integers"},
      {"C1", "w = u8[] constant(0)\nf32[8,4] dynamic-update-slice(x, x, i, w)", "start 1: found u8[]"},
      {"C2", "f32[9,4] dynamic-slice(x, i, i), dynamic_slice_sizes={9,4}",
       "slice size of dimension 0: found 9, expected 0 .. 8"},
      {"C2", "f32[2] dynamic-slice(x, i, i), dynamic_slice_sizes={2}",
       "slice sizes: found {2}, expected one per dimension"},
      {"C2", "f32[8,4] dynamic-update-slice(x, v4, i, i)",
       "the update: found f32[4], expected type and rank of f32[8,4]"},
      {"C2", "f32[8,4] dynamic-update-slice(x, n, i, i)", "the update: found s32[8,4]"},
      {"C3", "f32[8,4] dynamic-update-slice(x, y, i, i)",
       "the update: found f32[4,6], expected at most 4 in dimension 1"},
  };
}

std::vector<ViolatingCase> GatherCases() {
  const auto gather = [](const std::string& numbers, const std::string& more = "",
                         const std::string& of = "x, idx") {
    return "f32[3,3] gather(" + of + "), " + numbers + ", start_index_map={0}, index_vector_dim=1" + more;
  };
  const std::string offset = "offset_dims={1}", row = offset + ", collapsed_slice_dims={0}",
                    sizes = ", slice_sizes={1,3}";
  return {
      {"C1", gather(row, sizes, "x, upd"), "indices: found f32[3,4], expected integers"},
      {"C2", "f32[3,3] gather(x, idx), " + row + ", start_index_map={0}, index_vector_dim=3" + sizes,
       "index_vector_dim: found 3, expected 0 .. 2, the rank of the indices"},
      {"C3", "f32[3,3] gather(x, idx), " + row + ", start_index_map={0,1}, index_vector_dim=1" + sizes,
       "indexed operand dimensions: found {0,1}, expected 1, as index vectors have components"},
      {"C4", "f32[3,3] gather(x, idx), " + row + ", start_index_map={2}, index_vector_dim=1" + sizes,
       "indexed operand dimension: found 2, expected one of the 2 dimensions"},
      {"C4", "f32[2,3] gather(x, pairs), " + row + ", start_index_map={0,0}, index_vector_dim=1" + sizes,
       "found 0 twice"},
      {"C5", gather("offset_dims={}, collapsed_slice_dims={1,0}", sizes),
       "collapsed dimensions: found {1,0}, expected ascending ones"},
      {"C5", gather(offset + ", collapsed_slice_dims={2}", sizes), "collapsed dimensions: found 2"},
      {"C6", gather(row + ", operand_batching_dims={5}, start_indices_batching_dims={0}", sizes),
       "operand batching dimensions: found 5"},
      {"C7", gather(row + ", operand_batching_dims={1}, start_indices_batching_dims={1}", sizes),
       "indices batching dimensions: found {1}, expected none that is index_vector_dim 1"},
      {"C7", gather(row + ", operand_batching_dims={1}, start_indices_batching_dims={4}", sizes), "found 4"},
      {"C8", gather(row + ", operand_batching_dims={1}, start_indices_batching_dims={}", sizes),
       "found {1} of the operand, {} of the indices, expected equally many"},
      {"C8", gather(row + ", operand_batching_dims={1}, start_indices_batching_dims={0}", sizes),
       "found 1 of f32[8,4] and 0 of s32[3,1], expected equal sizes"},
      {"C9",
       gather(
           offset + ", collapsed_slice_dims={}, operand_batching_dims={0}, start_indices_batching_dims={0}",
           ", slice_sizes={1,4}", "upd, idx"),
       "operand batching dimension: found 0, expected one that is neither collapsed nor indexed"},
      {"C10", gather(row, ", slice_sizes={1,5}"), "slice size of dimension 1: found 5, expected 0 .. 4"},
      {"C10", gather(row, ", slice_sizes={1}"),
       "slice sizes: found {1}, expected one per dimension of f32[8,4]"},
      {"C11", gather(row, ", slice_sizes={2,3}"),
       "slice size of the collapsed or batching dimension 0: found 2, expected 1"},
      {"C11", gather(row, ", slice_sizes={0,3}"), "found 0, expected 1"},
      {"C12", gather("offset_dims={}, collapsed_slice_dims={0}", sizes),
       "offset dimensions: found {}, expected 1, as slice dimensions are kept"},
      {"C12", gather("offset_dims={2}, collapsed_slice_dims={0}", sizes), "offset dimensions: found 2"},
      {"C12", gather("offset_dims={1,0}, collapsed_slice_dims={}", sizes),
       "found {1,0}, expected ascending ones"},
  };
}

std::vector<ViolatingCase> ScatterCases() {
  const auto scatter = [](const std::string& operands, const std::string& window,
                          const std::string& reducer = "add") {
    return "f32[8,4] scatter(" + operands + "), update_window_dims=" + window +
           ", inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=" +
           reducer;
  };
  return {
      {"C1", scatter("x, upd, upd", "{1}"), "indices: found f32[3,4], expected integers"},
      {"C10", scatter("x, idx, upd, upd", "{1}"),
       "operands: found 4, expected n arrays, the indices and n updates, n > 0"},
      {"C10", scatter("idx", "{1}"), "operands: found 1"},
      {"C11", scatter("x, idx, upd", "{2}"), "update window dimensions: found 2"},
      {"C12", scatter("x, idx, upd", "{}"),
       "updates: found f32[3,4] with window dimensions {}, expected 1 window dimensions and 1 others"},
      {"C12", scatter("x, idx, v", "{0}"), "updates: found f32[8]"},
      {"C13", scatter("x, idx, upd", "{0}"),
       "dimension 1 of updates f32[3,4]: found 4, expected 3, as in the indices s32[3,1]"},
      {"C14", scatter("m3, idx, upd", "{1}"),
       "dimension 1 of updates f32[3,4]: found 4, expected at most 3, as in the operand"},
      {"C15", scatter("x, v, idx, upd, upd", "{1}"),
       "array 1 and its update: found f32[8] and f32[3,4], expected the sizes"},
      {"C15", scatter("x, x, idx, upd, v", "{1}"), "found f32[8,4] and f32[8]"},
      {"C16", "w = s32[3,4] iota(), iota_dimension=0\n" + scatter("x, idx, w", "{1}"),
       "update 0: found s32[3,4], expected type f32"},
      {"C17", scatter("x, idx, upd", "{1}", "add_s32"),
       "parameter 0 of reducer add_s32: found s32[], expected f32[]"},
      {"C17", scatter("x, idx, upd", "{1}", "two"),
       "result of reducer two: found (f32[], f32[]), expected f32[]"},
  };
}

}  // namespace

std::vector<ViolatingCase> IndexingCases() {
  return Joined({DynamicSliceCases(), GatherCases(), ScatterCases()});
}

}  // namespace toroid
