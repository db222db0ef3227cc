// BUILD: size = "small"
// Unoptimized snapshots: as one message, and with the arguments streamed behind it.
#include <string>

#include "hlo/io/container.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const char kText[] = R"(HloModule m, entry_computation_layout={(f32[2]{0}, pred[9]{0})->f32[2]{0}}

ENTRY main {
  x = f32[2]{0} parameter(0)
  p = pred[9]{0} parameter(1)
  ROOT y = f32[2]{0} negate(x)
}
)";

// The program with arguments for two partitions.
HloFile Snapshot(int partitions = 2) {
  HloFile file = ReadHlo(kText).value();
  auto* snapshot = file.module->New<xla::HloUnoptimizedSnapshot>();
  for (int p = 0; p < partitions; ++p) {
    xla::HloInputs* inputs = snapshot->add_partitions();
    Literal::Array<float>({2}, {1.5f + static_cast<float>(p), -2.f}).ToProto(inputs->add_arguments());
    Literal::Array<bool>({9}, {true, false, true, false, false, false, false, false, true})
        .ToProto(inputs->add_arguments());
  }
  file.unoptimized = snapshot;
  file.container = Container::kUnoptimizedSnapshot;
  return file;
}

std::string Streamed() {
  HloFile file = Snapshot();
  file.container = Container::kStreamedSnapshot;
  return SerializeHlo(file, Format::kContainer).value();
}

TEST(StreamedSnapshotTest, TheArgumentsFollowTheMessageInOrder) {
  const std::string bytes = Streamed();
  const auto split = SplitStreamedSnapshot(bytes);
  ASSERT_TRUE(split.has_value());
  xla::HloUnoptimizedSnapshot message;
  ASSERT_TRUE(message.ParseFromArray(split->message.data(), static_cast<int>(split->message.size())));
  ASSERT_EQ(message.partitions_size(), 2);
  uint64_t total = 0;
  for (const xla::HloInputs& inputs : message.partitions()) {
    EXPECT_EQ(inputs.arguments_size(), 0);
    ASSERT_EQ(inputs.arguments_descriptors_size(), 2);
    for (const auto& descriptor : inputs.arguments_descriptors()) total += descriptor.argument_size_bytes();
  }
  EXPECT_EQ(total, split->literals.size());
  EXPECT_EQ(message.version(), 1);
}

TEST(StreamedSnapshotTest, ItIsReadAsTheMessageWouldBe) {
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(Streamed()));
  EXPECT_EQ(file.container, Container::kStreamedSnapshot);
  EXPECT_EQ(PrintModule(*file.module), kText);
  ASSERT_OK_AND_ASSIGN(const std::vector<Literal> arguments, file.Arguments());
  ASSERT_OK_AND_ASSIGN(const std::vector<Literal> expected, Snapshot().Arguments());
  EXPECT_EQ(arguments, expected);
  EXPECT_EQ(file.unoptimized->partitions(1).arguments(0).f32s(0), 2.5f);
  // It is written in the same form.
  EXPECT_THAT(SerializeHlo(file, Format::kContainer), IsOkAndHolds(Streamed()));
}

TEST(StreamedSnapshotTest, EveryFormatKeepsTheArguments) {
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(Streamed()));
  for (const Format format :
       {Format::kContainer, Format::kUnoptimizedSnapshot, Format::kProtoText, Format::kJson}) {
    ASSERT_OK_AND_ASSIGN(const std::string bytes, SerializeHlo(file, format));
    ASSERT_OK_AND_ASSIGN(const HloFile again, ReadHlo(bytes));
    EXPECT_THAT(again.Arguments(), IsOkAndHolds(*file.Arguments()));
    EXPECT_EQ(again.unoptimized->partitions_size(), 2);
  }
}

TEST(StreamedSnapshotTest, SnapshotsOfBothKindsGiveEachOtherTheirArguments) {
  ASSERT_OK_AND_ASSIGN(const std::string snapshot, SerializeHlo(Snapshot(1), Format::kSnapshot));
  ASSERT_OK_AND_ASSIGN(const HloFile read, ReadHlo(snapshot));
  EXPECT_EQ(read.container, Container::kSnapshot);
  EXPECT_THAT(read.Arguments(), IsOkAndHolds(*Snapshot(1).Arguments()));
  ASSERT_OK_AND_ASSIGN(const std::string back, SerializeHlo(read, Format::kUnoptimizedSnapshot));
  ASSERT_OK_AND_ASSIGN(const HloFile again, ReadHlo(back));
  EXPECT_EQ(again.container, Container::kStreamedSnapshot);
  EXPECT_THAT(again.Arguments(), IsOkAndHolds(*Snapshot(1).Arguments()));
  EXPECT_THAT(SerializeHlo(Snapshot(2), Format::kSnapshot),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2 partitions")));
}

TEST(StreamedSnapshotTest, DamageIsAnErrorThatNamesTheArgument) {
  const std::string bytes = Streamed();
  const size_t literals = SplitStreamedSnapshot(bytes)->literals.size();
  EXPECT_THAT(ReadHlo(bytes.substr(0, bytes.size() - 1)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("argument 1 of partition 1"), HasSubstr("has"))));
  EXPECT_THAT(ReadHlo(bytes.substr(0, bytes.size() - literals)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("argument 0 of partition 0")));
  EXPECT_THAT(ReadHlo(bytes + "xyz"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("3 bytes follow")));
  std::string wrong = bytes;
  wrong[bytes.size() - literals] = 1;  // The size of the first shape.
  EXPECT_THAT(ReadHlo(wrong),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("argument 0 of partition 0")));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(ReadHlo(bytes.substr(0, size)).ok()) << size;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
    ReadHlo(flipped).status().IgnoreError();
  }
}

}  // namespace
}  // namespace toroid
