#include "hlo/stablehlo/stablehlo_reader.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A function of x: f32[4,6], i: s32[2] and p: pred[] whose body is `body` and whose result has the type `type`.
std::string Function(absl::string_view body, absl::string_view type) {
  return absl::StrCat(
      "func.func public @main(%x: tensor<4x6xf32>, %i: tensor<2xi32>, %p: tensor<i1>, %z: tensor<f32>) -> ",
      type, " {\n", body, "\n return %r : ", type, "\n}\n");
}

std::string Hlo(absl::string_view text) {
  const auto module = ReadStableHlo(text);
  if (!module.ok()) return std::string(module.status().message());
  const absl::Status verified = VerifyModule(**module);
  return verified.ok() ? PrintModule(**module) : std::string(verified.message());
}

TEST(StableHloReaderTest, OneOperationOfEachFamily) {
  const struct {
    const char *body, *type, *hlo;
  } kCases[] = {
      {"%r = stablehlo.add %x, %x : tensor<4x6xf32>", "tensor<4x6xf32>", " add(Arg_0.1, Arg_0.1)"},
      {"%r = \"stablehlo.add\"(%x, %x) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>",
       "tensor<4x6xf32>", " add(Arg_0.1, Arg_0.1)"},
      {"%r = stablehlo.compare  LT, %x, %x,  FLOAT : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>",
       "tensor<4x6xi1>", "direction=LT, type=FLOAT"},
      {"%r = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>", "tensor<6x4xf32>",
       "dimensions={1,0}"},
      {"%r = stablehlo.slice %x [1:4:2, 0:6] : (tensor<4x6xf32>) -> tensor<2x6xf32>", "tensor<2x6xf32>",
       "slice={[1:4:2], [0:6:1]}"},
      {"%r = stablehlo.pad %x, %z, low = [1, 0], high = [0, 2], interior = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> "
       "tensor<5x13xf32>",
       "tensor<5x13xf32>", "padding=1_0_0x0_2_1"},
      {"%r = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<3xf32>", "tensor<3xf32>",
       " broadcast(Arg_3.1), dimensions={}"},
      {"%r = stablehlo.reverse %x, dims = [1] : tensor<4x6xf32>", "tensor<4x6xf32>",
       " reverse(Arg_0.1), dimensions={1}"},
      {"%r = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1], precision = [HIGHEST, DEFAULT] : "
       "(tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>",
       "tensor<4x4xf32>",
       "lhs_contracting_dims={1}, rhs_contracting_dims={1}, operand_precision={highest,default}"},
      {"%r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, "
       "tensor<f32>) -> tensor<4xf32>",
       "tensor<4xf32>", " reduce(Arg_0.1, Arg_3.1), dimensions={1}, to_apply=region.1"},
      {"%r = \"stablehlo.if\"(%p) ({\n stablehlo.return %x : tensor<4x6xf32>\n}, {\n %n = stablehlo.negate %x : "
       "tensor<4x6xf32>\n stablehlo.return %n : tensor<4x6xf32>\n}) : (tensor<i1>) -> tensor<4x6xf32>",
       "tensor<4x6xf32>", " conditional(Arg_2.1, "},
      {"%r = stablehlo.while(%c = %i) : tensor<2xi32>\n cond {\n stablehlo.return %p : tensor<i1>\n} do {\n %d = "
       "stablehlo.add %c, %i : tensor<2xi32>\n stablehlo.return %d : tensor<2xi32>\n}",
       "tensor<2xi32>", "(s32[2]{0}, pred[], s32[2]{0}) while("},
      {"%r = \"stablehlo.all_gather\"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle "
       "= 3, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : "
       "(tensor<4x6xf32>) -> tensor<8x6xf32>",
       "tensor<8x6xf32>", "channel_id=3, replica_groups={{0,1}}"},
      {"%r = \"stablehlo.all_to_all\"(%x) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : "
       "tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x6xf32>) -> tensor<2x12xf32>",
       "tensor<2x12xf32>", "dimensions={1,0,2}"},
      {"%r = stablehlo.custom_call @f(%x) {api_version = 2 : i32, has_side_effect = true, backend_config = \"a\\22b\"} : "
       "(tensor<4x6xf32>) -> tensor<4x6xf32>",
       "tensor<4x6xf32>", "custom_call_has_side_effect=true"},
      {"%r = chlo.erf %x : tensor<4x6xf32> -> tensor<4x6xf32>", "tensor<4x6xf32>", " erf(Arg_0.1)"},
      {"%r, %j = chlo.top_k(%x, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)",
       "tensor<4x2xf32>", "topk(Arg_0.1), k=2, largest=true"},
      {"%r, %j = mhlo.topk(%x, k = 2, largest = false) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)",
       "tensor<4x2xf32>", "topk(Arg_0.1), k=2, largest=false"},
      {"%r = stablehlo.reduce_precision %x, format = e5m10 : tensor<4x6xf32>", "tensor<4x6xf32>",
       "exponent_bits=5, mantissa_bits=10"},
      {"%r = stablehlo.fft %x, type = RFFT, length = [6] : (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>",
       "tensor<4x4xcomplex<f32>>", "fft_type=RFFT, fft_length={6}"},
      {"%r = stablehlo.iota dim = 1 : tensor<2x3xui8>", "tensor<2x3xui8>",
       "u8[2,3]{1,0} iota(), iota_dimension=1"},
  };
  for (const auto& c : kCases) EXPECT_THAT(Hlo(Function(c.body, c.type)), HasSubstr(c.hlo)) << c.body;
}

TEST(StableHloReaderTest, AnApproximateTopKWithoutAFasterWaySorts) {
  const std::string call = R"(module @m {
  func.func @less(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
    %p = stablehlo.compare  GT, %a, %b,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %p : tensor<i1>
  }
  func.func @main(%x: tensor<4x6xf32>, %i: tensor<4x6xi32>, %a: tensor<f32>, %b: tensor<i32>) -> (tensor<4x3xf32>, tensor<4x3xi32>) {
    %r:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %a, %b) {backend_config = "", called_computations = [@less], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = $fallback, recall_target = 0.949999988 : f32, reduction_dim = 1 : i64, top_k = $k : i64}} : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
    return %r#0, %r#1 : tensor<4x3xf32>, tensor<4x3xi32>
  }
})";
  const auto hlo = [&](const std::string& fallback, const std::string& k) {
    return Hlo(absl::StrReplaceAll(call, {{"$fallback", fallback}, {"$k", k}}));
  };
  EXPECT_THAT(hlo("true", "3"), HasSubstr("sort(Arg_0.2, Arg_1.2), dimensions={1}, to_apply=less"));
  EXPECT_THAT(hlo("true", "3"), HasSubstr("slice={[0:4], [0:3]}"));
  EXPECT_THAT(hlo("false", "3"), HasSubstr("custom_call_target=\"ApproxTopK\""));
  EXPECT_THAT(hlo("true", "7"), HasSubstr("stablehlo.custom_call: slice"));
  EXPECT_THAT(hlo("true", "2"), HasSubstr("stablehlo.custom_call: result 0 is f32[4,2], not f32[4,3]"));
}

TEST(StableHloReaderTest, TransfersKeepDataAndTokenApart) {
  const std::string hlo = Hlo(R"(module @m {
  func.func @main(%t: !stablehlo.token, %x: tensor<2xf32>) -> (tensor<2xf32>, !stablehlo.token) {
    %a:3 = "stablehlo.infeed"(%t) <{infeed_config = "in"}> : (!stablehlo.token) -> (tensor<2xf32>, tensor<i32>, !stablehlo.token)
    %b = "stablehlo.outfeed"(%a#0, %a#2) <{outfeed_config = "out"}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    %c = "stablehlo.send"(%x, %b) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 2>, is_host_transfer = true}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    %d:2 = "stablehlo.recv"(%c) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    return %d#0, %d#1 : tensor<2xf32>, !stablehlo.token
  }
})");
  for (const char* part :
       {"((f32[2]{0}, s32[]), token[]) infeed(", "infeed_config=\"in\"", "token[] outfeed(",
        "(f32[2]{0}, u32[], token[]) send(", "token[] send-done(", "channel_id=4",
        "(f32[2]{0}, u32[], token[]) recv(", "(f32[2]{0}, token[]) recv-done(", "channel_id=5"}) {
    EXPECT_THAT(hlo, HasSubstr(part));
  }
}

TEST(StableHloReaderTest, Constants) {
  const std::pair<const char*, const char*> kCases[] = {
      {"dense<[[1, -2], [3, 4]]> : tensor<2x2xi32>", "s32[2,2]{1,0} constant({ { 1, -2 }, { 3, 4 } })"},
      {"dense<0x7F800000> : tensor<f32>", "constant(inf)"},
      {"dense<\"0x0000803F00000040\"> : tensor<2xf32>", "constant({1, 2})"},
      {"dense<\"0x05\"> : tensor<3xi1>", "constant({1, 0, 1})"},
      {"dense<(1.0, -2.0)> : tensor<complex<f32>>", "constant((1, -2))"},
      {"dense<1.5> : tensor<1000xbf16>", "bf16[1000]{0} broadcast("},
      {"dense<> : tensor<0x3xf32>", "f32[0,3]{1,0} constant("},
      {"dense<-8> : tensor<i4>", "s4[] constant(-8)"},
  };
  for (const auto& [value, hlo] : kCases) {
    const absl::string_view text = value;
    const std::string type(text.substr(text.rfind(": ") + 2));
    EXPECT_THAT(Hlo(Function(absl::StrCat("%r = stablehlo.constant ", value), type)), HasSubstr(hlo))
        << value;
  }
}

TEST(StableHloReaderTest, ErrorsNameTheLineAndTheOperation) {
  const std::string x = "tensor<4x6xf32>";
  const std::pair<std::string, const char*> kCases[] = {
      {Function("%r = stablehlo.frob %x : tensor<4x6xf32>", x), "2:6: stablehlo.frob: "},
      {Function("%r = \"stablehlo.uniform_quantize\"(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>", x),
       "2:6: stablehlo.uniform_quantize: HLO has no such operation"},
      {Function("%r = stablehlo.add %x, %y : tensor<4x6xf32>", x), "2:24: %y is not defined above"},
      {Function("%r = stablehlo.add %x, %x#1 : tensor<4x6xf32>", x), "2:24: %x has 1 values"},
      {Function("%r = stablehlo.constant dense_resource<a> : tensor<4x6xf32>", x),
       "dense_resource<..> are not read"},
      {Function("%r = stablehlo.constant dense<[1.0]> : tensor<2xf32>", "tensor<2xf32>"),
       "2:6: stablehlo.constant: 1:6: 1 values where f32[2] has 2"},
      {Function(
           "%r = \"stablehlo.dynamic_reshape\"(%x, %i) : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<?x6xf32>",
           "tensor<?x6xf32>"),
       "2:6: stablehlo.dynamic_reshape: a dimension without a size or bound"},
      {Function(
           "%r = func.call @main(%x, %i, %p, %z) : (tensor<4x6xf32>, tensor<2xi32>, tensor<i1>, tensor<f32>) -> "
           "tensor<4x6xf32>",
           x),
       "1:1: func.func: it calls itself"},
      {Function(
           "%r, %q, %s = \"stablehlo.optimization_barrier\"(%x, %x) : (tensor<4x6xf32>, tensor<4x6xf32>) -> "
           "(tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>)",
           x),
       "stablehlo.optimization_barrier: it has 3 results"},
      {Function(
           "%r, %q = \"stablehlo.reshape\"(%x) : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)", x),
       "reshape.1: the result"},
      {"func.func @f() { return }", "no function @main"},
      {absl::StrCat("func.func @main(%x: ", std::string(500, '('), ") { return }"), "nested too deeply"},
      {"func.func @main(%x: tensor<99999999999x99999999999xf32>) { return }", "bytes do not fit 64 bits"},
  };
  for (const auto& [text, error] : kCases) EXPECT_THAT(Hlo(text), HasSubstr(error)) << text;
}

TEST(StableHloReaderTest, LocationsBecomeNamesAndStackFrames) {
  const auto module = ReadStableHlo(R"(
#f = loc("m.py":7:3 to :9)
module @jit_f {
  func.func public @main(%arg0: tensor<f32> loc("params['w']")) -> tensor<f32> {
    %0 = stablehlo.tanh %arg0 : tensor<f32> loc(#op)
    return %0 : tensor<f32>
  }
}
#op = loc("jit(f)/tanh"(callsite(#inner at #outer)))
#inner = loc("g"(#f))
#outer = loc("<module>"("main.py":20:1))
)");
  ASSERT_OK(module.status());
  EXPECT_EQ((*module)->name(), "jit_f");
  EXPECT_EQ((*module)->entry()->parameter(0)->metadata()->op_name(), "params['w']");
  const xla::OpMetadata* metadata = (*module)->entry()->root()->metadata();
  EXPECT_EQ(metadata->op_name(), "jit(f)/tanh");
  const std::vector<SourceFrame> stack = SourceFrames(**module).StackOf(metadata);
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_EQ(stack[0].file, "m.py");
  EXPECT_EQ(stack[0].function, "g");
  EXPECT_EQ(stack[0].line, 7);
  EXPECT_EQ(stack[1].line, 20);
}

TEST(StableHloReaderTest, ShardyIsThatOfHloDumps) {
  const std::string hlo = Hlo(R"(module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  func.func public @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>, tf.aliasing_output = 0 : i32})
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) {
    %0 = sdy.sharding_constraint %x <@mesh, [{"a", ?}]> : tensor<8xf32>
    sdy.sharding_group %0 group_id=5 : tensor<8xf32>
    %1 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<8xf32>
    %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%l: tensor<4xf32>) {
      %3 = stablehlo.negate %l : tensor<4xf32>
      sdy.return %3 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %4 = sdy.named_computation<"f">(%2) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{"b"}]>] (%n: tensor<8xf32>) {
      %5 = stablehlo.abs %n : tensor<8xf32>
      sdy.return %5 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    return %4 : tensor<8xf32>
  }
})");
  for (const char* part :
       {R"(xla.sdy.meshes={mesh = #sdy.mesh<["a"=2, "b"=2]>})",
        R"(sharding="#sdy.sharding<@mesh, [{\"a\"}]>")",
        R"(xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"a\", ?}]>]>")",
        R"(sharding_group_id="5 : i64")", R"(allowed_direction="1 : i32")",
        R"(manual_axes="#sdy<manual_axes{\"a\"}>")", "xla.sdy.GlobalToLocalShape",
        "xla.sdy.LocalToGlobalShape", "to_apply=xla.sdy.manual_computation_body",
        "xla.sdy.FuncResultSharding", R"(xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{}]>]>")",
        "input_output_alias={ {}: (0, {}, may-alias) }"}) {
    EXPECT_THAT(hlo, HasSubstr(part));
  }
}

TEST(StableHloReaderTest, OrdinaryShardingsAreThoseOfHloDumps) {
  const std::string hlo = Hlo(R"(module @m {
  func.func public @main(%x: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}, %y: tensor<8xf32> {jax.buffer_donor = true})
      -> (tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}, tensor<8xf32>) {
    return %x, %y : tensor<8xf32>, tensor<8xf32>
  }
})");
  EXPECT_THAT(hlo, AllOf(HasSubstr("parameter(0), sharding={devices=[2]<=[2]}"),
                         HasSubstr("buffer_donor={ (1, {}) }"),
                         HasSubstr("sharding={{devices=[2]<=[2]}, {replicated}}")));
}

// Callers that use an alias twice at every level would double the work at each.
TEST(StableHloReaderTest, NestedAliasesOfLocationsTakeBoundedTime) {
  std::string text = "#loc0 = loc(\"f\"(\"a.py\":1:1))\n";
  for (int i = 1; i < 200; ++i) {
    absl::StrAppend(&text, "#loc", i, " = loc(callsite(#loc", i - 1, " at #loc", i - 1, "))\n");
  }
  absl::StrAppend(&text,
                  "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n%0 = stablehlo.tanh %x : tensor<f32> "
                  "loc(#loc199)\nreturn %0 : tensor<f32>\n}\n#a = loc(#b)\n#b = loc(#a)\n");
  EXPECT_OK(ReadStableHlo(text).status());
}

TEST(StableHloReaderTest, FilesAreRecognizedByTheirContent) {
  EXPECT_OK(ReadHlo(Function("%r = stablehlo.tanh %x : tensor<4x6xf32>", "tensor<4x6xf32>")).status());
  EXPECT_TRUE(
      LooksLikeStableHlo("// comment\n#loc = loc(unknown)\nmodule @m {\n func.func @main() { return }\n}"));
  EXPECT_FALSE(LooksLikeStableHlo("HloModule m\nENTRY e { ROOT c = f32[] constant(1) }"));
  EXPECT_FALSE(LooksLikeStableHlo("module {\n  ROOT c = f32[] constant(1)\n}"));
  const std::string topk = "module {\n func.func @main() {\n %v, %i = mhlo.topk(%0, k = 2)\n ";
  EXPECT_FALSE(LooksLikeStableHlo(topk + "%0 = mhlo.add %v, %v"));
  EXPECT_TRUE(LooksLikeStableHlo(topk + "%0 = stablehlo.add %v, %v"));
}

}  // namespace
}  // namespace toroid
