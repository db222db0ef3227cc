// BUILD: size = "small"
// HLO text and protos hold the same facts.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/devices/device_limit.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Entry(absl::string_view body) {
  return absl::StrCat("HloModule m\n\nENTRY main {\n", body, "\n}\n");
}

xla::HloModuleProto ToProto(absl::string_view text) {
  const absl::StatusOr<HloFile> file = ReadHlo(text);
  TOROID_CHECK(file.ok(), file.status().ToString());
  xla::HloProto proto;
  TOROID_CHECK(proto.ParseFromString(*SerializeHlo(*file, Format::kContainer)));
  return proto.hlo_module();
}

std::string ToText(const xla::HloModuleProto& proto) {
  const absl::StatusOr<HloFile> file = ReadHlo(proto.SerializeAsString());
  return file.ok() ? PrintModule(*file->module) : file.status().ToString();
}

// Protos have no field for the two numbers outside the device assignment.
TEST(TextAndProtoTest, ReplicasAndPartitionsAreInTheDeviceAssignment) {
  const std::string text =
      "HloModule m, entry_computation_layout={()->u32[]}, replica_count=2, num_partitions=3\n\n"
      "ENTRY main {\n  ROOT r = u32[] replica-id()\n}\n";
  const xla::HloModuleProto proto = ToProto(text);
  EXPECT_EQ(proto.device_assignment().replica_count(), 2);
  ASSERT_EQ(proto.device_assignment().computation_devices_size(), 3);
  EXPECT_THAT(proto.device_assignment().computation_devices(1).replica_device_ids(),
              testing::ElementsAre(1, 4));
  EXPECT_EQ(ToText(proto), text);
  // An assignment that is not the identity stays.
  xla::HloModuleProto other = proto;
  other.mutable_device_assignment()->mutable_computation_devices(1)->set_replica_device_ids(0, 5);
  other.mutable_device_assignment()->mutable_computation_devices(2)->set_replica_device_ids(1, 1);
  const std::string assigned = ToText(other);
  EXPECT_THAT(assigned, HasSubstr("toroid.device_assignment={[2,3]0,5,2,3,4,1}"));
  EXPECT_EQ(ToProto(assigned).device_assignment().SerializeAsString(),
            other.device_assignment().SerializeAsString());
  // Numbers larger than any mesh get no list.
  EXPECT_FALSE(ToProto("HloModule m, num_partitions=1000000000000\nENTRY main { ROOT r = u32[] constant(1) }")
                   .has_device_assignment());
}

// Ids of one, two and three bytes, also within one replica.
TEST(TextAndProtoTest, EveryDeviceOfEveryReplicaIsAssigned) {
  for (const int64_t replicas : {1, 2, 3, 150}) {
    for (const int64_t partitions : {1, 2, 127, 128, 129, 5461, 16385}) {
      if (replicas * partitions > kMaxDevices) continue;
      SCOPED_TRACE(absl::StrCat(replicas, " x ", partitions));
      const xla::HloModuleProto proto =
          ToProto(absl::StrCat("HloModule m, replica_count=", replicas, ", num_partitions=", partitions,
                               "\nENTRY main { ROOT r = u32[] replica-id() }"));
      xla::DeviceAssignmentProto expected;
      if (replicas * partitions > 1) {
        expected.set_replica_count(static_cast<int32_t>(replicas));
        expected.set_computation_count(static_cast<int32_t>(partitions));
        for (int64_t p = 0; p < partitions; ++p) {
          auto* ids = expected.add_computation_devices()->mutable_replica_device_ids();
          for (int64_t r = 0; r < replicas; ++r) ids->Add(r * partitions + p);
        }
      }
      EXPECT_TRUE(proto.device_assignment().SerializeAsString() == expected.SerializeAsString());
    }
  }
}

TEST(TextAndProtoTest, BackendConfigsInPayloadsArePrinted) {
  xla::HloModuleProto proto =
      ToProto(Entry("ROOT c = f32[] custom-call(), custom_call_target=\"f\", backend_config=\"old\""));
  xla::HloInstructionProto& call = *proto.mutable_computations(0)->mutable_instructions(0);
  EXPECT_EQ(call.backend_config(), "old");
  call.clear_backend_config();
  call.mutable_backend_config_payload()->set_value("in place");
  EXPECT_THAT(ToText(proto), HasSubstr("backend_config=\"in place\""));
  call.mutable_backend_config_payload()->set_id(1);
  EXPECT_THAT(ToText(proto), Not(HasSubstr("backend_config")));
  proto.add_payloads("first");
  proto.add_payloads("second");
  EXPECT_THAT(ToText(proto), HasSubstr("backend_config=\"second\""));
}

TEST(TextAndProtoTest, TheOldFormOfAPrefetchIsTheFirst) {
  xla::HloModuleProto proto = ToProto(
      Entry("p = f32[] parameter(0) s = (f32[], f32[], u32[]) copy-start(p) ROOT d = f32[] copy-done(s)"));
  EXPECT_THAT(ToText(proto), HasSubstr("copy-start(p)\n"));
  proto.mutable_computations(0)->mutable_instructions(1)->set_is_cross_program_prefetch(true);
  EXPECT_THAT(ToText(proto), HasSubstr("copy-start(p), cross_program_prefetch_index=0\n"));
}

TEST(TextAndProtoTest, EnumeratorsWithoutANameAreNumbers) {
  const std::string dot =
      "a = f32[2] parameter(0) ROOT d = f32[] dot(a, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}";
  xla::HloModuleProto proto = ToProto(Entry(dot));
  auto* precision = proto.mutable_computations(0)->mutable_instructions(1)->mutable_precision_config();
  precision->set_algorithm(static_cast<xla::PrecisionConfig::Algorithm>(99));
  precision->add_operand_precision(static_cast<xla::PrecisionConfig::Precision>(77));
  precision->add_operand_precision(xla::PrecisionConfig::HIGHEST);
  const std::string text = ToText(proto);
  EXPECT_THAT(text, HasSubstr("operand_precision={77,highest}"));
  EXPECT_THAT(text, HasSubstr("algorithm=99"));
  EXPECT_EQ(ToProto(text).computations(0).instructions(1).precision_config().SerializeAsString(),
            precision->SerializeAsString());

  proto =
      ToProto(Entry("s = u64[2] parameter(0) ROOT r = (u64[2], u32[2]) rng-bit-generator(s), "
                    "algorithm=rng_philox"));
  proto.mutable_computations(0)->mutable_instructions(1)->set_rng_algorithm(
      static_cast<xla::RandomAlgorithm>(44));
  EXPECT_THAT(ToText(proto), HasSubstr("algorithm=44"));
  EXPECT_EQ(ToProto(ToText(proto)).computations(0).instructions(1).rng_algorithm(), 44);

  proto = ToProto(Entry("ROOT p = f32[2] parameter(0), sharding={replicated}"));
  proto.mutable_computations(0)->mutable_instructions(0)->mutable_sharding()->set_type(
      static_cast<xla::OpSharding::Type>(17));
  EXPECT_THAT(ToText(proto), HasSubstr("sharding={unknown}"));
}

TEST(TextAndProtoTest, UnknownFieldsDoNotChangeTheKindOfAFile) {
  const std::string module = ToProto(Entry("ROOT p = f32[] parameter(0)")).SerializeAsString();
  xla::HloUnoptimizedSnapshot snapshot;
  snapshot.mutable_hlo_module()->ParseFromString(module);
  Literal three(Shape(xla::F32, {}));
  three.mutable_data<float>()[0] = 3;
  three.ToProto(snapshot.add_partitions()->add_arguments());
  auto* fields =
      snapshot.mutable_partitions(0)->GetReflection()->MutableUnknownFields(snapshot.mutable_partitions(0));
  fields->AddVarint(17, 1);
  fields->AddVarint(1000, 5);
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(snapshot.SerializeAsString()));
  EXPECT_EQ(file.container, Container::kUnoptimizedSnapshot);
  ASSERT_OK_AND_ASSIGN(const std::vector<Literal> arguments, file.Arguments());
  EXPECT_EQ(arguments[0].data<float>()[0], 3);
  xla::HloUnoptimizedSnapshot again;
  ASSERT_TRUE(again.ParseFromString(*SerializeHlo(file, Format::kContainer)));
  EXPECT_EQ(again.SerializeAsString(), snapshot.SerializeAsString());
}

TEST(TextAndProtoTest, AConfigurationOfALayoutAloneIsOne) {
  xla::HloModuleProtoWithConfig with_config;
  *with_config.mutable_hlo_module() = ToProto(Entry("ROOT p = f32[] parameter(0)"));
  *with_config.mutable_config()->mutable_entry_computation_layout() =
      with_config.hlo_module().host_program_shape();
  for (const bool more : {false, true}) {
    if (more) with_config.mutable_config()->set_num_partitions(4);
    ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(with_config.SerializeAsString()));
    EXPECT_EQ(file.container, Container::kModuleWithConfig);
    xla::HloModuleProtoWithConfig again;
    ASSERT_TRUE(again.ParseFromString(*SerializeHlo(file, Format::kContainer)));
    EXPECT_EQ(again.SerializeAsString(), with_config.SerializeAsString());
  }
}

TEST(TextAndProtoTest, PiecesOfAMessageAreOneMessage) {
  const xla::HloModuleProto module = ToProto(Entry("ROOT p = f32[] parameter(0)"));
  xla::HloUnoptimizedSnapshot snapshot;
  *snapshot.mutable_hlo_module() = module;
  snapshot.add_partitions()->add_arguments()->add_f32s(1);
  xla::HloModuleProtoWithConfig with_config;
  with_config.mutable_config()->set_num_partitions(2);
  const std::string bytes = with_config.SerializePartialAsString() + snapshot.SerializeAsString();
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(bytes));
  ASSERT_OK_AND_ASSIGN(const std::string once, SerializeHlo(file, Format::kContainer));
  ASSERT_OK_AND_ASSIGN(const HloFile again, ReadHlo(once));
  EXPECT_EQ(again.container, file.container);
  EXPECT_THAT(SerializeHlo(again, Format::kContainer), IsOkAndHolds(once));
}

TEST(TextAndProtoTest, LiteralsHaveASize) {
  EXPECT_THAT(ReadHlo(Entry("ROOT v = f32[?] constant({3, 4})")).status().message(),
              HasSubstr("a literal of f32[?], whose size is not known"));
  EXPECT_FALSE(ReadHlo(Entry("ROOT v = f32[?] constant({})")).ok());
  EXPECT_OK(ReadHlo(Entry("ROOT v = f32[?] constant({...})")));
  xla::LiteralProto literal;
  Shape::FromProto(ToProto(Entry("ROOT v = f32[?] constant({...})")).computations(0).instructions(0).shape())
      ->ToProto(literal.mutable_shape());
  literal.add_f32s(1);
  EXPECT_THAT(Literal::FromProto(literal).status().message(), HasSubstr("whose size is not known"));
}

TEST(TextAndProtoTest, ADomainIsEnteredOnTheSideOfItsUsers) {
  const xla::HloModuleProto proto =
      ToProto(Entry("p = f32[4] parameter(0) ROOT d = f32[4] domain(p), domain={kind=\"sharding\", "
                    "entry={devices=[2]<=[2]}, "
                    "exit={replicated}}"));
  EXPECT_EQ(proto.computations(0).instructions(1).domain_exit_sharding().type(), xla::OpSharding::OTHER);
  EXPECT_EQ(proto.computations(0).instructions(1).domain_entry_sharding().type(),
            xla::OpSharding::REPLICATED);
  EXPECT_THAT(ToText(proto), HasSubstr("entry={devices=[2]<=[2]}, exit={replicated}"));
}

TEST(TextAndProtoTest, LiteralsWithoutElementsHaveTheirLevels) {
  const auto printed = [](const std::string& shape) {
    return ToText(ToProto(Entry(absl::StrCat("ROOT c = ", shape, " constant({})"))));
  };
  EXPECT_THAT(printed("s32[0]"), HasSubstr("constant({})"));
  EXPECT_THAT(printed("s32[2,0]"), HasSubstr("constant({ {}, {} })"));
  EXPECT_THAT(printed("s32[0,7]"), HasSubstr("constant({})"));
  EXPECT_THAT(printed("s32[2,1,0]"), HasSubstr("constant({ { {} }, { {} } })"));
  EXPECT_THAT(printed("s32[1000000000,0]"), HasSubstr("constant({})"));
  for (const std::string shape : {"s32[2,0]", "s32[2,1,0]", "s32[0,7]"}) {
    const std::string text = printed(shape);
    EXPECT_EQ(ToText(ToProto(text)), text);
  }
}

TEST(TextAndProtoTest, NamesThatBeginSomethingElseAreChanged) {
  xla::HloModuleProto proto = ToProto(
      "HloModule m\n f { ROOT x = f32[] parameter(0) }\n"
      "ENTRY main { p = f32[] parameter(0) ROOT c = f32[] call(p), to_apply=f }");
  for (const std::string name :
       {"FileNames", "FunctionNames", "FileLocations", "StackFrames", "HloModule", "ENTRY"}) {
    proto.mutable_computations(0)->set_name(name);
    const std::string text = ToText(proto);
    EXPECT_THAT(text, HasSubstr("to_apply=" + name + "_"));
    EXPECT_EQ(ToText(ToProto(text)), text);
  }
}

TEST(TextAndProtoTest, APartOfALiteralMayBeLeftOut) {
  const xla::HloModuleProto proto =
      ToProto(Entry("ROOT c = (f32[1000000000000], s32[]) constant(({...}, 3))"));
  EXPECT_FALSE(proto.computations(0).instructions(0).has_literal());
  EXPECT_THAT(ToText(proto), HasSubstr("constant({...})"));
}

TEST(TextAndProtoTest, QuotedNamesMayHoldAnything) {
  const xla::HloModuleProto proto = ToProto(
      "HloModule \"a module\"\nENTRY %\"the entry\" { \"p 0\" = f32[] parameter(0) "
      "ROOT %\"x/y\" = f32[] negate(f32[] %\"p 0\") }");
  EXPECT_EQ(proto.name(), "a module");
  EXPECT_EQ(proto.computations(0).name(), "the entry");
  EXPECT_EQ(proto.computations(0).instructions(1).name(), "x/y");
  EXPECT_THAT(ToText(proto), HasSubstr("ROOT x_y = f32[] negate(p_0)"));
  EXPECT_THAT(ReadHlo(Entry("ROOT \"a\nb\" = f32[] constant(1)")).status().message(),
              HasSubstr("a name in quotes"));
  EXPECT_FALSE(ReadHlo(Entry("ROOT \"\" = f32[] constant(1)")).ok());
}

TEST(TextAndProtoTest, ABroadcastOfNothingNeedsNoShape) {
  EXPECT_THAT(ToText(ToProto(Entry("p = f32[2,3] parameter(0) ROOT b = broadcast(p), dimensions={0,1}"))),
              HasSubstr("b = f32[2,3]{1,0} broadcast(p)"));
  EXPECT_FALSE(ReadHlo(Entry("p = f32[2,3] parameter(0) ROOT b = broadcast(p), dimensions={1,0}")).ok());
}

TEST(TextAndProtoTest, AttributesOfUnknownOpcodesArePrintedOnce) {
  const std::string text = ToText(
      ToProto(Entry("p = s32[4] parameter(0) i = s32[] parameter(1) ROOT y = s32[2] dynamic-scice(p, i), "
                    "dynamic_slice_sizes={2}")));
  EXPECT_THAT(text, HasSubstr("dynamic-scice(p, i), dynamic_slice_sizes={2}\n"));
  EXPECT_EQ(ToText(ToProto(text)), text);
}

}  // namespace
}  // namespace toroid
