// BUILD: size = "small"
// BUILD: data = ["//tests/corpus:hlo_text"]
#include "hlo/io/hlo_text.h"

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "hlo/ops/verify_module.h"
#include "tests/corpus_files.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The long form, as in section 15 of the format's description.
constexpr char kExample[] =
    R"(HloModule affine, entry_computation_layout={(f32[8,4]{1,0}, f32[4,6]{1,0}, f32[6]{0})->f32[8]{0}}, num_partitions=2

%plus (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(f32[] %a, f32[] %b)
}

ENTRY %main (x: f32[8,4], w: f32[4,6], bias: f32[6]) -> f32[8] {
  %x = f32[8,4]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  %w = f32[4,6]{1,0} parameter(1), sharding={replicated}
  %xw = f32[8,6]{1,0} dot(f32[8,4]{1,0} %x, f32[4,6]{1,0} %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %bias = f32[6]{0} parameter(2)
  %rows = f32[8,6]{1,0} broadcast(f32[6]{0} %bias), dimensions={1}
  %y = f32[8,6]{1,0} add(f32[8,6]{1,0} %xw, f32[8,6]{1,0} %rows), metadata={op_name="bias add" source_line=7}
  %zero = f32[] constant(0)
  ROOT %r = f32[8]{0} reduce(f32[8,6]{1,0} %y, f32[] %zero), dimensions={1}, to_apply=%plus, sharding={devices=[2]<=[2]}
}
)";

TEST(HloTextTest, LongFormPrintsBackUnchanged) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(kExample));
  PrintOptions options;
  options.percent = options.signatures = options.operand_shapes = true;
  EXPECT_EQ(PrintModule(*module, options), kExample);
  EXPECT_EQ(module->config().num_partitions, 2);
  EXPECT_EQ(module->entry()->root()->sharding()->tile_assignment_dimensions(0), 2);
}

TEST(HloTextTest, CorpusModulesRoundTrip) {
  for (const std::string& path : CorpusFiles("hlo_text", ".hlo")) {
    SCOPED_TRACE(path);
    ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(ReadCorpusFile(path)));
    const std::string text = PrintModule(*module);
    ASSERT_OK_AND_ASSIGN(const auto again, ParseModule(text));
    EXPECT_EQ(PrintModule(*again), text);
  }
}

// One instruction a line over a fixed environment: every line must verify and print back unchanged.
constexpr char kEnvironment[] = R"(HloModule m
add_f32 { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ge_f32 { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = pred[] compare(a, b), direction=GE }
value { ROOT v = (f32[8,4], s32[]) parameter(0) }
more { v = (f32[8,4], s32[]) parameter(0) ROOT t = pred[] constant(true) }
negate8 { a = f32[8] parameter(0) ROOT n = f32[8] negate(a) }
same8 { ROOT a = f32[8] parameter(0) }
ENTRY main {
  x = f32[8,4]{1,0} parameter(0)
  v = f32[8]{0} parameter(1)
  i = s32[] parameter(2)
  p = pred[] parameter(3)
  c = c64[4,4]{1,0} parameter(4)
  t = (f32[8,4]{1,0}, s32[]) parameter(5)
  idx = s32[3]{0} parameter(6)
  zero = f32[] constant(0)
  img = f32[2,9,9,4]{3,2,1,0} parameter(7)
  ker = f32[3,3,4,8]{3,2,1,0} parameter(8)
  key = u64[2]{0} parameter(9)
  tok = token[] after-all()
  sq = f32[4,4]{1,0} parameter(10)
  vec4 = f32[4]{0} parameter(11)
  INSTRUCTION
}
)";

const char* const kInstructions[] = {
    "f32[8,4]{1,0} exponential(x), result_accuracy={mode=highest}",
    "f32[8,4]{1,0} tanh(x), result_accuracy={tolerance={atol=0.5,rtol=0,ulps=2}}",
    "f32[8,4]{1,0} reduce-precision(x), exponent_bits=5, mantissa_bits=10",
    "pred[8,4]{1,0} compare(x, x), direction=LT, type=TOTALORDER",
    "f32[8,4]{1,0} select(p, x, x)",
    "f32[8,4]{1,0} clamp(zero, x, zero)",
    "bf16[8,4]{1,0} convert(x)",
    "u8[8,4,4]{2,1,0} bitcast-convert(x)",
    "f32[2,8,4]{2,1,0} broadcast(x), dimensions={1,2}",
    "f32[32]{0} reshape(x)",
    "f32[4,8]{0,1} transpose(x), dimensions={1,0}",
    "f32[8,4]{1,0} reverse(x), dimensions={0,1}",
    "f32[16,4]{1,0} concatenate(x, x), dimensions={0}",
    "f32[4,2]{1,0} slice(x), slice={[0:8:2], [1:3:1]}",
    "f32[4,2]{1,0} slice(x), slice={[0:4], [1:3]}",
    "f32[11,6]{1,0} pad(x, zero), padding=1_2_0x-1_0_1",
    "f32[] pad(zero, zero), padding=",
    "s32[4,3]{1,0} iota(), iota_dimension=1",
    "f32[2,2]{1,0} constant({ { 1, 2 }, { -0, nan } })",
    "f32[100]{0} constant({...})",
    "s32[] get-tuple-element(t), index=1",
    "f32[2,2]{1,0} dynamic-slice(x, i, i), dynamic_slice_sizes={2,2}",
    "f32[8,4]{1,0} dynamic-update-slice(x, sq, i, i)",
    "f32[3,4]{1,0} gather(x, idx), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
    "index_vector_dim=1, slice_sizes={1,4}, indices_are_sorted=true",
    "f32[8]{0} scatter(v, idx, idxv), update_window_dims={}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=1, indices_are_sorted=true, unique_indices=true, "
    "to_apply=add_f32",
    "f32[8,4]{1,0} dot(x, sq), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
    "operand_precision={high,highest}, "
    "algorithm=dot_bf16_bf16_f32_x3",
    "f32[2,9,9,8]{3,2,1,0} convolution(img, ker), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, "
    "convolution_kind=fprop",
    "f32[2,4,4,8]{3,2,1,0} convolution(img, ker), window={size=3x3 stride=2x2 rhs_reversal=0x1}, "
    "dim_labels=b01f_01io->b01f",
    "f32[8]{0} reduce(x, zero), dimensions={1}, to_apply=add_f32",
    "f32[8,4]{1,0} reduce-window(x, zero), window={size=3x1 pad=1_1x0_0}, to_apply=add_f32",
    "f32[8,4]{1,0} select-and-scatter(x, sq, zero), window={size=2x1 stride=2x1}, select=ge_f32, "
    "scatter=add_f32",
    "f32[8,4]{1,0} map(x, x), dimensions={0,1}, to_apply=add_f32",
    "f32[8,4]{1,0} sort(x), dimensions={1}, is_stable=true, to_apply=ge_f32",
    "(f32[8,2]{1,0}, s32[8,2]{1,0}) topk(x), k=2, largest=false",
    "(f32[8,4]{1,0}, f32[4]{0}, f32[4]{0}) batch-norm-training(x, vec4, vec4), epsilon=0.001, "
    "feature_index=1",
    "c64[4,4]{1,0} fft(c), fft_type=IFFT, fft_length={4}",
    "c64[8,3]{1,0} fft(x), fft_type=RFFT, fft_length={4}",
    "f32[4,4]{1,0} cholesky(sq), lower=true",
    "f32[8,4]{1,0} triangular-solve(sq, x), lower=true, unit_diagonal=true, transpose_a=ADJOINT",
    "f32[2]{0} rng(zero, zero), distribution=rng_uniform",
    "u64[2]{0} rng-get-and-update-state(), delta=5",
    "(u64[2]{0}, u32[5]{0}) rng-bit-generator(key), algorithm=rng_three_fry",
    "f32[] call(zero, zero), to_apply=add_f32, is_composite=true",
    "f32[] fusion(zero, zero), kind=kLoop, calls=add_f32",
    "(f32[8,4]{1,0}, s32[]) while(t), condition=more, body=value",
    "f32[8]{0} conditional(p, v, v), true_computation=negate8, false_computation=same8",
    "f32[8]{0} conditional(i, v, v, v), branch_computations={negate8, same8, same8}",
    "f32[8,4]{1,0} opt-barrier(x)",
    "f32[8,4]{1,0} domain(x), domain={kind=\"sharding\", entry={replicated}, exit={devices=[2,1]<=[2]}}",
    "f32[8,4]{1,0} custom-call(x), custom_call_target=\"Sharding\", sharding={devices=[2,1]<=[2]}, "
    "backend_config=\"unspecified_dims=[1]\"",
    "f32[3]{0} custom-call(x), custom_call_target=\"a\\\"b\", operand_layout_constraints={f32[8,4]{1,0}}, "
    "custom_call_has_side_effect=true, api_version=API_VERSION_TYPED_FFI, schedule=SCHEDULE_LATEST, "
    "literal=f32[2]{0} {1, 2}, called_computations={add_f32, ge_f32}, "
    "output_to_operand_aliasing={{}: (0, {})}, backend_config={\"k\": {\"}\": 1}}",
    "f32[8,4]{1,0} all-reduce(x), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, "
    "to_apply=add_f32",
    "f32[8,4]{1,0} all-reduce(x), replica_groups={}, to_apply=add_f32",
    "f32[16,4]{1,0} all-gather(x), dimensions={0}, channel_id=1, replica_groups=[2,2]<=[2,2]T(1,0), "
    "use_global_device_ids=true",
    "f32[2,4]{1,0} reduce-scatter(x), dimensions={0}, channel_id=1, replica_groups=mesh['a'=2,'b'=4] {'b'}, "
    "use_global_device_ids=true, to_apply=add_f32",
    "f32[8,4]{1,0} all-to-all(x), dimensions={0}, channel_id=1, replica_groups=[2,4]<=[8]",
    "(f32[8,4]{1,0}, f32[8,4]{1,0}) all-to-all(x, x), channel_id=1, replica_groups={{0,1}}",
    "f32[8,4]{1,0} collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}",
    "f32[8,4]{1,0} collective-broadcast(x), channel_id=1, replica_groups={{1,0}}",
    "((f32[8,4]{1,0}, u32[]), token[]) infeed(tok), infeed_config=\"abc\"",
    "token[] outfeed(x, tok), outfeed_config=\"\\001z\", outfeed_shape=f32[8,4]{1,0}",
    "(f32[8,4]{1,0}, u32[], token[]) send(x, tok), channel_id=3, is_host_transfer=true",
    "(f32[8,4]{1,0}, f32[8,4]{1,0}, u32[]) copy-start(x), cross_program_prefetch_index=0",
    "((f32[8]{0}), f32[8]{0}, u32[]) async-start(v), calls=negate8, async_execution_thread=\"other\"",
    "s32[] get-dimension-size(x), dimensions={0}",
    "f32[<=8,4]{1,0} set-dimension-size(x, i), dimensions={0}",
    "u32[] partition-id()",
    "f32[8,4]{1,0} frobnicate(x, v), dimensions={1}, channel_id=4",
    "f32[8,4]{1,0:T(8,128)(2,1)S(1)} copy(x), frontend_attributes={a=\"1\",b={x={y}}}, "
    "control-predecessors={x}",
    "f32[8,4]{1,0} copy(x), metadata={op_type=\"t\" op_name=\"n\" source_file=\"f.py\" source_line=3 "
    "stack_frame_id=2}, statistics={visualizing_index=0,flops=1.5}",
};

TEST(HloTextTest, EveryAttributeVerifiesAndPrintsBackUnchanged) {
  for (const std::string instruction : kInstructions) {
    SCOPED_TRACE(instruction);
    std::string environment = kEnvironment;
    if (instruction.find("idxv") != std::string::npos) {
      environment = absl::StrReplaceAll(
          environment, {{"  INSTRUCTION", "  idxv = f32[3]{0} parameter(12)\n  INSTRUCTION"}});
    }
    const std::string text = absl::StrReplaceAll(environment, {{"INSTRUCTION", "ROOT it = " + instruction}});
    ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(text));
    EXPECT_EQ(PrintInstruction(*module->entry()->root()), "ROOT it = " + instruction);
    EXPECT_OK(VerifyModule(*module));
    ASSERT_OK_AND_ASSIGN(const auto again, ParseModule(PrintModule(*module)));
    EXPECT_EQ(PrintModule(*again), PrintModule(*module));
    // The next line does not belong to the attributes, whatever it begins with.
    for (const std::string next :
         {"_1", "x.1", "x40", "T", "T3", "e5", "E", "S", "D.1", "f32", "mesh", "inf"}) {
      ASSERT_OK_AND_ASSIGN(const auto longer,
                           ParseModule(absl::StrReplaceAll(
                               environment, {{"INSTRUCTION", "ROOT it = " + instruction + "\n  " + next +
                                                                 " = token[] after-all()"}})));
      EXPECT_EQ(PrintInstruction(*longer->entry()->root()), "ROOT it = " + instruction) << next;
    }
  }
}

TEST(HloTextTest, ShapesAreInferredWhereLeftOut) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(R"(
    ENTRY main {
      x = f32[2,3] parameter(0)
      y = f32[3,5] parameter(1)
      d = dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      ROOT r = tuple(add(d, multiply(d, d)), d)
    })"));
  EXPECT_EQ(module->entry()->root()->shape().ToString(), "(f32[2,5], f32[2,5])");
  EXPECT_OK(VerifyModule(*module));
}

TEST(HloTextTest, BodiesInPlaceBecomeComputationsBeforeTheirCallers) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(R"(
    ENTRY main {
      x = f32[8] parameter(0)
      zero = f32[] constant(0)
      ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply={
        a = f32[] parameter(0)
        b = f32[] parameter(1)
        ROOT s = f32[] add(a, b)
      }
    })"));
  EXPECT_OK(VerifyModule(*module));
  EXPECT_EQ(module->num_computations(), 2);
  EXPECT_EQ(module->entry()->index(), 1);
}

TEST(HloTextTest, SingleInstructionTakesItsOperandsAsParameters) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule("%y = f32[2] add(f32[2] %a, f32[2] %b)"));
  EXPECT_OK(VerifyModule(*module));
  EXPECT_EQ(module->entry()->num_parameters(), 2);
  ASSERT_OK_AND_ASSIGN(const auto square, ParseModule("f32[2] multiply(f32[2] a, f32[2] a)"));
  EXPECT_EQ(square->entry()->num_parameters(), 1);
}

TEST(HloTextTest, AsyncSugarWrapsTheInstruction) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(R"(
    ENTRY main {
      p = f32[8] parameter(0)
      s = ((f32[8]), f32[16], u32[]) custom-call-start(p), custom_call_target="foo", async_execution_thread="t"
      u = ((f32[8]), f32[16], u32[]) custom-call-update(s)
      ROOT d = f32[16] custom-call-done(u)
    })"));
  EXPECT_OK(VerifyModule(*module));
  const Instruction* start = module->entry()->instruction(1);
  EXPECT_EQ(start->opcode(), Opcode::kAsyncStart);
  EXPECT_EQ(start->called(0)->root()->custom_call_target(), "foo");
  EXPECT_EQ(start->called(0)->execution_thread(), "t");
  ASSERT_OK_AND_ASSIGN(const auto again, ParseModule(PrintModule(*module)));
  EXPECT_EQ(PrintModule(*again), PrintModule(*module));
}

TEST(HloTextTest, TupleElementsAndOldOpcodesRead) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(R"(
    ENTRY main {
      t = (f32[2], (s32[], f32[4])) parameter(0)
      ROOT r = pred[4] less-than(%t#1#1, t#1#1)
    })"));
  EXPECT_OK(VerifyModule(*module));
  EXPECT_EQ(module->entry()->root()->attrs().comparison_direction(), "LT");
}

TEST(HloTextTest, HeaderAttributesPrintBack) {
  const std::string header =
      "HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }, buffer_donor={ (0, {}) "
      "}, "
      "alias_passthrough_params=true, entry_computation_layout={(f32[2,2]{0,1})->f32[2,2]{0,1}}, "
      "allow_spmd_sharding_propagation_to_parameters={true,false}, "
      "allow_spmd_sharding_propagation_to_output=true, "
      "replica_count=2, num_partitions=4, "
      "frontend_attributes={k={v},toroid.device_assignment={[2,4]7,6,5,4,3,2,1,"
      "0},"
      "toroid.spmd_output_sharding={devices=[2,2]<=[4]},toroid.spmd_parameters_shardings={{replicated}}}\n\n"
      "FileNames\n1 \"a.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n1 {file_name_id=1 "
      "function_name_id=1 line=3 "
      "end_line=3 column=1 end_column=2}\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n"
      "2 {file_location_id=1 parent_frame_id=2}\n\nENTRY main {\n  ROOT x = f32[2,2]{1,0} parameter(0)\n}\n";
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(header));
  EXPECT_EQ(PrintModule(*module), header);
  EXPECT_EQ(module->proto().spmd_output_sharding().iota_reshape_dims(0), 4);
  EXPECT_EQ(module->proto().spmd_parameters_shardings_size(), 1);
  EXPECT_EQ(module->proto().device_assignment().computation_devices(1).replica_device_ids(1), 2);
  EXPECT_EQ(module->proto().stack_frame_index().stack_frames(0).parent_frame_id(), 0);
  EXPECT_EQ(module->proto().stack_frame_index().stack_frames(1).parent_frame_id(), 1);
}

TEST(HloTextTest, ErrorsNameLineAndColumn) {
  const std::pair<const char*, const char*> kErrors[] = {
      {"", "1:1: expected a computation, found the end"},
      {"ENTRY main {\n  x = f32[2] parameter(0)\n  y = f32[2] negate(z)\n}", "3:21: unknown operand z"},
      {"ENTRY main {\n  x = f33[2] parameter(0)\n}", "2:7: expected a shape, or an opcode"},
      {"ENTRY main {\n  x = f32[2]{1,0} parameter(0)\n}", "2:7: layout lists 2 dimensions"},
      {"ENTRY main { x = f32[2] parameter(0), colour=1 }", "1:39: parameter has no attribute colour"},
      {"ENTRY main { x = f32[2] parameter(1) }", "leaves a gap"},
      {"ENTRY main { x = f32[2] parameter(0) x = f32[2] negate(x) }", "there are two instructions x"},
      {"ENTRY main { x = f32[2] parameter(0) ROOT a = f32[2] negate(x) ROOT b = f32[2] negate(x) }",
       "there is another ROOT"},
      {"ENTRY main { x = f32[2] parameter(0) r = f32[2] transpose(x) }",
       "transpose lacks the attribute dimensions"},
      {"ENTRY main { x = f32[2] parameter(0) r = f32[2] call(x), to_apply=f }", "unknown computation f"},
      {"ENTRY main { x = f32[2] parameter(0) r = iota(), iota_dimension=0 }",
       "1:38: the result of iota: found no shape"},
      {"ENTRY main { x = f32[2] parameter(0) r = f32[2] negate(f32[3] x) }",
       "operand x is f32[2], not f32[3]"},
      {"ENTRY a { x = f32[] parameter(0) } ENTRY b { x = f32[] parameter(0) }", "another ENTRY"},
      {"ENTRY main { }", "without instructions"},
      {"ENTRY main { x = f32[2] parameter(0), metadata={op_name=\"abc }", "the string does not end"},
      {"ENTRY main { x = f32[99999999999999999999] parameter(0) }", "integer out of range"},
      {"ENTRY main { x = f32[4294967296,4294967296] parameter(0) }", "overflows"},
  };
  for (const auto& [text, message] : kErrors) {
    SCOPED_TRACE(text);
    EXPECT_THAT(ParseModule(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  }
}

TEST(HloTextTest, TheBodyCountsWhereSignaturesOrLayoutsDiffer) {
  const std::pair<const char*, const char*> kWarnings[] = {
      {"ENTRY main (x: f32[3]) -> f32[2] { x = f32[2] parameter(0) }",
       "1:12: warning: the signature of main differs"},
      {"ENTRY main (x: f32[2], y: f32[2]) -> f32[2] { x = f32[2] parameter(0) }", "the signature of main"},
      {"ENTRY main (x: f32[2]) -> f32[7] { x = f32[2] parameter(0) }", "the signature of main"},
      {"HloModule m, entry_computation_layout={()->f32[]}\nENTRY main { x = f32[2] parameter(0) }",
       "1:1: warning: entry_computation_layout differs"},
      {"HloModule m, entry_computation_layout={(f32[2])->(f32[2])}\nENTRY main { x = f32[2] parameter(0) }",
       "entry_computation_layout differs"},
  };
  for (const auto& [text, warning] : kWarnings) {
    SCOPED_TRACE(text);
    std::vector<std::string> warnings;
    ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(text, &warnings));
    EXPECT_THAT(warnings, ElementsAre(HasSubstr(warning)));
    EXPECT_THAT(PrintModule(*module), HasSubstr("entry_computation_layout={(f32[2]{0})->f32[2]{0}}"));
  }
  std::vector<std::string> warnings;
  EXPECT_OK(
      ParseModule("HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]}\n"
                  "ENTRY main (x: f32[2]) -> f32[2] { x = f32[2] parameter(0) }",
                  &warnings));
  EXPECT_THAT(warnings, ElementsAre());
}

TEST(HloTextTest, DeepNestingIsAnErrorNotAStackOverflow) {
  const auto repeated = [](absl::string_view part, int n) {
    std::string out;
    for (int i = 0; i < n; ++i) absl::StrAppend(&out, part);
    return out;
  };
  const int n = 200000;
  for (const std::string& text :
       {"ENTRY m { x = " + repeated("(", n), "ENTRY m { x = f32[] parameter(0) y = " + repeated("add(", n),
        "ENTRY m { x = f32[2] constant(" + repeated("{", n),
        repeated("ENTRY m { x = f32[] call(), to_apply={ x = f32[] call(), to_apply={", n / 10),
        "ENTRY m { x = f32[]{:P" + repeated("(", n), "ENTRY m { x = " + repeated("b(", n),
        "ENTRY m { x = f32[] parameter(0), sharding=" + repeated("{", n), repeated("(", n)}) {
    EXPECT_FALSE(ParseModule(text).ok());
  }
}

// Damaged text gives an error or another module, never a crash.
TEST(HloTextTest, DamagedTextNeverCrashes) {
  std::mt19937 random(11);
  const std::string example = kExample;
  for (int i = 0; i < 3000; ++i) {
    std::string text = example;
    for (int k = 0; k < 1 + i % 4; ++k) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 8);
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), random() % 16));
          break;
        default:
          text.resize(at + 1);
      }
    }
    const auto module = ParseModule(text);
    if (module.ok()) {
      VerifyModule(**module).IgnoreError();
      EXPECT_OK(ParseModule(PrintModule(**module)));
    }
  }
}

}  // namespace
}  // namespace toroid
