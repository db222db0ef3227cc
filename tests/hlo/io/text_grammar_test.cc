// BUILD: size = "small"
// Tokens, modules, computations, instructions, shapes and literals of HLO text: every spelling.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "hlo/io/hlo_text.h"
#include "tests/hlo/io/text_spellings.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

// The whole module printed, or the error. It must read back to itself.
std::string RespelledModule(absl::string_view text) {
  const absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  if (!module.ok()) return std::string(module.status().message());
  const std::string printed = PrintModule(**module);
  const absl::StatusOr<std::unique_ptr<Module>> again = ParseModule(printed);
  EXPECT_TRUE(again.ok()) << again.status().ToString() << "\n" << printed;
  EXPECT_EQ(again.ok() ? PrintModule(**again) : "", printed);
  return printed;
}

// The printed header of a module with these attributes, without the constant parts.
std::string RespelledHeader(absl::string_view attributes, absl::string_view tables = "") {
  const std::string printed =
      RespelledModule(absl::StrCat("HloModule m", attributes, "\n", tables,
                                   "ENTRY e { a = f32[] parameter(0) ROOT t = (f32[], f32[]) tuple(a, a) }"));
  return absl::StrReplaceAll(
      printed.substr(0, printed.find("\n\nENTRY")),
      {{"HloModule m", ""}, {", entry_computation_layout={(f32[])->(f32[], f32[])}", ""}});
}

constexpr char kOne[] =
    "HloModule module, entry_computation_layout={(f32[])->f32[]}\n\nENTRY e {\n  ROOT a = f32[] "
    "parameter(0)\n}\n";

TEST(TextGrammarTest, TokensAreSeparatedByAnythingOrNothing) {
  const std::string named = absl::StrReplaceAll(kOne, {{"module", "m"}});
  EXPECT_EQ(RespelledModule("// c\nHloModule /*x*/ m // y\nENTRY e{ROOT a=f32[]parameter(0)}"), named);
  EXPECT_EQ(RespelledModule("HloModule\tm\r\nENTRY %e { ROOT %a = f32[] parameter( 0 ) /* end */ } // end"),
            named);
}

TEST(TextGrammarTest, NamesMayLookLikeOtherTokens) {
  for (const char* body :
       {"parameter.0 = f32[] parameter(0) f32.x = f32[] negate(parameter.0) ROOT true = f32[] negate(f32.x)",
        "ENTRYx = f32[] parameter(0) ROOT ROOTx = f32[] negate(ENTRYx)", "ROOT ROOT = f32[] parameter(0)",
        "inf = f32[] parameter(0) nan = f32[] negate(inf) ROOT manual = f32[] add(inf, nan)",
        "%f32 = f32[] parameter(0) ROOT %pred-1_2.b = f32[] negate(%f32)"}) {
    EXPECT_THAT(RespelledModule(absl::StrCat("ENTRY e { ", body, " }")), HasSubstr("ROOT")) << body;
    EXPECT_THAT(RespelledModule(absl::StrCat("ENTRY e { ", body, " }")), HasSubstr("ENTRY e {")) << body;
  }
}

TEST(TextGrammarTest, ANameOfAModuleMayEndInAColon) {
  EXPECT_EQ(RespelledModule("HloModule module:\nENTRY e { ROOT a = f32[] parameter(0) }"), kOne);
  EXPECT_EQ(
      RespelledModule("HloModule module: , is_scheduled=false\nENTRY e { ROOT a = f32[] parameter(0) }"),
      kOne);
}

// The entry's instructions as printed, one per line.
std::string RespelledBody(absl::string_view body) {
  const std::string printed = RespelledModule(absl::StrCat("ENTRY e {\n", body, "\n}\n"));
  const size_t begin = printed.find("ENTRY e {\n");
  if (begin == std::string::npos) return printed;
  return absl::StrReplaceAll(printed.substr(begin + 9, printed.rfind("\n}") - begin - 9), {{"\n  ", "\n"}});
}

TEST(TextGrammarTest, ParametersAndConstantsStandAmongOperands) {
  EXPECT_EQ(RespelledBody("ROOT c = f32[2] add(f32[2] parameter(0), f32[2] constant({1, 2}))"),
            "\nparameter = f32[2]{0} parameter(0)\nconstant = f32[2]{0} constant({1, 2})\n"
            "ROOT c = f32[2]{0} add(parameter, constant)");
  EXPECT_EQ(RespelledBody("p = f32[] parameter(1) ROOT c = f32[] add(f32[] negate(f32[] parameter(0)), p)"),
            "\np = f32[] parameter(1)\nparameter = f32[] parameter(0)\nnegate = f32[] negate(parameter)\n"
            "ROOT c = f32[] add(negate, p)");
  EXPECT_THAT(RespelledBody("ROOT c = f32[2] negate(parameter(0))"),
              HasSubstr("a parameter needs its shape"));
  EXPECT_THAT(RespelledBody("ROOT c = f32[2] negate(f32[2] constant({1}))"), HasSubstr("dimension 0"));
  EXPECT_THAT(RespelledBody("ROOT c = f32[2] negate(f32[2] parameter(1))"),
              HasSubstr("no parameter number 0"));
}

TEST(TextGrammarTest, OneValueStandsForAllElements) {
  EXPECT_EQ(RespelledBody("ROOT c = s32[2,2] constant(7)"),
            "\nROOT c = s32[2,2]{1,0} constant({ { 7, 7 }, { 7, 7 } })");
  // A large one becomes a broadcast, so that a line of text takes little memory.
  EXPECT_EQ(RespelledBody("ROOT c = f32[100000,100000] constant(-inf), metadata={op_name=\"n\"}"),
            "\nconstant = f32[] constant(-inf)\n"
            "ROOT c = f32[100000,100000]{1,0} broadcast(constant), dimensions={}, metadata={op_name=\"n\"}");
  EXPECT_EQ(RespelledBody("ROOT c = f32[300] negate(f32[300] constant(1))"),
            "\nconstant = f32[] constant(1)\nbroadcast = f32[300]{0} broadcast(constant), dimensions={}\n"
            "ROOT c = f32[300]{0} negate(broadcast)");
}

TEST(TextGrammarTest, ALengthAloneIsAListOfOne) {
  EXPECT_EQ(RespelledBody("p = c64[0] parameter(0) ROOT c = c64[0] fft(p), fft_type=FFT, fft_length=0"),
            "\np = c64[0]{0} parameter(0)\nROOT c = c64[0]{0} fft(p), fft_type=FFT, fft_length={0}");
}

TEST(TextGrammarTest, StringsHaveBothQuotesEscapesAndLines) {
  ExpectSpellings(
      std::vector<TextSpelling>{{R"(f32[8]{0} negate(v), metadata={op_name='single "q" \x41\101'})",
                                 R"(f32[8]{0} negate(v), metadata={op_name="single \"q\" AA"})"},
                                {"f32[8]{0} negate(v), metadata={op_name=\"two\nlines\"}",
                                 R"(f32[8]{0} negate(v), metadata={op_name="two\nlines"})"},
                                {R"(f32[8]{0} negate(v), metadata={op_name="a\tb\\c"})"}});
}

TEST(TextGrammarTest, TheHeaderAndTheNamesMayBeMissing) {
  EXPECT_EQ(RespelledModule("ENTRY e { ROOT a = f32[] parameter(0) }"), kOne);
  EXPECT_EQ(RespelledModule("e { a = f32[] parameter(0) }"), kOne);
  EXPECT_EQ(RespelledModule("%e (a: f32[]) -> f32[] { ROOT %a = f32[] parameter(0) }"), kOne);
  // The last computation is the entry.
  EXPECT_THAT(RespelledModule("c { a = f32[] parameter(0) } d { b = f32[] parameter(0) }"),
              HasSubstr("ENTRY d {"));
  EXPECT_THAT(RespelledModule("HloModule , is_scheduled=true\n\nENTRY { ROOT a = f32[] parameter(0) }"),
              HasSubstr("is_scheduled=true"));
}

TEST(TextGrammarTest, InstructionsWithoutAComputation) {
  const std::string add = "  ROOT r = f32[4]{0} add(x, y)\n";
  for (const char* text :
       {"r = f32[4] add(f32[4] x, f32[4] y)", "%r = f32[4]{0} add(f32[4]{0} %x, f32[4]{0} %y)",
        "ROOT r = f32[4] add(f32[4] x, f32[4] y)", "r = add(f32[4] x, f32[4] y)"}) {
    EXPECT_THAT(RespelledModule(text), HasSubstr(add)) << text;
  }
  EXPECT_THAT(RespelledModule("f32[4] add(f32[4] x, f32[4] y)"), HasSubstr("add(x, y)"));
  EXPECT_THAT(RespelledModule("f32[2] constant({1, 2})"), HasSubstr("constant({1, 2})"));
  EXPECT_THAT(RespelledModule("p = f32[4] parameter(0) n = f32[4] negate(p)"),
              HasSubstr("ROOT n = f32[4]{0} negate(p)"));
  EXPECT_THAT(RespelledModule("r = f32[4] add(f32[4] x, multiply(f32[4] y, f32[4] x))"),
              HasSubstr("multiply(y, x)"));
}

TEST(TextGrammarTest, HeaderAttributes) {
  for (const char* same :
       {", is_scheduled=true", ", input_output_alias={ {0}: (0, {}, may-alias), {1}: (0, {}, must-alias) }",
        ", buffer_donor={ (0, {}), (0, {1}) }", ", alias_passthrough_params=true",
        ", allow_spmd_sharding_propagation_to_parameters=true",
        ", allow_spmd_sharding_propagation_to_output={false,false}", ", replica_count=2, num_partitions=4",
        ", frontend_attributes={a.b-c=\"x\\\"y\",xla.sdy.meshes={m = #sdy.mesh<[\"x\"=4]>}}"}) {
    EXPECT_EQ(RespelledHeader(same), same);
  }
  // Attributes in any order; defaults are not printed; unknown ones and origins are ignored.
  EXPECT_EQ(RespelledHeader(", num_partitions=4, replica_count=2, is_scheduled=true"),
            ", is_scheduled=true, replica_count=2, num_partitions=4");
  EXPECT_EQ(RespelledHeader(
                ", replica_count=1, num_partitions=1, is_scheduled=false, alias_passthrough_params=false, "
                "allow_spmd_sharding_propagation_to_output=false"),
            "");
  EXPECT_EQ(RespelledHeader(", input_output_alias={ {0}: (0, {}) }"),
            ", input_output_alias={ {0}: (0, {}, may-alias) }");
  EXPECT_EQ(RespelledHeader(", allow_spmd_sharding_propagation_to_output={true}"),
            ", allow_spmd_sharding_propagation_to_output=true");
  EXPECT_EQ(RespelledHeader(", frontend_attributes={ b = \"{1}\" , a={} }"),
            ", frontend_attributes={a={},b={1}}");
  EXPECT_EQ(RespelledHeader(", later={a={b}}, more=3, text=\"z\", num_partitions=2"), ", num_partitions=2");
  EXPECT_EQ(RespelledHeader(
                ", origin_recovery_table={\n  {\"a\" {0}} : {\"b\"},\n  \"\n  ENTRY %x { ROOT %p = f32[] "
                "parameter(0) }\n  \"\n  {\"c\"} : {\"d\" {1}}\n}, num_partitions=2"),
            ", num_partitions=2");
}

TEST(TextGrammarTest, EntryLayouts) {
  const std::string layout =
      "entry_computation_layout={(f32[2,3]{0,1:T(8,128)}, (s32[], token[]))->f32[2,3]{1,0}}";
  EXPECT_THAT(
      RespelledModule(absl::StrCat("HloModule m, ", layout,
                                   "\nENTRY e { a = f32[2,3] parameter(0) b = (s32[], token[]) parameter(1) "
                                   "ROOT n = f32[2,3] negate(a) }")),
      HasSubstr(layout));
}

TEST(TextGrammarTest, StackFrameTables) {
  const std::string tables =
      "\n\nFileNames\n1 \"a.py\"\n2 \"b.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n1 {file_name_id=2 "
      "function_name_id=1 line=3 end_line=4 column=1 end_column=2}\n\nStackFrames\n1 {file_location_id=1 "
      "parent_frame_id=1}\n2 {file_location_id=1 parent_frame_id=2}";
  EXPECT_EQ(RespelledHeader("", tables + "\n"), tables);
  // Older text has no end positions; tables may be empty.
  EXPECT_THAT(RespelledHeader("",
                              "FileNames\n1 \"a\"\nFunctionNames\n1 \"f\"\nFileLocations\n1 {file_name_id=1 "
                              "function_name_id=1 line=3}\nStackFrames\n1 {file_location_id=1}\n"),
              HasSubstr("1 {file_name_id=1 function_name_id=1 line=3 end_line=0"));
  EXPECT_EQ(RespelledHeader("", "FileNames\n\nFunctionNames\n\nFileLocations\n\nStackFrames\n\n"), "");
}

TEST(TextGrammarTest, ComputationsHaveSignaturesAndThreads) {
  for (const char* text : {"ENTRY e (a: f32[]) -> f32[] { a = f32[] parameter(0) }",
                           "ENTRY %e (%a: f32[]) -> f32[] { ROOT %a = f32[] parameter(0) }"}) {
    EXPECT_EQ(RespelledModule(text), kOne);
  }
  EXPECT_THAT(RespelledModule("ENTRY e () -> f32[] { c = f32[] constant(1) }"), HasSubstr("constant(1)"));
  EXPECT_THAT(
      RespelledModule("ENTRY e (a: f32[<=8], b: (f32[], token[])) -> f32[<=8] { a = f32[<=8] parameter(0) "
                      "b = (f32[], token[]) parameter(1) ROOT c = f32[<=8] negate(a) }"),
      HasSubstr("f32[<=8]{0} negate(a)"));
  EXPECT_THAT(
      RespelledModule(
          "c { ROOT a = f32[] parameter(0) }, execution_thread=\"t\"\nENTRY e { b = f32[] parameter(0) }"),
      HasSubstr("}, execution_thread=\"t\""));
  // Parameters in any order of definition.
  EXPECT_THAT(
      RespelledModule("ENTRY e { b = f32[] parameter(1) a = s32[] parameter(0) ROOT c = f32[] negate(b) }"),
      HasSubstr("{(s32[], f32[])->f32[]}"));
  EXPECT_THAT(RespelledModule("ENTRY e { a = f32[] parameter(0) b = f32[] parameter(0) }"),
              HasSubstr("parameter"));
}

TEST(TextGrammarTest, Operands) {
  ExpectSpellings(std::vector<TextSpelling>{
      {"f32[8]{0} add(f32[8]{0} %v, f32[8] v)", "f32[8]{0} add(v, v)"},
      {"f32[8]{0} add(v, multiply(v, negate(v)))", "f32[8]{0} add(v, multiply.9)"},
      {"s32[] negate(%t#1#1)", "s32[] negate(get-tuple-element.9)"},
      {"f32[4] negate(f32[4]{0} t#1#0)", "f32[4]{0} negate(get-tuple-element.9)"},
      {"(f32[8]{0}, f32[8]{0}, f32[8]{0}, f32[8]{0}, f32[8]{0}, /*index=5*/f32[8]{0}) tuple(v, v, v, v, v, "
       "/*index=5*/v)"},
      {"f32[8]{0} constant({...})"},
      {"f32[8] add(w, v)", "14:23: unknown operand w; operands stand before their users"},
      {"f32[8] negate(t#2)", "14:28: (f32[8], (f32[4], s32[])) has no element 2"},
  });
}

TEST(TextGrammarTest, Shapes) {
  for (const char* shape :
       {"f32[]", "s32[3,4]{1,0}", "f32[<=8,4]{1,0}", "f32[?,4]{1,0}", "b(f32[4]{0})", "token[]", "opaque[]",
        "()", "(f32[])", "((f32[], ()), token[])", "f32[0,0]{1,0}", "u32[]{:S(2)}", "f32[16,4]{0,1}",
        "f32[16,4]{1,0:T(8,128)}", "f32[16,4]{1,0:T(8,128)(2,1)}", "f32[16,4]{1,0:T(*,128)}",
        "f32[16,4]{1,0:T(8,128)L(4)E(4)S(5)SC(0:4,8)(1:2)M(16)}", "f32[<=8,<=4]{1,0:M(16)}"}) {
    EXPECT_THAT(RespelledModule(absl::StrCat("ENTRY e { ROOT a = ", shape, " parameter(0) }")),
                HasSubstr(absl::StrCat("ROOT a = ", shape, " parameter(0)")));
  }
  // Obsolete attributes are ignored; blanks do not matter.
  for (const char* shape : {"f32[16,4]{1,0:D(D,C)T(8,128)}", "f32[16,4]{1,0:T(8,128)#(u32)*(u32)}",
                            "f32[16,4]{1,0:T(8,128)P(f32[2]{0})}", "f32[ 16 , 4 ]{1, 0 : T(8 , 128)}"}) {
    EXPECT_THAT(RespelledModule(absl::StrCat("ENTRY e { ROOT a = ", shape, " parameter(0) }")),
                HasSubstr("ROOT a = f32[16,4]{1,0:T(8,128)} parameter(0)"));
  }
  for (const char* shape :
       {"f32[-1]", "f32[2]{1}", "f32[2,2]{0,0}", "f32[2]{0:T(-8)}", "f32[2]{0:X(1)}", "f33[2]", "(f32[]"}) {
    EXPECT_FALSE(ParseModule(absl::StrCat("ENTRY e { ROOT a = ", shape, " parameter(0) }")).ok()) << shape;
  }
}

TEST(TextGrammarTest, ElementTypes) {
  for (const char* type : {"pred",
                           "s1",
                           "s2",
                           "s4",
                           "s8",
                           "s16",
                           "s32",
                           "s64",
                           "u1",
                           "u2",
                           "u4",
                           "u8",
                           "u16",
                           "u32",
                           "u64",
                           "f16",
                           "bf16",
                           "f32",
                           "f64",
                           "f8e5m2",
                           "f8e4m3",
                           "f8e4m3fn",
                           "f8e4m3b11fnuz",
                           "f8e3m4",
                           "f8e5m2fnuz",
                           "f8e4m3fnuz",
                           "f8e8m0fnu",
                           "f6e3m2fn",
                           "f6e2m3fn",
                           "f4e2m1fn",
                           "c64",
                           "c128"}) {
    EXPECT_THAT(RespelledModule(absl::StrCat("ENTRY e { ROOT a = ", type, "[3]{0} parameter(0) }")),
                HasSubstr(absl::StrCat(type, "[3]{0} parameter(0)")));
  }
}

TEST(TextGrammarTest, Literals) {
  ExpectSpellings(std::vector<TextSpelling>{
      {"f32[] constant(-0)"},
      {"f32[] constant(-0.0)", "f32[] constant(-0)"},
      {"f32[] constant(-.5)", "f32[] constant(-0.5)"},
      {"f32[] constant(1E+5)", "f32[] constant(1e+05)"},
      {"f32[] constant(0.100000001)", "f32[] constant(0.1)"},
      {"f64[] constant(0.10000000000000001)", "f64[] constant(0.1)"},
      {"f32[] constant(1e-45)"},
      {"f64[] constant(5e-324)"},
      {"f32[5]{0} constant({nan, -nan, nan(0x7), inf, -inf})"},
      {"f8e4m3fnuz[] constant(-nan)"},
      {"c64[2]{0} constant({( 1 , -0.5 ), (nan,inf)})", "c64[2]{0} constant({(1, -0.5), (nan, inf)})"},
      {"pred[3]{0} constant({true,2,false})", "pred[3]{0} constant({1, 1, 0})"},
      {"s32[2,1]{1,0} constant({ /*i0=0*/ {1}, /*i0=1*/ {2} })", "s32[2,1]{1,0} constant({ {1}, {2} })"},
      {"s32[2,0]{1,0} constant({})", "s32[2,0]{1,0} constant({ {}, {} })"},
      {"s32[0,2]{1,0} constant({  })", "s32[0,2]{1,0} constant({})"},
      {"(s32[], (s32[2]{0}, ())) constant(( 1, ( {2, 3}, () ) ))"},
      {"u64[] constant(18446744073709551615)"},
      {"s8[] constant(128)", "14:26: integer is outside s8"},
      {"f16[] constant(65520)", "14:27: number is outside f16"},
      {"f32[] constant(1e39)", "14:27: number is outside f32"},
      {"s32[] constant(1.0)", "14:27: expected an integer of type s32, found '1.0)'"},
  });
}

// 9 digits distinguish all f32, 17 all f64.
TEST(TextGrammarTest, NineAndSeventeenDigitsReadExactly) {
  ASSERT_OK_AND_ASSIGN(const auto narrow,
                       ParseModule("f32[3] constant({0.333333343, 16777217, 1.17549435e-38})"));
  const Literal a = Literal::FromProto(narrow->entry()->root()->attrs().literal()).value();
  EXPECT_THAT(a.data<float>(), ::testing::ElementsAre(1.0f / 3, 16777216.0f, 0x1p-126f));
  ASSERT_OK_AND_ASSIGN(const auto wide,
                       ParseModule("f64[2] constant({0.33333333333333331, 2.2250738585072014e-308})"));
  const Literal b = Literal::FromProto(wide->entry()->root()->attrs().literal()).value();
  EXPECT_THAT(b.data<double>(), ::testing::ElementsAre(1.0 / 3, 0x1p-1022));
}

TEST(TextGrammarTest, LargeConstantsAreWholeUnlessToldOtherwise) {
  std::string values = "{0";
  for (int i = 1; i < 1000; ++i) absl::StrAppend(&values, ", ", i);
  const std::string text = absl::StrCat("s32[1000]{0} constant(", values, "})");
  EXPECT_EQ(Respelled(text), text);
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(InEnvironment(text)));
  PrintOptions options;
  options.max_constant_elements = 10;
  EXPECT_EQ(PrintInstruction(*module->entry()->root(), options), "ROOT r = s32[1000]{0} constant({...})");
}

// The canonical style: operand shapes, bodies printed in place.
TEST(TextGrammarTest, CanonicalStyleReads) {
  EXPECT_THAT(RespelledModule(
                  "HloModule m\n\nENTRY e (tmp_0: f32[2]) -> f32[] {\n  tmp_0 = f32[2]{0} parameter(0)\n"
                  "  tmp_1 = f32[] constant(0)\n  ROOT tmp_2 = f32[] reduce(f32[2]{0} tmp_0, f32[] tmp_1), "
                  "dimensions={0}, to_apply=\n{\n  tmp_0 = f32[] parameter(0)\n  tmp_1 = f32[] parameter(1)\n"
                  "  ROOT tmp_2 = f32[] add(f32[] tmp_0, f32[] tmp_1)\n}\n}"),
              HasSubstr("reduce(tmp_0, tmp_1), dimensions={0}, to_apply=computation.1"));
}

TEST(TextGrammarTest, ShapesFollowWhereTheyCan) {
  ExpectSpellings(std::vector<TextSpelling>{
      {"add(v, v)", "f32[8]{0} add(v, v)"},
      {"compare(v, v), direction=LT", "pred[8]{0} compare(v, v), direction=LT"},
      {"transpose(x), dimensions={1,0}", "f32[4,8]{1,0} transpose(x), dimensions={1,0}"},
      {"get-tuple-element(t), index=1", "(f32[4]{0}, s32[]) get-tuple-element(t), index=1"},
      {"concatenate(v, v), dimensions={0}", "f32[16]{0} concatenate(v, v), dimensions={0}"},
      {"pad(v, s), padding=1_1", "f32[10]{0} pad(v, s), padding=1_1"},
      {"reduce(x, s), dimensions={0}, to_apply=add_f32",
       "f32[4]{0} reduce(x, s), dimensions={0}, to_apply=add_f32"},
      {"call(v), to_apply=neg", "f32[8]{0} call(v), to_apply=neg"},
      {"conditional(p, v, v), true_computation=neg, false_computation=neg",
       "f32[8]{0} conditional(p, v, v), true_computation=neg, false_computation=neg"},
      {"dot(x, sq), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
       "f32[8,4]{1,0} dot(x, sq), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
      {"sort(v), dimensions={0}, to_apply=ge_f32", "f32[8]{0} sort(v), dimensions={0}, to_apply=ge_f32"},
      {"tuple(v, opt-barrier(t))", "(f32[8]{0}, (f32[8]{0}, (f32[4]{0}, s32[]))) tuple(v, opt-barrier.8)"},
      {"partition-id()", "u32[] partition-id()"},
  });
  EXPECT_THAT(Respelled("iota(), iota_dimension=0"), HasSubstr("14:8: "));
}

}  // namespace
}  // namespace toroid
