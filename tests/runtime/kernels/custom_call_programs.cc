#include "tests/runtime/kernels/custom_call_programs.h"

#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

// result = target(operands), after the instructions `before`.
OpProgram Call(const std::string& target, const std::string& before, const std::string& result,
               const std::string& operands, const std::string& expected, const std::string& config = "",
               const std::string& attributes = "", const std::string& computations = "") {
  std::string call = absl::StrCat(before, " ROOT y = ", result, " custom-call(", operands,
                                  "), custom_call_target=\"", target, "\"", attributes);
  if (!config.empty()) absl::StrAppend(&call, ", backend_config=\"", config, "\"");
  return {target, call, expected, computations};
}

std::vector<OpProgram> Annotations() {
  std::vector<OpProgram> programs;
  for (const char* target :
       {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "ShardBarrierFrom", "ShardBarrierTo",
        "annotate_device_placement", "MoveToHost", "MoveToDevice", "PinToDevice", "PinToDeviceSram",
        "LayoutConstraint", "InspectSharding", "AssumeGatherIndicesInBound", "xla.sdy.FuncResultSharding"}) {
    programs.push_back(Call(target, "x = s32[2] constant({4, 5})", "s32[2]", "x", "{4, 5}"));
  }
  const std::string x = "x = s32[2] constant({4, 5})";
  programs.push_back(Call("Pin", x, "b(s32[2])", "x", "{4, 5}"));
  programs.push_back(Call("Unpin", x + " p = b(s32[2]) custom-call(x), custom_call_target=\"Pin\"", "s32[2]",
                          "p", "{4, 5}"));
  return programs;
}

std::vector<OpProgram> Halos() {
  const std::string x = "x = s32[4] constant({1, 5, 3, 2})";
  return {
      Call("_SPMDInternalOp_RotateRight", x, "s32[4]", "x", "{2, 1, 5, 3}", "dimension=0,amount=1"),
      Call("_SPMDInternalOp_MultiRotate", x, "(s32[4], s32[4], s32[4])", "x",
           "( {5, 3, 2, 1}, {1, 5, 3, 2}, {2, 1, 5, 3} )", "dimension=0,left_amount=1,right_amount=1"),
      Call("_SPMDInternalOp_MultiSlice", x, "(s32[2], s32[2])", "x", "( {5, 3}, {3, 2} )",
           "dimension=0,amount=1,start_indices=[1],limit_indices=[3],strides=[1]"),
      Call("_SPMDInternalOp_MultiPad", x, "(s32[5], s32[5])", "x", "( {1, 5, 3, 2, 0}, {0, 1, 5, 3, 2} )",
           "dimension=0,amt=1"),
      Call("_SPMDInternalOp_Wrap", x, "s32[7]", "x", "{3, 2, 1, 5, 3, 2, 1}",
           "dimension=0,left_amount=2,right_amount=1"),
  };
}

std::vector<OpProgram> Selections() {
  const std::string x = "x = f32[4] constant({1, 5, 3, 5})";
  const std::string arrays =
      x + " i = s32[4] iota(), iota_dimension=0 v = f32[] constant(-inf) m = s32[] constant(-1)";
  const std::string greater =
      "gt { a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3) "
      "ROOT r = pred[] compare(a, b), direction=GT }";
  std::vector<OpProgram> programs;
  for (const char* target : {"TopK", "mhlo.topk"}) {
    programs.push_back(Call(target, x, "(f32[3], s32[3])", "x", "( {5, 5, 3}, {1, 3, 2} )"));
  }
  for (const char* target : {"ApproxTopK", "PartialReduce"}) {
    programs.push_back(Call(target, arrays, "(f32[3], s32[3])", "x, i, v, m", "( {5, 5, 3}, {1, 3, 2} )",
                            "top_k=3,reduction_dim=0", ", called_computations={gt}", greater));
  }
  return programs;
}

std::vector<OpProgram> Decompositions() {
  return {
      Call("Cholesky", "x = f32[2,2] constant({{4, 9}, {2, 5}})", "f32[2,2]", "x", "{ { 2, 0 }, { 1, 2 } }",
           "lower=true"),
      Call("Eigh", "x = f32[2,2] constant({{2, 9}, {0, 3}})", "(f32[2,2], f32[2])", "x",
           "( { { 1, 0 }, { 0, 1 } }, {2, 3} )", "1,1,100,1e-6"),
      Call("Qr", "x = f32[2,1] constant({{3}, {4}})", "(f32[2,1], f32[1])", "x",
           "( { {-5}, {0.5} }, {1.6} )"),
      Call("LuDecomposition", "x = f32[2,2] constant({{1, 2}, {4, 8}})", "(f32[2,2], s32[2], s32[2])", "x",
           "( { { 4, 8 }, { 0.25, 0 } }, {1, 1}, {1, 0} )"),
      Call("ProductOfElementaryHouseholderReflectors",
           "x = f32[1,2,1] constant({{{1}, {0}}}) t = f32[1,1] constant({{2}})", "f32[1,2,1]", "x, t",
           "{ { {-1}, {0} } }"),
  };
}

std::vector<OpProgram> Elementwise() {
  std::vector<OpProgram> programs;
  for (const char* name : {"erf", "tan", "sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atanh"}) {
    const bool at_one = name[0] == 'a' && name[1] == 'c';  // acos and acosh are 0 at 1.
    programs.push_back(Call(absl::StrCat("mhlo.", name),
                            absl::StrCat("x = f64[1] constant({", at_one ? 1 : 0, "})"), "f64[1]", "x",
                            absl::string_view(name) == "cosh" ? "{1}" : "{0}"));
  }
  programs.push_back(Call("X64Combine", "l = u32[1] constant({5}) h = u32[1] constant({1})", "u64[1]", "l, h",
                          "{4294967301}"));
  programs.push_back(Call("X64SplitLow", "x = u64[1] constant({4294967301})", "u32[1]", "x", "{5}"));
  programs.push_back(Call("X64SplitHigh", "x = u64[1] constant({4294967301})", "u32[1]", "x", "{1}"));
  return programs;
}

std::vector<OpProgram> DynamicSizes() {
  const std::string x = "x = s32[3] constant({7, 8, 9}) n = s32[] constant(2) ";
  return {
      Call("PadToStatic", x + "d = s32[<=3] set-dimension-size(x, n), dimensions={0}", "(s32[3], s32[])", "d",
           "( {7, 8, 9}, 2 )"),
      Call("SliceToDynamic", x, "s32[<=3]", "x, n", "{7, 8}"),
  };
}

}  // namespace

const std::vector<OpProgram>& CustomCallPrograms() {
  static const auto* const programs = [] {
    auto* all = new std::vector<OpProgram>;
    for (const auto& some :
         {Annotations(), Halos(), Selections(), Decompositions(), Elementwise(), DynamicSizes()}) {
      all->insert(all->end(), some.begin(), some.end());
    }
    return all;
  }();
  return *programs;
}

}  // namespace toroid
