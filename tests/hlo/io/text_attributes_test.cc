// BUILD: size = "small"
// Attributes of HLO text, common ones and those of opcodes: every spelling.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "hlo/io/hlo_text.h"
#include "tests/hlo/io/text_spellings.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

// The text read behind an instruction, and the text printed for it; null: the same.
void ExpectAttributes(absl::string_view instruction, const std::vector<TextSpelling>& attributes) {
  for (const TextSpelling& attribute : attributes) {
    const absl::string_view printed = attribute.printed == nullptr ? attribute.text : attribute.printed;
    EXPECT_EQ(Respelled(absl::StrCat(instruction, ", ", attribute.text)),
              absl::StrCat(instruction, printed.empty() ? "" : ", ", printed));
  }
}

TEST(TextAttributesTest, OfEveryInstruction) {
  ExpectAttributes(
      "f32[8]{0} negate(v)",
      {{"sharding={replicated}"},
       {R"(frontend_attributes={a="text",b={balanced {block}},xla.sdy.x={index = 0 : ui64}})"},
       {R"(frontend_attributes={ b-c.d = {q="}"} , a = "x" })",
        R"(frontend_attributes={a="x",b-c.d={q="}"}})"},
       {R"(metadata={op_type="dot" op_name="jit(f)/dot" source_file="a.py" source_line=3 source_end_line=3 )"
        R"(source_column=5 source_end_column=9 deduplicated_name="d" )"
        R"(scheduling_name="s" stack_frame_id=4 profile_type={1} metadata_payload="p"})"},
       {R"(metadata={source_line=3, op_name="b", op_type="a"})",
        R"(metadata={op_type="a" op_name="b" source_line=3})"},
       // Items of older and newer writers are ignored.
       {R"(metadata={op_name="b" preserve_layout=true creation_pass_id=4 foo={a b} bar="x"})",
        R"(metadata={op_name="b"})"},
       {"metadata={}", ""},
       {R"(backend_config="a\"b\n")"},
       {R"(backend_config={"a": "}", "b": {"c": [1,2]}})"},
       {R"(backend_config="{1}")", R"(backend_config={1})"},
       {"backend_config={}"},
       {"backend_config=\"\"", ""},
       {"control-predecessors={%v, s}", "control-predecessors={v, s}"},
       {"control-predecessors={}", ""},
       {"statistics={visualizing_index=0,flops=1.5,bytes=8}"},
       {"statistics={visualizing_index=1,flops=-1e+30}"},
       {"outer_dimension_partitions={0,2}", ""}});
  // The origin of an array is ignored: see docs/design_notes.md.
  ExpectAttributes("f32[8]{0} negate(v)", {{R"(origin={{"a"}})", ""},
                                           {R"(origin={{"a" {1,0}}})", ""},
                                           {R"(origin={({"a"}, {"b" {1}})})", ""},
                                           {"origin={[synthetic_call]}", ""}});
  ExpectAttributes("f32[8]{0} exponential(v)", {{"result_accuracy={mode=highest}"},
                                                {"result_accuracy={tolerance={atol=0.5,rtol=0,ulps=2}}"}});
  EXPECT_EQ(Respelled("(f32[2]{0}, f32[]) parameter(7), parameter_replication={true,false}"),
            "(f32[2]{0}, f32[]) parameter(7), parameter_replication={true,false}");
  EXPECT_EQ(Respelled("f32[8] negate(v), colour=1"), "14:30: negate has no attribute colour");
}

TEST(TextAttributesTest, InAnyOrder) {
  const char kPrinted[] =
      "f32[8]{0} custom-call(v), custom_call_target=\"x\", custom_call_has_side_effect=true, "
      "sharding={devices=[2]<=[2]}, metadata={op_name=\"x\"}, backend_config={\"a\":1}";
  const std::vector<std::string> parts = {"custom_call_target=\"x\"", "custom_call_has_side_effect=true",
                                          "sharding={devices=[2]<=[2]}", "metadata={op_name=\"x\"}",
                                          "backend_config={\"a\":1}"};
  for (size_t first = 0; first < parts.size(); ++first) {
    for (size_t step = 1; step < parts.size(); ++step) {
      std::string text = "f32[8]{0} custom-call(v)";
      for (size_t i = 0; i < parts.size(); ++i)
        absl::StrAppend(&text, ", ", parts[(first + i * step) % parts.size()]);
      EXPECT_EQ(Respelled(text), kPrinted);
    }
  }
}

TEST(TextAttributesTest, DefaultsAreNotPrinted) {
  ExpectSpellings(std::vector<TextSpelling>{
      {"f32[8,4] dot(x, sq), rhs_contracting_dims={0}, lhs_contracting_dims={1}, lhs_batch_dims={}, "
       "rhs_batch_dims={}, "
       "operand_precision={default,default}",
       "f32[8,4]{1,0} dot(x, sq), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
      {"f32[8,4] convolution(x, sq), dim_labels=bf_io->bf, window={}, feature_group_count=1, "
       "batch_group_count=1, "
       "convolution_kind=unset",
       "f32[8,4]{1,0} convolution(x, sq), dim_labels=bf_io->bf"},
      {"f32[4,4] cholesky(sq), lower=false", "f32[4,4]{1,0} cholesky(sq)"},
      {"(f32[2], s32[2]) topk(v), k=2", "(f32[2]{0}, s32[2]{0}) topk(v), k=2, largest=true"},
      {"f32[8] sort(v), dimensions={0}, is_stable=false, to_apply=ge_f32",
       "f32[8]{0} sort(v), dimensions={0}, to_apply=ge_f32"},
  });
}

// Instructions that hlo_text_test.cc does not have.
TEST(TextAttributesTest, OfOpcodes) {
  ExpectSpellings(std::vector<TextSpelling>{
      {"f32[8,4]{1,0} broadcast(s), dimensions={}"},
      {"f32[8,4] broadcast(s)", "f32[8,4]{1,0} broadcast(s), dimensions={}"},
      {"f32[32]{0} reshape(x), inferred_dimension=0"},
      {"f32[8,4]{1,0} map(x, x), dimensions={0,1}, to_apply=add_f32"},
      {"pred[8]{0} equal-to(v, v)", "pred[8]{0} compare(v, v), direction=EQ"},
      // Structured sparsity of 2025 is ignored.
      {"f32[8,4] dot(x, sq), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sparsity=L.1@2:4",
       "f32[8,4]{1,0} dot(x, sq), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
      {"f32[8,4]{1,0} convolution(x, sq), dim_labels=bf_io->bf, convolution_kind=wgrad, "
       "sparsity_config={lhs={sparsity=2x4 dimension=1 stride=1} rhs={sparsity=2x4 dimension=0 stride=1}}"},
      {"(f32[2]{0}, s32[2]{0}) topk(v), is_stable=true, k=2, largest=false"},
      {"(f32[8]{0}, f32[]) scan(v, s), dimensions={0}, num_carries=1, is_reverse=true, is_associative=true, "
       "to_apply=add_f32"},
      {"f32[8,4]{1,0} ragged-dot(x, sq, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
       "lhs_ragged_dims={0}"},
      {"f32[8,4]{1,0} scaled-dot(x, sq, x, sq), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
      {"f32[8]{0} custom-call(v), window={size=3 pad=1_1}, dim_labels=bf_io->bf, feature_group_count=2, "
       "operand_precision={high,high}, custom_call_target=\"x\", padding_type=PADDING_VALID"},
      {"f32[8] custom-call(v), custom_call_target=\"x\", to_apply=neg",
       "f32[8]{0} custom-call(v), custom_call_target=\"x\", called_computations={neg}"},
      {"f32[8]{0} custom-call(v), custom_call_target=\"x\", literal=(f32[2]{0}, s32[]) ( {1, 2}, 3 )"},
      {"f32[8]{0} custom-call(v), custom_call_target=\"x\", output_to_operand_aliasing={{0}: (1, {}), {1}: "
       "(0, {0})}"},
      {"f32[8]{0} all-reduce(v), replica_groups={}, to_apply=add_f32, mode=cross_replica",
       "f32[8]{0} all-reduce(v), replica_groups={}, to_apply=add_f32"},
      {"f32[8] all-reduce(v), to_apply=add_f32",
       "f32[8]{0} all-reduce(v), replica_groups={}, to_apply=add_f32"},
      {"f32[8]{0} all-reduce(v), replica_groups={{0,1}}, constrain_layout=true, to_apply=add_f32"},
      {"(f32[8]{0}, f32[8]{0}, u32[], u32[]) collective-permute-start(v), source_target_pairs={{0,1}}"},
      {"f32[8,4]{1,0} collective-permute(x, x, t, t), source_target_pairs={{0,1}}, slice_sizes={{1,4}}"},
      {"f32[8]{0} domain(v), domain={kind=\"sharding\", entry={replicated}, exit={maximal device=1}}"},
      {"f32[8]{0} fusion(v), kind=kInput, calls={ a = f32[8] parameter(0) ROOT n = f32[8] negate(a) }",
       "f32[8]{0} fusion(v), kind=kInput, calls=computation.1"},
      {"f32[8] transpose(v)", "15:1: transpose lacks the attribute dimensions before this"},
  });
}

TEST(TextAttributesTest, Windows) {
  const auto convolution = [](absl::string_view window) {
    return absl::StrCat("f32[2,2,2,2]{3,2,1,0} convolution(sq, sq), window={", window,
                        "}, dim_labels=b01f_01io->b01f");
  };
  for (const char* same :
       {"size=3x3", "size=3x3 stride=2x2 pad=1_1x0_2 lhs_dilate=1x2 rhs_dilate=2x2 rhs_reversal=0x1",
        "size=3x3 pad=-1_-1x0_0"}) {
    EXPECT_EQ(Respelled(convolution(same)), convolution(same));
  }
  EXPECT_EQ(Respelled(convolution("rhs_reversal=0x1 stride=1x1, size=3x3 lhs_dilate=1x1 pad=0_0x0_0")),
            convolution("size=3x3 rhs_reversal=0x1"));
  for (const char* wrong : {"stride=2x2", "size=3x3 stride=2", "size=3x3 colour=1x1", "size=3xx3"}) {
    EXPECT_THAT(Respelled(convolution(wrong)), ::testing::MatchesRegex("1[45]:[0-9]+: .+")) << wrong;
  }
}

TEST(TextAttributesTest, DimensionLabels) {
  for (const char* same : {"bf_io->bf", "b01f_01io->b01f", "f01b_o01i->01bf", "b?f_i?o->b?f",
                           "b0123456789f_0123456789io->b0123456789f"}) {
    const std::string text = absl::StrCat("f32[8]{0} convolution(x, sq), dim_labels=", same);
    EXPECT_EQ(Respelled(text), text);
  }
  for (const char* wrong :
       {"b01f_01io->", "b0f_0io->b01f", "bf_iox->bf", "b00f_00io->b00f", "bbf_io->bf", "b1f_1io->b1f"}) {
    EXPECT_THAT(Respelled(absl::StrCat("f32[8] convolution(x, sq), dim_labels=", wrong)),
                ::testing::MatchesRegex("1[45]:[0-9]+: .+"))
        << wrong;
  }
}

TEST(TextAttributesTest, PaddingAndSlices) {
  ExpectSpellings(std::vector<TextSpelling>{
      {"f32[9]{0} pad(v, s), padding=0_1"},
      {"f32[13]{0} pad(v, s), padding=-1_-1_1"},
      {"f32[8,4] pad(x, s), padding=0_0_0x0_0", "f32[8,4]{1,0} pad(x, s), padding=0_0x0_0"},
      {"f32[] pad(s, s), padding="},
      {"f32[4]{0} slice(v), slice={[0:8:2]}"},
      {"f32[4] slice(v), slice={ [ 0 : 4 : 1 ] }", "f32[4]{0} slice(v), slice={[0:4]}"},
      {"f32[] slice(s), slice={}"},
  });
}

TEST(TextAttributesTest, DeviceGroups) {
  const auto reduce = [](absl::string_view groups) {
    return absl::StrCat("f32[8]{0} all-reduce(v), replica_groups=", groups, ", to_apply=add_f32");
  };
  for (const char* same :
       {"{}", "{{0}}", "{{0,1},{2,3}}", "[2,2]<=[4]", "[2,2]<=[2,2]T(1,0)", "mesh['a'=2,'b'=4] {'b'}",
        "mesh['a'=2,'b'=4], device_ids=(0,4,1,5,2,6,3,7) {'a'}",
        "mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'a','b':(1)2}", "mesh['a'=1,'b'=4] {'a','b'}"}) {
    EXPECT_EQ(Respelled(reduce(same)), reduce(same));
  }
  EXPECT_EQ(Respelled(reduce("{ {0 , 1} , {2,3} }")), reduce("{{0,1},{2,3}}"));
  for (const char* wrong :
       {"[2,2]<=[5]", "[2,2]<=[2,2]T(0,0)", "mesh['a'=2] {'c'}", "[-1,2]<=[4]", "[2,2]<="}) {
    EXPECT_THAT(Respelled(reduce(wrong)), ::testing::MatchesRegex("1[45]:[0-9]+: .+")) << wrong;
  }
}

TEST(TextAttributesTest, ShardingsOnInstructions) {
  for (const char* same :
       {"{devices=[2,1,2]0,1,2,3}", "{devices=[2,4]<=[4,2]T(1,0)}",
        "{devices=[4,1,2]<=[8] last_tile_dim_replicate}",
        "{devices=[2,2,2]<=[8] last_tile_dims={manual, replicated}}", "{devices=[4]<=[4] shard_as 5}",
        "{unknown shard_like 5}", "{manual metadata={op_name=\"x\"}}", "{{replicated}, {devices=[2]<=[2]}}",
        "{}", "{maximal device=3}", "{unreduced}", "{mesh['x'=2,'y'=4], [{'x', 'y'}]}",
        "{mesh['x'=2,'y'=4], [{'y':(1)2}, {?}]}",
        "{mesh['x'=2,'y'=4], [{'x'}], unreduced={'y':(1)2}, manual={'y':(2)2}}",
        "{mesh['x'=2], device_ids=(1,0), [{'x'}]}", "{maximal_mesh[device_id=3]}"}) {
    const std::string text = absl::StrCat("f32[8]{0} negate(v), sharding=", same);
    EXPECT_EQ(Respelled(text), text);
  }
}

TEST(TextAttributesTest, AsynchronousForms) {
  const auto entry = [](absl::string_view body) {
    const std::string text = absl::StrCat(
        "neg { a = f32[8] parameter(0) ROOT s = f32[8] negate(a) }\nENTRY e { v = f32[8] parameter(0) ", body,
        " }");
    const absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
    if (!module.ok()) return std::string(module.status().message());
    const std::string printed = PrintModule(**module);
    EXPECT_EQ(PrintModule(*ParseModule(printed).value()), printed);
    return printed.substr(printed.find("neg {"));
  };
  // The async opcode itself; attributes repeated after the start are ignored.
  const std::string plain = entry(
      "s = ((f32[8]), f32[8], u32[]) async-start(v), calls=neg, async_execution_thread=\"q\" "
      "u = ((f32[8]), f32[8], u32[]) async-update(s), calls=neg, async_group_id=3 "
      "ROOT d = f32[8] async-done(u), calls=neg, async_execution_thread=\"q\"");
  EXPECT_THAT(plain, HasSubstr("async-start(v), calls=neg, async_execution_thread=\"q\"\n"));
  EXPECT_THAT(plain, HasSubstr("async-update(s)"));
  EXPECT_THAT(plain, HasSubstr("ROOT d = f32[8]{0} async-done(u)"));
  // The OP-start form of any opcode; the start has its attributes.
  const std::string sugar = entry(
      "s = ((f32[8]), f32[4], u32[]) slice-start(v), slice={[0:8:2]}, metadata={op_name=\"m\"} "
      "ROOT d = f32[4] slice-done(s)");
  EXPECT_THAT(sugar, HasSubstr("slice(parameter), slice={[0:8:2]}\n"));
  EXPECT_THAT(sugar, HasSubstr("async-start(v), calls=computation.1, metadata={op_name=\"m\"}\n"));
  const std::string call = entry(
      "s = ((f32[8]), f32[8], u32[]) call-start(v), to_apply=neg, async_execution_thread=\"q\" "
      "u = ((f32[8]), f32[8], u32[]) call-update(s) ROOT d = f32[8] call-done(u)");
  EXPECT_THAT(call, HasSubstr("call(parameter), to_apply=neg\n}, execution_thread=\"q\"\n"));
  EXPECT_THAT(call, HasSubstr("calls=computation.1, async_execution_thread=\"q\"\n"));
}

}  // namespace
}  // namespace toroid
