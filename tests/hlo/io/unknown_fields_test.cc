// BUILD: size = "medium"
// BUILD: data = ["//tests/corpus:jax"]
// Fields, enum values and opcodes of newer writers are written back unchanged, at every level.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/unknown_field_set.h"
#include "google/protobuf/util/field_comparator.h"
#include "google/protobuf/util/message_differencer.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "tests/corpus_files.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;
using ::google::protobuf::UnknownFieldSet;
using ::google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;

// Calls visit(message) for the message and all nested ones.
template <typename Visit>
void ForEachMessage(Message* message, const Visit& visit) {
  const Reflection* reflection = message->GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(*message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_map()) continue;
    if (!field->is_repeated()) {
      ForEachMessage(reflection->MutableMessage(message, field), visit);
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
      ForEachMessage(reflection->MutableRepeatedMessage(message, field, i), visit);
    }
  }
  visit(message);
}

void AddUnknownFields(Message* message) {
  int n = 0;
  ForEachMessage(message, [&](Message* inner) {
    UnknownFieldSet* fields = inner->GetReflection()->MutableUnknownFields(inner);
    fields->AddVarint(15000, 1000 + ++n % 100);
    fields->AddLengthDelimited(15001)->assign("\xff\0z", 3);
    fields->AddFixed32(15002, 7);
    fields->AddFixed64(15003, 8);
    fields->AddGroup(15004)->AddVarint(1, 2);
  });
}

std::string Difference(const Message& expected, const Message& found) {
  std::string report;
  MessageDifferencer differencer;
  google::protobuf::util::DefaultFieldComparator same_nans;
  same_nans.set_treat_nan_as_equal(true);
  differencer.set_field_comparator(&same_nans);
  differencer.ReportDifferencesToString(&report);
  differencer.Compare(expected, found);
  return report.substr(0, 2000);
}

void ExpectComesBack(const Message& message) {
  const std::string bytes = message.SerializePartialAsString();
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(bytes));
  ASSERT_OK_AND_ASSIGN(const std::string written, SerializeHlo(file, Format::kContainer));
  const std::unique_ptr<Message> back(message.New());
  ASSERT_TRUE(back->ParsePartialFromString(written));
  EXPECT_EQ(Difference(message, *back), "");
  EXPECT_EQ(bytes.size(), written.size());
}

const char kModule[] = R"(HloModule m, input_output_alias={ {0}: (0, {}) }, frontend_attributes={a="b"}

add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }

ENTRY main {
  x = f32[8,4]{0,1:T(8,128)S(1)} parameter(0), sharding={devices=[2,1]<=[2] metadata={op_name="p"}}
  y = f32[<=4,2]{1,0} parameter(1), sharding={mesh['x'=2], [{'x'}, {?}]}, frontend_attributes={c="d"}
  c = (f32[2]{0}, (s32[], bf16[2,1]{0,1})) constant(( {1, 2}, ( 3, { {4}, {5} } ) ))
  z = f32[] constant(0), metadata={op_type="t" op_name="n" source_file="f" source_line=3}
  d = f32[8,8]{1,0} dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}, operand_precision={high,default}
  w = f32[8,8]{1,0} reduce-window(d, z), window={size=3x1 pad=1_1x0_0}, to_apply=add
  r = f32[8,8]{1,0} all-reduce(w), replica_groups=[1,2]<=[2], channel_id=1, to_apply=add
  q = f32[8,8]{1,0} custom-call(r), custom_call_target="t", operand_layout_constraints={f32[8,8]{1,0}}, backend_config={"a":1}
  ROOT t = (f32[8,4]{1,0}, f32[8,8]{1,0}) tuple(x, q), origin={({"a"}, {"b" {1}})}
}
)";

xla::HloModuleProto RichModule() {
  HloFile file;
  file.container = Container::kModule;
  file.module = ParseModule(kModule).value();
  xla::HloModuleProto module;
  TOROID_CHECK(module.ParseFromString(SerializeHlo(file, Format::kContainer).value()));
  return module;
}

TEST(UnknownFieldsTest, FieldsAtEveryLevelOfAModuleComeBack) {
  xla::HloModuleProto module = RichModule();
  ExpectComesBack(module);
  AddUnknownFields(&module);
  ExpectComesBack(module);
}

TEST(UnknownFieldsTest, FieldsAtEveryLevelOfEveryContainerComeBack) {
  xla::HloProto proto;
  *proto.mutable_hlo_module() = RichModule();
  proto.mutable_buffer_assignment()->add_logical_buffers()->mutable_defined_at()->add_shape_index(1);
  xla::HloSnapshot snapshot;
  *snapshot.mutable_hlo() = proto;
  Literal::Array<float>({2}, {1, 2}).ToProto(snapshot.add_arguments());
  snapshot.set_execution_platform("p");
  xla::HloUnoptimizedSnapshot unoptimized;
  *unoptimized.mutable_hlo_module() = RichModule();
  Literal::Array<float>({2}, {1, 2}).ToProto(unoptimized.add_partitions()->add_arguments());
  xla::HloModuleProtoWithConfig with_config;
  *with_config.mutable_hlo_module() = RichModule();
  with_config.mutable_config()->set_num_partitions(4);
  for (Message* message : std::vector<Message*>{&proto, &snapshot, &unoptimized, &with_config}) {
    SCOPED_TRACE(message->GetTypeName());
    AddUnknownFields(message);
    ExpectComesBack(*message);
  }
}

TEST(UnknownFieldsTest, FieldsAtEveryLevelOfRealFilesComeBack) {
  for (const std::string& path : CorpusFiles("jax", ".pb")) {
    SCOPED_TRACE(path);
    const std::string bytes = ReadCorpusFile(path);
    if (bytes.size() > 300000) continue;
    ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(bytes));
    xla::HloProto proto;
    xla::HloSnapshot snapshot;
    Message* message = &proto;
    if (file.container == Container::kSnapshot) message = &snapshot;
    ASSERT_TRUE(message->ParseFromString(bytes));
    AddUnknownFields(message);
    ExpectComesBack(*message);
  }
}

// Every enum field that is set, except element types, without which a module cannot be read.
TEST(UnknownFieldsTest, EnumValuesComeBack) {
  xla::HloModuleProto module = RichModule();
  const Reflection* reflection = nullptr;
  int changed = 0;
  for (xla::HloComputationProto& computation : *module.mutable_computations()) {
    for (xla::HloInstructionProto& instruction : *computation.mutable_instructions()) {
      instruction.set_fft_type(static_cast<xla::FftType>(77));
      instruction.set_custom_call_api_version(static_cast<xla::CustomCallApiVersion>(77));
      instruction.mutable_precision_config()->set_algorithm(static_cast<xla::PrecisionConfig::Algorithm>(77));
      for (Message* part :
           std::vector<Message*>{instruction.mutable_precision_config(), instruction.mutable_sharding(),
                                 instruction.mutable_metadata()}) {
        ForEachMessage(part, [&](Message* message) {
          reflection = message->GetReflection();
          for (int i = 0; i < message->GetDescriptor()->field_count(); ++i) {
            const FieldDescriptor* field = message->GetDescriptor()->field(i);
            if (field->cpp_type() != FieldDescriptor::CPPTYPE_ENUM) continue;
            if (field->is_repeated()) {
              reflection->AddEnumValue(message, field, 77);
            } else if (field->real_containing_oneof() == nullptr) {
              reflection->SetEnumValue(message, field, 77);
            }
            ++changed;
          }
        });
      }
    }
  }
  EXPECT_GT(changed, 30);
  ExpectComesBack(module);
  // Their meaning is unknown: an error, not a crash.
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(module.SerializeAsString()));
  VerifyModule(*file.module).IgnoreError();
  ParseModule(PrintModule(*file.module)).status().IgnoreError();
}

TEST(UnknownFieldsTest, OpcodesComeBackInProtosAndText) {
  xla::HloModuleProto module = RichModule();
  for (auto& instruction : *module.mutable_computations(1)->mutable_instructions()) {
    if (instruction.opcode() == "dot") instruction.set_opcode("frobnicate");
  }
  ExpectComesBack(module);
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(module.SerializeAsString()));
  const std::string text = PrintModule(*file.module);
  EXPECT_THAT(text, HasSubstr("frobnicate(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}"));
  ASSERT_OK_AND_ASSIGN(const auto back, ParseModule(text));
  EXPECT_EQ(PrintModule(*back), text);
}

// Kept as well; the verifier names the instruction.
TEST(UnknownFieldsTest, ElementTypesComeBackAndDoNotVerify) {
  xla::HloModuleProto module = RichModule();
  module.mutable_computations(1)->mutable_instructions(0)->mutable_shape()->set_element_type(
      static_cast<xla::PrimitiveType>(99));
  ExpectComesBack(module);
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(module.SerializeAsString()));
  EXPECT_THAT(VerifyModule(*file.module), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("main/")));
  ParseModule(PrintModule(*file.module)).status().IgnoreError();
}

}  // namespace
}  // namespace toroid
