// BUILD: size = "small"
// Strings of any bytes in any field: an error or a module, never a crash.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/stubs/logging.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;
using ::testing::HasSubstr;

const char kModule[] = R"(HloModule m, frontend_attributes={a="b"}

add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }, execution_thread="t"

ENTRY main {
  x = f32[8,4]{1,0} parameter(0), sharding={mesh['x'=2], [{'x'}, {}]}, frontend_attributes={c="d"}
  z = f32[] constant(0), metadata={op_type="t" op_name="n" source_file="f" source_line=3}
  w = f32[8]{0} reduce(x, z), dimensions={1}, to_apply=add
  p = pred[8]{0} compare(w, w), direction=LT, type=FLOAT
  ROOT q = f32[8]{0} custom-call(p), custom_call_target="t", backend_config={"a":1}
}
)";

xla::HloModuleProto SmallModule() {
  HloFile file;
  file.container = Container::kModule;
  file.module = ParseModule(kModule).value();
  xla::HloModuleProto module;
  TOROID_CHECK(module.ParseFromString(SerializeHlo(file, Format::kContainer).value()));
  return module;
}

// Sets the n-th string in the message, nested ones counted; false if there are fewer.
bool SetString(Message* message, const std::string& value, int* n) {
  const Reflection* reflection = message->GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(*message, &fields);
  for (const FieldDescriptor* field : fields) {
    const int size = field->is_repeated() ? reflection->FieldSize(*message, field) : 1;
    for (int i = 0; i < size; ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        if ((*n)-- > 0) continue;
        if (field->is_repeated()) {
          reflection->SetRepeatedString(message, field, i, value);
        } else {
          reflection->SetString(message, field, value);
        }
        return true;
      }
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      Message* inner = field->is_repeated() ? reflection->MutableRepeatedMessage(message, field, i)
                                            : reflection->MutableMessage(message, field);
      if (SetString(inner, value, n)) return true;
    }
  }
  return false;
}

std::vector<std::string> StrangeStrings() {
  std::vector<std::string> strings = {"",
                                      std::string(1, '\0'),
                                      std::string("a\0b", 3),
                                      "\xff\xfe",
                                      "\xc0\x80",
                                      "\xed\xa0\x80",
                                      "a b",
                                      "%",
                                      "\"",
                                      "'",
                                      "\\",
                                      "\n\r\t",
                                      "}{",
                                      "){",
                                      "x = f32[] y()",
                                      "/*",
                                      "*/",
                                      "//",
                                      "\xe2\x82\xac",
                                      "\xf0\x9f\x98\x80",
                                      "%s%n",
                                      "ENTRY",
                                      "ROOT",
                                      "f32",
                                      "1",
                                      "-",
                                      ".",
                                      "#",
                                      "\x7f",
                                      std::string(100000, 'n')};
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  strings.push_back(all);
  return strings;
}

TEST(StrangeStringsTest, InEveryStringFieldOfAProto) {
  const google::protobuf::LogSilencer silencer;  // This test writes invalid UTF-8.
  int fields = 0;
  for (const std::string& value : StrangeStrings()) {
    for (int n = 0;; ++n) {
      xla::HloModuleProto proto = SmallModule();
      int left = n;
      if (!SetString(&proto, value, &left)) break;
      ++fields;
      const absl::StatusOr<HloFile> file = ReadHlo(proto.SerializeAsString());
      if (!file.ok()) {
        EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument);
        continue;
      }
      VerifyModule(*file->module).IgnoreError();
      for (const Format format : {Format::kHloText, Format::kProtoText, Format::kJson, Format::kContainer}) {
        const absl::StatusOr<std::string> written = SerializeHlo(*file, format);
        ASSERT_OK(written);
        ReadHlo(*written).status().IgnoreError();
      }
    }
  }
  EXPECT_GT(fields, 500);
}

// The text reads back for any names of instructions, computations and the module.
TEST(StrangeStringsTest, NamesBecomeReadableText) {
  const google::protobuf::LogSilencer silencer;
  for (const std::string& value : StrangeStrings()) {
    SCOPED_TRACE(value.substr(0, 300));
    xla::HloModuleProto proto = SmallModule();
    proto.set_name(value);
    for (auto& computation : *proto.mutable_computations()) {
      computation.set_name(value);
      for (auto& instruction : *computation.mutable_instructions()) instruction.set_name(value);
    }
    const absl::StatusOr<HloFile> file = ReadHlo(proto.SerializeAsString());
    if (!file.ok()) {
      EXPECT_THAT(file.status().ToString(), HasSubstr("UTF-8"));
      continue;
    }
    EXPECT_OK(ParseModule(PrintModule(*file->module)));
    PrintOptions options;
    options.percent = options.signatures = options.operand_shapes = true;
    EXPECT_OK(ParseModule(PrintModule(*file->module, options)));
  }
}

std::string OpName(const HloFile& file) {
  const xla::OpMetadata* metadata = file.module->entry()->root()->metadata();
  return metadata == nullptr ? "" : metadata->op_name();  // An empty one is not printed.
}

TEST(StrangeStringsTest, StringsOfAnyBytesStayInText) {
  for (const std::string& value : StrangeStrings()) {
    SCOPED_TRACE(value.substr(0, 300));
    std::string escaped;
    for (const unsigned char c : value) {
      absl::StrAppend(&escaped, "\\", c >> 6, (c >> 3) & 7, c & 7);
    }
    const std::string text =
        absl::StrCat("ENTRY e { ROOT a = f32[] parameter(0), metadata={op_name=\"", escaped, "\"} }");
    ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(text));
    EXPECT_EQ(OpName(file), value);
    ASSERT_OK_AND_ASSIGN(const HloFile back, ReadHlo(PrintModule(*file.module)));
    EXPECT_EQ(OpName(back), value);
    // Protos hold only UTF-8; the error names the place of other bytes.
    const absl::StatusOr<std::string> binary = SerializeHlo(file, Format::kContainer);
    if (binary.ok()) {
      ASSERT_OK_AND_ASSIGN(const HloFile from_binary, ReadHlo(*binary));
      EXPECT_EQ(OpName(from_binary), value);
    } else {
      EXPECT_THAT(binary,
                  StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("e/a: a string is not UTF-8")));
    }
  }
}

TEST(StrangeStringsTest, StrayBytesInTextAreErrorsWithAPlace) {
  for (int c = 1; c < 256; ++c) {
    const std::string stray(1, static_cast<char>(c));
    const absl::StatusOr<HloFile> file =
        ReadHlo(absl::StrCat("ENTRY e { ROOT a = f32[] ", stray, "parameter(0) }"));
    if (!file.ok()) {
      EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument) << c;
    }
  }
  EXPECT_THAT(ReadHlo("HloModule \xff\nENTRY e { ROOT a = f32[] parameter(0) }"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1:11: ")));
}

}  // namespace
}  // namespace toroid
