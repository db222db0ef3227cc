// BUILD: size = "medium"
// BUILD: data = ["//tests/corpus:jax", "//tests/corpus:full_size", "//tests/corpus:hlo_text"]
#include "hlo/io/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/util/field_comparator.h"
#include "google/protobuf/util/message_differencer.h"
#include "hlo/base/files.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "tests/corpus_files.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;

std::vector<std::string> ProtoFiles() {
  std::vector<std::string> paths = CorpusFiles("jax", ".pb");
  for (const std::string& path : CorpusFiles("full_size", ".pb")) paths.push_back(path);
  return paths;
}

// The module in a file's bytes.
xla::HloModuleProto ModuleOf(Container container, const std::string& bytes) {
  xla::HloModuleProto module;
  xla::HloProto proto;
  xla::HloSnapshot snapshot;
  if (container == Container::kModule) {
    TOROID_CHECK(module.ParseFromString(bytes));
  } else if (container == Container::kSnapshot) {
    TOROID_CHECK(snapshot.ParseFromString(bytes));
    module = snapshot.hlo().hlo_module();
  } else {
    TOROID_CHECK(proto.ParseFromString(bytes));
    module = proto.hlo_module();
  }
  return module;
}

std::string Difference(const google::protobuf::Message& a, const google::protobuf::Message& b) {
  std::string report;
  MessageDifferencer differencer;
  google::protobuf::util::DefaultFieldComparator same_nans;
  same_nans.set_treat_nan_as_equal(true);
  differencer.set_field_comparator(&same_nans);
  differencer.ReportDifferencesToString(&report);
  differencer.Compare(a, b);
  return report.substr(0, 2000);
}

TEST(FileTest, ContainersOfTheCorpusAreRecognised) {
  for (const std::string& path : ProtoFiles()) {
    SCOPED_TRACE(path);
    ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHloFile(path));
    const Container expected = absl::StrContains(path, "snapshot")    ? Container::kSnapshot
                               : absl::StrContains(path, "full_size") ? Container::kModule
                                                                      : Container::kProto;
    EXPECT_EQ(file.container, expected);
    EXPECT_EQ(file.HasArguments(), expected == Container::kSnapshot);
  }
  for (const std::string& path : CorpusFiles("hlo_text", ".hlo")) {
    ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHloFile(path));
    EXPECT_EQ(file.container, Container::kText);
  }
}

TEST(FileTest, WritingGivesEveryFieldBack) {
  for (const std::string& path : ProtoFiles()) {
    SCOPED_TRACE(path);
    const std::string bytes = ReadCorpusFile(path);
    ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(bytes));
    ASSERT_OK_AND_ASSIGN(const std::string written, SerializeHlo(file, Format::kContainer));
    // The same messages, unknown fields included; the same bytes except for the order of fields.
    EXPECT_EQ(Difference(ModuleOf(file.container, bytes), ModuleOf(file.container, written)), "");
    EXPECT_EQ(bytes.size(), written.size());
  }
}

TEST(FileTest, MapEntriesAreWrittenInOneOrder) {
  // Every protobuf map iterates in an order of its own.
  std::string attributes;
  for (int i = 0; i < 40; ++i) absl::StrAppend(&attributes, i > 0 ? "," : "", "key", i, "=\"", i, "\"");
  const std::string text =
      absl::StrCat("HloModule m, frontend_attributes={", attributes,
                   "}\nENTRY e { ROOT p = f32[] parameter(0), frontend_attributes={", attributes, "} }");
  ASSERT_OK_AND_ASSIGN(const HloFile first, ReadHlo(text));
  ASSERT_OK_AND_ASSIGN(const std::string bytes, SerializeHlo(first, Format::kContainer));
  ASSERT_OK_AND_ASSIGN(const HloFile second, ReadHlo(bytes));
  EXPECT_THAT(SerializeHlo(second, Format::kContainer), IsOkAndHolds(bytes));
}

TEST(FileTest, ArgumentsAndResultOfSnapshotsFitTheEntry) {
  for (const std::string& path : CorpusFiles("jax", "snapshot.pb")) {
    SCOPED_TRACE(path);
    ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHloFile(path));
    ASSERT_OK_AND_ASSIGN(const std::vector<Literal> arguments, file.Arguments());
    const Computation& entry = *file.module->entry();
    ASSERT_EQ(static_cast<int>(arguments.size()), entry.num_parameters());
    for (int i = 0; i < entry.num_parameters(); ++i) {
      EXPECT_TRUE(arguments[i].shape().Compatible(entry.parameter(i)->shape())) << i;
    }
    ASSERT_OK_AND_ASSIGN(const std::optional<Literal> result, file.Result());
    ASSERT_TRUE(result.has_value());
    EXPECT_TRUE(result->shape().Compatible(entry.root()->shape()));
  }
}

// Drops fields that mean the same as their absence: empty messages (except shardings) and all-false dynamic
// flags.
void DropEmpty(google::protobuf::Message* message) {
  if (auto* shape = dynamic_cast<xla::ShapeProto*>(message)) {
    bool dynamic = false;
    for (const bool d : shape->is_dynamic_dimension()) dynamic |= d;
    if (!dynamic) shape->clear_is_dynamic_dimension();
  }
  const google::protobuf::Reflection* reflection = message->GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection->ListFields(*message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE || field->is_map()) continue;
    if (field->is_repeated()) {
      for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
        DropEmpty(reflection->MutableRepeatedMessage(message, field, i));
      }
      continue;
    }
    google::protobuf::Message* inner = reflection->MutableMessage(message, field);
    DropEmpty(inner);
    if (inner->ByteSizeLong() == 0 && !absl::EndsWith(field->name(), "sharding")) {
      reflection->ClearField(message, field);
    }
  }
}

// The parts of a module that HLO text keeps, made comparable: ids are positions, and empty messages are
// dropped.
void Canonicalize(xla::HloModuleProto* module) {
  std::map<int64_t, int64_t> computations;
  for (int c = 0; c < module->computations_size(); ++c) computations[module->computations(c).id()] = c;
  module->set_entry_computation_id(computations[module->entry_computation_id()]);
  for (auto& computation : *module->mutable_computations()) {
    computation.set_id(computations[computation.id()]);
    std::map<int64_t, int64_t> ids;
    for (int i = 0; i < computation.instructions_size(); ++i)
      ids[computation.instructions(i).id() & 0xffffffff] = i;
    const auto id_of = [&](int64_t id) { return ids[id & 0xffffffff]; };
    computation.set_root_id(id_of(computation.root_id()));
    for (auto& instruction : *computation.mutable_instructions()) {
      instruction.set_id(id_of(instruction.id()));
      for (int64_t& id : *instruction.mutable_operand_ids()) id = id_of(id);
      for (int64_t& id : *instruction.mutable_control_predecessor_ids()) id = id_of(id);
      for (int64_t& id : *instruction.mutable_called_computation_ids()) id = computations[id];
      instruction.clear_original_value();  // Provenance, not in text.
      if (instruction.opcode() != "topk") instruction.clear_largest();
      // A message of defaults means the same as none.
      bool precise = false;
      for (const int p : instruction.precision_config().operand_precision()) precise |= p != 0;
      if (!precise) instruction.mutable_precision_config()->clear_operand_precision();
    }
  }
  DropEmpty(module);
  module->DiscardUnknownFields();
  module->clear_id();
}

TEST(FileTest, TextKeepsEverythingOfTheJaxModules) {
  for (const std::string& path : CorpusFiles("jax", ".pb")) {
    SCOPED_TRACE(path);
    const std::string bytes = ReadCorpusFile(path);
    ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(bytes));
    ASSERT_OK_AND_ASSIGN(const std::string text, SerializeHlo(file, Format::kHloText));
    ASSERT_OK_AND_ASSIGN(const HloFile back, ReadHlo(text));
    EXPECT_OK(VerifyModule(*back.module));
    ASSERT_OK_AND_ASSIGN(const std::string written, SerializeHlo(back, Format::kContainer));
    xla::HloModuleProto expected = ModuleOf(file.container, bytes);
    xla::HloModuleProto found = ModuleOf(Container::kProto, written);
    Canonicalize(&expected);
    Canonicalize(&found);
    EXPECT_EQ(Difference(expected, found), "");
  }
}

TEST(FileTest, ProtoTextAndJsonReadBackTheSame) {
  for (const std::string& path : CorpusFiles("jax", ".pb")) {
    if (absl::StrContains(path, "moe_transformer") || absl::StrContains(path, "lm_")) continue;  // Large.
    SCOPED_TRACE(path);
    ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHloFile(path));
    ASSERT_OK_AND_ASSIGN(const std::string binary, SerializeHlo(file, Format::kContainer));
    xla::HloModuleProto expected = ModuleOf(file.container, binary);
    expected.DiscardUnknownFields();  // Text has no spelling for them.
    for (const Format format : {Format::kProtoText, Format::kJson}) {
      ASSERT_OK_AND_ASSIGN(const std::string text, SerializeHlo(file, format));
      const absl::StatusOr<HloFile> back = ReadHlo(text);
      // The protobuf text form prints unknown fields by number, which it cannot read.
      if (!back.ok() && format == Format::kProtoText) {
        EXPECT_THAT(back, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Expected identifier")));
        continue;
      }
      ASSERT_OK(back);
      EXPECT_EQ(back->container, file.container);
      EXPECT_EQ(back->HasArguments(), file.HasArguments());
      ASSERT_OK_AND_ASSIGN(const std::string again, SerializeHlo(*back, Format::kContainer));
      xla::HloModuleProto found = ModuleOf(file.container, again);
      found.DiscardUnknownFields();
      EXPECT_EQ(Difference(expected, found), "");
    }
  }
}

xla::HloModuleProto SmallModule() {
  const auto module = ParseModule("ENTRY main { a = f32[2] parameter(0) ROOT n = f32[2] negate(a) }");
  TOROID_CHECK(module.ok());
  HloFile file;
  file.container = Container::kModule;
  file.module = ParseModule("ENTRY main { a = f32[2] parameter(0) ROOT n = f32[2] negate(a) }").value();
  xla::HloModuleProto proto;
  TOROID_CHECK(proto.ParseFromString(SerializeHlo(file, Format::kContainer).value()));
  return proto;
}

TEST(FileTest, OtherContainersKeepTheirFields) {
  xla::HloUnoptimizedSnapshot unoptimized;
  *unoptimized.mutable_hlo_module() = SmallModule();
  Literal::Array<float>({2}, {1, 2}).ToProto(unoptimized.add_partitions()->add_arguments());
  Literal::Array<float>({2}, {3, 4}).ToProto(unoptimized.add_partitions()->add_arguments());
  unoptimized.set_version(1);
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(unoptimized.SerializeAsString()));
  EXPECT_EQ(file.container, Container::kUnoptimizedSnapshot);
  ASSERT_OK_AND_ASSIGN(const std::vector<Literal> arguments, file.Arguments());
  ASSERT_EQ(arguments.size(), 1u);
  EXPECT_EQ(arguments[0], Literal::Array<float>({2}, {1, 2}));
  ASSERT_OK_AND_ASSIGN(const std::string written, SerializeHlo(file, Format::kContainer));
  xla::HloUnoptimizedSnapshot back;
  ASSERT_TRUE(back.ParseFromString(written));
  EXPECT_EQ(Difference(unoptimized, back), "");

  xla::HloModuleProtoWithConfig with_config;
  *with_config.mutable_hlo_module() = SmallModule();
  with_config.mutable_config()->set_num_partitions(4);
  ASSERT_OK_AND_ASSIGN(const HloFile configured, ReadHlo(with_config.SerializeAsString()));
  EXPECT_EQ(configured.container, Container::kModuleWithConfig);
  EXPECT_EQ(configured.module->config().num_partitions, 4);

  xla::HloProto proto;
  *proto.mutable_hlo_module() = SmallModule();
  proto.mutable_buffer_assignment()->add_logical_buffers()->set_id(7);
  ASSERT_OK_AND_ASSIGN(const HloFile assigned, ReadHlo(proto.SerializeAsString()));
  EXPECT_EQ(assigned.container, Container::kProto);
  EXPECT_EQ(assigned.proto->buffer_assignment().logical_buffers(0).id(), 7);
}

// Damage gives an error or another module, never a crash.
TEST(FileTest, TruncatedAndFlippedFilesNeverCrash) {
  std::mt19937 random(3);
  for (const std::string& path : CorpusFiles("jax", ".pb")) {
    const std::string bytes = ReadCorpusFile(path);
    for (int k = 0; k < 12; ++k) {
      std::string damaged = k % 3 == 0 ? bytes.substr(0, random() % bytes.size()) : bytes;
      for (int flip = 0; k % 3 != 0 && flip < k; ++flip) {
        damaged[random() % damaged.size()] ^= static_cast<char>(1 << (random() % 8));
      }
      const absl::StatusOr<HloFile> file = ReadHlo(damaged);
      if (!file.ok()) {
        EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument);
        continue;
      }
      VerifyModule(*file->module).IgnoreError();
      file->Arguments().status().IgnoreError();
      PrintModule(*file->module);
    }
  }
}

TEST(FileTest, WhatIsNoModuleIsAnError) {
  EXPECT_THAT(ReadHlo(""), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("empty")));
  EXPECT_THAT(ReadHlo(std::string(100, '\0')),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("neither")));
  EXPECT_THAT(ReadHlo("{\"x\": 1}"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("JSON")));
  EXPECT_THAT(ReadHlo("hlo_module { nam: 1 }"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1:17: ")));
  EXPECT_THAT(ReadHloFile("/nonexistent/x.pb"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nonexistent/x.pb: ")));
}

TEST(FileTest, FormatsFollowTheOutputName) {
  EXPECT_THAT(FormatOfName("a/x.snapshot.pb"), IsOkAndHolds(Format::kSnapshot));
  EXPECT_THAT(FormatOfName("a/x.hlo_unoptimized_snapshot.pb"), IsOkAndHolds(Format::kUnoptimizedSnapshot));
  EXPECT_THAT(FormatOfName("x.hlo.pb"), IsOkAndHolds(Format::kContainer));
  EXPECT_THAT(FormatOfName("x.pb"), IsOkAndHolds(Format::kContainer));
  EXPECT_THAT(FormatOfName("x.hlo"), IsOkAndHolds(Format::kHloText));
  EXPECT_THAT(FormatOfName("x.txt"), IsOkAndHolds(Format::kHloText));
  EXPECT_THAT(FormatOfName("x.mlir"), IsOkAndHolds(Format::kStableHlo));
  EXPECT_THAT(FormatOfName("x.pbtxt"), IsOkAndHolds(Format::kProtoText));
  EXPECT_THAT(FormatOfName("x.json"), IsOkAndHolds(Format::kJson));
  // The name inside .gz decides.
  EXPECT_THAT(FormatOfName("x.snapshot.pb.gz"), IsOkAndHolds(Format::kSnapshot));
  EXPECT_THAT(FormatOfName("x.hlo.gz"), IsOkAndHolds(Format::kHloText));
  EXPECT_THAT(FormatOfName("x.json.gz"), IsOkAndHolds(Format::kJson));
}

TEST(FileTest, NamesThatSayNoFormatAreRefused) {
  for (const char* name : {"x", "x.gz", "x.hlo.p", "x.mlirbc", "dir.hlo/x", "x.hlo.pb.bz2", "x.HLO"}) {
    EXPECT_THAT(FormatOfName(name), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(".pbtxt")))
        << name;
  }
  // A path that is no regular file needs no extension.
  const std::string pipe = std::string(::testing::TempDir()) + "/pipe_without_suffix";
  unlink(pipe.c_str());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& name :
       {std::string("-"), std::string("/dev/null"), std::string("/dev/stdout"), pipe}) {
    EXPECT_THAT(FormatOfName(name), IsOkAndHolds(Format::kContainer)) << name;
  }
}

TEST(FileTest, EveryFormatIsReadAndWrittenCompressed) {
  const std::string path = CorpusFiles("jax", "snapshot.pb")[0], folder = ::testing::TempDir();
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHloFile(path));
  for (const char* name : {"x.snapshot.pb", "x.hlo", "x.pbtxt", "x.json", "x.hlo.pb"}) {
    SCOPED_TRACE(name);
    const std::string plain = absl::StrCat(folder, "/", name), packed = plain + ".gz";
    ASSERT_OK(WriteHloFile(file, plain));
    ASSERT_OK(WriteHloFile(file, packed));
    EXPECT_LT(ReadFile(packed).value().size(), ReadFile(plain).value().size());
    EXPECT_EQ(ReadInput(packed).value(), ReadFile(plain).value());
    ASSERT_OK_AND_ASSIGN(const HloFile from_plain, ReadHloFile(plain));
    ASSERT_OK_AND_ASSIGN(const HloFile from_packed, ReadHloFile(packed));
    EXPECT_EQ(from_packed.container, from_plain.container);
    EXPECT_EQ(PrintModule(*from_packed.module), PrintModule(*from_plain.module));
  }
}

TEST(FileTest, FilesAreReplacedWholeOrNotAtAll) {
  const std::string folder = std::string(::testing::TempDir()) + "/file_test";
  mkdir(folder.c_str(), 0755);
  const std::string path = folder + "/out";
  ASSERT_OK(WriteFile(path, "one"));
  ASSERT_OK(WriteFile(path, "two"));
  ASSERT_OK_AND_ASSIGN(const std::string content, ReadFile(path));
  EXPECT_EQ(content, "two");
  EXPECT_OK(WriteFile("/dev/null", "three"));
  struct stat info;
  ASSERT_EQ(stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
  EXPECT_THAT(WriteFile(folder + "/none/out", "four"), StatusIs(absl::StatusCode::kNotFound));
  // A symbolic link stays a link.
  const std::string link = folder + "/link";
  unlink(link.c_str());
  ASSERT_EQ(symlink("out", link.c_str()), 0);
  ASSERT_OK(WriteFile(link, "five"));
  ASSERT_EQ(lstat(link.c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  ASSERT_OK_AND_ASSIGN(const std::string linked, ReadFile(path));
  EXPECT_EQ(linked, "five");
}

}  // namespace
}  // namespace toroid
